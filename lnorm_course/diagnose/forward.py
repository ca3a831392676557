"""Layer norm written once, with a switch for everything that people do otherwise."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lnorm_course.diagnose.slip import Slip

__all__ = ["Axes", "Choice", "NormWithSlips", "combined", "share_of"]

Axes = int | tuple[int, ...]
Choice = Callable[[int, Axes], Axes]  # (number of axes of x, the right ones) -> other ones


@dataclass
class NormWithSlips:
    """Layer norm, step by step; every field is a switch, and its default is right.

    The methods take plain tensors of any shape. With a switch thrown they may raise whatever
    PyTorch raises for the code that a student would have written.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3, for the defaults.

    >>> x = torch.tensor([[1.0, 2.0, 6.0]])
    >>> NormWithSlips().variance(x), NormWithSlips(divisor=lambda size: size - 1).variance(x)
    (tensor([[4.6667]]), tensor([[7.]]))
    """

    # The mean, and what is done with it.
    mean_axes: Choice | None = None  # (axes of x, right ones) -> axes
    average: Callable = torch.mean  # (x, axes, keepdim)
    mean_keeps_axes: bool = True
    numerator: Callable = lambda x, mean: x - mean
    # The variance.
    inner_mean_axes: Choice | None = None
    inner_average: Callable = torch.mean
    inner_mean: Callable = lambda x, mean: x - mean
    squared: Callable = torch.square
    variance_axes: Choice | None = None
    variance_keeps_axes: bool = True
    divisor: Callable = lambda size: size
    own_variance: Callable | None = None  # (x, axes, keepdim) -> variance, in place of all that
    spread: Callable = lambda variance: variance
    # ε, the root, and the division.
    eps: Callable = lambda eps: eps
    denominator: Callable = lambda variance, eps, root: root(variance + eps)
    root: Callable = torch.sqrt
    quotient: Callable = lambda x, mean, numerator, denominator, eps: numerator / denominator
    times: int = 1
    # γ and β.
    gamma: Callable = lambda weight, bias: weight
    scaled: Callable = lambda x, gamma: x * gamma
    beta: Callable = lambda weight, bias: bias
    shifted: Callable = lambda x, beta: x + beta
    is_shifted_first: bool = False
    before: Callable | None = None  # (x, γ, β) -> what is normalized in place of x
    weighed: Callable | None = None  # (x, mean, γ) -> numerator, where γ comes in too early
    early: Callable | None = None  # what `quotient` takes and β -> quotient, where β is too early

    def mean(self, x: Tensor, axes: Axes = -1) -> Tensor:
        """Return the mean of `x` over the axes."""
        return self.average(x, _chosen(self.mean_axes, x, axes), self.mean_keeps_axes)

    def center(self, x: Tensor, axes: Axes = -1) -> Tensor:
        """Return `x` minus its mean."""
        return self.numerator(x, self.mean(x, axes))

    def variance(self, x: Tensor, axes: Axes = -1) -> Tensor:
        """Return the variance of `x` over the axes."""
        over = _chosen(self.variance_axes, x, axes)
        keep = self.variance_keeps_axes
        if self.own_variance:
            variance = self.own_variance(x, over, keep)
            size = share_of(x, variance)
            return self.spread(variance * (size / self.divisor(size)))
        inner = self.inner_average(x, _chosen(self.inner_mean_axes, x, axes), True)
        total = self.squared(self.inner_mean(x, inner)).sum(over, keep)
        size = share_of(x, total)
        return self.spread(total / self.divisor(size))

    def deviation(self, x: Tensor, axes: Axes = -1, eps: float = 0.0) -> Tensor:
        """Return what the distances are divided by: the root of variance plus ε."""
        return self.denominator(self.variance(x, axes), self.eps(eps), self.root)

    def standardize(self, x: Tensor, axes: Axes = -1, eps: float = 1e-5) -> Tensor:
        """Return x_hat."""
        for _ in range(self.times):
            mean, below = self.mean(x, axes), self.deviation(x, axes, eps)
            x = self.quotient(x, mean, self.numerator(x, mean), below, self.eps(eps))
        return x

    def affine(self, x_hat: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        """Return γ · x_hat + β, as far as γ and β are there."""
        y = x_hat
        for is_shift in (True, False) if self.is_shifted_first else (False, True):
            if is_shift and bias is not None:
                y = self.shifted(y, self.beta(weight, bias))
            if not is_shift and weight is not None:
                y = self.scaled(y, self.gamma(weight, bias))
        return y

    def layer_norm(
        self,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        axes: Axes = -1,
        eps: float = 1e-5,
    ) -> Tensor:
        """Return γ · x_hat + β for the x_hat of `x`."""
        if self.before:
            x = self.before(x, weight, bias)
        if self.weighed and weight is not None:
            above = partial(self.weighed, weight=weight)
            x_hat = replace(self, numerator=above).standardize(x, axes, eps)
            return self.affine(x_hat, weight, bias)
        if self.early and bias is not None:
            with_bias = partial(self.early, bias=bias)
            x_hat = replace(self, quotient=with_bias).standardize(x, axes, eps)
            return self.affine(x_hat, weight, bias)
        return self.affine(self.standardize(x, axes, eps), weight, bias)


def _chosen(axes: Callable | None, x: Tensor, right: Axes) -> Axes:
    return right if axes is None else axes(x.ndim, right)


def share_of(x: Tensor, reduced: Tensor) -> int:
    """Return how many numbers of `x` went into each of those that are left of it."""
    return x.numel() // max(1, reduced.numel())


def combined(*slips: Slip, model: Callable[..., Any] = NormWithSlips) -> Any:
    """Return a layer norm, or what else has switches, with all of these slips."""
    changes: dict[str, Any] = {}
    for slip in slips:
        changes |= slip.changes
    return model(**changes)
