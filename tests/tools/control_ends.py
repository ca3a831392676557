"""All explorers with controls."""

from lnorm_course import explorers


def make_all():
    """Return {name: function} for all explorers with controls, so without the row."""
    names = [n for n in explorers.__all__ if n.startswith("explore_") and n != "explore_row"]
    return {name: getattr(explorers, name) for name in names}
