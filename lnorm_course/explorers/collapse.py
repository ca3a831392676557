"""What layer norm leaves of one, two, three and four features."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Slider, powers_of_ten
from lnorm_course.explorers.engine.panels import Explorer, key, line, panel
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, GREEN, SPREAD, in_style
from lnorm_utils.plotting.points import in_plane
from lnorm_utils.words import counted, fixed, number

__all__ = ["explore_collapse"]

CORNERS = ((1, -1), (-1, 1))  # where layer norm puts two features
DIRECTIONS = {
    1: ("the feature", ""),
    2: ("feature 0", "feature 1"),
    3: ("along (1, −1, 0)", "along (1, 1, −2)"),
    4: ("along (1, −1, 0, 0)", "along (1, 1, −2, 0)"),
}
TENSORFLOW = 0.16441762 - 0.09484422
STOPS = sorted([0, *powers_of_ten(-4, 0), TENSORFLOW])
CONTROLS = {
    "features": Slider("number of features, D", 2, range(1, 5)),
    "difference": Slider("difference, ×", 1.0, STOPS, when=lambda values: values["features"] > 1),
    "eps": Slider("ε", 1e-5, powers_of_ten(-8, -1)),
}
PRESETS: dict[str, dict[str, Any]] = {
    "two features": {},
    "almost equal": {"difference": 1e-3},
    "tensorflow's 0.73996": {"difference": TENSORFLOW, "eps": 1e-3},
    "one feature": {"features": 1},
    "three features: a circle": {"features": 3},
    "four features: a sphere": {"features": 4},
}


class Points(NamedTuple):
    """Points (120, D) before and after; 1 where feature 0 is larger than feature 1, −1 if not."""

    x: Tensor
    y: Tensor
    larger: NDArray


def points() -> Tensor:
    """Make points (120, 4), of which the first is marked: its first two features differ by 1."""
    made = normal(120, 4, seed=6).double()
    made[0] = torch.tensor([0.5, -0.5, 0.0, 0.0])
    return made


def normed(features: int, difference: float, eps: float) -> Points:
    """Norm points of so many features, whose differences are multiplied by a number."""
    chosen = points()[:, :features]
    mean = chosen.mean(1, keepdim=True)
    x = mean + difference * (chosen - mean)
    # Not of x, which is rounded and can't tell.
    larger = np.sign(difference * (chosen[:, 0] - chosen[:, min(1, features - 1)]).numpy())
    return Points(x, standardize(x, eps=eps), larger)


@in_style
def explore_collapse(preset: str | None = None, **start: Any) -> Explorer:
    """Explore where layer norm puts points with few features, and how ε holds back close ones.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry.

    >>> explore_collapse(preset="tensorflow's 0.73996").words[-45:]
    'The marked point becomes (0.73996, −0.73996).'
    """
    panels, drawn = {}, []
    for when, reach in (("before", 3.5), ("after", 2.4)):
        picture, ax = panel(f"points {when} layer norm", aspect="equal")
        ax.set(xlim=(-1.75 * reach, 1.75 * reach), ylim=(-reach, reach))
        ax.locator_params(nbins=6)
        ax.grid(color=GRAY, lw=0.5)
        dots = [
            line(ax, "o", color=BLUE, ms=6, mew=0.5),
            line(ax, "^", color=GREEN, ms=6, mew=0.5),
            line(ax, "s", color=GRAY, ms=5, mew=0.5),
            line(ax, "*", color=SPREAD, ms=17),
        ]
        labels = [ax.set_xlabel("feature 0"), ax.set_ylabel("feature 1")]
        panels[picture] = [*dots, *labels]
        drawn.append((dots, labels))
        if when == "before":
            key(ax, ("● before: feature 0 larger", BLUE), ("▲ feature 1 larger", GREEN))
        else:
            key(ax, ("after", BLACK), ("★ the marked point", SPREAD))
            outline = line(ax, "-", color=BLACK, lw=1, zorder=1)
            counts = [ax.text(1.5 * x, 1.3 * y, "", ha="center", va="center") for x, y in CORNERS]
            for text, (side, _) in zip(counts, CORNERS, strict=True):
                text.set(ha="left" if side > 0 else "right")
            panels[picture] = [outline, *dots, *labels, *counts]

    def show(found: Points) -> str:
        features = found.y.shape[1]
        for (dots, labels), values in zip(drawn, (found.x, found.y), strict=True):
            places = in_plane(values.numpy())
            for those, sign in zip(dots, (1, -1, 0), strict=False):
                those.set_data(places[found.larger == sign].T)
            dots[3].set_data(places[:1].T)
            for label, direction in zip(labels, DIRECTIONS[features], strict=True):
                label.set_text(direction)
        for text, near in zip(counts, near_corners(found.y), strict=True):
            text.set_text(counted(near, "point") if near else "")
        angle = np.linspace(0, 2 * np.pi, 100 if features > 2 else 0)
        outline.set_data(math.sqrt(features) * np.array([np.cos(angle), np.sin(angle)]))
        marked = ", ".join(fixed(value, 5 if features == 2 else 2) for value in found.y[0])
        return f"{_left(found.y)} The marked point becomes ({marked})."

    drags = {drawn[0][0][3]: ["difference"]}
    return Explorer(panels, normed, show, CONTROLS, PRESETS, preset, start, drags)


def near_corners(y: Tensor) -> list[int]:
    """Count the points within 0.01 of each corner, if they have two features."""
    if y.shape[1] != 2:
        return [0, 0]
    return [int(((y[:, 0] - first).abs() < 0.01).sum()) for first, _ in CORNERS]


def _left(y: Tensor) -> str:
    """Say what layer norm has left of the points."""
    features, radii = y.shape[1], y.norm(dim=1)
    low, high, full = (number(r) for r in (radii.min(), radii.max(), math.sqrt(features)))
    if features == 1:
        return "Every point becomes 0, whatever it was; β would make β of it."
    if high == "0.00":
        return "After layer norm, all 120 points lie at the center."
    if features == 2:
        first, second = near_corners(y)
        return (
            f"After layer norm, {first} points lie within 0.01 of (1, −1), {second} of (−1, 1), "
            f"and ε holds {len(y) - first - second} back."
        )
    shape = {3: "the circle", 4: "the sphere"}[features]
    if low == high == full:
        return f"After layer norm, all 120 points lie on {shape} of radius √{features} = {full}."
    return f"After layer norm, points lie {low} to {high} from 0; {shape} has radius {full}."
