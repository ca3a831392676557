"""Lesson 13: how many bits of a layer norm are right in float16, bfloat16, and float32."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine import Choice, Explorer, Slider, key, line, panel
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, GREEN, SPREAD, in_style
from lnorm_utils.words import significant

__all__ = ["explore_precision"]

BITS = {"float16": 11, "bfloat16": 8, "float32": 24}
CELLS = {"float16": (1, 5, 10), "bfloat16": (1, 8, 7), "float32": (1, 8, 23)}
PARTS = {"sign": BLACK, "exponent": GREEN, "mantissa": BLUE}
STORED = ("x", "(x − μ)²", "x²", "ε")
LOST = "#B04E00"  # has a contrast of 5:1 on white
WAYS = ("row rounded, then exact", "statistics in float32", "two passes", "E[x²] − E[x]²")
NONSENSE, ZEROS, BROKEN = "nonsense", "zeros", "NaN"
SPREADS = [float(f"{factor}e{power}") for power in range(-4, 5) for factor in (1, 3)] + [1e5]
OFFSETS = [0.0, *(float(f"{factor}e{power}") for power in range(4) for factor in (1, 3)), 1e4]
CONTROLS = {
    "dtype": Choice("dtype", "float16", BITS),
    "spread": Slider("spread", 1.0, SPREADS),
    "offset": Slider("offset", 0.0, OFFSETS),
    "eps": Slider("ε", 1e-5, [1e-12, 1e-8, 1e-7, 1e-5, 1e-3]),
}
PRESETS: dict[str, dict[str, Any]] = {
    "all is well": {},
    "squares overflow": {"spread": 300.0},
    "ε is lost": {"spread": 1e-4, "eps": 1e-12},
    "far from zero": {"dtype": "bfloat16", "offset": 30.0},
    "the row itself is lost": {"offset": 1000.0},
    "float32, to compare": {"dtype": "float32", "spread": 300.0},
}


class _Normed(NamedTuple):
    """The numbers (4,) in `STORED`, in float64 and as stored, and a verdict on each of `WAYS`."""

    meant: Tensor
    stored: Tensor
    verdicts: dict[str, int | str]


def row() -> Tensor:
    """Return a row (16,) with mean 0 and standard deviation 1, in float64."""
    return standardize(normal(16, seed=140).round(decimals=4).double(), eps=0.0)


def _normed(dtype: str, spread: float, offset: float, eps: float) -> _Normed:
    """Round a row to a dtype, normalize it in four ways, and compare each result with float64."""
    shape = row()
    exact = offset + spread * shape
    x = exact.to(getattr(torch, dtype))
    farthest = int(shape.abs().round(decimals=9).argmax())  # the first one if there is a tie
    at, near, centered = exact[farthest], x[farthest], x[farthest] - _mean(x)
    meant = torch.stack([at, (spread * shape[farthest]).square(), at.square(), at * 0 + eps])
    stored = torch.stack([near, centered * centered, near * near, meant[3].to(x.dtype)])
    y, ways = standardize(exact, eps=eps), zip(WAYS, _in_each_way(x, eps), strict=True)
    verdicts = {way: _judged(found.double(), y, BITS[dtype]) for way, found in ways}
    return _Normed(meant, stored, verdicts)


def _in_each_way(x: Tensor, eps: float) -> tuple[Tensor, ...]:
    """Compute the layer norm of a rounded row (D,) in each of the four `WAYS`."""
    wide = x.float() - _mean(x.float())
    careful = wide / (_mean(wide * wide) + eps).sqrt()
    centered, one = x - _mean(x), _mean(x * x) - _mean(x) * _mean(x)
    two = _mean(centered * centered)
    in_dtype = [centered / (var + eps).sqrt() for var in (two, one)]
    return standardize(x.double(), eps=eps), careful.to(x.dtype), *in_dtype


def _mean(x: Tensor) -> Tensor:
    """Compute the mean of a row (D,), a tensor (), in float64, and round it to the row's dtype."""
    return x.double().mean().to(x.dtype)  # in float64, the mean is the same on every machine


def _judged(found: Tensor, right: Tensor, most: int) -> int | str:
    """Return how many of the dtype's bits are right, or a word if none are.

    The number is −log₂ of the largest error relative to the largest right number.
    """
    if not found.isfinite().all():
        return BROKEN
    if not found.any():
        return ZEROS
    error = ((found - right).abs().max() / right.abs().max()).item()
    bits = most if error == 0 else min(most, round(-math.log2(error)))
    return bits if bits > 0 else NONSENSE


