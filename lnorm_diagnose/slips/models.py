"""What people do otherwise in a norm, or in attention, as programs with gaps.

A model is a text in this folder, or several, each of which builds on those before it. Its first
pieces are right, and each wrong piece says what was done and what is done instead:

    return ⟨var.sqrt() ¦ var ⇒ There is no root. {norm} takes the root of the variance.⟩

`AXES` as a piece stands for each wrong choice of axes that the exercise's tensors allow.
"""

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from lnorm_diagnose.slips.beliefs import Belief
from lnorm_diagnose.slips.notation import Piece, split
from lnorm_utils.data import encoded_points
from lnorm_utils.words import spoken

__all__ = [
    "LAST",
    "RMS_NORM",
    "SENTENCES",
    "TABLE",
    "AxisChoices",
    "Model",
    "axes_of",
    "choice",
]

FOLDER = Path(__file__).parent
OF_LAYER_NORM = {"variance": "variance", "deviation": "standard deviation"}
OF_RMS_NORM = {"variance": "mean square", "deviation": "root of the mean square"}
STEP = re.compile(r"def (\w+)")


class AxisChoices(NamedTuple):
    """The right axes in words, and the wrong ones: in words, as code, and the belief behind."""

    right: str = ""
    wrong: Sequence[tuple[str, str, Belief | None]] = ()
    in_part: bool = True  # whether a part of the steps may run over any of the wrong ones


class Model:
    """A program with gaps that are filled while it runs.

    Args:
        *names: of the texts, the one that the next one builds on first; a path of one elsewhere.
        axes: those that the tensors have.
        called: what normalizes like this, as the beginning of a sentence.
        size: the letter of how many numbers share a mean.
    """

    def __init__(
        self,
        *names: str | Path,
        axes: AxisChoices | None = None,
        called: str = "Layer norm",
        size: str = "D",
    ) -> None:
        self._names, self._axes = names, axes or AxisChoices()
        self._called, self._size = called, size

    @functools.cached_property
    def _read(self) -> tuple[list[Piece], CodeType]:
        text = "\n".join((FOLDER / f"{name}.txt").read_text("utf-8") for name in self._names)
        (source, *after), gaps = split(re.sub(r"(?m)^#.*\n", "", text))
        pieces: list[Piece] = []
        for (right, *wrong), code in zip(gaps, after, strict=True):
            step = STEP.findall(source)[-1]
            each = (piece for part in wrong for piece in self._each(part))
            own = [p._replace(number=n, step=step) for n, p in enumerate(each, 1)]
            codes = (each.code.replace("NUMBER", f"numbers[{each.gap}]") for each in own)
            switch = (
                f"({code}) if chosen.get({p.gap}) == {p.number} else "
                for p, code in zip(own, codes, strict=True)
            )
            source += f"({''.join(switch)}({right.code})){code}"
            pieces += own
        return pieces, compile(source, "<model>", "exec")

    def _each(self, piece: Piece) -> Iterator[Piece]:
        """Yield a piece in the words of the tensors, and in place of AXES each choice of axes."""
        words = {"norm": self._called, "D": self._size, "right": self._axes.right}
        words["number"] = "{number}"  # which is known only once results are
        words |= OF_RMS_NORM if "rms_norm_differences" in self._names else OF_LAYER_NORM
        if piece.code != "AXES":
            yield piece._replace(why=piece.why.format(**words))
            return
        is_whole = piece.why.startswith("You averaged")
        for wrong, code, belief in self._axes.wrong:
            if is_whole or self._axes.in_part or belief:
                why = piece.why.format(**words, wrong=wrong)
                yield piece._replace(code=code, why=why, beliefs=(belief,) if belief else ())

    @property
    def pieces(self) -> list[Piece]:
        """All wrong pieces."""
        return self._read[0]

    @functools.cached_property
    def steps(self) -> Any:
        """The object whose methods are the steps."""
        return self.with_pieces(())

    def with_pieces(self, pieces: Sequence[Piece]) -> Any:
        """Return an object whose methods are the steps with these wrong pieces."""
        sight = {**NAMES, **choice(pieces)}
        exec(self._read[1], sight)
        *_, last = (each for each in sight.values() if isinstance(each, type))
        return last()


