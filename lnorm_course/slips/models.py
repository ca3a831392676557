"""What people do otherwise in a norm, a block, or attention, as programs with gaps.

A model is a text in this folder. Its first pieces are right, and each wrong piece says what was
done and what is done instead:

    return ⟨var.sqrt() ¦ var ⇒ There is no root. {norm} takes the root of the variance.⟩

`AXES` as a piece stands for each wrong choice of axes that the exercise's tensors allow. Behind the
sentences stands in brackets what else is known of a piece, with commas between: the common belief
behind it ("over the batch"), "needs eps" (it's only said where the student's function has such an
argument), "has clamp" (only where that stands in the student's source), and "counts for two".
"""

import contextlib
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_course.slips.beliefs import Belief
from lnorm_utils.words import spoken

__all__ = [
    "ATTENTION",
    "BACKWARD",
    "GAMMA_GRADIENT",
    "GRADIENT_NORM",
    "LAST_AXES",
    "LAST_AXIS",
    "PRE_BLOCK",
    "RMS_NORM",
    "SENTENCES",
    "TABLE",
    "WAY_BACK",
    "WEIGHT_NORM",
    "Axes",
    "Model",
    "Piece",
    "axes_of",
]

FOLDER = Path(__file__).parent
GAP = re.compile(r"⟨([^⟨⟩]*)⟩")
STEP = re.compile(r"def (\w+)")
KNOWN = re.compile(r" \[([^\]]+)\]$")


class Piece(NamedTuple):
    """A wrong piece of a gap.

    Args:
        gap: the number of the gap.
        number: that of the piece, where 0 is the right one.
        code: what stands there.
        done: what was done, as a sentence.
        does: what is done instead: what the norm does, without its name, or a sentence.
        subject: the norm's name, or nothing.
        step: the name of the step where its gap is.
        beliefs: the common beliefs behind it.
        needs: an argument that the student's function must have.
        has: what the student's source must have.
        counts: how many things are wrong with it.
    """

    gap: int
    number: int
    code: str
    done: str
    does: str
    subject: str = ""
    step: str = ""
    beliefs: tuple[Belief, ...] = ()
    needs: str = ""
    has: str = ""
    counts: int = 1


class Axes(NamedTuple):
    """The right axes in words, and the wrong ones: in words, as code, and the belief behind."""

    right: str = ""
    wrong: Sequence[tuple[str, str, Belief | None]] = ()
    in_part: bool = True  # whether a part of the steps may run over any of the wrong ones


class _Chosen(dict[int, int]):
    """Which piece stands in each gap, and which gaps a run has come through."""

    def __init__(self) -> None:
        self.visited: set[int] = set()

    def __missing__(self, gap: int) -> int:
        self.visited.add(gap)
        return 0


class Model:
    """A program with gaps that are filled while it runs.

    Args:
        *names: of the texts, the one that the next one builds on first.
        axes: those that the tensors have.
        called: what normalizes like this, as the beginning of a sentence.
        size: the letter of how many numbers share a mean.
    """

    def __init__(
        self, *names: str, axes: Axes | None = None, called: str = "Layer norm", size: str = "D"
    ) -> None:
        self._names, self._axes = names, axes or Axes()
        self._called, self._size = called, size
        self._chosen = _Chosen()

    @functools.cached_property
    def _read(self) -> tuple[list[Piece], Any]:
        text = "\n".join((FOLDER / f"{name}.txt").read_text("utf-8") for name in self._names)
        program = re.sub(r"(?m)^#.*\n", "", text)
        pieces: list[Piece] = []
        gaps = itertools.count()

        def switch(match: re.Match) -> str:
            gap, step = next(gaps), STEP.findall(program[: match.start()])[-1]
            right, *wrong = (" ".join(part.split()) for part in match[1].split("¦"))
            code, number = "", 0
            for each in wrong:
                for other, why in self._each_axes(each):
                    number += 1
                    pieces.append(self._piece(gap, number, other, why)._replace(step=step))
                    code += f"({other}) if chosen[{gap}] == {number} else "
            return f"({code}({right}))"

        sight = {**NAMES, "chosen": self._chosen}
        exec(compile(GAP.sub(switch, program), "<model>", "exec"), sight)
        *_, last = (each for each in sight.values() if isinstance(each, type))
        return pieces, last()

    def _each_axes(self, part: str) -> Iterator[tuple[str, str]]:
        code, _, why = part.partition(" ⇒ ")
        if code != "AXES":
            yield code, why
            return
        is_whole = why.startswith(("You averaged", "Both"))
        for words, other, belief in self._axes.wrong:
            if is_whole or self._axes.in_part or belief:
                told = why.replace("{wrong}", words).replace("{right}", self._axes.right)
                yield other, f"{told} [{belief.name}]" if belief else told

    def _piece(self, gap: int, number: int, code: str, why: str) -> Piece:
        found = KNOWN.search(why)
        done, _, instead = KNOWN.sub("", why).replace("{D}", self._size).partition(". ")
        piece = Piece(gap, number, code, f"{done}.", instead)
        if instead.startswith("{norm} "):
            does = instead.removeprefix("{norm} ").removesuffix(".")
            piece = piece._replace(subject=self._called, does=does)
        for known in found[1].split(", ") if found else ():
            word, _, rest = known.partition(" ")
            if word == "needs":
                piece = piece._replace(needs=rest)
            elif word == "has":
                piece = piece._replace(has=rest)
            elif known == "counts for two":
                piece = piece._replace(counts=2)
            else:
                belief = Belief[known.upper().replace(" ", "_")]
                piece = piece._replace(beliefs=(*piece.beliefs, belief))
        return piece

    @property
    def norm(self) -> Any:
        """The object whose methods are the steps."""
        return self._read[1]

    @property
    def pieces(self) -> list[Piece]:
        """All wrong pieces."""
        return self._read[0]

    def with_pieces(self, pieces: Sequence[Piece]) -> Any:
        """Return an object whose methods are the steps with these wrong pieces."""
        return _With(self, pieces)

    @contextlib.contextmanager
    def choosing(self, pieces: Sequence[Piece]) -> Iterator[set[int]]:
        """Let these pieces stand in their gaps; yields the gaps that runs come through."""
        self._chosen.clear()
        self._chosen.visited = set()
        self._chosen.update((piece.gap, piece.number) for piece in pieces)
        try:
            yield self._chosen.visited
        finally:
            self._chosen.clear()


