"""Lesson 3: what ε does to a row with a small standard deviation, inside the root and outside."""

import math
from collections.abc import Mapping

import matplotlib
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.explorers.engine.controls import Slider, powers_of_ten, short
from lnorm_utils.explorers.engine.explorer import Explorer
from lnorm_utils.explorers.engine.inputs import rows_of
from lnorm_utils.functional import standardize, variance
from lnorm_utils.plotting.picture import (
    BLACK,
    BLUE,
    GRAY,
    ORANGE,
    STYLE,
    VERMILION,
    new_picture,
    number,
    to_array,
)

__all__ = ["explore_amplitude"]

AMPLITUDES = [0, *powers_of_ten(-4, 0, each=8)]
MEASURED = np.array([0, *powers_of_ten(-4, 0)])
# Between 0 and 0.0001 the axis of σ is linear, and the formulas bend on it.
DRAWN = np.array([0, *powers_of_ten(-6, -5), *powers_of_ten(-5, 0, each=8)[1:]])
BINS = 11  # an odd number: 0 lies in the middle of one
INSIDE, OUTSIDE = "σ / √(σ² + ε)", "σ / (σ + ε)"
PRESETS = {
    "as in a network": {"amplitude": 1.0, "eps": 1e-5},
    "as small as √ε": {"amplitude": 0.00316, "eps": 1e-5},
    "far below √ε": {"amplitude": 1e-4, "eps": 1e-5},
    "ε = 0.1: too large for this row": {"amplitude": 0.03, "eps": 0.1},
    "constant row": {"amplitude": 0, "eps": 1e-5},
}


@matplotlib.rc_context(STYLE)
def explore_amplitude(
    amplitude: float = 1.0,
    eps: float = 1e-5,
    row: ArrayLike | None = None,
    preset: str | None = None,
    presets: Mapping[str, Mapping[str, float]] | None = None,
) -> Explorer:
    """Explore which standard deviation layer norm gives to a row, with ε inside the root.

    Args:
        amplitude: σ, the standard deviation of the row before, from 0 to 1.
        eps: ε, from 1e-8 to 1, in the squared unit of `amplitude`.
        row: (D,) or (1, D), in place of 256 random numbers; it is centered, and scaled to σ.
        preset: the name of a preset to start with.
        presets: name → {"amplitude": …, "eps": …}, beside the built-in ones.

    Raises:
        ValueError: a start is outside its range, `preset` is the name of none, `row` has another
            shape, fewer than two features, a value that is not finite, or only one value.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3; ε inside the root as in PyTorch.

    >>> explore_amplitude(preset="as small as √ε").words[78:127]
    'After layer norm its standard deviation is 0.71 ='
    """
    shape = _standard(normal(256, seed=3) if row is None else row)
    picture, axes = new_picture(
        "A row before and after layer normalization, and its standard deviation",
        *(1, 3, 10 / 3, 5.0),
        layout=None,
        gridspec_kw={"width_ratios": [3, 3, 5]},
    )
    picture.subplots_adjust(left=0.07, right=0.98, bottom=0.12, top=0.81, wspace=0.35)
    span = 1.05 * shape.abs().max().item()
    edges = np.linspace(-span, span, BINS + 1)
    ideal = axes[0, 1].stairs(np.histogram(shape, edges)[0], edges, color=GRAY, lw=2)
    before = _histogram(axes[0, 0], "the row before", edges, BLUE, shape.numel())
    after = _histogram(axes[0, 1], "the row after", edges, ORANGE, shape.numel())
    stds = [_text(ax) for ax in axes[0, :2]]
    outside, inside, dots, here = _curves(axes[0, 2])
    ideal.set_label("with ε = 0")
    handles = [inside, outside, dots, here, ideal]
    picture.legend(handles=handles, loc="upper center", ncols=3, fontsize=12)

    def move(amplitude: float, eps: float) -> str:
        sigma = np.array([amplitude, *MEASURED])
        x = torch.from_numpy(sigma)[:, None] * shape  # (19, D), the row and what the dots measure
        y = standardize(x, eps=eps)
        std = variance(y).sqrt().flatten().tolist()
        before.set_data(np.histogram(x[0], edges)[0])
        after.set_data(np.histogram(y[0], edges)[0])
        dots.set_ydata(std[1:])
        inside.set_ydata(DRAWN / np.sqrt(DRAWN**2 + eps))
        outside.set_ydata(DRAWN / (DRAWN + eps))
        here.set_data([amplitude] * 3, [0, std[0], 1])
        for text, value in zip(stds, (amplitude, std[0]), strict=True):
            text.set_text(f"standard deviation\n{number(value, 0)}")
        return _words(amplitude, eps, std[0], shape.numel())

    return Explorer(
        picture,
        [before, after, outside, inside, dots, here, *stds],
        move,
        {
            "amplitude": Slider("σ of the row before", amplitude, AMPLITUDES),
            "eps": Slider("ε", eps, powers_of_ten(-8, 0)),
        },
        {**PRESETS, **(presets or {})},
        preset,
    )


