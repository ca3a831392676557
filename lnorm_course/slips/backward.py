"""The backward pass of layer norm with slips, for the same search as the forward pass.

As there, it's written once, with a switch for everything that people do otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.forward import Axes, Choice
from lnorm_course.slips.layout import SENTENCES, Layout
from lnorm_course.slips.slip import Slip

__all__ = ["BACKWARD", "BACKWARD_SLIPS", "BackwardLayout", "BackwardWithSlips"]


@dataclass
class BackwardWithSlips:
    """The gradient at x, step by step; every field is a switch, and its default is right.

    Source: `lnorm_utils.backward.layer_norm_backward`, for the defaults.

    >>> g, x_hat = torch.tensor([6.0, 0.0, 0.0, 12.0]), torch.tensor([-1.0, -1.0, 1.0, 1.0])
    >>> BackwardWithSlips().gradient(g, x_hat, torch.tensor([1 / 3]), torch.ones(4))
    tensor([ 1., -1., -2.,  2.])
    """

    # ĝ, and what the two means are taken of.
    weighted: Callable = lambda g, weight: g * weight
    averaged: Callable = lambda g, g_hat: g_hat
    multiplied: Callable = lambda g, g_hat: g_hat
    product: Callable = lambda g_hat, x_hat: g_hat * x_hat
    # The mean of ĝ, and that of ĝ · x̂, which is the slope.
    mean_axes: Choice | None = None  # (axes of x, right ones) -> axes
    mean_of: Callable = torch.mean  # (x, axes, keepdim)
    mean_keeps_axes: bool = True
    slope_axes: Choice | None = None
    slope_of: Callable = torch.mean
    slope_keeps_axes: bool = True
    # What is done with them.
    without_mean: Callable = lambda g_hat, mean: g_hat - mean
    line: Callable = lambda x_hat, slope: x_hat * slope
    without_line: Callable = lambda rest, line: rest - line
    scaled: Callable = lambda g_hat, rest, rstd: rstd * rest
    result: Callable = lambda dx, weight: dx

    def gradient(
        self, g: Tensor, x_hat: Tensor, rstd: Tensor, weight: Tensor, axes: Axes = -1
    ) -> Tensor:
        """Return the gradient at x, from the gradient `g` at y."""
        g_hat = self.weighted(g, weight)
        averaged, multiplied = self.averaged(g, g_hat), self.multiplied(g, g_hat)
        mean = self.mean_of(averaged, _chosen(self.mean_axes, g, axes), self.mean_keeps_axes)
        product = self.product(multiplied, x_hat)
        slope = self.slope_of(product, _chosen(self.slope_axes, g, axes), self.slope_keeps_axes)
        rest = self.without_line(self.without_mean(g_hat, mean), self.line(x_hat, slope))
        return self.result(self.scaled(g_hat, rest, rstd), weight)


def _chosen(axes: Choice | None, x: Tensor, right: Axes) -> Axes:
    return right if axes is None else axes(x.ndim, right)


def _over_one_less(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    total = x.sum(axes, keep)
    return total / (x.numel() // max(1, total.numel()) - 1)


def _unweighted(g: Tensor, g_hat: Tensor) -> Tensor:
    return g


KEPT = "keeps the axis that it averages over, with size 1 (`keepdim=True`)"
EACH_MEAN = "takes means, and a mean divides the sum by {D}"
BOTH = "subtracts mean(ĝ) and x̂ · mean(ĝ · x̂) from ĝ"

# The likeliest first.
BACKWARD_SLIPS = (
    Slip(
        "you treated the mean and the variance as constants",
        BOTH,
        {"without_mean": lambda g_hat, mean: g_hat, "without_line": lambda rest, line: rest},
        Belief.STATISTICS_ARE_CONSTANTS,
    ),
    Slip(
        "you treated the variance as a constant",
        "also subtracts x̂ · mean(ĝ · x̂) (mean(ĝ) · mean(x̂) would be 0)",
        {"without_line": lambda rest, line: rest},
        Belief.STATISTICS_ARE_CONSTANTS,
    ),
    Slip(
        "you treated the mean as a constant",
        "also subtracts mean(ĝ)",
        {"without_mean": lambda g_hat, mean: g_hat},
        Belief.STATISTICS_ARE_CONSTANTS,
    ),
    Slip(
        "γ is left out",
        "multiplies g by γ first, to get ĝ",
        {"weighted": lambda g, weight: g},
    ),
    Slip(
        "γ comes last",
        "multiplies g by γ first, because both means are taken of ĝ = γ · g",
        {"weighted": lambda g, weight: g, "result": lambda dx, weight: dx * weight},
    ),
    Slip(
        "your means are taken of g",
        "takes both means of ĝ = γ · g",
        {"averaged": _unweighted, "multiplied": _unweighted},
    ),
    Slip(
        "your first mean is taken of g",
        "takes it of ĝ = γ · g",
        {"averaged": _unweighted},
    ),
    Slip(
        "your second mean is taken of g · x̂",
        "takes it of ĝ · x̂, with ĝ = γ · g",
        {"multiplied": _unweighted},
    ),
    Slip(
        "both of your means are sums",
        EACH_MEAN,
        {"mean_of": torch.sum, "slope_of": torch.sum},
        detail="and aren't divided by anything",
    ),
    Slip(
        "both of your means are sums, and the whole is divided by {D}",
        "multiplies ĝ by {D} where it divides the whole",
        {
            "mean_of": torch.sum,
            "slope_of": torch.sum,
            "scaled": lambda g_hat, rest, rstd: rstd * rest / g_hat.shape[-1],
        },
    ),
    Slip("your mean of ĝ is a sum", EACH_MEAN, {"mean_of": torch.sum}),
    Slip("your mean of ĝ · x̂ is a sum", EACH_MEAN, {"slope_of": torch.sum}),
    Slip(
        "your means divide by {D} − 1",
        "divides both sums by {D}",
        {"mean_of": _over_one_less, "slope_of": _over_one_less},
        Belief.VARIANCE_OVER_D_MINUS_1,
    ),
    Slip(
        "your mean of ĝ · x̂ divides by {D} − 1",
        "divides both sums by {D}",
        {"slope_of": _over_one_less},
        Belief.VARIANCE_OVER_D_MINUS_1,
    ),
    Slip(
        "your mean of ĝ has lost its axis",
        KEPT,
        {"mean_keeps_axes": False},
    ),
    Slip(
        "your mean of ĝ · x̂ has lost its axis",
        KEPT,
        {"slope_keeps_axes": False},
    ),
    Slip(
        "both of your means have lost their axis",
        KEPT,
        {"mean_keeps_axes": False, "slope_keeps_axes": False},
    ),
    Slip(
        "the second mean is taken of ĝ alone",
        "multiplies ĝ by x̂ before it takes that mean",
        {"product": lambda g_hat, x_hat: g_hat},
    ),
    Slip(
        "you subtracted mean(ĝ · x̂) without multiplying it by x̂",
        "multiplies this mean by x̂ before it subtracts",
        {"line": lambda x_hat, slope: slope},
    ),
    Slip(
        "you added x̂ · mean(ĝ · x̂)",
        "subtracts it",
        {"without_line": lambda rest, line: rest + line},
    ),
    Slip(
        "you added mean(ĝ)",
        "subtracts it",
        {"without_mean": lambda g_hat, mean: g_hat + mean},
    ),
    Slip(
        "you added both means",
        BOTH,
        {
            "without_mean": lambda g_hat, mean: g_hat + mean,
            "without_line": lambda rest, line: rest + line,
        },
    ),
    Slip(
        "your result isn't multiplied by `rstd`",
        "multiplies by `rstd`",
        {"scaled": lambda g_hat, rest, rstd: rest},
        detail="which is 1/σ",
    ),
    Slip(
        "you divided by `rstd`",
        "multiplies by `rstd`",
        {"scaled": lambda g_hat, rest, rstd: rest / rstd},
        Belief.LARGE_INPUT_LARGE_GRADIENT,
        "which is 1/σ",
    ),
    Slip(
        "you multiplied by `rstd` twice",
        "multiplies by `rstd` once",
        {"scaled": lambda g_hat, rest, rstd: rest * rstd**2},
    ),
    Slip(
        "only ĝ is multiplied by `rstd`",
        "multiplies the whole difference",
        {"scaled": lambda g_hat, rest, rstd: rstd * g_hat - (g_hat - rest)},
        detail="because the difference has no parentheses around it",
    ),
    Slip(
        "you divided by γ",
        "multiplies g by γ",
        {"weighted": lambda g, weight: g / weight},
    ),
    Slip(
        "you multiplied by γ twice",
        "multiplies g by γ once",
        {"weighted": lambda g, weight: g * weight**2},
    ),
    Slip(
        "the signs are flipped",
        BOTH,
        {"scaled": lambda g_hat, rest, rstd: -rstd * rest},
    ),
)


@dataclass(frozen=True)
class BackwardLayout(Layout):
    """The axes of a gradient, and those that both means of the backward pass run over."""

    name: str = "The backward pass"
    model: ClassVar[Callable[..., Any]] = BackwardWithSlips
    slips: ClassVar[tuple[Slip, ...]] = BACKWARD_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
        ("both of your means run", "averages", ("mean_axes", "slope_axes")),
        ("your mean of ĝ runs", "takes it", ("mean_axes",)),
        ("your mean of ĝ · x̂ runs", "takes it", ("slope_axes",)),
    )


BACKWARD = BackwardLayout(SENTENCES.axes, SENTENCES.right, SENTENCES.beliefs)