class _With:
    """The steps of a model with wrong pieces."""

    def __init__(self, model: Model, pieces: Sequence[Piece]) -> None:
        self._model, self._pieces = model, pieces

    def __getattr__(self, step: str) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            with self._model.choosing(self._pieces):
                return getattr(self._model.norm, step)(*arguments, **options)

        return run


def axes_of(
    names: Sequence[str],
    right: tuple[int, ...],
    beliefs: Mapping[tuple[int, ...], Belief] | None = None,
) -> Axes:
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
    return Axes(words(right) + alone, wrong, in_part=len(names) <= 3)


def _share(x: Tensor, dim: Any) -> int:
    """Return how many numbers of `x` share a mean."""
    return x.numel() // max(1, x.sum(dim).numel())


def _count(dim: Any) -> int:
    return 1 if isinstance(dim, int) else len(dim)


def _median(x: Tensor, dim: Any) -> Tensor:
    """Take the median over one axis; more raise what they do there."""
    one = dim if isinstance(dim, int) or len(dim) > 1 else dim[0]
    return x.median(one, keepdim=True).values


def _away(x: Tensor, dim: Any) -> Tensor:
    return x - x.mean(dim, keepdim=True)


def _one_pass(x: Tensor, dim: Any) -> Tensor:
    return x.square().mean(dim, keepdim=True) - x.mean(dim, keepdim=True).square()


def _standardized(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def _rms(x: Tensor) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()


# What the texts may use.
NAMES: Mapping[str, Any] = {
    "torch": torch,
    "F": F,
    "inf": math.inf,
    "share": _share,
    "count": _count,
    "median": _median,
    "away": _away,
    "one_pass": _one_pass,
    "standardized": _standardized,
    "rms": _rms,
}
_BATCH = Belief.OVER_THE_BATCH
WORDS = axes_of(
    ("the batch", "the positions", "the features"),
    (2,),
    dict.fromkeys(((0,), (0, 1), (0, 2), (0, 1, 2)), _BATCH)
    | {(1, 2): Belief.ONE_MEAN_PER_SENTENCE},
)
ROWS = axes_of(("the batch", "the features"), (1,), dict.fromkeys(((0,), (0, 1)), _BATCH))
LAST = Axes(
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
LAST_AXES = Model("layer_norm", axes=LAST)
LAST_AXIS = Model(
    "layer_norm",
    axes=Axes("the last axis", [each for each in LAST.wrong if "count(" not in each[1]]),
)
RMS_NORM = Model("rms_norm", called="RMSNorm")
WEIGHT_NORM = Model("weight_norm", called="Weight norm")
BACKWARD = Model("backward", axes=WORDS, called="The backward pass")
GAMMA_GRADIENT = Model("gamma_gradient", called="The gradient of γ")
GRADIENT_NORM = Model("gradient_norm", called="The norm")
ATTENTION = Model("attention", called="Attention")
WAY_BACK = Model("way_back", called="The way back")
PRE_BLOCK = Model("layer_norm", "block", axes=WORDS)
