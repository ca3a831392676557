"""Lesson 6: what layer norm leaves of one, two, three and four features."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import matplotlib
import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import normal
from lnorm_utils.explorers.engine.controls import Slider, powers_of_ten
from lnorm_utils.explorers.engine.explorer import Explorer
from lnorm_utils.explorers.engine.inputs import rows_of
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import (
    BLUE,
    GRAY,
    ORANGE,
    STYLE,
    VERMILION,
    new_picture,
    number,
)
from lnorm_utils.plotting.points import in_plane

__all__ = ["explore_collapse"]

MOST = 4
DIRECTIONS = {
    1: ("the feature", ""),
    2: ("feature 0", "feature 1"),
    3: ("along (1, −1, 0)", "along (1, 1, −2)"),
    4: ("along (1, −1, 0, 0)", "along (1, 1, −2, 0)"),
}
PRESETS = {
    "two features": {"features": 2},
    "almost equal": {"features": 2, "difference": 1e-3},
    "tensorflow's 0.73996": {"features": 2, "difference": 0.16441762 - 0.09484422, "eps": 1e-3},
    "one feature": {"features": 1},
    "three features: a circle": {"features": 3},
    "four features: a sphere": {"features": 4},
}


@matplotlib.rc_context(STYLE)
def explore_collapse(
    features: int = 2,
    difference: float = 1.0,
    eps: float = 1e-5,
    points: ArrayLike | None = None,
    preset: str | None = None,
    presets: Mapping[str, Mapping[str, float]] | None = None,
) -> Explorer:
    """Explore where layer norm puts points with few features, and how ε holds back close ones.

    Args:
        features: D, from 1 to 4: how many features of each point are there.
        difference: what the differences between the features of each point are multiplied by, from
            0 to 1; its mean stays. By as much the marked point's first two features differ, unless
            `points` are given. One feature has no difference.
        eps: ε, from 1e-8 to 0.1.
        points: (N, D) or (N, L, D), in place of 120 random ones; the first row is marked.
        preset: the name of a preset to start with.
        presets: name → {"features": …, "difference": …, "eps": …}, beside the built-in ones.

    Raises:
        ValueError: a start is outside its range, `preset` is the name of none, `points` has another
            number of axes, no elements, or a value that is not finite.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry.

    >>> explore_collapse(preset="tensorflow's 0.73996").words[-45:]
    'The marked point becomes (0.73996, −0.73996).'
    """
    points = _points() if points is None else rows_of(points, least=(1, 1))
    most = min(MOST, points.shape[1])
    built_in = {n: p for n, p in PRESETS.items() if p["features"] <= most}
    picture, axes = new_picture(
        "Points before and after layer normalization", 1, 2, 4.6, 5.1, layout=None
    )
    picture.subplots_adjust(left=0.09, right=0.99, bottom=0.12, top=0.85, wspace=0.25)
    before = _panel(axes[0, 0], "before", 1.1 * points.abs().max().item())
    after = _panel(axes[0, 1], "after", 1.25 * math.sqrt(most))
    (outline,) = axes[0, 1].plot([], color=GRAY, zorder=1)
    picture.legend(handles=before.dots, loc="upper center", ncols=3)

    def move(features: int, difference: float, eps: float) -> str:
        chosen = points[:, :features]
        mean = chosen.mean(1, keepdim=True)
        x = mean + difference * (chosen - mean)
        y = standardize(x, eps=eps)
        above = _first_above(chosen) & (difference > 0)  # x is rounded, and cannot tell
        for panel, rows in ((before, x), (after, y)):
            _set_panel(panel, in_plane(rows.numpy()), above, features)
        angle = np.linspace(0, 2 * np.pi, 100 if features > 2 else 0)
        outline.set_data(math.sqrt(features) * np.array([np.cos(angle), np.sin(angle)]))
        return f"{len(x)} points with {_count(features)}. {_left(y)} {_marked(y[0])}"

    return Explorer(
        picture,
        [outline, *before.all, *after.all],
        move,
        {
            "features": Slider("number of features, D", features, range(1, most + 1)),
            "difference": Slider(
                "difference between features, ×",
                difference,
                [0, *powers_of_ten(-4, 0)],
                when=lambda values: values["features"] > 1,
            ),
            "eps": Slider("ε", eps, powers_of_ten(-8, -1)),
        },
        {**built_in, **(presets or {})},
        preset,
    )


def _points() -> Tensor:
    points = normal(120, MOST, seed=6).double()
    points[0] = torch.tensor([0.5, -0.5, 0.0, 0.0])
    return points


class Panel(NamedTuple):
    """What moves in one of the two panels: circles, triangles, the marked point, two labels."""

    dots: list[Line2D]
    labels: list[Artist]

    @property
    def all(self) -> list[Artist]:
        """All of it."""
        return [*self.dots, *self.labels]


def _panel(ax: Axes, title: str, span: float) -> Panel:
    looks = (
        (BLUE, "o", 6, "first feature above the second"),
        (ORANGE, "^", 6, "not above"),
        (VERMILION, "*", 16, "marked point"),
    )
    dots = [
        ax.plot([], marker, color=color, ms=size, mec="black", mew=0.5, label=label)[0]
        for color, marker, size, label in looks
    ]
    ax.set(title=title, aspect="equal", xlim=(-span, span), ylim=(-span, span))
    ax.locator_params(nbins=6)
    ax.grid(color=GRAY, lw=0.5)
    return Panel(dots, [ax.set_xlabel("x"), ax.set_ylabel("y")])


def _set_panel(panel: Panel, places: NDArray, first_above: NDArray, features: int) -> None:
    for dots, mask in zip(panel.dots, (first_above, ~first_above, [0]), strict=True):
        dots.set_data(places[mask].T)
    for label, direction in zip(panel.labels, DIRECTIONS[features], strict=True):
        label.set_text(direction)


def _first_above(x: Tensor) -> NDArray:
    return (x[:, 0] > x[:, -1 if x.shape[1] == 1 else 1]).numpy()


def _count(features: int) -> str:
    return f"{features} feature{'s' * (features > 1)}"


def _left(y: Tensor) -> str:
    """Say in words what layer norm has left of the points."""
    features = y.shape[1]
    if features == 1:
        return "Every one becomes 0, whatever it was: with γ and β it would be β."
    if number(y.abs().max()) == "0.00":
        return "After: all at the center."
    if features == 2:
        near = [int(((y[:, 0] - sign).abs() < 0.01).sum()) for sign in (1, -1)]
        if 10 * sum(near) < len(y):
            return (
                "After: all lie on the line between (1, −1) and (−1, 1), at most "
                f"{number(y.abs().max())} from 0 in each feature: ε holds "
                f"{'most of ' * any(near)}them back."
            )
        return (
            f"After: {near[0]} lie within 0.01 of (1, −1), {near[1]} within 0.01 of (−1, 1), and "
            f"{len(y) - sum(near)} elsewhere."
        )
    radii = y.norm(dim=1)
    low, high, full = (number(r) for r in (radii.min(), radii.max(), math.sqrt(features)))
    if low != high or high != full:
        reach = f"{low} to {high}" if low != high else f"all {low}"
        shape = {3: "circle", 4: "sphere"}[features]
        return f"After: {reach} from the center, where the {shape} has radius {full}."
    if features == 3:
        return f"After: all lie on the circle of radius √3 = {full}."
    return (
        f"After: all lie on a sphere of radius √4 = {full}, seen from one side; dots inside the "
        "circle are on its front or back."
    )


def _marked(y: Tensor) -> str:
    place = ", ".join(f"{round(value, 5) + 0.0:.5f}" for value in y.tolist())
    return f"The marked point becomes ({place})".replace("-", "−") + "."
