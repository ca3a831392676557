"""Lesson 4: γ and β belong to a feature, and all rows share them."""

from collections.abc import Mapping
from typing import NamedTuple

import matplotlib
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.explorers.engine.controls import Choice, Slider, short, steps
from lnorm_utils.explorers.engine.explorer import Explorer
from lnorm_utils.explorers.engine.inputs import rows_of
from lnorm_utils.functional import layer_norm
from lnorm_utils.plotting.picture import (
    BLUE,
    GRAY,
    ORANGE,
    STYLE,
    VERMILION,
    new_picture,
    number,
)

__all__ = ["explore_gamma_beta"]

MOST = 12
WEIGHT, BIAS = 2, 3  # how far γ and β go, to both sides
BINS = 31  # an odd number: 0 lies in the middle of one
ALL = "all features"
PRESETS = {
    "as initialized": {"feature": ALL, "weight": 1.0, "bias": 0.0},
    "one feature moved": {"feature": "feature 1", "weight": 1.0, "bias": 3.0},
    "one feature stretched": {"feature": "feature 1", "weight": 2.0, "bias": 0.0},
    "one feature silenced: γ = 0": {"feature": "feature 1", "weight": 0.0, "bias": 0.0},
    "all stretched and moved": {"feature": ALL, "weight": 2.0, "bias": 3.0},
    "turned around: γ = −1": {"feature": ALL, "weight": -1.0, "bias": 0.0},
}


@matplotlib.rc_context(STYLE)
def explore_gamma_beta(
    feature: str = ALL,
    weight: float = 1.0,
    bias: float = 0.0,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Mapping[str, Mapping[str, object]] | None = None,
) -> Explorer:
    """Explore what γ and β of one feature, or of all, do to outputs, features and rows.

    Args:
        feature: "all features", or "feature 0", "feature 1" … for one; others keep γ = 1, β = 0.
        weight: γ, from −2 to 2.
        bias: β, from −3 to 3, in the unit of the outputs.
        x: (N, D) or (N, L, D) with 2 to 12 features, in place of 8 random rows of four.
        preset: the name of a preset to start with.
        presets: name → {"feature": …, "weight": …, "bias": …}, beside the built-in ones.

    Raises:
        ValueError: a start is outside its range, `feature` or `preset` is the name of none, `x` has
            another number of axes, of rows or of features, or a value that is not finite.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, section 3.1, where γ is called gain.

    >>> explore_gamma_beta(preset="one feature silenced: γ = 0").words[:43]
    'In every row feature 1 has γ = 0 and β = 0.'
    """
    x = _points() if x is None else rows_of(x)
    features = x.shape[1]
    if features > MOST:
        raise ValueError(f"This explorer needs data with 2 to {MOST} features, but got {features}.")
    names = [f"feature {d}" for d in range(features)]
    x_hat = layer_norm(x, features).numpy()
    picture, axes = new_picture(
        "Outputs of layer norm, and their means over rows and over features",
        *(1, 3, 10 / 3, 5.1),
        layout=None,
        sharey=True,
        gridspec_kw={"width_ratios": [4, 3, 6]},
    )
    picture.subplots_adjust(left=0.08, right=0.985, bottom=0.115, top=0.8, wspace=0.12)
    reach = np.abs(x_hat.mean(0)) + x_hat.std(0)
    span = 1.05 * (BIAS + WEIGHT * max(np.abs(x_hat).max(), reach.max()))
    all_outputs, of_chosen = _histograms(axes[0, 0], x_hat, span)
    of_features = _moments(axes[0, 1], x_hat, 0, "feature")
    of_rows = _moments(axes[0, 2], x_hat, 1, "row")
    if x.mean(1).abs().max() <= span:
        look = {"color": ORANGE, "mec": "black", "ms": min(11, 200 / len(x))}
        axes[0, 2].plot(x.mean(1), "^", label="mean of the row before", **look)
    picture.legend(loc="upper center", ncols=3, fontsize=12)

    def move(feature: str, weight: float, bias: float) -> str:
        those = slice(None) if feature == ALL else [names.index(feature)]
        gamma, beta = torch.ones(features).double(), torch.zeros(features).double()
        gamma[those], beta[those] = weight, bias
        y = layer_norm(x, features, gamma, beta).numpy()
        _count(all_outputs, y)
        _count(of_chosen, y[:, those])
        of_features.set(y, 0)
        of_rows.set(y, 1)
        count = len(y)
        if feature == ALL:
            who, whose = f"all {features} features have", f"The {count} outputs of each feature"
            others = ""
        else:
            who, whose = f"{feature} has", f"Its {count} outputs"
            others = "; the other features keep γ = 1 and β = 0"
        return (
            f"In every row {who} γ = {short(weight)} and β = {short(bias)}. {whose} have "
            f"{_told(y[:, those], 0)} (before γ and β: {_told(x_hat[:, those], 0, False)}). The "
            f"{count} rows now have {_told(y, 1)} (before layer norm: {_told(x.numpy(), 1)})"
            f"{others}."
        )

    return Explorer(
        picture,
        [all_outputs, of_chosen, *of_features, *of_rows],
        move,
        {
            "feature": Choice("change only", feature, [ALL, *names]),
            "weight": Slider("γ", weight, steps(-WEIGHT, WEIGHT, 0.1)),
            "bias": Slider("β", bias, steps(-BIAS, BIAS, 0.1)),
        },
        {**PRESETS, **(presets or {})},
        preset,
    )


