"""Lesson 4: γ and β belong to features, and all rows share them."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine import Choice, Explorer, Slider, key, line, panel, steps
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm
from lnorm_utils.plotting.picture import AFFINE, BLACK, MEAN, in_style
from lnorm_utils.words import number, significant

__all__ = ["explore_gamma_beta"]

CHOSEN = {"all": [0, 1, 2, 3], **{f"feature {d}": [d] for d in range(4)}}
CONTROLS = {
    "feature": Choice("γ and β of", "all", CHOSEN),
    "weight": Slider("γ", 1.0, steps(-2, 2, 0.25)),
    "bias": Slider("β", 0.0, steps(-3, 3, 0.25)),
}
PRESETS: dict[str, dict[str, Any]] = {
    "as initialized": {},
    "one feature moved": {"feature": "feature 1", "bias": 3.0},
    "one feature stretched": {"feature": "feature 1", "weight": 2.0},
    "one feature silenced: γ = 0": {"feature": "feature 1", "weight": 0.0},
    "all stretched and moved": {"weight": 2.0, "bias": 3.0},
    "turned around: γ = −1": {"weight": -1.0},
}


def rows() -> Tensor:
    """Make rows (8, 4) that differ in mean and spread, with features that differ in mean."""
    z = normal(8, 6, seed=4).double()
    features = z[:, :4] + torch.tensor([-1.0, 0.0, 0.5, 1.5])
    return features * (0.5 * z[:, 4:5]).exp() + 2 * z[:, 5:]


def _outputs(feature: str, weight: float, bias: float) -> NDArray:
    """Compute the outputs (8, 4) with the given γ and β for one feature, or for all."""
    gamma, beta = torch.ones(4).double(), torch.zeros(4).double()
    gamma[CHOSEN[feature]], beta[CHOSEN[feature]] = weight, bias
    return layer_norm(rows(), 4, gamma, beta).numpy()


@in_style
def explore_gamma_beta(preset: str | None = None, **start: Any) -> Explorer:
    """Explore which outputs γ and β change: each pair changes one feature, in every row.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, section 3.1, where γ is called gain.

    >>> explore_gamma_beta(preset="one feature moved").words[:50]
    'With γ = 1 and β = 3, feature 1 has mean 3.38 and '
    """
    before = _outputs("all", 1.0, 0.0)
    panels: dict[Any, Any] = {}
    for what, values in (("feature", before), ("row", before.T)):
        picture, ax = panel(f"the outputs of layer norm by {what}", xlabel=what, ylabel="output y")
        ax.set(xlim=(-0.7, values.shape[1] - 0.3), ylim=(-7.5, 7.5))
        key(ax, ("○ at γ = 1, β = 0", BLACK), ("     ● as set", AFFINE), ("– mean", MEAN))
        ax.set_xticks(range(values.shape[1]))
        ax.axhline(0, color=BLACK, lw=0.8, zorder=0)
        at = np.tile(np.arange(values.shape[1]), len(values))
        line(ax, "o", at, values.ravel(), mfc="none", mew=0.8, ms=7)
        dots = line(ax, "o", at, color=AFFINE, ms=5, mew=0)
        means = line(ax, "_", range(values.shape[1]), ms=18, mew=3, mec=MEAN)
        panels[picture] = [dots, means]

    def show(y: NDArray, feature: str, weight: float, bias: float) -> str:
        for (dots, means), values in zip(panels.values(), (y, y.T), strict=True):
            dots.set_ydata(values.ravel())
            means.set_ydata(values.mean(0))
        who = "the features have" if feature == "all" else f"{feature} has"
        return (
            f"With γ = {significant(weight)} and β = {significant(bias)}, {who} "
            f"{_moments(y[:, CHOSEN[feature]], 0)}. The rows have {_moments(y, 1)}."
        )

    return Explorer(panels, _outputs, show, CONTROLS, PRESETS, preset, start)


def _moments(values: NDArray, axis: int) -> str:
    """Describe the range of the means and standard deviations along an axis."""
    said = []
    for what, each in (("mean", values.mean(axis)), ("standard deviation", values.std(axis))):
        low, high = number(each.min()), number(each.max())
        said.append(f"{what} {low}" if low == high else f"{what}s from {low} to {high}")
    return " and ".join(said)
