"""Lesson 4: γ and β belong to a feature, and all rows share them."""

from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Choice, Slider, steps
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import rows_of
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm
from lnorm_utils.plotting.picture import BLACK, BLUE, in_style
from lnorm_utils.words import number, significant

__all__ = ["explore_gamma_beta"]

MOST = 12  # features
WEIGHT, BIAS = 2, 3  # how far γ and β go, to both sides
ALL = "all"
STEP = 0.25  # of γ and β
DEVIATION = "standard deviation"
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
    """Explore which outputs γ and β move: those of a feature, in every row.

    The left panel shows the outputs of each feature, the right panel the same outputs by row.

    Args:
        feature: "all", or "feature 0", "feature 1" … for one; others keep γ = 1, β = 0.
        weight: γ, from −2 to 2.
        bias: β, from −3 to 3, in the unit of the outputs.
        x: (N, D) or (N, L, D) with 2 to 12 features, in place of 8 random rows of four.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, section 3.1, where γ is called gain.

    >>> explore_gamma_beta(preset="one feature moved").words[:50]
    'With γ = 1 and β = 3, feature 1 has mean 3.38 and '
    """
    rows = _random_rows() if x is None else rows_of(x, most=(np.inf, MOST))
    features = rows.shape[1]
    names = [f"feature {d}" for d in range(features)]
    x_hat = layer_norm(rows, features).numpy()
    picture, (left, right) = fixed_panels(
        "The outputs of layer norm, by feature and by row",
        *(2, 5.0, 4.5),
        {"left": 0.075, "right": 0.99, "bottom": 0.125, "top": 0.815, "wspace": 0.13},
        gridspec_kw={"width_ratios": [4, 6]},
    )
    reach = 1.05 * (BIAS + WEIGHT * np.abs(x_hat).max())
    for ax in (left, right):
        ax.set(ylim=(-reach, reach))
    left.set_ylabel("y, output of layer norm")
    by_feature = _groups(left, x_hat, "feature", "the outputs, by feature")
    by_row = _groups(right, x_hat.T, "row", "the same outputs, by row")
    handles = [left.lines[1], by_feature.dots, by_feature.means]
    picture.legend(handles=handles, loc="upper center", ncols=3, fontsize=12)

    def move(feature: str, weight: float, bias: float) -> str:
        those = list(range(features)) if feature == ALL else [names.index(feature)]
        gamma, beta = torch.ones(features).double(), torch.zeros(features).double()
        gamma[those], beta[those] = weight, bias
        y = layer_norm(rows, features, gamma, beta).numpy()
        by_feature.show(y)
        by_row.show(y.T)
        who = "the features have" if feature == ALL else f"{feature} has"
        return (
            f"With γ = {significant(weight)} and β = {significant(bias)}, {who} "
            f"{_told(y[:, those], 0)}. The rows have {_told(y, 1)}."
        )

    controls = {
        "feature": Choice("γ and β of", feature, [ALL, *names]),
        "weight": Slider("γ", weight, steps(-WEIGHT, WEIGHT, STEP)),
        "bias": Slider("β", bias, steps(-BIAS, BIAS, STEP)),
    }
    moving = [*by_feature, *by_row]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


class Groups(NamedTuple):
    """Outputs as dots, a column of dots for each group, and the mean of each group as a dash."""

    dots: Line2D
    means: Line2D

    def show(self, values: NDArray) -> None:
        """Show other outputs (each, groups)."""
        self.dots.set_ydata(values.ravel())
        self.means.set_ydata(values.mean(0))


def _groups(ax: Axes, values: NDArray, what: str, title: str) -> Groups:
    """Draw the outputs (each, groups) at γ = 1 and β = 0, and return the artists that move."""
    each, groups = values.shape
    ax.set(title=title, label=f"by {what}", xlabel=what, xlim=(-0.7, groups - 0.3))
    ax.locator_params(axis="x", integer=True, nbins=12)
    ax.axhline(0, color=BLACK, lw=1, zorder=0)
    at, size = np.tile(np.arange(groups), each), max(3.0, min(9.0, 90 / groups))
    still: dict[str, Any] = {"mfc": "none", "mew": 1.2, "label": "at γ = 1 and β = 0"}
    line(ax, "o", at, values.ravel(), ms=size, **still)
    dots = line(ax, "o", at, color=BLUE, ms=0.75 * size, mew=0, label="with γ and β as set")
    dash: dict[str, Any] = {"ms": min(30.0, 200 / groups), "mew": 3, "label": "mean"}
    return Groups(dots, line(ax, "_", range(groups), **dash))


def _told(values: NDArray, axis: int) -> str:
    """Say what means and standard deviations there are."""
    means, deviations = _range("mean", values.mean(axis)), _range(DEVIATION, values.std(axis))
    return f"{means} and {deviations}"


def _range(what: str, values: NDArray) -> str:
    low, high = number(values.min()), number(values.max())
    return f"{what} {low}" if low == high else f"{what}s from {low} to {high}"


def _random_rows() -> Tensor:
    """Make rows (8, 4) that differ in mean and spread, with features that differ in mean."""
    z = normal(8, 6, seed=4).double()
    features = z[:, :4] + torch.tensor([-1.0, 0.0, 0.5, 1.5])
    return features * (0.5 * z[:, 4:5]).exp() + 2 * z[:, 5:]