def _points() -> Tensor:
    """Make rows (8, 4) that differ in mean and spread, with features that differ in mean."""
    z = normal(8, 6, seed=4).double()
    features = z[:, :4] + torch.tensor([-1.0, 0.0, 0.5, 1.5])
    return features * (0.5 * z[:, 4:5]).exp() + 2 * z[:, 5:]


def _histograms(ax: Axes, x_hat: NDArray, span: float) -> list[StepPatch]:
    """Draw the histogram at γ = 1 and β = 0, and return those that move."""
    ax.set(title="histogram of all", xlabel="how many", ylabel="y, output of layer norm")
    ax.set(xlim=(0, 1.05 * x_hat.size), ylim=(-span, span))
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True, nbins=5)
    edges = np.linspace(-span, span, BINS + 1)
    looks = (
        {"color": GRAY, "lw": 3},
        {"color": BLUE, "fill": True, "label": "all outputs"},
        {"color": VERMILION, "lw": 2.5, "label": "those with γ and β as set"},
    )
    still, *moving = [
        ax.stairs(np.zeros(BINS), edges, orientation="horizontal", **look) for look in looks
    ]
    _count(still, x_hat)
    return moving


def _count(stairs: StepPatch, values: NDArray) -> None:
    """Count the values in the bins; where there is none, nothing is drawn."""
    counts = np.histogram(values, stairs.get_data().edges)[0]
    stairs.set_data(np.where(counts, counts, np.nan))


class Moments(NamedTuple):
    """Means as dots, with bars of a standard deviation to both sides."""

    bars: Line2D
    dots: Line2D

    def set(self, values: NDArray, axis: int) -> None:
        """Show the moments of the values over an axis."""
        self.dots.set_ydata(values.mean(axis))
        self.bars.set_ydata(_ends(values, axis))


def _moments(ax: Axes, x_hat: NDArray, axis: int, what: str) -> Moments:
    """Draw the moments at γ = 1 and β = 0, and return those that move."""
    at = np.arange(x_hat.shape[1 - axis])
    ax.set(title=f"each {what}", xlabel=what, xlim=(-0.8, len(at) - 0.2))
    ax.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    ax.axhline(0, color="black", lw=1, zorder=0)
    thin, size = min(1.0, (12 if axis else 8) / len(at)), min(8.0, 200 / len(at))
    hidden = "" if axis else "_"  # from the legend, where each name stands once
    looks = ((GRAY, 14, "at γ = 1 and β = 0"), (BLUE, 4, "± standard deviation"))
    still, bars = (
        ax.plot(at.repeat(3), _ends(x_hat, axis), color=color, lw=lw * thin, label=hidden + std)[0]
        for color, lw, std in looks
    )
    for line in (still, bars):
        line.set_solid_capstyle("butt")
    bars.set_zorder(3)  # above the triangles, as in the drawing that moves
    look = {"color": BLUE, "ms": size, "mec": "black", "mew": 0.5, "zorder": 3}
    (dots,) = ax.plot(at, "o", label=hidden + "mean", **look)
    return Moments(bars, dots)


def _ends(values: NDArray, axis: int) -> NDArray:
    """List the ends of the bars, with a gap after each."""
    mean, std = values.mean(axis), values.std(axis)
    return np.stack([mean - std, mean + std, mean + np.nan], 1).ravel()


def _told(values: NDArray, axis: int, named: bool = True) -> str:
    what = ("mean", "standard deviation") if named else ("", "")
    moments = values.mean(axis), values.std(axis)
    return " and ".join(map(_range, what, moments))


def _range(what: str, values: NDArray) -> str:
    low, high = number(values.min()), number(values.max())
    if low == high:
        return f"{what} {low}".lstrip()
    return f"{what and what + 's '}from {low} to {high}"
