"""Alternative formulas for Magika's norms: common mistakes, and relatives of layer norm."""

from torch import Tensor

from lnorm_course.lessons.file_types.model import Formula
from lnorm_course.lessons.wrong_norms import (
    AFFINE_LEFT_OUT,
    EPS_OUTSIDE,
    ONE_PASS,
    RMS_NORM,
    UNBIASED,
    in_dtype_of_x,
)

__all__ = ["FORMULAS", "over_features"]

EPS = 1e-6


def _rounded(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return in_dtype_of_x(x.bfloat16(), weight.bfloat16(), bias.bfloat16(), -1, EPS).float()


FORMULAS: dict[str, Formula] = {
    "as trained": lambda x, w, b: in_dtype_of_x(x, w, b, -1, EPS),
    "D − 1": lambda x, w, b: UNBIASED(x, w, b, -1, EPS),
    "ε outside the root": lambda x, w, b: EPS_OUTSIDE(x, w, b, -1, EPS),
    "ε = 0.001": lambda x, w, b: in_dtype_of_x(x, w, b, -1, 1e-3),
    "E[x²] − E[x]²": lambda x, w, b: ONE_PASS(x, w, b, -1, EPS),
    "in bfloat16": _rounded,
    "no γ, no β": lambda x, w, b: AFFINE_LEFT_OUT(x, w, b, -1, EPS),
    "left out": lambda x, w, b: x,
    "RMSNorm": lambda x, w, b: RMS_NORM(x, w, b, -1, EPS),
    "over the batch": lambda x, w, b: in_dtype_of_x(x, w, b, 0, EPS),
}


def over_features(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute norm 1 as a transformer would: over the 256 features of each position.

    Args:
        x: (N, 256, 512), the input of norm 1.
        weight, bias: γ and β, (512,), with one number for each position.

    Returns:
        (N, 256, 512).
    """
    return in_dtype_of_x(x, weight, bias, -2, EPS)
