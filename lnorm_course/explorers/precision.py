"""Lesson 13: how many bits of a layer norm are right in float16, bfloat16, and float32."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Choice, Slider
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels
from lnorm_course.explorers.engine.own_data import standard_row
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, GREEN, ORANGE, SKY, VERMILION, in_style
from lnorm_utils.words import significant

__all__ = ["explore_precision"]

BITS = {"float16": 11, "bfloat16": 8, "float32": 24}
CELLS = {"float16": (1, 5, 10), "bfloat16": (1, 8, 7), "float32": (1, 8, 23)}
PARTS = {"sign": GRAY, "exponent": ORANGE, "mantissa": SKY}
STORED = ("x", "(x − μ)²", "x²", "ε")
LOST = "#B04E00"  # 5:1 on white
EXACT = "row rounded, then exact"
CAREFUL, TWO, ONE = "statistics in float32", "two passes", "E[x²] − E[x]²"
WAYS = {EXACT: GRAY, CAREFUL: BLUE, TWO: GREEN, ONE: VERMILION}
NONSENSE, ZEROS, BROKEN = "nonsense", "zeros", "NaN"
SPREADS = [float(f"{factor}e{power}") for power in range(-4, 5) for factor in (1, 3)] + [1e5]
OFFSETS = [0.0, *(float(f"{factor}e{power}") for power in range(4) for factor in (1, 3)), 1e4]
PRESETS: Presets = {
    "all is well": {},
    "squares overflow": {"spread": 300.0},
    "ε is lost": {"spread": 1e-4, "eps": 1e-12},
    "far from zero": {"dtype": "bfloat16", "offset": 30.0},
    "the row itself is lost": {"offset": 1000.0},
    "float32, to compare": {"dtype": "float32", "spread": 300.0},
}


@in_style
def explore_precision(
    dtype: str = "float16",
    spread: float = 1.0,
    offset: float = 0.0,
    eps: float = 1e-5,
    row: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how many bits of the layer norm of a row are right, if it is computed in a dtype.

    The row is rounded to the dtype first. Then its layer norm is computed with the statistics in
    float32, with two passes in the dtype, and with E[x²] − E[x]² in the dtype. Bits are right up to
    −log₂ of the largest error, relative to the largest right number. What is right comes from the
    row before it is rounded, in float64.

    Args:
        dtype: "float16", "bfloat16", or "float32".
        spread: the standard deviation of the row, from 1e-4 to 1e5.
        offset: its mean, from 0 to 10,000.
        eps: ε, from 1e-12 to 1e-3.
        row: (D,) or (1, D), in place of 16 random numbers; it is centered and scaled.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or `row` holds only one value.

    Source: Chan, Golub & LeVeque 1983, The American Statistician 37(3), for the two formulas of
    the variance.

    >>> explore_precision(preset="squares overflow").words.split("; ")[-2:]
    ['two passes: zeros', 'E[x²] − E[x]²: zeros.']
    """
    shape = standard_row(normal(16, seed=140).round(decimals=4) if row is None else row)
    picture, (left, right) = fixed_panels(
        "Layer norm of one row in half precision, and how many bits of it are right",
        *(2, 5.0, 4.6),
        {"left": 0.03, "right": 0.98, "bottom": 0.14, "top": 0.85, "wspace": 0.1},
        gridspec_kw={"width_ratios": [4, 5]},
    )
    farthest = int(shape.abs().round(decimals=9).argmax())  # the first of a tie
    cells = Cells.drawn(left)
    frames, bars, texts = _bars(right)
    picture.legend(handles=list(cells.ones), loc="upper left", ncols=3, fontsize=11)

    def move(dtype: str, spread: float, offset: float, eps: float) -> str:
        exact = offset + spread * shape  # (D,), float64
        y = standardize(exact, eps=eps)
        x = exact.to(getattr(torch, dtype))
        found = _found(x, eps)
        told = {way: _verdict(found[way], y, BITS[dtype]) for way in WAYS}
        at, near = exact[farthest], x[farthest]
        meant = torch.stack([at, (spread * shape[farthest]).square(), at.square(), at * 0 + eps])
        centered = near - _mean(x)
        stored = torch.stack([near, centered * centered, near * near, meant[3].to(x.dtype)])
        cells.show(meant, stored, CELLS[dtype])
        for frame, verdict, bar, text in zip(frames, told.values(), bars, texts, strict=True):
            frame.set_width(BITS[dtype])
            bar.set_width(verdict if isinstance(verdict, int) else 0)
            text.set_text(str(verdict))
            text.set_x(BITS[dtype] + 0.4)
        return _words(dtype, spread, offset, eps, stored, told)

    controls = {
        "dtype": Choice("dtype", dtype, BITS),
        "spread": Slider("spread", spread, SPREADS),
        "offset": Slider("offset", offset, OFFSETS),
        "eps": Slider("ε", eps, [1e-12, 1e-8, 1e-7, 1e-5, 1e-3]),
    }
    moving = [*cells.all, *frames, *bars, *texts]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _found(x: Tensor, eps: float) -> Mapping[str, Tensor]:
    """Compute the layer norm of a rounded row (D,) in each way, in the dtype of the row."""
    wide = x.float()
    centered, wide_centered = x - _mean(x), wide - _mean(wide)
    var = _mean(wide_centered * wide_centered)
    two, one = _mean(centered * centered), _mean(x * x) - _mean(x) * _mean(x)
    return {
        EXACT: standardize(x.double(), eps=eps),
        CAREFUL: (wide_centered / (var + eps).sqrt()).to(x.dtype),
        TWO: centered / (two + eps).sqrt(),
        ONE: centered / (one + eps).sqrt(),
    }


