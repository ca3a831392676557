"""RMSNorm and weight norm with slips, for the same search as layer norm.

Both are layer norm with a few steps left out, so its switches are theirs. Their sentences are their
own, because there is no mean to subtract and no variance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from lnorm_course.diagnose.forward import NormWithSlips
from lnorm_course.diagnose.layout import Layout
from lnorm_course.diagnose.slip import Slip
from lnorm_course.slips.beliefs import Belief

__all__ = ["RMS_NORM", "WEIGHT_NORM", "RMSNormWithSlips", "WeightNormWithSlips"]


def _as_it_is(x: Tensor, mean: Tensor) -> Tensor:
    return x


def _centered(x: Tensor, mean: Tensor) -> Tensor:
    return x - mean


@dataclass
class RMSNormWithSlips(NormWithSlips):
    """RMSNorm, step by step: layer norm that subtracts no mean, above the root and inside it.

    Source: `torch.nn.functional.rms_norm`, for the defaults.

    >>> RMSNormWithSlips().standardize(torch.tensor([1.0, 1.0, 7.0, 7.0]), eps=0.0)
    tensor([0.2000, 0.2000, 1.4000, 1.4000])
    """

    numerator: Callable = _as_it_is
    inner_mean: Callable = _as_it_is


@dataclass
class WeightNormWithSlips(RMSNormWithSlips):
    """A layer whose weight vectors are divided by their lengths, step by step.

    Source: `torch.nn.utils.parametrizations.weight_norm` with g = 1, for the defaults.

    >>> WeightNormWithSlips().layer(torch.tensor([[1.0, 1.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[1.4000]])
    """

    divisor: Callable = lambda size: 1
    eps: Callable = lambda eps: 0.0
    points: Callable = lambda x: x
    outputs: Callable = lambda y: y

    def layer(self, x: Tensor, matrix: Tensor) -> Tensor:
        """Return the outputs for points `x` and a matrix with one row for each output."""
        return self.outputs(self.points(x) @ self.standardize(matrix).T)


def _over(*axes: int) -> dict[str, Any]:
    """Let both means run over other axes."""
    switches = ("mean_axes", "inner_mean_axes", "variance_axes")
    return dict.fromkeys(switches, lambda ndim, right: axes)


def _without_eps(square: Tensor, eps: float, root: Callable) -> Tensor:
    return root(square)


def _outside(square: Tensor, eps: float, root: Callable) -> Tensor:
    return root(square) + eps


def _one_less(size: int) -> int:
    return size - 1


def _itself(numbers: Tensor) -> Tensor:
    return numbers


INSIDE = "adds ε to the mean of the squares, inside the root"
NO_MEAN = "subtracts no mean, neither from the row nor inside the root"

# The likeliest first.
RMS_SLIPS = (
    Slip(
        "that's layer norm",
        NO_MEAN,
        {"numerator": _centered, "inner_mean": _centered},
    ),
    Slip("you subtracted the mean of the row", "only divides", {"numerator": _centered}),
    Slip(
        "you divided by the standard deviation",
        "squares the features themselves, and not their distances from the mean",
        {"inner_mean": _centered},
    ),
    Slip("you left out ε", INSIDE, {"denominator": _without_eps}),
    Slip(
        "you added ε outside the root",
        INSIDE,
        {"denominator": _outside},
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    *(
        Slip(f"your ε is {words}", "takes the ε that your function is given", {"eps": number})
        for words, number in (
            ("1e-5", lambda eps: 1e-5),
            ("1e-6", lambda eps: 1e-6),
            ("1e-8", lambda eps: 1e-8),
        )
    ),
    Slip("your ε is squared", "adds ε as it is", {"eps": lambda eps: eps**2}),
    Slip(
        "you subtracted ε",
        "adds it",
        {"denominator": lambda square, eps, root: root(square - eps)},
    ),
    Slip(
        "you added ε twice, inside the root and outside",
        "adds it once, inside",
        {"denominator": lambda square, eps, root: root(square + eps) + eps},
    ),
    Slip(
        "a mean square below ε is raised to ε",
        INSIDE,
        {"denominator": lambda square, eps, root: root(square.clamp(min=eps))},
    ),
    Slip(
        "a root below ε is raised to ε",
        INSIDE,
        {"denominator": lambda square, eps, root: root(square).clamp(min=eps)},
    ),
    Slip(
        "you added ε to the quotient",
        INSIDE,
        {
            "denominator": _without_eps,
            "quotient": lambda x, mean, above, below, eps: above / below + eps,
        },
    ),
    Slip(
        "you took the roots of the mean square and of ε apart",
        "takes one root, of their sum",
        {"denominator": lambda square, eps, root: root(square) + eps**0.5},
    ),
    Slip(
        "you multiplied by the root",
        "divides by it",
        {"quotient": lambda x, mean, above, below, eps: above * below},
    ),
    Slip(
        "you returned the root",
        "divides the row by it",
        {"quotient": lambda x, mean, above, below, eps: below},
    ),
    Slip(
        "you took the sum of the squares",
        "takes their mean, so it divides by {D}",
        {"divisor": lambda size: 1},
    ),
    Slip(
        "you divided the sum of the squares by {D} − 1",
        "divides it by {D}",
        {"divisor": _one_less},
        Belief.VARIANCE_OVER_D_MINUS_1,
    ),
    Slip("you left out the root", "takes it", {"root": _itself}),
    Slip(
        "your root is half of the mean square",
        "takes the root",
        {"root": lambda square: square / 2},
        detail="because Python reads `a ** 1/2` as `(a ** 1) / 2`",
    ),
    Slip(
        "you took the mean of the absolute values",
        "takes the root of the mean of the squares",
        {"squared": torch.abs, "root": _itself},
    ),
    Slip(
        "you averaged the absolute values",
        "averages the squares",
        {"squared": torch.abs},
        detail="and took the root of that",
    ),
    Slip(
        "you squared the mean",
        "squares the features first, and then takes the mean",
        {"inner_mean": lambda x, mean: mean.expand_as(x)},
    ),
    Slip(
        "your mean has lost its axis",
        "keeps it, with size 1 (`keepdim=True`)",
        {"variance_keeps_axes": False},
        detail="so PyTorch lines the roots up with the features",
    ),
    Slip(
        "you averaged over the points",
        "takes a root for each row (`dim=-1`)",
        _over(0),
        Belief.OVER_THE_BATCH,
    ),
    Slip(
        "you divided by one root for the whole tensor",
        "takes one for each row (`dim=-1`)",
        _over(0, 1),
    ),
    Slip(
        "you divided by the length of each row, and added no ε",
        "divides the sum of the squares by {D} first, and then adds ε",
        {"divisor": lambda size: 1, "denominator": _without_eps},
    ),
    Slip(
        "that's a layer norm, with {D} − 1 in its variance and ε outside the root",
        NO_MEAN,
        {
            "numerator": _centered,
            "inner_mean": _centered,
            "divisor": _one_less,
            "denominator": _outside,
        },
    ),
    Slip(
        "you divided by what `std` returns, plus ε",
        "subtracts no mean inside the root, and adds ε under it",
        {"inner_mean": _centered, "divisor": _one_less, "denominator": _outside},
    ),
)

WEIGHT_SLIPS = (
    Slip(
        "you divided by the lengths of the columns",
        "divides each row of W by its length, as the weights of one output are a row (`dim=1`)",
        _over(0),
    ),
    Slip(
        "your lengths have lost their axis",
        "keeps it, with size 1 (`keepdim=True`)",
        {"variance_keeps_axes": False},
        detail="so PyTorch lines them up with the columns of W",
    ),
    Slip(
        "you divided by one length for the whole matrix",
        "gives the weight vector of each output a length of its own",
        _over(0, 1),
    ),
    Slip(
        "you divided by the sum of the squares",
        "divides by the length, which is the root of it",
        {"root": _itself},
    ),
    Slip(
        "you divided by the root of the mean of the squares",
        "divides by the length, which is the root of their sum",
        {"divisor": lambda size: size},
    ),
    Slip(
        "you divided by the sum of the absolute values",
        "divides by the length, which is the root of the sum of the squares",
        {"squared": torch.abs, "root": _itself},
    ),
    Slip(
        "you divided by the largest size of a weight",
        "divides by the length, which is the root of the sum of the squares",
        {"quotient": lambda x, mean, above, below, eps: x / x.abs().amax(1, True)},
    ),
    Slip(
        "you subtracted the mean of each weight vector too",
        "only divides",
        {"numerator": _centered, "inner_mean": _centered},
    ),
    Slip(
        "you subtracted the mean of each weight vector, and divided by its length as it was",
        "only divides",
        {"numerator": _centered},
    ),
    Slip(
        "you standardized each weight vector, as layer norm does with a row",
        "subtracts nothing, and divides by the length",
        {
            "numerator": _centered,
            "inner_mean": _centered,
            "divisor": lambda size: size,
            "eps": lambda eps: eps,
        },
    ),
    Slip(
        "you added 1e-5 to the lengths",
        "divides by the length itself",
        {"eps": lambda eps: eps, "denominator": _outside},
    ),
    Slip(
        "you added 1e-5 to the sum of the squares",
        "divides by the length itself",
        {"eps": lambda eps: eps},
    ),
    Slip(
        "you multiplied by the lengths",
        "divides by them",
        {"quotient": lambda x, mean, above, below, eps: above * below},
    ),
    Slip(
        "that's the layer without a norm",
        "divides each weight vector by its length first",
        {"quotient": lambda x, mean, above, below, eps: x},
    ),
    Slip(
        "you divided the outputs by their length too",
        "divides the weights, and leaves the outputs as they are",
        {"outputs": torch.nn.functional.normalize},
    ),
    Slip(
        "you divided the points by their lengths as well",
        "leaves them as they are",
        {"points": torch.nn.functional.normalize},
    ),
    Slip(
        "you divided the outputs by their length",
        "divides the weights, and doesn't look at the points",
        {
            "outputs": torch.nn.functional.normalize,
            "quotient": lambda x, mean, above, below, eps: x,
        },
    ),
    Slip(
        "you divided the points by their lengths",
        "leaves them as they are, and divides the weight vectors",
        {
            "points": torch.nn.functional.normalize,
            "quotient": lambda x, mean, above, below, eps: x,
        },
    ),
    Slip(
        "that's layer norm, of the outputs",
        "looks at the weights only",
        {
            "outputs": lambda y: NormWithSlips().standardize(y),
            "quotient": lambda x, mean, above, below, eps: x,
        },
    ),
    Slip(
        "you took the layer norm of the outputs as well",
        "leaves them as they are",
        {"outputs": lambda y: NormWithSlips().standardize(y)},
    ),
)


@dataclass(frozen=True)
class _RMSNorm(Layout):
    model: ClassVar[Callable[..., Any]] = RMSNormWithSlips
    slips: ClassVar[tuple[Slip, ...]] = RMS_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = ()


@dataclass(frozen=True)
class _WeightNorm(Layout):
    model: ClassVar[Callable[..., Any]] = WeightNormWithSlips
    slips: ClassVar[tuple[Slip, ...]] = WEIGHT_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = ()


RMS_NORM = _RMSNorm(("the points", "the features"), (1,), name="RMSNorm")
WEIGHT_NORM = _WeightNorm(("the outputs", "the inputs"), (1,), name="Weight norm")
