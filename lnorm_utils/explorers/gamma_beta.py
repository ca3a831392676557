"""Lesson 4: γ and β belong to a feature, and all rows share them."""

from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.explorers.engine.controls import Choice, Slider, steps
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import (
    count,
    fixed_panels,
    histogram,
    in_style,
    line,
    whole_numbers,
)
from lnorm_utils.explorers.engine.own_data import rows_of
from lnorm_utils.functional import layer_norm
from lnorm_utils.numbers import number, significant
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, ORANGE, VERMILION

__all__ = ["explore_gamma_beta"]

MOST = 12  # features
WEIGHT, BIAS = 2, 3  # how far γ and β go, to both sides
BINS = 31  # an odd number: 0 lies in the middle of one
ALL = "all features"
PRESETS: Presets = {
    "as initialized": {"feature": ALL, "weight": 1.0, "bias": 0.0},
    "one feature moved": {"feature": "feature 1", "weight": 1.0, "bias": 3.0},
    "one feature stretched": {"feature": "feature 1", "weight": 2.0, "bias": 0.0},
    "one feature silenced: γ = 0": {"feature": "feature 1", "weight": 0.0, "bias": 0.0},
    "all stretched and moved": {"feature": ALL, "weight": 2.0, "bias": 3.0},
    "turned around: γ = −1": {"feature": ALL, "weight": -1.0, "bias": 0.0},
}