def _mean(x: Tensor) -> Tensor:
    """Compute the mean of a row (D,) exactly, and round it to the dtype of the row: ()."""
    return x.double().mean().to(x.dtype)  # the same on every machine


def _verdict(found: Tensor, right: Tensor, most: int) -> int | str:
    """Return how many bits are right, at most those of the dtype, or a word where none is."""
    found = found.double()
    if not found.isfinite().all():
        return BROKEN
    if not found.any():
        return ZEROS
    error = ((found - right).abs().max() / right.abs().max()).item()
    bits = most if error == 0 else min(most, round(-math.log2(error)))
    return bits if bits > 0 else NONSENSE


class Cells(NamedTuple):
    """What moves in the panel of the bits that are stored."""

    zeros: list[PathPatch]  # all cells of the sign, the exponent, and the mantissa, in light colors
    ones: list[PathPatch]  # those that hold a 1
    marks: PathPatch  # a bar in each of those
    texts: list[Text]  # a line over each number

    @property
    def all(self) -> list[Artist]:
        """All of it, what is drawn first before what covers it."""
        return [*self.zeros, *self.ones, self.marks, *self.texts]

    @classmethod
    def drawn(cls, ax: Axes) -> "Cells":
        """Draw the panel for as many cells as float32 has."""
        ax.set(xlim=(-0.01, 1.01), ylim=(len(STORED) - 0.35, -0.4), xticks=[], yticks=[])
        ax.set(
            label="what is stored",
            xlabel="x: the feature farthest from μ\ncell with a bar: 1, empty cell: 0",
        )
        ax.spines[:].set_visible(False)
        empty, look = Path(np.empty((0, 2))), {"ec": BLACK, "lw": 0.6}
        zeros = [PathPatch(empty, fc=f"{color}44", **look) for color in PARTS.values()]
        ones = [PathPatch(empty, fc=c, label=part, **look) for part, c in PARTS.items()]
        marks = PathPatch(empty, ec=BLACK, lw=1.8, fill=False)
        for patch in (*zeros, *ones, marks):
            ax.add_patch(patch)
        return cls(zeros, ones, marks, [ax.text(0, n, "", fontsize=11) for n in range(len(STORED))])

    def show(self, meant: Tensor, stored: Tensor, sizes: tuple[int, ...]) -> None:
        """Show numbers (4,) as they were meant, float64, and as their dtype stores them."""
        each = zip(self.texts, STORED, meant.tolist(), stored.tolist(), strict=True)
        for text, name, right, found in each:
            is_lost = not math.isfinite(found) or (right != 0 and found == 0)
            text.set_text(f"{name} = {significant(right, 6)}, stored: {_written(found)}")
            text.set_color(LOST if is_lost else BLACK)
            text.set_fontweight("bold" if is_lost else "normal")
        bits = _bits(stored, sum(sizes))
        parts = np.repeat(np.arange(len(sizes)), sizes)  # of each bit
        for part, (zeros, ones) in enumerate(zip(self.zeros, self.ones, strict=True)):
            zeros.set_path(_cells(np.ones_like(bits) * (parts == part)))
            ones.set_path(_cells(bits * (parts == part)))
        self.marks.set_path(_bars_in(bits))


