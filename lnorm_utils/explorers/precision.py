"""Lesson 13: how many bits of a layer norm are right in float16, bfloat16, and float32."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.explorers.engine.controls import Choice, Slider
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import fixed_panels, in_style, line
from lnorm_utils.explorers.engine.own_data import row_of
from lnorm_utils.functional import standardize
from lnorm_utils.numbers import significant
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, GREEN, VERMILION

__all__ = ["explore_precision"]

BITS = {"float16": 11, "bfloat16": 8, "float32": 24}
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
    shape = _standard(normal(16, seed=140).round(decimals=4) if row is None else row_of(row))
    picture, (left, right) = fixed_panels(
        "Layer norm of one row in half precision, and how many bits of it are right",
        *(2, 5.0, 4.6),
        {"left": 0.08, "right": 0.98, "bottom": 0.13, "top": 0.85, "wspace": 0.1},
        gridspec_kw={"width_ratios": [4, 5]},
    )
    shown = 1.3 * shape.abs().max().item()
    dots = _dots(left, shown)
    bars, texts, limit = _bars(right)
    picture.legend(*left.get_legend_handles_labels(), loc="upper left", ncols=3, fontsize=11)

    def move(dtype: str, spread: float, offset: float, eps: float) -> str:
        exact = offset + spread * shape  # (D,), float64
        y = standardize(exact, eps=eps)
        found = _found(exact.to(getattr(torch, dtype)), eps)
        told = {way: _verdict(found[way], y, BITS[dtype]) for way in WAYS}
        for way, dot in dots.items():
            values = found[way].double()
            dot.set_data(y.numpy(), values.where(values.abs() < shown, math.nan).numpy())
        for way, bar, text in zip(WAYS, bars, texts, strict=True):
            verdict = told[way]
            bits = verdict if isinstance(verdict, int) else 0
            bar.set_width(bits)
            text.set_text(str(verdict))
            text.set_x((bits if bits < BITS[dtype] - 2 else BITS[dtype]) + 0.4)
        limit.set_xdata([BITS[dtype]] * 3 * len(WAYS))
        return _words(dtype, spread, offset, eps, told)

    controls = {
        "dtype": Choice("dtype", dtype, BITS),
        "spread": Slider("spread", spread, SPREADS),
        "offset": Slider("offset", offset, OFFSETS),
        "eps": Slider("ε", eps, [1e-12, 1e-8, 1e-7, 1e-5, 1e-3]),
    }
    moving = [*dots.values(), *bars, *texts, limit]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets, view=1)


def _standard(row: Tensor) -> Tensor:
    """Return the row (D,), float64, with mean 0 and standard deviation 1, or raise a ValueError."""
    row = row.double()
    if row.min() == row.max():
        raise ValueError(
            f"row must hold numbers that differ, but all {row.numel()} are {significant(row[0])}."
        )
    return standardize(row / row.abs().max(), eps=0.0)


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


def _dots(ax: Axes, shown: float) -> dict[str, Line2D]:
    """Draw the axes of the outputs, and return the markers of the three ways to compute them."""
    ax.set(xlabel="right output", ylabel="computed output", label="outputs")
    ax.set(xlim=(-shown, shown), ylim=(-shown, shown))
    ax.plot([-shown, shown], [-shown, shown], color=GRAY, lw=1.5, zorder=0)
    look: dict[str, Any] = {"ls": "", "mew": 1.0}
    kinds = {CAREFUL: ("o", 13), TWO: ("^", 9), ONE: ("s", 5)}
    return {
        way: line(ax, kind, color=WAYS[way], ms=size, label=way, **look)
        for way, (kind, size) in kinds.items()
    }


def _bars(ax: Axes) -> tuple[list[Rectangle], list[Any], Line2D]:
    """Draw the axes of the bits; return the bars, the texts behind them, and the dtype's limit."""
    places = np.arange(len(WAYS))
    bars = ax.barh(places, 0, 0.44, color=list(WAYS.values()), edgecolor=BLACK)
    texts = [ax.text(0.4, place, "", va="center", fontsize=13) for place in places.tolist()]
    for place, way in enumerate(WAYS):
        ax.text(0, place - 0.26, way, va="bottom", fontsize=11)
    ends = np.array([[place - 0.3, place + 0.3, np.nan] for place in places])
    (limit,) = ax.plot(np.zeros(ends.size), ends.ravel(), ":", color=BLACK)
    ax.set(xlim=(0, 29), ylim=(3.4, -0.7), yticks=[], label="bits that are right")
    ax.set_xlabel("bits that are right (dotted: all of the dtype)")
    ax.set_xticks(range(0, 25, 4))
    return list(bars), texts, limit


def _words(
    dtype: str, spread: float, offset: float, eps: float, told: Mapping[str, int | str]
) -> str:
    said = "; ".join(f"{way}: {verdict}" for way, verdict in told.items())
    return (
        f"{dtype}, spread {significant(spread)}, offset {significant(offset)}, "
        f"ε = {significant(eps)}. Bits that are right: {said}."
    )
