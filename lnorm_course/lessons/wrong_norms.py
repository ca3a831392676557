"""Layer norms with common mistakes, for the pictures that show their consequences.

Each takes x, γ, β, the axes to average over, and ε. So does `in_dtype_of_x`, which is correct and
computes all steps in the dtype of x.
"""

from collections.abc import Callable

from torch import Tensor

__all__ = [
    "AFFINE_LEFT_OUT",
    "EPS_OUTSIDE",
    "ONE_PASS",
    "RMS_NORM",
    "UNBIASED",
    "NormFunction",
    "in_dtype_of_x",
]

Dim = int | tuple[int, ...]
NormFunction = Callable[[Tensor, Tensor, Tensor, Dim, float], Tensor]
Divisor = Callable[[Tensor, Dim, float], Tensor]


def _norm(divisor: Divisor, is_centered: bool = True, is_affine: bool = True) -> NormFunction:
    def norm(x: Tensor, weight: Tensor, bias: Tensor, dim: Dim, eps: float) -> Tensor:
        above = x - x.mean(dim, keepdim=True) if is_centered else x
        x_hat = above / divisor(x, dim, eps)
        return x_hat * weight + bias if is_affine else x_hat

    return norm


def _two_pass(x: Tensor, dim: Dim) -> Tensor:
    return (x - x.mean(dim, keepdim=True)).square().mean(dim, keepdim=True)


def _one_pass(x: Tensor, dim: Dim) -> Tensor:
    return x.square().mean(dim, keepdim=True) - x.mean(dim, keepdim=True).square()


in_dtype_of_x = _norm(lambda x, dim, eps: (_two_pass(x, dim) + eps).sqrt())
UNBIASED = _norm(lambda x, dim, eps: (x.var(dim, keepdim=True) + eps).sqrt())
EPS_OUTSIDE = _norm(lambda x, dim, eps: _two_pass(x, dim).sqrt() + eps)
ONE_PASS = _norm(lambda x, dim, eps: (_one_pass(x, dim) + eps).sqrt())
AFFINE_LEFT_OUT = _norm(lambda x, dim, eps: (_two_pass(x, dim) + eps).sqrt(), is_affine=False)
RMS_NORM = _norm(
    lambda x, dim, eps: (x.square().mean(dim, keepdim=True) + eps).sqrt(), is_centered=False
)
