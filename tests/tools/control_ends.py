"""Drive explorers as a lecture does: every control to both ends."""

from lnorm_course import explorers


def make_all():
    """Return {name: function} for all explorers with controls, so without the row."""
    names = [n for n in explorers.__all__ if n.startswith("explore_") and n != "explore_row"]
    return {name: getattr(explorers, name) for name in names}


def ends(explorer):
    """Return {name of a control: the values at its ends, or all that can be chosen}."""
    return {name: _values(explorer, name) for name in explorer.controls}


def _values(explorer, name):
    stops = explorer.stops[name]
    if stops is None:
        return [0, 1, 50]
    return [stops[0], stops[-1]] if explorer.controls[name].kind == "slider" else stops