def _written(value: float) -> str:
    if math.isfinite(value):
        return significant(value, 6)
    return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"


def _bits(numbers: Tensor, size: int) -> NDArray:
    """Read the bits of numbers (N,), the sign first: (N, size)."""
    whole = numbers.view({16: torch.int16, 32: torch.int32}[size]).numpy().astype(np.int64)
    return whole[:, None] >> np.arange(size - 1, -1, -1) & 1


def _cells(wanted: NDArray) -> Path:
    """Outline the cells (N, size) that aren't 0, in a panel that is 1 wide."""
    rows, columns = wanted.nonzero()
    corners = np.stack([columns / wanted.shape[1], rows + 0.1], 1)[:, None]  # (cells, 1, 2)
    around = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) * [0.9 / wanted.shape[1], 0.4]
    kinds = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path((corners + around).reshape(-1, 2), kinds * len(rows))


def _bars_in(wanted: NDArray) -> Path:
    """Draw an upright bar into each cell (N, size) that isn't 0, as `_cells` places them."""
    rows, columns = wanted.nonzero()
    middles = np.stack([(columns + 0.45) / wanted.shape[1], rows + 0.3], 1)[:, None]
    ends = middles + np.array([[0, -0.1], [0, 0.1]])  # (cells, 2, 2)
    return Path(ends.reshape(-1, 2), [Path.MOVETO, Path.LINETO] * len(rows))


def _bars(ax: Axes) -> tuple[list[Rectangle], list[Rectangle], list[Text]]:
    """Draw the axes of the bits; return frames for a dtype's bits, the bars, and their texts."""
    places = np.arange(len(WAYS))
    frames = ax.barh(places, 0, 0.44, color="#E4E4E4")
    bars = ax.barh(places, 0, 0.44, color=list(WAYS.values()), edgecolor=BLACK)
    texts = [ax.text(0.4, place, "", va="center", fontsize=13) for place in places.tolist()]
    for place, way in enumerate(WAYS):
        ax.text(0, place - 0.26, way, va="bottom", fontsize=11)
    ax.set(xlim=(0, 29), ylim=(3.4, -0.7), yticks=[], label="bits that are right")
    ax.set_xlabel("bits that are right; pale: all there are")
    ax.set_xticks(range(0, 25, 4))
    ax.spines["left"].set_visible(False)
    return list(frames), list(bars), texts


def _words(
    dtype: str,
    spread: float,
    offset: float,
    eps: float,
    stored: Tensor,
    told: Mapping[str, int | str],
) -> str:
    x, centered, square, small = map(_written, stored.tolist())
    said = "; ".join(f"{way}: {verdict}" for way, verdict in told.items())
    return (
        f"{dtype}, spread {significant(spread)}, offset {significant(offset)}, "
        f"ε = {significant(eps)}. The feature farthest from the mean is stored as {x}, (x − μ)² as "
        f"{centered}, x² as {square}, and ε as {small}. Bits that are right: {said}."
    )
