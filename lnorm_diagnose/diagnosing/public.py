"""Define `diagnose`, which checks its arguments and chooses the kind of diagnosis."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from lnorm_diagnose.diagnosing.arrays import diagnose_arrays
from lnorm_diagnose.diagnosing.layer import diagnose_layer
from lnorm_diagnose.diagnosing.reference import reference_like
from lnorm_diagnose.diagnosing.report import Diagnosis
from lnorm_diagnose.inspecting.copies import quiet
from lnorm_utils.functional import shape_tuple
from lnorm_utils.words import spoken

__all__ = ["diagnose"]

Numbers = Tensor | numpy.ndarray | Sequence[Any]


def diagnose(
    layer: Callable | Numbers,
    y: Numbers | None = None,
    *,
    like: nn.Module | None = None,
    weight: Numbers | None = None,
    bias: Numbers | None = None,
    eps: float | None = None,
    shape: int | tuple[int, ...] | None = None,
    **named: Any,
) -> Diagnosis:
    """Say how a layer differs from layer norm, or from the norm that it should match.

    It runs the layer and its reference on the same inputs, and searches for the fewest slips that
    lead to the same numbers. The layer itself and its parameters don't change.

    Args:
        layer: a function of x, or of x and of `weight`, `bias`, `eps` and `normalized_shape` (or
            names like `gamma` and `epsilon`), which returns a tensor; or a module. Or, with `y`,
            the numbers that went into a layer elsewhere: a tensor, an array, or lists, of shape
            (*, *normalized_shape), in any unit.
        y: what came out, of the shape of x, without a unit.
        like: the module that the layer should be like: an `nn.LayerNorm` or an `nn.RMSNorm`. By
            default, it's PyTorch's layer norm over the last axis, or over as many axes as the
            layer's γ has.
        weight: γ, of the shape of the normalized axes. If it's left out, a layer that takes or
            holds a γ is tried with new numbers; otherwise, γ is that of `like`, or 1.
        bias: β, of the same shape. If it's left out, it's chosen in the same way, with 0 instead
            of 1.
        eps: ε, in the squared unit of x; by default that of `like`, or 1e-5.
        shape: the sizes of the normalized axes, if the layer takes only certain sizes.
        named: further arguments for each call, such as `z=gate`. If one of them is a tensor with
            several axes, every trial input x has the shape of that tensor.

    Returns:
        A `Diagnosis`. If the layer is random, or fails on every input, the diagnosis says so.

    Raises:
        TypeError: the layer can't be called or has an unknown argument, `like` is neither a layer
            norm nor an RMSNorm, or something that should be numbers isn't.
        ValueError: `eps` is negative or not a number, or the shapes of two arrays don't fit
            together.

    Source: Singh, Gulwani & Solar-Lezama 2013, arXiv:1204.1751, for the search.

    >>> diagnose(lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)).slips
    ('Your variance divides by D − 1, as `var` and `std` do by default', 'ε is left out')
    """
    if eps is not None and (not isinstance(eps, Real) or eps < 0):
        raise ValueError(f"eps must be a number, 0 or greater, but {eps!r} was given.")
    pairs = (("weight", weight), ("bias", bias))
    given = {role: _tensor(role, p).double() for role, p in pairs if p is not None}
    is_numbers = isinstance(layer, Tensor | numpy.ndarray | list | tuple)
    if is_numbers and y is None:
        raise TypeError("To diagnose numbers, give two arrays: what went in, and what came out.")
    if is_numbers and named:
        raise TypeError(
            f"With two arrays, diagnose takes no further arguments, but got {spoken([*named])}."
        )
    if not is_numbers and y is not None:
        raise TypeError(
            "Give either one layer or two arrays, not a layer and an array: "
            f"the first is a {type(layer).__name__}."
        )
    with quiet():
        if is_numbers:
            x = _tensor("x", layer)
            return diagnose_arrays(x, _tensor("y", y), reference_like(like, eps, x.dtype), given)
        sizes = None if shape is None else shape_tuple(shape)
        return diagnose_layer(layer, reference_like(like, eps), given, sizes, named)


def _tensor(name: str, value: Any) -> Tensor:
    """Convert numbers to a floating-point tensor on the CPU, without a gradient."""
    try:
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(numpy.asarray(value))
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"{name} must be a tensor, an array, or lists of numbers, but the "
            f"{type(value).__name__} that was given isn't made of numbers."
        ) from None
    if tensor.is_complex():
        raise TypeError(f"{name} must hold real numbers, but its dtype is {tensor.dtype}.")
    tensor = tensor.detach().cpu()
    return tensor if tensor.is_floating_point() else tensor.double()
