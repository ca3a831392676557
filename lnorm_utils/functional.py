"""Layer normalization, step by step, in plain tensor operations that autograd can follow.

Statistics of float16 and bfloat16 tensors are computed, and returned, in float32.
Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4; eps as in PyTorch.
"""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["LayerNormSteps", "layer_norm", "layer_norm_steps", "mean", "standardize", "variance"]

Axes = int | list[int] | tuple[int, ...]  # the indices of axes
Sizes = int | list[int] | tuple[int, ...]  # the sizes of the last axes


class LayerNormSteps(NamedTuple):
    """All intermediate results of layer normalization, in the order in which they are computed.

    `mean`, `var`, and `rstd` = 1 / √(var + eps) keep the normalized axes with size 1, so they
    broadcast against the input. `x_hat` and `y` have the shape of the input, and `y` also has its
    dtype. `mean` is in the unit of the input, `var` in that unit squared, and `x_hat` and `y` have
    no unit.

    >>> [tuple(step.shape) for step in layer_norm_steps(torch.ones(2, 3, 4), 4)]
    [(2, 3, 1), (2, 3, 1), (2, 3, 1), (2, 3, 4), (2, 3, 4)]
    """

    mean: Tensor
    var: Tensor
    rstd: Tensor
    x_hat: Tensor
    y: Tensor


def mean(x: Tensor, dim: Axes = -1) -> Tensor:
    """Add up the numbers along `dim` and divide by how many there are: mean = Σ x / D.

    The averaged axes remain, with size 1, and the mean has the unit of `x`.

    Args:
        x: floating-point tensor of any shape.
        dim: the axis, or the axes, over which the mean is taken.

    Raises:
        TypeError: `x` is not a floating-point tensor.
        IndexError: `x` has no such axis.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3.

    >>> mean(torch.tensor([[1.0, 2.0, 6.0]]))
    tensor([[3.]])
    """
    return at_least_float32(x).mean(dim, keepdim=True)


def variance(x: Tensor, dim: Axes = -1) -> Tensor:
    """Average the squared distances from the mean: var = Σ (x − mean)² / D, not D − 1.

    The averaged axes remain, with size 1, and the variance has the squared unit of `x`. The
    distances are centered once more before they are squared, because rounding leaves them with a
    small mean. This preserves digits when the mean is large compared with the spread.

    Args:
        x: floating-point tensor of any shape.
        dim: the axis, or the axes, over which the mean is taken.

    Raises:
        TypeError: `x` is not a floating-point tensor.
        IndexError: `x` has no such axis.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3, whose σ is the square root
    of this variance.

    >>> variance(torch.tensor([[1.0, 2.0, 6.0]]))
    tensor([[4.6667]])
    """
    return mean(_center_twice(x, mean(x, dim), dim).square(), dim)


def standardize(x: Tensor, dim: Axes = -1, eps: float = 1e-5) -> Tensor:
    """Subtract the mean; divide by the square root of variance plus ε: (x − mean) / √(var + eps).

    The result has the shape and dtype of `x`, and no unit.

    Args:
        x: floating-point tensor of any shape.
        dim: the axis, or the axes, along which numbers share one mean and one variance.
        eps: ε, in the squared unit of `x`.

    Raises:
        TypeError: `x` is not a floating-point tensor.
        IndexError: `x` has no such axis.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3 for the mean and the square
    root, and equation 4 for what is done with them; eps as in PyTorch.

    >>> standardize(torch.tensor([[1.0, 2.0, 6.0]]), eps=0.0)
    tensor([[-0.9258, -0.4629,  1.3887]])
    """
    *_, x_hat = _steps(x, dim, eps)
    return x_hat.to(x.dtype)


def layer_norm_steps(
    x: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> LayerNormSteps:
    """Standardize the last axes, scale, and shift: y = weight · (x − mean) / √(var + eps) + bias.

    Args:
        x: floating-point tensor of shape (*, *normalized_shape).
        normalized_shape: the sizes of the last axes, whose numbers share one mean and variance.
        weight, bias: γ and β, of shape `normalized_shape`; 1 and 0 if they're left out.
        eps: ε, which is added to the variance under the square root, in the squared unit of `x`.

    Raises:
        TypeError: `x` is not a floating-point tensor.
        ValueError: the sizes of the last axes of `x`, or the shape of `weight` or `bias`, aren't
            `normalized_shape`.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4; arguments as in PyTorch.

    The numbers equal those of `torch.nn.functional.layer_norm` up to rounding. In float32, the
    rounding errors grow with the ratio of the mean to the standard deviation.

    >>> layer_norm_steps(torch.tensor([[1.0, 2.0, 6.0]]), 3).var
    tensor([[4.6667]])
    """
    shape = shape_tuple(normalized_shape)
    if not shape or at_least_float32(x).shape[-len(shape) :] != shape:
        raise ValueError(
            f"normalized_shape is {shape}, so the last axes of x must be {shape}, but x has shape "
            f"{tuple(x.shape)}."
        )
    for name, given in {"weight": weight, "bias": bias}.items():
        if given is not None and given.shape != shape:
            raise ValueError(
                f"{name} must have the shape {shape}, but it has {tuple(given.shape)}."
            )
    axes = tuple(range(-len(shape), 0))
    m, var, rstd, x_hat = _steps(x, axes, eps)
    y = x_hat if weight is None else x_hat * weight
    y = y if bias is None else y + bias
    return LayerNormSteps(m, var, rstd, x_hat, y.to(x.dtype))


def layer_norm(
    x: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return the last step of `layer_norm_steps`, as `torch.nn.functional.layer_norm` does.

    It takes the arguments of `layer_norm_steps`, raises the same errors, and returns a tensor of
    the shape and dtype of `x`.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4; arguments as in PyTorch.

    >>> layer_norm(torch.tensor([[1.0, 2.0, 6.0]]), 3)
    tensor([[-0.9258, -0.4629,  1.3887]])
    """
    return layer_norm_steps(x, normalized_shape, weight, bias, eps).y


def _steps(x: Tensor, dim: Axes, eps: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    m = mean(x, dim)
    centered = _center_twice(x, m, dim)
    var = mean(centered.square(), dim)
    rstd = (var + eps).rsqrt()
    return m, var, rstd, centered * rstd


def _center_twice(x: Tensor, m: Tensor, dim: Axes) -> Tensor:
    """Subtract the mean m, and then what rounding left of it, so that a constant row becomes 0."""
    once = at_least_float32(x) - m
    return once - mean(once, dim)


def at_least_float32(x: Tensor, name: str = "x") -> Tensor:
    """Convert float16 and bfloat16 to float32; raise a TypeError unless `x` is floating-point."""
    if not isinstance(x, Tensor) or not x.is_floating_point():
        given = f"{x.dtype}: try x.float()" if isinstance(x, Tensor) else f"a {type(x).__name__}"
        raise TypeError(f"{name} must be a floating-point tensor, but it is {given}.")
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def shape_tuple(normalized_shape: Sizes) -> tuple[int, ...]:
    """Return the sizes of the normalized axes as a tuple, even if a single number was given."""
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
