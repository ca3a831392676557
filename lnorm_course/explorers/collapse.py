"""What layer norm leaves of points with one, two, three, or four features."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lnorm_course.explorers.engine import Explorer, Slider, key, line, panel, powers_of_ten
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, GRAY, INNER, OUTER, in_style
from lnorm_utils.plotting.points import CORNERS, in_plane
from lnorm_utils.words import counted, fixed, number

__all__ = ["explore_collapse"]

LABELS = {1: ("the feature", ""), 2: ("feature 0", "feature 1")}
LABELS |= dict.fromkeys((3, 4), ("along (1, −1, 0, …)", "along (1, 1, −2, …)"))
SIDES = {
    "before": (3.5, ("● feature 0 larger", INNER), ("▲ feature 1 larger", OUTER)),
    "after": (2.4, ("after", BLACK), ("★ the marked point", BLACK)),
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


def points() -> Tensor:
    """Return points (120, 4); in the first, the marked one, features 0 and 1 differ by 1."""
    made = normal(120, 4, seed=6).double()
    made[0] = torch.tensor([0.5, -0.5, 0.0, 0.0])
    return made


def _normed(features: int, difference: float, eps: float) -> tuple[Tensor, Tensor]:
    """Scale differences within each point; return points (120, D) before and after layer norm."""
    chosen = points()[:, :features]
    mean = chosen.mean(1, keepdim=True)
    x = mean + difference * (chosen - mean)
    return x, standardize(x, eps=eps)


@in_style
def explore_collapse(preset: str | None = None, **start: Any) -> Explorer:
    """Explore where layer norm puts points with few features, and how ε affects small differences.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry.

    >>> explore_collapse(preset="tensorflow's 0.73996").words[-45:]
    'The marked point becomes (0.73996, −0.73996).'
    """
    panels, drawn = {}, []
    for when, (reach, *names) in SIDES.items():
        picture, ax = panel(f"points {when} layer norm", aspect="equal")
        ax.set(xlim=(-1.75 * reach, 1.75 * reach), ylim=(-reach, reach))
        ax.locator_params(nbins=6)
        ax.grid(color=GRAY, lw=0.5)
        key(ax, *names)
        looks = (("o", INNER, 6), ("^", OUTER, 6), ("s", GRAY, 5), ("*", BLACK, 17))
        dots = [line(ax, kind, color=color, ms=size, mew=0.5) for kind, color, size in looks]
        across: dict[str, Any] = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        labels = [ax.text(0.5, -0.2, "", **across), ax.text(-0.13, 0.5, "", rotation=90, **across)]
        panels[picture] = [*dots, *labels]
        drawn.append((dots, labels))
    # Only the panel after layer norm, the last one, has an outline and counts.
    outline = line(ax, "-", color=BLACK, lw=1, zorder=1)
    counts = [ax.text(2.6 * x, 1.3 * y, "", ha="center", va="center") for x, y in CORNERS]
    panels[picture] = [outline, *panels[picture], *counts]

    def show(found: tuple[Tensor, Tensor], features: int, difference: float, **_: Any) -> str:
        # The signs come from the points, because x is rounded. A sign is 0 if there is only one
        # feature, or if the features are equal.
        other = points()[:, min(1, features - 1)]
        signs = np.sign(difference * (points()[:, 0] - other).numpy())
        for (dots, labels), values in zip(drawn, found, strict=True):
            places = in_plane(values.numpy())
            for those, some in zip(dots, (signs == 1, signs == -1, signs == 0, [0]), strict=True):
                those.set_data(places[some].T)
            for label, name in zip(labels, LABELS[features], strict=True):
                label.set_text(name)
        y = found[1]
        for text, near in zip(counts, _near_corners(y), strict=True):
            text.set_text(counted(near, "point") if near else "")
        angle = np.linspace(0, 2 * np.pi, 100 if features > 2 else 0)
        outline.set_data(math.sqrt(features) * np.array([np.cos(angle), np.sin(angle)]))
        marked = ", ".join(fixed(value, 5 if features == 2 else 2) for value in y[0])
        return f"{_left(y)} The marked point becomes ({marked})."

    (*_, star_before), _ = drawn[0]
    drags = {star_before: ["difference"]}
    return Explorer(panels, _normed, show, CONTROLS, PRESETS, preset, start, drags)


def _near_corners(y: Tensor) -> list[int]:
    """Count the points within 0.01 of each corner; the counts are 0 unless D = 2."""
    return [int(((y[:, 0] - first).abs() < 0.01).sum()) * (y.shape[1] == 2) for first, _ in CORNERS]


def _left(y: Tensor) -> str:
    """Say what layer norm has left of the points."""
    features, radii = y.shape[1], y.norm(dim=1)
    low, high = number(radii.min()), number(radii.max())
    if high == "0.00":
        return f"After layer norm, all {len(y)} points lie at 0, whatever they were."
    if features == 2:
        first, second = _near_corners(y)
        return (
            f"After layer norm, {first} points lie within 0.01 of (1, −1), {second} of (−1, 1), "
            f"and ε holds {len(y) - first - second} back."
        )
    far, full = " to ".join(dict.fromkeys([low, high])), number(math.sqrt(features))
    shape = "circle" if features == 3 else "sphere"
    return (
        f"After layer norm, points lie {far} from 0; the {shape} has radius √{features} = {full}."
    )
