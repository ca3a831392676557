"""Drive explorers as a lecture does: every control to both ends."""

import ipywidgets

from lnorm_utils import explorers


def make_all():
    """Return {name: function} for all explorers of the package."""
    return {n: getattr(explorers, n) for n in explorers.__all__ if n.startswith("explore_")}


def ends(explorer):
    """Return {name of a control: the values at its ends, or all that can be chosen}."""
    return {name: _values(widget) for name, widget in explorer.controls.items()}


def _values(widget):
    if isinstance(widget, ipywidgets.SelectionSlider):
        stops = [value for _, value in widget.options]
        return [stops[0], stops[-1]]
    if isinstance(widget, ipywidgets.ToggleButtons):
        return list(widget.options)
    if isinstance(widget, ipywidgets.Checkbox):
        return [False, True]
    return [0, 1, 50]