@in_style
def explore_gamma_beta(
    feature: str = ALL,
    weight: float = 1.0,
    bias: float = 0.0,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore what γ and β of one feature, or of all, do to outputs, features and rows.

    Args:
        feature: "all features", or "feature 0", "feature 1" … for one; others keep γ = 1, β = 0.
        weight: γ, from −2 to 2.
        bias: β, from −3 to 3, in the unit of the outputs.
        x: (N, D) or (N, L, D) with 2 to 12 features, in place of 8 random rows of four.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, section 3.1, where γ is called gain.

    >>> explore_gamma_beta(preset="one feature silenced: γ = 0").words[:43]
    'In every row feature 1 has γ = 0 and β = 0.'
    """
    rows = _random_rows() if x is None else rows_of(x, most=(np.inf, MOST))
    features = rows.shape[1]
    names = [f"feature {d}" for d in range(features)]
    x_hat = layer_norm(rows, features).numpy()
    picture, (left, middle, right) = fixed_panels(
        "Outputs of layer norm, and their means over rows and over features",
        *(3, 10 / 3, 5.1),
        {"left": 0.08, "right": 0.985, "bottom": 0.115, "top": 0.8, "wspace": 0.12},
        sharey=True,
        gridspec_kw={"width_ratios": [4, 3, 6]},
    )
    reach = np.abs(x_hat.mean(0)) + x_hat.std(0)
    span = 1.05 * (BIAS + WEIGHT * max(np.abs(x_hat).max(), reach.max()))
    all_outputs, of_chosen = _histograms(left, x_hat, span)
    of_features = _moments(middle, x_hat, 0, "feature")
    of_rows = _moments(right, x_hat, 1, "row")
    if rows.mean(1).abs().max() <= span:
        at, before = range(len(rows)), rows.mean(1)
        size = min(11, 200 / len(rows))
        line(right, "^", at, before, color=ORANGE, ms=size, label="mean of the row before")
    picture.legend(loc="upper center", ncols=3, fontsize=12)

    def move(feature: str, weight: float, bias: float) -> str:
        those = list(range(features)) if feature == ALL else [names.index(feature)]
        gamma, beta = torch.ones(features).double(), torch.zeros(features).double()
        gamma[those], beta[those] = weight, bias
        y = layer_norm(rows, features, gamma, beta).numpy()
        count(all_outputs, y, empty=np.nan)
        count(of_chosen, y[:, those], empty=np.nan)
        of_features.show(y, 0)
        of_rows.show(y, 1)
        who, whose = f"{feature} has", f"Its {len(y)} outputs"
        others = "; the other features keep γ = 1 and β = 0"
        if feature == ALL:
            who, whose = f"all {features} features have", f"The {len(y)} outputs of each feature"
            others = ""
        return (
            f"In every row {who} γ = {significant(weight)} and β = {significant(bias)}. {whose} "
            f"have {_told(y[:, those], 0)} (before γ and β: {_told(x_hat[:, those], 0, False)}). "
            f"The {len(y)} rows now have {_told(y, 1)} (before layer norm: "
            f"{_told(rows.numpy(), 1)}){others}."
        )

    controls = {
        "feature": Choice("change only", feature, [ALL, *names]),
        "weight": Slider("γ", weight, steps(-WEIGHT, WEIGHT, 0.1)),
        "bias": Slider("β", bias, steps(-BIAS, BIAS, 0.1)),
    }
    moving = [all_outputs, of_chosen, *of_features, *of_rows]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _random_rows() -> Tensor:
    """Make rows (8, 4) that differ in mean and spread, with features that differ in mean."""
    z = normal(8, 6, seed=4).double()
    features = z[:, :4] + torch.tensor([-1.0, 0.0, 0.5, 1.5])
    return features * (0.5 * z[:, 4:5]).exp() + 2 * z[:, 5:]


def _histograms(ax: Axes, x_hat: NDArray, span: float) -> tuple[StepPatch, StepPatch]:
    """Draw the histogram at γ = 1 and β = 0, and return those that move."""
    ax.set(title="histogram of all", xlabel="how many", ylabel="y, output of layer norm")
    ax.set(xlim=(0, 1.05 * x_hat.size), ylim=(-span, span))
    whole_numbers([ax.xaxis, ax.yaxis], nbins=5)
    edges, look = np.linspace(-span, span, BINS + 1), {"orientation": "horizontal"}
    still = histogram(ax, edges, color=GRAY, lw=3, **look)
    count(still, x_hat, empty=np.nan)
    every = histogram(ax, edges, color=BLUE, fill=True, label="all outputs", **look)
    label = "those with γ and β as set"
    return every, histogram(ax, edges, color=VERMILION, lw=2.5, label=label, **look)


class Moments(NamedTuple):
    """Means as dots, with bars of a standard deviation to both sides."""

    bars: Line2D
    dots: Line2D

    def show(self, values: NDArray, axis: int) -> None:
        """Show the moments of the values over an axis."""
        self.dots.set_ydata(values.mean(axis))
        self.bars.set_ydata(_ends(values, axis))


def _moments(ax: Axes, x_hat: NDArray, axis: int, what: str) -> Moments:
    """Draw the moments at γ = 1 and β = 0, and return those that move."""
    at = np.arange(x_hat.shape[1 - axis])
    ax.set(title=f"each {what}", xlabel=what, xlim=(-0.8, len(at) - 0.2))
    whole_numbers([ax.xaxis], nbins=6)
    ax.axhline(0, color=BLACK, lw=1, zorder=0)
    thin, size = min(1.0, (12 if axis else 8) / len(at)), min(8.0, 200 / len(at))
    hidden = "" if axis else "_"  # from the legend, which names each look once
    ends: dict[str, Any] = {"x": at.repeat(3), "y": _ends(x_hat, axis), "solid_capstyle": "butt"}
    line(ax, "-", color=GRAY, lw=14 * thin, label=f"{hidden}at γ = 1 and β = 0", **ends)
    # The bars and the dots are above the triangles.
    label = f"{hidden}± standard deviation"
    bars = line(ax, "-", color=BLUE, lw=4 * thin, zorder=3, label=label, **ends)
    dots = line(ax, "o", at, color=BLUE, ms=size, mew=0.5, zorder=3, label=f"{hidden}mean")
    return Moments(bars, dots)


def _ends(values: NDArray, axis: int) -> NDArray:
    """List the ends of the bars, with a gap after each."""
    mean, std = values.mean(axis), values.std(axis)
    return np.stack([mean - std, mean + std, mean + np.nan], 1).ravel()


def _told(values: NDArray, axis: int, named: bool = True) -> str:
    """Say from where to where the means and the standard deviations go."""
    what = ("mean", "standard deviation") if named else ("", "")
    return " and ".join(map(_range, what, (values.mean(axis), values.std(axis))))


def _range(what: str, values: NDArray) -> str:
    low, high = number(values.min()), number(values.max())
    if low == high:
        return f"{what} {low}".lstrip()
    return f"{what and what + 's '}from {low} to {high}"
