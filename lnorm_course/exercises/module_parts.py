"""Inputs that the exercises on layers share."""

import torch

from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm

# Inputs with axes of unequal sizes, nonzero means, and spreads of 1, or of 0.02 so that ε matters.
TABLE = normal(5, 4, seed=86).double() + 2
WORDS = 0.02 * normal(3, 2, 4, seed=87).double() + 1
IMAGES = normal(2, 3, 2, 4, seed=88).double() + 2
# Numbers so far from zero that E[x²] − E[x]² loses every digit: both terms are rounded to multiples
# of 256.
FAR = 2.0**30 + torch.tensor([[[0, 1, 2, 5], [8, 0, 3, 5]], [[7, 1, 0, 0], [2, 2, 9, 3]]]).double()
GAMMA, BETA = normal(3, 2, 4, seed=89).double() + 1, normal(3, 2, 4, seed=90).double()
TARGETS = layer_norm(TABLE, 4, GAMMA[0, 0], BETA[0, 0])
# Similar inputs of different sizes, to catch layers that hard-code the sizes above.
WIDE = normal(3, 6, seed=91).double() + 2
WIDE_AFFINE = normal(6, seed=93).double() + 1, normal(6, seed=95).double()
WIDE_TARGETS = layer_norm(WIDE, 6, *WIDE_AFFINE)
BLOCKS = normal(3, 2, 3, 5, seed=97).double() + 2
BLOCKS_AFFINE = normal(2, 3, 5, seed=98).double() + 1, normal(2, 3, 5, seed=99).double()
NARROW = torch.ones(3, 1, dtype=torch.float64)  # the last axis has size 1 and should have size 4
FITS_INPUTS = {
    f"the sizes {sizes} and {shape}": (sizes, shape)
    for sizes, shape in (
        ((3, 2, 4), (2, 4)),
        ((3, 2, 4), [4]),
        ((3, 2, 4), (3, 2)),
        ((3, 2, 4), (4, 2)),
        ((3, 2, 4), (3, 4)),
        ((3, 2, 4), torch.Size([3, 2, 4])),
        ((5, 3, 4), (2, 4)),
        ((3, 8), (2, 4)),
        ((3, 1), (4,)),
        ((4,), (2, 4)),
        ((2,), (2, 4)),
        ((2, 4, 3), (2, 4)),
        ((3, 2, 4), 4),
        ((4, 3), 4),
    )
}
