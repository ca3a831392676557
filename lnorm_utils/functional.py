"""Layer normalization, step by step, in plain tensor operations that autograd can follow.

Statistics of float16 and bfloat16 tensors are computed, and returned, in float32.
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["LayerNormSteps", "layer_norm", "layer_norm_steps", "mean", "standardize", "variance"]

_HALF = (torch.float16, torch.bfloat16)


class LayerNormSteps(NamedTuple):
    """Every intermediate of layer normalization, in the order in which they are computed.

    The statistics keep the normalized axes with size 1, so they broadcast against the input.
    """

    mean: Tensor
    var: Tensor
    rstd: Tensor
    x_hat: Tensor
    y: Tensor


def mean(x: Tensor, dim: int | Sequence[int] = -1) -> Tensor:
    """Add up the numbers along `dim` and divide by how many there are: mean = Σ x / D.

    Args:
        x: floating-point tensor of any shape.
        dim: the axis, or the axes, to average over.

    Returns:
        A tensor of the shape of `x`, with size 1 at `dim`.

    Raises:
        TypeError: `x` is not a floating-point tensor, or `dim` is not made of integers.
        ValueError: `x` has no axis `dim`, or an axis is named twice.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3.

    >>> mean(torch.tensor([[1.0, 2.0, 6.0]]))
    tensor([[3.]])
    """
    return in_statistics_dtype(x).mean(_axes(x, dim), keepdim=True)


def variance(x: Tensor, dim: int | Sequence[int] = -1) -> Tensor:
    """Average the squared distances from the mean: var = Σ (x − mean)² / D.

    It divides by D, not by D − 1 (biased), and goes through the data twice, first for the mean and
    then for the distances, which keeps its digits when the mean is large against the spread.

    Args:
        x: floating-point tensor of any shape.
        dim: the axis, or the axes, to take the variance over.

    Returns:
        A tensor of the shape of `x`, with size 1 at `dim`, in the squared unit of `x`.

    Raises:
        TypeError: `x` is not a floating-point tensor, or `dim` is not made of integers.
        ValueError: `x` has no axis `dim`, or an axis is named twice.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3.

    >>> variance(torch.tensor([[1.0, 2.0, 6.0]]))
    tensor([[4.6667]])
    """
    return mean(_centered(x, mean(x, dim), dim).square(), dim)


def standardize(x: Tensor, dim: int | Sequence[int] = -1, eps: float = 1e-5) -> Tensor:
    """Subtract the mean, divide by the standard deviation: x_hat = (x − mean) / √(var + eps).

    Args:
        x: floating-point tensor of any shape.
        dim: the axis, or the axes, that share one mean and one variance.
        eps: added to the variance inside the root, in the squared unit of `x`.

    Returns:
        A tensor of the shape and dtype of `x`, without a unit.

    Raises:
        TypeError: `x` is not a floating-point tensor, `dim` is not made of integers, or `eps` is
            not a number.
        ValueError: `x` has no axis `dim`, or an axis is named twice.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3; eps as in PyTorch.

    >>> standardize(torch.tensor([[1.0, 2.0, 6.0]]), eps=0.0)
    tensor([[-0.9258, -0.4629,  1.3887]])
    """
    return _standardized(x, dim, eps).y


def layer_norm_steps(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> LayerNormSteps:
    """Standardize the last axes, scale and shift: y = weight · (x − mean) / √(var + eps) + bias.

    Args:
        x: floating-point tensor of shape (*, *normalized_shape).
        normalized_shape: the sizes of the last axes, which share one mean and one variance.
        weight: γ, of shape `normalized_shape`; 1 where it is left out.
        bias: β, of shape `normalized_shape`; 0 where it is left out.
        eps: added to the variance inside the root, in the squared unit of `x`.

    Returns:
        `mean`, `var` and `rstd` = 1 / √(var + eps), of shape (*, 1, …, 1); `x_hat` and `y` of the
        shape of `x`. `y` has the dtype of `x`.

    Raises:
        TypeError: an argument has the wrong type, or a dtype that does not go with `x`.
        ValueError: the last axes of `x`, `weight` or `bias` are not `normalized_shape`.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3 and supplement; eps as in PyTorch.
    The numbers are those of `torch.nn.functional.layer_norm` up to rounding, which in float32 grows
    with the ratio of the mean to the standard deviation.

    >>> layer_norm_steps(torch.tensor([[1.0, 2.0, 6.0]]), 3).var
    tensor([[4.6667]])
    """
    shape = shape_tuple(normalized_shape)
    _check_last_axes(x, shape)
    _check_parameter("weight", weight, shape, x)
    _check_parameter("bias", bias, shape, x)
    steps = _standardized(x, tuple(range(-len(shape), 0)), eps)
    y = steps.x_hat if weight is None else steps.x_hat * weight
    y = y if bias is None else y + bias
    return steps._replace(y=y.to(x.dtype))


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Standardize the last axes, scale and shift: y = weight · (x − mean) / √(var + eps) + bias.

    Arguments and errors are those of `layer_norm_steps`, of which this is the last step.

    Returns:
        `y`, of the shape and dtype of `x`.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450; arguments and, up to rounding, numbers are
    those of `torch.nn.functional.layer_norm`.

    >>> layer_norm(torch.tensor([[1.0, 2.0, 6.0]]), 3)
    tensor([[-0.9258, -0.4629,  1.3887]])
    """
    return layer_norm_steps(x, normalized_shape, weight, bias, eps).y


