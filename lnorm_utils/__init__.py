"""What the lessons on layer normalization import: the operation itself, and the modules around it.

The other rooms are imported by name, for example `from lnorm_utils.plotting import hist_encoding`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

# Looked for and not imported: that costs nothing, and tells at once all that is missing.
NEEDED = ("torch", "numpy", "matplotlib", "ipywidgets", "anywidget")
if missing := [name for name in NEEDED if getattr(find_spec(name), "origin", None) is None]:
    raise ModuleNotFoundError(
        f"{' and '.join(missing)} missing, so the course is not fully installed: run `%pip install "
        "-c ../constraints.txt -e ..` in a cell of a lesson, then restart its kernel.",
        name=missing[0],
    )

if TYPE_CHECKING:
    from lnorm_utils.functional import (
        LayerNormSteps,
        layer_norm,
        layer_norm_steps,
        mean,
        standardize,
        variance,
    )
    from lnorm_utils.modules import (
        FeedForward,
        LayerNorm,
        PositionalEncoding,
        ResidualBlock,
        ResidualStack,
    )

__all__ = [
    "FeedForward",
    "LayerNorm",
    "LayerNormSteps",
    "PositionalEncoding",
    "ResidualBlock",
    "ResidualStack",
    "layer_norm",
    "layer_norm_steps",
    "mean",
    "standardize",
    "variance",
]


def __getattr__(name: str) -> object:
    """Import torch when the op is first used, so that JupyterLab starts without waiting for it."""
    if name in __all__:
        modules = import_module("lnorm_utils.modules")  # and with it functional, which it builds on
        home = modules if hasattr(modules, name) else import_module("lnorm_utils.functional")
        return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
