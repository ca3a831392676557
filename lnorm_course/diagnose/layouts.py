"""The norms that a layer may be compared with, and the slips of each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from lnorm_course.diagnose.forward import Choice, NormWithSlips
from lnorm_course.diagnose.layout import LastAxes, Layout
from lnorm_course.diagnose.own_slips import OWN
from lnorm_course.diagnose.rare_slips import RARE
from lnorm_course.diagnose.slip import Slip
from lnorm_course.slips.beliefs import Belief

__all__ = [
    "AS_BATCH_NORM_IN_EVAL",
    "ChannelLayout",
    "LastLayout",
    "groups_of_features",
    "other_groups",
    "residual",
    "skipping",
    "subtracting_behind",
]

DEFAULT = NormWithSlips()
POWERS = (2, 4, 8, 16, 32)
CENTERED = Slip(
    "the mean is subtracted, so this is layer norm",
    "subtracts no mean: it divides by the root of the mean of the squares",
    {"numerator": DEFAULT.numerator, "inner_mean": DEFAULT.inner_mean},
)
AS_BATCH_NORM_IN_EVAL = Slip(
    "it takes the mean and the variance of the batch, as in `train`",
    "takes its running mean and variance in `eval`",
    {"average": DEFAULT.average, "spread": DEFAULT.spread},
)


@dataclass(frozen=True)
class LastLayout(LastAxes):
    """The layout of a layer that normalizes the last axes.

    Args:
        more: slips that depend on the sizes.
    """

    slips: ClassVar[tuple[Slip, ...]] = (CENTERED, *OWN)
    more: tuple[Slip, ...] = ()

    def words(self, axes: tuple[int, ...]) -> str:
        """Name the normalized axes."""
        return "the last axis" if len(self.right) == 1 else f"the last {len(self.right)} axes"

    def others(self) -> Iterator[tuple[str, Choice, Belief | None]]:
        """Yield the wrong choices of axes of any module, and one more."""
        yield from super().others()
        yield "the axis before the last", lambda ndim, right: -2, None

    def all_slips(self) -> list[Slip]:
        """Return all slips, the likeliest first."""
        return [*super().all_slips(), *self.more, *RARE]

    def in_its_letters(self, text: str) -> str:
        """Put the words of RMSNorm in place of those of layer norm, where they are needed."""
        text = super().in_its_letters(text)
        if self.name == "RMSNorm":
            for the in ("the", "your", "The", "Your"):
                text = text.replace(f"{the} variance", f"{the} mean square")
        return text


@dataclass(frozen=True)
class ChannelLayout(Layout):
    """The layout of group, instance, and batch norm: (batch, channels, places).

    Args:
        more: slips that depend on the sizes.
    """

    slips: ClassVar[tuple[Slip, ...]] = (*OWN, AS_BATCH_NORM_IN_EVAL)
    more: tuple[Slip, ...] = ()

    def all_slips(self) -> list[Slip]:
        """Return all slips, the likeliest first."""
        return [*super().all_slips(), *self.more, *RARE]


def residual(run: Callable) -> Callable:
    """Return a mistake: the input is added.

    Args:
        run: (norm, x, weight, bias, eps) -> what the reference gives with this norm.
    """

    def added(norm: NormWithSlips, x: Tensor, *rest: object) -> Tensor:
        """The input is added to the normalized numbers, as around a residual branch."""
        return x + run(norm, x, *rest)

    return added


def subtracting_behind(run: Callable) -> Callable:
    """Return a mistake: the mean is subtracted behind the division; for `run` see `residual`."""

    def subtracted(norm: NormWithSlips, x: Tensor, *rest: object) -> Tensor:
        """The mean is subtracted at the end, where it isn't divided and γ doesn't multiply it."""
        undivided = replace(norm, numerator=lambda x, mean: x)
        return run(undivided, x, *rest) - x.mean(-1, keepdim=True)

    return subtracted


def skipping(run: Callable) -> list[Callable]:
    """Return the mistakes of a loop that leaves out one feature; for `run` see `residual`."""

    def left(index: int, words: str, otherwise: Callable, stays: str) -> Callable:
        def skipped(norm: NormWithSlips, x: Tensor, *rest: object) -> Tensor:
            y = run(norm, x, *rest).clone()
            y[..., index] = otherwise(x[..., index])
            return y

        skipped.__doc__ = f"The {words} feature is skipped and {stays}."
        return skipped

    return [
        left(index, words, otherwise, stays)
        for index, words in ((0, "first"), (-1, "last"))
        for otherwise, stays in (
            (lambda feature: feature, "comes out as it was"),
            (torch.zeros_like, "comes out as 0"),
        )
    ]


def groups_of_features(size: int) -> tuple[Slip, ...]:
    """Return the slips of normalizing parts of the last axis."""
    return tuple(
        Slip(
            f"the features are normalized in {groups} groups, as in group norm",
            "normalizes all features of a row together",
            {"quotient": _grouped(groups, 1)},
        )
        for groups in POWERS
        if size % groups == 0 and groups < size
    )


def other_groups(channels: int, right: int) -> tuple[Slip, ...]:
    """Return the slips of group norm with another number of groups."""
    return tuple(
        Slip(f"there are {n} groups", f"has {right} groups here", {"quotient": _grouped(n, 3)})
        for n in POWERS
        if channels % n == 0 and n not in (right, channels)
    )


def _grouped(groups: int, axes: int) -> Callable:
    """Return a quotient that standardizes each of the groups that the last axes are split into."""

    def quotient(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
        parts = x.reshape(*x.shape[:-axes], groups, -1)
        return DEFAULT.standardize(parts, -1, eps).reshape(x.shape)

    return quotient
