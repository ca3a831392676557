"""The way from y back to x with slips, for the same search as layer norm."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.layout import Layout
from lnorm_course.slips.slip import Slip

__all__ = ["WAY_BACK", "WayBackWithSlips"]


@dataclass
class WayBackWithSlips:
    """The four operations of layer norm undone; every field is a switch, and its default is right.

    >>> import torch
    >>> y, gamma, beta = torch.tensor([[5.0, 3.0], [2.0, 1.0], [1.0, 4.0]])
    >>> WayBackWithSlips().undo(y, gamma, beta, torch.tensor([10.0]), torch.tensor([3.0]))
    tensor([16.,  7.])
    """

    # What takes the place of γ, β, the mean, and the root.
    gamma: Callable = lambda weight, bias: weight
    beta: Callable = lambda weight, bias: bias
    mean: Callable = lambda mean, root: mean
    root: Callable = lambda mean, root: root
    # The four operations, and their order.
    without_beta: Callable = lambda y, beta: y - beta
    without_gamma: Callable = lambda y, gamma: y / gamma
    with_root: Callable = lambda x_hat, root: x_hat * root
    with_mean: Callable = lambda x, mean: x + mean
    is_gamma_first: bool = False
    is_mean_first: bool = False
    is_row_first: bool = False
    in_brackets: str = "y − β"  # or, without brackets there, "β / γ", or "nothing"

    def undo(self, y: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, root: Tensor) -> Tensor:
        """Return the x whose layer norm is `y`, from the mean and the root of its rows."""
        gamma, beta = self.gamma(weight, bias), self.beta(weight, bias)
        own_mean, own_root = self.mean(mean, root), self.root(mean, root)
        affine = [(self.without_beta, beta), (self.without_gamma, gamma)]
        row = [(self.with_root, own_root), (self.with_mean, own_mean)]
        if self.in_brackets != "y − β":
            beta = self.without_gamma(beta, gamma)
            if self.in_brackets == "nothing":
                beta, row = self.with_root(beta, own_root), row[1:]
            affine = [(self.without_beta, beta)]
        affine = affine[::-1] if self.is_gamma_first else affine
        row = row[::-1] if self.is_mean_first else row
        for operation, number in [*row, *affine] if self.is_row_first else [*affine, *row]:
            y = operation(y, number)
        return y


def _left_out(numbers: Tensor, other: Tensor) -> Tensor:
    return numbers


def _times(numbers: Tensor, other: Tensor) -> Tensor:
    return numbers * other


def _plus(numbers: Tensor, other: Tensor) -> Tensor:
    return numbers + other


def _minus(numbers: Tensor, other: Tensor) -> Tensor:
    return numbers - other


def _over(numbers: Tensor, other: Tensor) -> Tensor:
    return numbers / other


# The likeliest first.
WAY_BACK_SLIPS = (
    Slip(
        "you undid γ and β only",
        "also needs each row's own root and mean",
        {"with_root": _left_out, "with_mean": _left_out},
        Belief.NOTHING_IS_LOST,
    ),
    Slip(
        "you used root and mean on y itself",
        "undoes γ and β first, because they came last",
        {"without_beta": _left_out, "without_gamma": _left_out},
    ),
    Slip(
        "you took y through layer norm once more",
        "reverses each of the four operations",
        {
            "is_row_first": True,
            "is_mean_first": True,
            "with_mean": _minus,
            "with_root": _over,
            "is_gamma_first": True,
            "without_gamma": _times,
            "without_beta": _plus,
        },
    ),
    Slip(
        "you undid the root and the mean first",
        "undoes them last, because they came first",
        {"is_row_first": True},
    ),
    Slip(
        "only β is divided by γ and multiplied by the root",
        "has y − β in brackets",
        {"in_brackets": "nothing"},
    ),
    Slip(
        "only β is divided by γ",
        "has y − β in brackets",
        {"in_brackets": "β / γ"},
    ),
    Slip(
        "you divided by γ before you subtracted β",
        "undoes β first, because it came last",
        {"is_gamma_first": True},
    ),
    Slip(
        "you multiplied by γ",
        "divides by γ, because layer norm multiplied by it",
        {"without_gamma": _times},
    ),
    Slip(
        "you divided by the root",
        "multiplies by the root, because layer norm divided by it",
        {"with_root": _over},
    ),
    Slip(
        "you added the mean first, so the root multiplied it too",
        "adds it last",
        {"is_mean_first": True},
    ),
    Slip("the mean is missing", "adds it last", {"with_mean": _left_out}),
    Slip(
        "the root is missing", "multiplies by it before it adds the mean", {"with_root": _left_out}
    ),
    Slip("γ is missing", "divides by it once β is subtracted", {"without_gamma": _left_out}),
    Slip("β is missing", "subtracts it first", {"without_beta": _left_out}),
    Slip("you added β", "subtracts it, because layer norm added it", {"without_beta": _plus}),
    Slip(
        "you subtracted the mean",
        "adds it, because layer norm subtracted it",
        {"with_mean": _minus},
    ),
    Slip(
        "you multiplied by γ and added β once more",
        "subtracts β, then divides by γ, to undo them",
        {"is_gamma_first": True, "without_gamma": _times, "without_beta": _plus},
    ),
    Slip(
        "you multiplied y by γ and added β once more, and did nothing else",
        "undoes all four operations",
        {
            "is_gamma_first": True,
            "without_gamma": _times,
            "without_beta": _plus,
            "with_root": _left_out,
            "with_mean": _left_out,
        },
    ),
    Slip(
        "you swapped γ and β",
        "subtracts β, which is `bias`, then divides by γ, which is `weight`",
        {"gamma": lambda weight, bias: bias, "beta": lambda weight, bias: weight},
    ),
    Slip(
        "you swapped the mean and the root",
        "multiplies by the root, then adds the mean",
        {"mean": lambda mean, root: root, "root": lambda mean, root: mean},
    ),
    Slip(
        "you added ε to the root",
        "takes the root as it is, because ε is in there already",
        {"root": lambda mean, root: root + 1e-5},
    ),
    Slip(
        "you squared the root",
        "multiplies by the root as it is",
        {"root": lambda mean, root: root.square()},
    ),
    Slip(
        "you took the root once more",
        "multiplies by the root as it is",
        {"root": lambda mean, root: root.sqrt()},
    ),
)


@dataclass(frozen=True)
class _WayBack(Layout):
    model: ClassVar[Callable[..., Any]] = WayBackWithSlips
    slips: ClassVar[tuple[Slip, ...]] = WAY_BACK_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = ()


WAY_BACK = _WayBack(("the points", "the positions", "the features"), (2,), name="The way back")
