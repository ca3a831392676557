"""The code that the lessons use: layer normalization, and the modules around it.

Everything else is imported from its own module, for example
`from lnorm_utils.plotting import hist_encoding`. The package `lnorm_diagnose` finds how a layer
differs from layer norm, `lnorm_course` runs the lessons, and `lnorm_staff` has the tools for
authors and lecturers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lnorm_utils.version import __version__ as __version__

if TYPE_CHECKING:
    from lnorm_utils.assertions import assert_close
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
    "assert_close",
    "layer_norm",
    "layer_norm_steps",
    "mean",
    "standardize",
    "variance",
]
HOMES = ("functional", "modules", "assertions")


def __getattr__(name: str) -> object:
    """Import torch only when a name is first used, so that JupyterLab can start without it."""
    if name in __all__:
        homes = (import_module(f"lnorm_utils.{home}") for home in HOMES)
        return next(getattr(home, name) for home in homes if hasattr(home, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
