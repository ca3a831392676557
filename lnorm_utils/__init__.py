"""What the lessons on layer normalization import: the operation itself, and the modules around it.

The other rooms are imported by name, for example `from lnorm_utils.plotting import hist_encoding`.
"""

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
