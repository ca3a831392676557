"""Lesson 3: what ε does to a row with a small standard deviation, inside the root and outside."""

import math
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from lnorm_course.explorers.engine.controls import Slider, powers_of_ten
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import standard_row
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize, variance
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, WHITE, in_style
from lnorm_utils.words import number, significant

__all__ = ["explore_amplitude"]

AMPLITUDES = [0, *powers_of_ten(-4, 0, each=8)]
MEASURED = np.array([0, *powers_of_ten(-4, 0)])
# Between 0 and 0.0001 the axis of σ is linear, and the formulas bend on it.
DRAWN = np.array([0, *powers_of_ten(-6, -5), *powers_of_ten(-5, 0, each=8)[1:]])
BEFORE, AFTER = 1.2, 0  # the heights of the two strips of dots
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
        row: (D,) or (1, D), in place of 64 random numbers; it is centered, and scaled to σ.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or `row` holds only one value.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3; ε inside the root as in PyTorch.

    >>> explore_amplitude(preset="as small as √ε").words[46:74]
    'After layer norm it is 0.71.'
    """
    shape = standard_row(normal(64, seed=3) if row is None else row)[None]
    picture, (left, right) = fixed_panels(
        "A row before and after layer normalization, and its standard deviation",
        *(2, 3.35, 3.5),
        {"left": 0.085, "right": 0.975, "bottom": 0.14, "top": 0.75, "wspace": 0.17},
    )
    span = 1.1 * shape.abs().max().item()
    heights = 0.28 * np.linspace(-1, 1, shape.numel() + 2)[1:-1]
    left.set(title="the features of the row", xlabel="value", label="the row")
    left.set(xlim=(-span, span), ylim=(-0.6, 2))
    left.set_yticks([BEFORE, AFTER], ["before", "after"], rotation=90, va="center")
    left.tick_params(axis="y", length=0)
    faint: dict[str, Any] = {"ms": 6, "mfc": "none", "mec": GRAY, "label": "if ε were 0"}
    ideal = line(left, "o", shape[0], AFTER + heights, **faint)
    black: dict[str, Any] = {"color": BLACK, "ms": 8, "mew": 2}
    sizes = [line(left, "|-", label="mean ± standard deviation", **black) for _ in range(2)]
    dots = [
        line(left, "o", shape[0], height + heights, color=color, ms=5, mew=0.5)
        for height, color in ((BEFORE, GRAY), (AFTER, BLUE))
    ]
    place: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 10}
    stds = [left.text(0, height + 0.42, "", **place) for height in (BEFORE, AFTER)]
    outside, inside, measured, here = _curves(right)
    handles = [inside, outside, measured, here, ideal, sizes[0]]
    picture.legend(handles=handles, loc="upper center", ncols=3, fontsize=10, columnspacing=1.0)

    def move(amplitude: float, eps: float) -> str:
        sigma = np.array([amplitude, *MEASURED])
        x = torch.from_numpy(sigma)[:, None] * shape  # (19, D), the row and what is measured
        y = standardize(x, eps=eps)
        std = variance(y).sqrt().flatten().tolist()
        measured.set_ydata(std[1:])
        inside.set_ydata(DRAWN / np.sqrt(DRAWN**2 + eps))
        outside.set_ydata(DRAWN / (DRAWN + eps))
        here.set_data([amplitude] * 3, [0, std[0], 1])
        strips = zip((x, y), (amplitude, std[0]), dots, sizes, stds, (BEFORE, AFTER), strict=True)
        for row, value, those, size, text, height in strips:
            those.set_xdata(row[0].numpy())
            size.set_data([-value, 0, value], [height - 0.38] * 3)
            text.set_text(f"standard deviation {number(value, beside=0)}")
        return _words(amplitude, eps, std[0], shape.numel())

    controls = {
        "amplitude": Slider("σ of the row before", amplitude, AMPLITUDES),
        "eps": Slider("ε", eps, powers_of_ten(-8, 0)),
    }
    moving = [*sizes, *dots, *stds, outside, inside, measured, here]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _curves(ax: Axes) -> list[Line2D]:
    """Draw the axes, and return the two formulas, the dots and the mark of the row."""
    ax.set_xscale("symlog", linthresh=1e-4, linscale=0.5)
    ax.set(title="standard deviation after", xlabel="σ, standard deviation before")
    ax.set(xlim=(-2e-5, 1.5), ylim=(0, 1.08))
    ticks = [0, *powers_of_ten(-3, 0, each=1)]
    ax.set_xticks(ticks, [significant(tick) for tick in ticks])
    ax.axhline(1, color=GRAY, lw=1.5, zorder=0)
    look: dict[str, Any] = {"mew": 1, "clip_on": False}
    label = "measured"
    return [
        line(ax, "--", DRAWN, color=BLACK, label=f"ε outside the root: {OUTSIDE}", **look),
        line(ax, "-", DRAWN, color=BLUE, label=f"ε inside the root: {INSIDE}", **look),
        line(ax, "s", MEASURED, color=WHITE, ms=5, label=label, **look),
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
            "ε, inside the root or outside, every feature becomes 0."
        )
    outside = number(amplitude / (amplitude + eps))
    return (
        f"Before, σ is {significant(amplitude)}, which is {number(amplitude / math.sqrt(eps))} "
        f"times √ε. After layer norm it is {number(after)}. With ε outside the root it would be "
        f"{outside}."
    )
