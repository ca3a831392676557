"""Lesson 3: what ε does to a row with a small standard deviation, inside the root and outside."""

import math
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.explorers.engine.controls import Slider, powers_of_ten
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import (
    count,
    fixed_panels,
    histogram,
    in_style,
    line,
    whole_numbers,
)
from lnorm_utils.explorers.engine.own_data import row_of
from lnorm_utils.functional import standardize, variance
from lnorm_utils.numbers import number, significant
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, WHITE

__all__ = ["explore_amplitude"]

AMPLITUDES = [0, *powers_of_ten(-4, 0, each=8)]
MEASURED = np.array([0, *powers_of_ten(-4, 0)])
# Between 0 and 0.0001 the axis of σ is linear, and the formulas bend on it.
DRAWN = np.array([0, *powers_of_ten(-6, -5), *powers_of_ten(-5, 0, each=8)[1:]])
BINS = 11  # an odd number: 0 lies in the middle of one
INSIDE, OUTSIDE = "σ / √(σ² + ε)", "σ / (σ + ε)"
PRESETS: Presets = {
    "as in a network": {"amplitude": 1.0, "eps": 1e-5},
    "as small as √ε": {"amplitude": 0.00316, "eps": 1e-5},
    "far below √ε": {"amplitude": 1e-4, "eps": 1e-5},
    "ε = 0.1 is too large for this row": {"amplitude": 0.03, "eps": 0.1},
    "constant row": {"amplitude": 0, "eps": 1e-5},
}


@in_style
def explore_amplitude(
    amplitude: float = 1.0,
    eps: float = 1e-5,
    row: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore what standard deviation a row has after layer norm.

    Args:
        amplitude: σ, the standard deviation of the row before, from 0 to 1.
        eps: ε, from 1e-8 to 1, in the squared unit of `amplitude`.
        row: (D,) or (1, D), in place of 256 random numbers; it is centered, and scaled to σ.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or `row` holds only one value.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3; ε inside the root as in PyTorch.

    >>> explore_amplitude(preset="as small as √ε").words[88:117]
    'After layer norm it is 0.71 ='
    """
    shape = _standard(row_of(normal(256, seed=3) if row is None else row))
    picture, (left, middle, right) = fixed_panels(
        "A row before and after layer normalization, and its standard deviation",
        *(3, 10 / 3, 5.0),
        {"left": 0.07, "right": 0.98, "bottom": 0.12, "top": 0.81, "wspace": 0.35},
        gridspec_kw={"width_ratios": [3, 3, 5]},
    )
    span = 1.05 * shape.abs().max().item()
    edges = np.linspace(-span, span, BINS + 1)
    ideal = histogram(middle, edges, shape, color=BLACK, ls=":", lw=2, label="if ε were 0")
    bars, stds = [], []
    for ax, title, color in ((left, "the row before", GRAY), (middle, "the row after", BLUE)):
        ax.set(
            title=title, xlabel="value", ylabel="how many features", ylim=(0, 1.2 * shape.numel())
        )
        ax.set_xlim(edges[0], edges[-1])
        whole_numbers([ax.yaxis])
        bars.append(histogram(ax, edges, fill=True, facecolor=color, edgecolor=BLACK))
        place: dict[str, Any] = {"ha": "center", "va": "top", "transform": ax.transAxes}
        stds.append(ax.text(0.5, 0.97, "", fontsize=11, **place))
    outside, inside, dots, here = _curves(right)
    handles = [inside, outside, dots, here, ideal]
    picture.legend(handles=handles, loc="upper center", ncols=3, fontsize=12)

    def move(amplitude: float, eps: float) -> str:
        sigma = np.array([amplitude, *MEASURED])
        x = torch.from_numpy(sigma)[:, None] * shape  # (19, D), the row and what the dots measure
        y = standardize(x, eps=eps)
        std = variance(y).sqrt().flatten().tolist()
        dots.set_ydata(std[1:])
        inside.set_ydata(DRAWN / np.sqrt(DRAWN**2 + eps))
        outside.set_ydata(DRAWN / (DRAWN + eps))
        here.set_data([amplitude] * 3, [0, std[0], 1])
        for stairs, text, row, value in zip(bars, stds, (x, y), (amplitude, std[0]), strict=True):
            count(stairs, row[0])
            text.set_text(f"standard deviation\n{number(value, beside=0)}")
        return _words(amplitude, eps, std[0], shape.numel())

    controls = {
        "amplitude": Slider("σ of the row before", amplitude, AMPLITUDES),
        "eps": Slider("ε", eps, powers_of_ten(-8, 0)),
    }
    moving = [*bars, outside, inside, dots, here, *stds]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _standard(row: Tensor) -> Tensor:
    """Return the row (1, D), with mean 0 and standard deviation 1, or raise a ValueError."""
    if row.min() == row.max():
        raise ValueError(
            f"row must hold numbers that differ, but all {row.numel()} are {significant(row[0])}."
        )
    return standardize(row[None] / row.abs().max(), eps=0.0)


def _curves(ax: Axes) -> list[Line2D]:
    """Draw the axes, and return the two formulas, the dots and the mark of the row."""
    ax.set_xscale("symlog", linthresh=1e-4, linscale=0.5)
    ax.set(title="standard deviation after", xlabel="σ, standard deviation before")
    ax.set(xlim=(-2e-5, 1.5), ylim=(0, 1.08))
    ticks = [0, *powers_of_ten(-4, 0, each=1)]
    ax.set_xticks(ticks, [significant(tick) for tick in ticks])
    ax.axhline(1, color=GRAY, lw=1.5, zorder=0)
    look: dict[str, Any] = {"mew": 0.5, "clip_on": False}
    label = "measured"
    return [
        line(ax, "--", DRAWN, color=BLACK, label=f"ε outside the root: {OUTSIDE}", **look),
        line(ax, "-", DRAWN, color=BLUE, label=f"ε inside the root: {INSIDE}", **look),
        line(ax, "o", MEASURED, color=BLUE, ms=7, label=label, **look),
        line(
            ax,
            "*-",
            color=BLACK,
            mfc=WHITE,
            ms=18,
            label="this row",
            markevery=[1],
            **{**look, "mew": 1.5},
        ),
    ]


def _words(amplitude: float, eps: float, after: float, features: int) -> str:
    if amplitude == 0:
        return (
            f"All {features} features are equal. Without ε, layer norm would divide 0 by 0. With "
            f"ε = {significant(eps)}, inside the root or outside, every feature becomes 0."
        )
    root = math.sqrt(eps)
    return (
        f"Before, the row's standard deviation is σ = {significant(amplitude)}, which is "
        f"{number(amplitude / root)} times √ε = {significant(root)}. After layer norm it is "
        f"{number(after)} = {INSIDE}. With ε outside the root it would be "
        f"{number(amplitude / (amplitude + eps))} = {OUTSIDE}."
    )