@in_style
def explore_precision(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how many bits of a row's layer norm are right when it's computed in a given dtype.

    Source: Chan, Golub & LeVeque 1983, The American Statistician 37(3), for the two variance
    formulas.

    >>> explore_precision(preset="squares overflow").words.split("; ")[-2:]
    ['two passes: zeros', 'E[x²] − E[x]²: zeros.']
    """
    memory, left = panel("four numbers as they are stored", height=2.7, ylim=(3.5, -1.5))
    left.set(xlim=(-0.5, 31.5), xticks=[], yticks=[], xlabel="x: farthest from μ.  ■ is 1, □ is 0")
    left.spines[:].set_visible(False)
    key(left, *((f"■ {part}", color) for part, color in PARTS.items()))
    looks: Any = {"mfc": "none", "mew": 0.8}, {"mew": 0}  # for all cells, and for those with a 1
    cells = [
        [line(left, "s", color=c, mec=c, ms=6.5, **look) for look in looks] for c in PARTS.values()
    ]
    left.plot([0, 31], [-1.05, -1.05], "-", color=GRAY)
    for tick in (0.001, 0.1, 10, 1000, 100_000):
        left.text(_along(tick), -0.72, significant(tick), ha="center", fontsize=10)
    left.text(-0.5, -1.2, "spread", color=SPREAD, fontsize=11)
    hand = line(left, "o", [0], [-1.05], color=SPREAD, ms=9)
    texts = [left.text(-0.5, place - 0.25, "", fontsize=11) for place in range(len(STORED))]

    right_bits, right = panel("how many bits of the layer norm are right", height=2.3)
    right.set(xlim=(0, 29), ylim=(3.5, -0.8), yticks=[], xticks=range(0, 25, 4))
    right.set_xlabel("bits that are right; pale: all there are")
    right.spines["left"].set_visible(False)
    places = range(len(WAYS))
    frames = right.barh(places, 0, 0.4, color="#E4E4E4")
    bars = right.barh(places, 0, 0.4, color=[GRAY, BLUE, BLUE, BLUE], edgecolor=BLACK)
    verdicts = [right.text(0, place, "", va="center", fontsize=13) for place in places]
    for place, way in enumerate(WAYS):
        right.text(0, place - 0.25, way, va="bottom", fontsize=11)

    def show(found: _Normed, dtype: str, spread: float, offset: float, eps: float) -> str:
        sizes = CELLS[dtype]
        hand.set_xdata([_along(spread)])
        bits, parts = _bits_of(found.stored, sum(sizes)), np.repeat(range(3), sizes)
        for part, (all_cells, ones) in enumerate(cells):
            # The rows and columns of the cells; a plot takes columns first, so they're reversed.
            all_cells.set_data(*np.nonzero(np.ones_like(bits) * (parts == part))[::-1])
            ones.set_data(*np.nonzero(bits * (parts == part))[::-1])
        each = zip(texts, STORED, found.meant.tolist(), found.stored.tolist(), strict=True)
        for text, name, meant, stored in each:
            is_lost = not math.isfinite(stored) or (meant != 0 and stored == 0)
            text.set_text(f"{name} = {significant(meant, 6)}, stored: {_written(stored)}")
            text.set(color=LOST if is_lost else BLACK, weight="bold" if is_lost else "normal")
        marks = zip(frames, bars, verdicts, found.verdicts.values(), strict=True)
        for frame, bar, text, verdict in marks:
            frame.set_width(BITS[dtype])
            bar.set_width(verdict if isinstance(verdict, int) else 0)
            text.set(text=str(verdict), x=BITS[dtype] + 0.4)
        x, centered, square, small = map(_written, found.stored.tolist())
        said = "; ".join(f"{way}: {verdict}" for way, verdict in found.verdicts.items())
        return (
            f"In {dtype}, with spread {significant(spread)}, offset {significant(offset)}, ε = "
            f"{significant(eps)}, the feature farthest from the mean is stored as {x}, (x − μ)² as "
            f"{centered}, x² as {square}, and ε as {small}. Right bits: {said}."
        )

    panels: Any = {
        memory: [*(mark for both in cells for mark in both), *texts, hand],
        right_bits: [*frames, *bars, *verdicts],
    }
    drags = {hand: ["spread"]}
    return Explorer(panels, _normed, show, CONTROLS, PRESETS, preset, start, drags)


def _along(spread: float) -> float:
    """Return a spread's position on the logarithmic line above the cells."""
    return 31 * (math.log10(spread) + 4) / 9


def _bits_of(numbers: Tensor, size: int) -> NDArray:
    """Return the bits (N, size) of numbers (N,), each beginning with the sign."""
    whole = numbers.view({16: torch.int16, 32: torch.int32}[size]).numpy().astype(np.int64)
    return whole[:, None] >> np.arange(size - 1, -1, -1) & 1


def _written(value: float) -> str:
    return "NaN" if math.isnan(value) else significant(value, 6)
