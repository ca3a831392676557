"""What the lessons run on: exercises, explorers, and the tools that look at somebody's layer.

The rooms are imported by name, for example `from lnorm_course.explorers import explore_collapse`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lnorm_utils.version import __version__ as __version__

if TYPE_CHECKING:
    from lnorm_course.diagnose import diagnose
    from lnorm_course.inspecting import first_wrong, norms_of

__all__ = ["diagnose", "first_wrong", "norms_of"]
HOMES = {"diagnose": "diagnose", "first_wrong": "inspecting", "norms_of": "inspecting"}


def __getattr__(name: str) -> object:
    """Import what looks at a layer when it is first used."""
    if name in HOMES:
        return getattr(import_module(f"lnorm_course.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