def _standard(row: ArrayLike) -> Tensor:
    """Return the row (1, D), with mean 0 and standard deviation 1, or raise a ValueError."""
    row = to_array(row)
    if row.ndim not in (1, 2) or row.size != row.shape[-1] or row.size < 2:
        raise ValueError(
            "row must have shape (D,) or (1, D) with at least 2 features, but has shape "
            f"{row.shape}."
        )
    row = rows_of(row.reshape(1, -1), least=(1, 2))
    if row.min() == row.max():
        raise ValueError(
            f"row must hold numbers that differ, but all {row.numel()} are {short(row[0, 0])}."
        )
    return standardize(row / row.abs().max(), eps=0.0)


def _histogram(ax: Axes, title: str, edges: NDArray, color: str, features: int) -> StepPatch:
    ax.set(title=title, xlabel="value", ylabel="features", ylim=(0, 1.2 * features))
    ax.set_xlim(edges[0], edges[-1])
    ax.yaxis.get_major_locator().set_params(integer=True)
    return ax.stairs(np.zeros(BINS), edges, fill=True, facecolor=color, edgecolor="black")


def _text(ax: Axes) -> Text:
    """Return the text that moves in a panel, above the highest bar that there can be."""
    return ax.text(0.5, 0.97, "", ha="center", va="top", fontsize=11, transform=ax.transAxes)


def _curves(ax: Axes) -> list[Line2D]:
    """Draw what stands still, and return the two formulas, the dots and the mark of the row."""
    ax.set_xscale("symlog", linthresh=1e-4, linscale=0.5)
    ax.set(title="standard deviation after", xlabel="σ, standard deviation before")
    ax.set(xlim=(-2e-5, 1.5), ylim=(0, 1.08))
    ax.set_xticks([0, *powers_of_ten(-4, 0, each=1)], ["0", "0.0001", "0.001", "0.01", "0.1", "1"])
    ax.axhline(1, color=GRAY, lw=1.5, zorder=0)
    looks = (
        (DRAWN, "--", VERMILION, 0, f"ε outside: {OUTSIDE}"),
        (DRAWN, "-", BLACK, 0, f"ε inside the root: {INSIDE}"),
        (MEASURED, "o", ORANGE, 7, "measured by layer norm"),
        ([], "*-", BLUE, 18, "the row"),
    )
    lines = [
        ax.plot(x, np.zeros(len(x)), look, color=color, ms=size, label=label, clip_on=False)[0]
        for x, look, color, size, label in looks
    ]
    for line in lines:
        line.set(mec="black", mew=0.5, mfc=ORANGE)
    lines[-1].set_markevery([1])
    return lines


def _words(amplitude: float, eps: float, after: float, features: int) -> str:
    if amplitude == 0:
        return (
            f"All {features} features are equal. Without ε that would be 0 / 0; with ε = "
            f"{short(eps)}, inside the root or outside, every feature becomes 0."
        )
    root = math.sqrt(eps)
    return (
        f"σ = {short(amplitude)} and √ε = {short(root)}: the row's standard deviation "
        f"is {number(amplitude / root)} times √ε. After layer norm its standard deviation is "
        f"{number(after)} = {INSIDE}. With ε outside the root it would be "
        f"{number(amplitude / (amplitude + eps))} = {OUTSIDE}."
    )
