"""Which axes an exercise is about, and so over which other axes one can average."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lnorm_course.diagnose.forward import Axes, Choice, NormWithSlips
from lnorm_course.diagnose.known import CONSTANTS, SLIPS
from lnorm_course.diagnose.slip import Slip
from lnorm_course.slips.beliefs import Belief
from lnorm_utils.words import spoken

__all__ = ["SENTENCES", "LastAxes", "Layout"]

AXIS_SWITCHES = (
    ("you averaged", "averages", ("mean_axes", "inner_mean_axes", "variance_axes")),
    ("your mean runs", "takes the mean", ("mean_axes",)),
    ("your variance runs", "takes the variance", ("inner_mean_axes", "variance_axes")),
    (
        "your mean and the mean inside your variance run",
        "takes both",
        ("mean_axes", "inner_mean_axes"),
    ),
    ("the mean inside your variance runs", "takes it", ("inner_mean_axes",)),
    ("the mean of your squares runs", "takes it", ("variance_axes",)),
)


@dataclass(frozen=True)
class Layout:
    """The axes of the tensors that an exercise is about, and those that are normalized.

    Args:
        axes: what people call each axis.
        right: the axes that share one mean and one variance.
        beliefs: the common belief behind other axes.
        name: what normalizes like this.
        size: the letter of how many numbers share a mean.

    The slips are those of layer norm, of the model `NormWithSlips`. A subclass can have others.
    """

    model: ClassVar[Callable[..., Any]] = NormWithSlips
    slips: ClassVar[tuple[Slip, ...]] = SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = AXIS_SWITCHES

    axes: tuple[str, ...]
    right: tuple[int, ...]
    beliefs: Mapping[tuple[int, ...], Belief] = field(default_factory=dict, hash=False)
    name: str = "Layer norm"
    size: str = "D"

    def words(self, axes: tuple[int, ...]) -> str:
        """Name some of the axes.

        >>> SENTENCES.words((0, 2))
        'the batch and the features'
        """
        return spoken([self.axes[axis] for axis in axes])

    def in_its_letters(self, text: str) -> str:
        """Put the letter of this layout into the words of slips."""
        return text.replace("{D}", self.size)

    def others(self) -> Iterator[tuple[str, Choice, Belief | None]]:
        """Yield every wrong choice of axes: what it is called, what makes it, and the belief."""
        for size in range(1, len(self.axes) + 1):
            for axes in itertools.combinations(range(len(self.axes)), size):
                if axes != self.right:
                    yield self.words(axes), _always(axes), self.beliefs.get(axes)

    def all_slips(self) -> list[Slip]:
        """Return all slips, the likeliest first.

        The mean and the variance may run over any other axes. That only one of them does is a slip
        where a common belief leads to those axes, or where there are few of them.
        """
        if not self.axis_switches:  # its slips name the axes themselves
            return list(self.slips)
        right = self.words(self.right) + " alone" * (len(self.right) == 1)
        both, *apart = (
            [
                Slip(f"{begin} over {wrong}", f"{instead} over {right}", changes, belief)
                for wrong, axes, belief in self.others()
                for changes in [dict.fromkeys(switches, axes)]
            ]
            for begin, instead, switches in self.axis_switches
        )
        few = len(self.axes) <= 3
        likely = [slip for slip in itertools.chain(*apart) if few or slip.belief]
        return [*both, *self.slips, *likely]


def _all(ndim: int, right: Axes) -> Axes:
    return tuple(range(ndim))


def _count(axes: Axes) -> int:
    return 1 if isinstance(axes, int) else len(axes)


def _always(axes: Axes) -> Choice:
    return lambda ndim, right: axes


_BATCH = Belief.OVER_THE_BATCH
SENTENCES = Layout(
    ("the batch", "the positions", "the features"),
    (2,),
    {
        (0,): _BATCH,
        (0, 1): _BATCH,
        (0, 2): _BATCH,
        (0, 1, 2): _BATCH,
        (1, 2): Belief.ONE_MEAN_PER_SENTENCE,
    },
)


@dataclass(frozen=True)
class LastAxes(Layout):
    """The layout of a module: any number of axes, of which it normalizes the last."""

    slips: ClassVar[tuple[Slip, ...]] = (*SLIPS, *CONSTANTS)
    axes: tuple[str, ...] = ()
    right: tuple[int, ...] = ()

    def words(self, axes: tuple[int, ...]) -> str:
        """Name the normalized axes."""
        return "the last axes, as many as `normalized_shape` has"

    def others(self) -> Iterator[tuple[str, Choice, Belief | None]]:
        """Yield the wrong choices of axes that make sense for any number of them."""
        yield "all axes, the batch included", _all, _BATCH
        yield "the first axis, the batch", lambda ndim, right: 0, _BATCH
        yield "the last axis alone", lambda ndim, right: -1, None
        yield "axis 1 alone", lambda ndim, right: 1, None
        yield "the last two axes", lambda ndim, right: (-2, -1), None
        yield (
            "the first axes, as many as `normalized_shape` has",
            lambda ndim, right: tuple(range(_count(right))),
            _BATCH,
        )
        yield (
            "all axes but the normalized ones",
            lambda ndim, right: tuple(range(ndim - _count(right))),
            _BATCH,
        )
        yield "all axes but the first", lambda ndim, right: tuple(range(1, ndim)), None
        yield "all axes but the last", lambda ndim, right: tuple(range(ndim - 1)), _BATCH
