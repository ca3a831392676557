"""The backward pass of layer normalization, step by step, in operations that autograd can follow.

g is the gradient of a loss with respect to y. For float16 and bfloat16 tensors,
the intermediate results are float32, as are the statistics of the forward pass.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnorm_utils.functional import (
    Sizes,
    at_least_float32,
    layer_norm,
    layer_norm_steps,
    mean,
    shape_tuple,
)

__all__ = ["LayerNormFunction", "LayerNormGradients", "layer_norm_backward"]


class LayerNormGradients(NamedTuple):
    """All intermediate results of the backward pass, in the order in which they are computed.

    `g_mean` and `g_slope` keep the normalized axes with size 1. Without ε, they are the intercept
    and the slope of the straight line that fits `g_hat` best, as a function of `x_hat`.
    `layer_norm_backward` lists the shape and dtype of each result.

    >>> gradients = layer_norm_backward(torch.ones(2, 3, 4), torch.ones(2, 3, 4), 4)
    >>> [tuple(each.shape) for each in gradients]
    [(2, 3, 4), (2, 3, 1), (2, 3, 1), (2, 3, 4), (4,), (4,)]
    """

    g_hat: Tensor
    g_mean: Tensor
    g_slope: Tensor
    dx: Tensor
    dweight: Tensor
    dbias: Tensor


def layer_norm_backward(
    g: Tensor,
    x: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    eps: float = 1e-5,
) -> LayerNormGradients:
    """Backpropagate a gradient through a layer norm: dx = rstd · (ĝ − mean(ĝ) − x̂ · mean(ĝ · x̂)).

    ĝ = weight · g is the gradient at x̂. The means are taken over the normalized axes. Each row also
    contributes to the gradients that all rows share: dweight = Σ g · x̂ and dbias = Σ g, summed over
    all rows.

    Args:
        g: the gradient at y, of the shape and dtype of `x`, in the unit of the loss per unit of y.
        x: the input of the layer norm, floating-point, of shape (*, *normalized_shape).
        normalized_shape: the sizes of the last axes, whose numbers share one mean and variance.
        weight: γ, of shape `normalized_shape`; 1 if it's left out.
        eps: ε ≥ 0, which was added to the variance under the square root, in the squared unit of
            `x`.

    Returns:
        `g_hat` = weight · g, of the shape of `x`; `g_mean` = mean(ĝ) and `g_slope` = mean(ĝ · x̂),
        of shape (*, 1, …, 1); `dx`, of the shape and dtype of `x`; `dweight` and `dbias`, of shape
        `normalized_shape`, even if γ or β is left out. These last two have the dtype of
        `weight`, or that of `x` if there's no `weight`, and can overflow in float16.

    Raises:
        ValueError: `g` doesn't have the shape of `x`. `layer_norm_steps` may raise other errors.

    Source: derived from Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4. The numbers
    equal those of autograd through `torch.nn.functional.layer_norm`, up to rounding.

    >>> x, g = torch.tensor([[4.0, 4.0, 10.0, 10.0]]), torch.tensor([[6.0, 0.0, 0.0, 12.0]])
    >>> layer_norm_backward(g, x, 4, eps=0.0).dx
    tensor([[ 1., -1., -2.,  2.]])
    """
    shape = shape_tuple(normalized_shape)
    axes = tuple(range(-len(shape), 0))
    steps = layer_norm_steps(x, shape, weight, eps=eps)
    if g.shape != x.shape:
        raise ValueError(
            f"g must have the shape of x, {tuple(x.shape)}, but it has {tuple(g.shape)}."
        )
    upstream = at_least_float32(g, "g")
    g_hat = upstream if weight is None else upstream * weight
    g_mean = mean(g_hat, axes)
    g_slope = mean(g_hat * steps.x_hat, axes)
    dx = steps.rstd * (g_hat - g_mean - steps.x_hat * g_slope)
    dtype = x.dtype if weight is None else weight.dtype
    dweight = (upstream * steps.x_hat).sum_to_size(shape).to(dtype)
    dbias = upstream.sum_to_size(shape).to(dtype)
    return LayerNormGradients(g_hat, g_mean, g_slope, dx.to(x.dtype), dweight, dbias)


class LayerNormFunction(torch.autograd.Function):
    """Layer norm with its own backward pass: `apply(x, normalized_shape, weight, bias, eps)`.

    It saves x instead of x̂, and recomputes x̂ in the backward pass. So x̂ stays a function of x, and
    the second derivatives are right as well. If it saved x̂ and rstd, autograd couldn't see in
    the backward pass that they depend on x, and would treat them as constants: `gradcheck` would
    pass, and `gradgradcheck` would fail.

    Args:
        x, normalized_shape, weight, bias, eps: those of `lnorm_utils.layer_norm`; `weight` and
            `bias` may be None.

    Raises:
        TypeError, ValueError: as in `lnorm_utils.layer_norm`.

    Source: PyTorch, "Extending torch.autograd", for the form.

    >>> x = torch.tensor([[4.0, 4.0, 10.0, 10.0]], requires_grad=True)
    >>> LayerNormFunction.apply(x, 4, None, None, 0.0).sum().backward()
    >>> x.grad
    tensor([[0., 0., 0., 0.]])
    """

    @staticmethod
    def forward(
        x: Tensor,
        normalized_shape: Sizes,
        weight: Tensor | None,
        bias: Tensor | None,
        eps: float,
    ) -> Tensor:
        """Return y = weight · x̂ + bias."""
        return layer_norm(x, normalized_shape, weight, bias, eps)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:
        """Save what the backward pass needs."""
        x, ctx.normalized_shape, weight, bias, ctx.eps = inputs
        ctx.save_for_backward(x, weight)
        ctx.bias_dtype = None if bias is None else bias.dtype

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient for each argument, or None for an argument that has none."""
        (x, weight), (g,) = ctx.saved_tensors, gradients
        found = layer_norm_backward(g, x, ctx.normalized_shape, weight, ctx.eps)
        dweight = None if weight is None else found.dweight
        dbias = None if ctx.bias_dtype is None else found.dbias.to(ctx.bias_dtype)
        return found.dx, None, dweight, dbias, None
