"""The slips that a whole layer can have besides those of the lessons, and the norms beside it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_utils.slips.beliefs import Belief
from lnorm_utils.slips.forward import Choice, NormWithSlips
from lnorm_utils.slips.known import SLIPS
from lnorm_utils.slips.layout import LastAxes, Layout
from lnorm_utils.slips.slip import Slip

__all__ = [
    "AS_BATCH_NORM_IN_EVAL",
    "AS_RMS_NORM",
    "RMS_NORM",
    "ChannelLayout",
    "LastLayout",
    "groups_of_features",
    "other_groups",
    "residual",
]

DEFAULT = NormWithSlips()
POWERS = (2, 4, 8, 16, 32)
# What makes the layer norm with switches an RMSNorm.
AS_RMS_NORM: Mapping[str, Callable] = {
    "numerator": lambda x, mean: x,
    "inner_mean": lambda x, mean: x,
}


def _instead(done: str, function: Callable[[Tensor], Tensor]) -> Slip:
    """Return the slip of doing something else in the place of a norm."""
    return Slip(
        done,
        "subtracts the mean and divides by the standard deviation",
        {"quotient": lambda x, mean, above, below, eps: function(x)},
    )


# Frameworks and models: Keras, flax, JAX and Llama, BERT, and PyTorch's RMSNorm in float32.
EPSILONS = (("1e-12", 1e-12), ("1e-3", 1e-3), ("1e-4", 1e-4), ("1e-7", 1e-7), ("0.01", 0.01))
RMS_NORM = Slip(
    "the mean isn't subtracted anywhere, so this is RMSNorm",
    "subtracts the mean, in x and in the variance",
    AS_RMS_NORM,
)
OWN = (
    RMS_NORM,
    Slip(
        "the mean isn't subtracted anywhere, and 1 + γ multiplies, so this is Gemma's RMSNorm",
        "subtracts the mean, in x and in the variance, and multiplies by γ as it is",
        {**AS_RMS_NORM, "gamma": lambda weight, bias: 1 + weight},
    ),
    *SLIPS,
    *(
        Slip(f"your ε is {words}", "uses the given ε", {"eps": lambda given, value=value: value})
        for words, value in EPSILONS
    ),
    Slip(
        "your ε is the smallest step of float32, 1.19e-7",
        "uses the given ε",
        {"eps": lambda given: torch.finfo(torch.float32).eps},
    ),
    Slip(
        "your ε is the smallest step of float64, 2.2e-16",
        "uses the given ε",
        {"eps": lambda given: torch.finfo(torch.float64).eps},
    ),
    _instead("nothing is normalized: the numbers go through", lambda x: x),
    _instead(
        "nothing is normalized: this is tanh(x / 2), as in a new DyT", lambda x: (x / 2).tanh()
    ),
    _instead("nothing is normalized: this is tanh(x)", torch.tanh),
    _instead("this is a softmax, whose numbers add up to 1", lambda x: x.softmax(-1)),
    _instead(
        "each row is stretched to run from 0 to 1",
        lambda x: (x - x.amin(-1, True)) / (x.amax(-1, True) - x.amin(-1, True)),
    ),
    _instead("each row is divided by its largest number", lambda x: x / x.abs().amax(-1, True)),
    _instead("each row is divided by its length", lambda x: F.normalize(x, dim=-1)),
    _instead("each row is divided by its sum", lambda x: x / x.sum(-1, True)),
    Slip("γ is multiplied twice", "multiplies by γ once", {"scaled": lambda x, g: x * g * g}),
    Slip("β is added twice", "adds β once", {"shifted": lambda x, beta: x + beta + beta}),
)
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

    slips: ClassVar[tuple[Slip, ...]] = (*OWN, CENTERED)
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
        return [*super().all_slips(), *self.more]

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
        return [*super().all_slips(), *self.more]


def residual(run: Callable) -> Callable:
    """Return a mistake: the input is added.

    Args:
        run: (norm, x, weight, bias, eps) -> what the reference gives with this norm.
    """

    def added(norm: NormWithSlips, x: Tensor, *rest: object) -> Tensor:
        """The input is added to the normalized numbers, as around a residual branch."""
        return x + run(norm, x, *rest)

    return added


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