def _standardized(x: Tensor, dim: int | Sequence[int], eps: float) -> LayerNormSteps:
    """Return the steps for γ = 1 and β = 0."""
    if not isinstance(eps, Real):
        raise TypeError(f"eps must be a number such as 1e-5, but a {_type(eps)} was given.")
    m = mean(x, dim)
    centered = _centered(x, m, dim)
    var = mean(centered.square(), dim)
    rstd = (var + float(eps)).rsqrt()
    x_hat = centered * rstd
    return LayerNormSteps(m, var, rstd, x_hat, x_hat.to(x.dtype))


def _centered(x: Tensor, m: Tensor, dim: int | Sequence[int]) -> Tensor:
    """Subtract the mean m, and then what its rounding has left of it: a constant row becomes 0."""
    once = in_statistics_dtype(x) - m
    return once - mean(once, dim)


def in_statistics_dtype(x: Tensor) -> Tensor:
    """Return `x` in the dtype of its statistics, or raise a TypeError if it can have none."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a torch.Tensor, but a {_type(x)} was given.")
    if x.dtype not in (*_HALF, torch.float32, torch.float64) or x.layout != torch.strided:
        kind = x.dtype if x.layout == torch.strided else x.layout
        raise TypeError(
            "x must be a dense tensor of float16, bfloat16, float32 or float64, but it is "
            f"{kind}: try x.float() or x.to_dense()."
        )
    return x.float() if x.dtype in _HALF else x


def _axes(x: Tensor, dim: int | Sequence[int]) -> tuple[int, ...]:
    axes = _integers(dim)
    if axes is None:
        raise TypeError(f"dim must be an integer or a tuple of integers, but got {_given(dim)}.")
    if not axes or not all(-x.ndim <= a < x.ndim for a in axes):
        raise ValueError(
            f"dim must name axes of x, which has {x.ndim} of them and shape {tuple(x.shape)}, "
            f"but {dim!r} was given."
        )
    if len({a % x.ndim for a in axes}) < len(axes):
        raise ValueError(f"dim must name each axis once, but {dim!r} names one twice.")
    return axes


def shape_tuple(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Make a tuple of `normalized_shape`, or raise a TypeError or ValueError that names it."""
    sizes = _integers(shape)
    if sizes is None:
        raise TypeError(
            f"normalized_shape must be an integer or a tuple of integers, but got {_given(shape)}."
        )
    if not sizes or min(sizes) < 0:
        raise ValueError(
            f"normalized_shape must hold the sizes of one or more axes, but {shape!r} was given."
        )
    return sizes


def _integers(value: int | Sequence[int]) -> tuple[int, ...] | None:
    values = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(v, Integral) and not isinstance(v, bool) for v in values):
        return None
    return tuple(int(v) for v in values)


def _check_last_axes(x: Tensor, shape: tuple[int, ...]) -> None:
    in_statistics_dtype(x)
    if tuple(x.shape[-len(shape) :]) != shape:
        raise ValueError(
            f"normalized_shape is {shape}, so the last axes of x must be {shape}, "
            f"but x has shape {tuple(x.shape)}."
        )


def _check_parameter(name: str, value: Tensor | None, shape: tuple[int, ...], x: Tensor) -> None:
    if value is None:
        return
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor or None, but a {_type(value)} was given.")
    if tuple(value.shape) != shape:
        raise ValueError(
            f"{name} must have the normalized shape {shape}, but its shape is {tuple(value.shape)}."
        )
    if value.dtype != x.dtype and not (x.dtype in _HALF and value.dtype == torch.float32):
        raise TypeError(
            f"{name} must have the dtype of x, {x.dtype}, but its dtype is {value.dtype}."
        )


def _type(value: object) -> str:
    return type(value).__name__


def _given(value: object) -> str:
    return (
        f"a torch.Tensor of shape {tuple(value.shape)}"
        if isinstance(value, Tensor)
        else repr(value)
    )
