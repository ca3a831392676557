"""The code behind the lessons: exercises, explorers, and the lab.

Import its modules by name, for example `from lnorm_course.explorers import explore_collapse`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lnorm_utils.version import __version__ as __version__

# Lessons import this package first, so it checks that the packages they need can be found.
NEEDED = ("torch", "numpy", "matplotlib", "ipywidgets", "anywidget")
if missing := [name for name in NEEDED if getattr(find_spec(name), "origin", None) is None]:
    raise ModuleNotFoundError(
        f"The course isn't fully installed: {' and '.join(missing)} can't be found. Run `%pip "
        'install -c ../constraints.txt -e "..[course]"` in a cell of a lesson, then restart its '
        "kernel.",
        name=missing[0],
    )

if TYPE_CHECKING:
    from lnorm_diagnose import diagnose, first_wrong, norms_of

__all__ = ["diagnose", "first_wrong", "norms_of"]


def __getattr__(name: str) -> object:
    """Import `lnorm_diagnose` only when one of its names is first used."""
    if name in __all__:
        return getattr(import_module("lnorm_diagnose"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
