"""What the lessons on layer normalization import: the operation itself, and the modules around it.

The other rooms are imported by name, for example `from lnorm_utils.plotting import hist_encoding`.
"""

# ruff: noqa: E402
from importlib.util import find_spec

# Looked for and not imported: that costs nothing, and tells at once all that is missing.
NEEDED = ("torch", "numpy", "matplotlib", "ipywidgets")
if missing := [name for name in NEEDED if getattr(find_spec(name), "origin", None) is None]:
    raise ModuleNotFoundError(
        f"{' and '.join(missing)} missing, so the course is not fully installed: run `%pip install "
        "-c ../constraints.txt -e ..` in a cell of a lesson, then restart its kernel.",
        name=missing[0],
    )

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