def choice(pieces: Sequence[Piece]) -> dict[str, dict[int, Any]]:
    """Return what a text reads: which piece each gap has, and the numbers in these pieces."""
    return {
        "chosen": {piece.gap: piece.number for piece in pieces},
        "numbers": {piece.gap: piece.value for piece in pieces},
    }


def axes_of(
    names: Sequence[str],
    right: tuple[int, ...],
    beliefs: Mapping[tuple[int, ...], Belief] | None = None,
) -> AxisChoices:
    """Return the axes of tensors whose axes have these names.

    Args:
        names: what people call each axis.
        right: the axes that share one mean and one variance.
        beliefs: the common belief behind other axes.

    >>> axes_of(("the batch", "the features"), (1,)).wrong[1][:2]
    ('the batch and the features', '(0, 1)')
    """
    alone = " alone" * (len(right) == 1)
    some = (
        axes
        for size in range(1, len(names) + 1)
        for axes in itertools.combinations(range(len(names)), size)
        if axes != right
    )

    def words(axes: tuple[int, ...]) -> str:
        return spoken([names[axis] for axis in axes])

    wrong = [(words(axes), str(axes), (beliefs or {}).get(axes)) for axes in some]
    return AxisChoices(words(right) + alone, wrong, in_part=len(names) <= 3)


# What the texts may use.
NAMES: Mapping[str, Any] = {
    "torch": torch,
    "F": F,
    "inf": math.inf,
    # How many numbers of x share a mean.
    "share": lambda x, dim: x.numel() // max(1, x.sum(dim).numel()),
    "count": lambda dim: 1 if isinstance(dim, int) else len(dim),
    "median": lambda x, dim: x.median(dim, keepdim=True).values,  # of one axis
    "points": encoded_points().double(),  # what x is in many lessons
    "away": lambda x, dim: x - x.mean(dim, keepdim=True),
    "one_pass": lambda x, dim: x.square().mean(dim, True) - x.mean(dim, True).square(),
}
_BATCH = Belief.OVER_THE_BATCH
WORDS = axes_of(
    ("the batch", "the positions", "the features"),
    (2,),
    dict.fromkeys(((0,), (0, 1), (0, 2), (0, 1, 2)), _BATCH)
    | {(1, 2): Belief.ONE_MEAN_PER_SENTENCE},
)
ROWS = axes_of(("the batch", "the features"), (1,), dict.fromkeys(((0,), (0, 1)), _BATCH))
POINTS = axes_of(("the points", "the features"), (1,), dict.fromkeys(((0,), (0, 1)), _BATCH))
LAST = AxisChoices(
    "the last axes, as many as `normalized_shape` has",
    (
        ("all axes, the batch included", "tuple(range(x.ndim))", _BATCH),
        ("the first axis, the batch", "0", _BATCH),
        ("the last axis alone", "-1", None),
        ("axis 1 alone", "1", None),
        ("the last two axes", "(-2, -1)", None),
        (
            "the first axes, as many as `normalized_shape` has",
            "tuple(range(count(dim)))",
            _BATCH,
        ),
        ("all axes but the normalized ones", "tuple(range(x.ndim - count(dim)))", _BATCH),
        ("all axes but the first", "tuple(range(1, x.ndim))", None),
        ("all axes but the last", "tuple(range(x.ndim - 1))", _BATCH),
    ),
)
SENTENCES = Model("layer_norm", axes=WORDS)
TABLE = Model("layer_norm", axes=ROWS)
RMS_NORM = Model("layer_norm", "rms_norm_differences", axes=POINTS, called="RMSNorm")
