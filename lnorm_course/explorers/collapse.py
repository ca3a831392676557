"""What layer norm leaves of one, two, three and four features."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Slider, powers_of_ten
from lnorm_course.explorers.engine.dragging import Drag
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import rows_of
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, GRAY, PINK, SKY, YELLOW, in_style
from lnorm_utils.plotting.points import in_plane
from lnorm_utils.words import counted, fixed, number

__all__ = ["explore_collapse"]

MOST = 4
CORNERS = ((1, -1), (-1, 1))  # where layer norm puts two features
DIRECTIONS = {
    1: ("the feature", ""),
    2: ("feature 0", "feature 1"),
    3: ("along a", "along b"),
    4: ("along a", "along b"),
}
SEEN = {
    3: " Here a = (1, −1, 0), b = (1, 1, −2).",
    4: " Here a = (1, −1, 0, 0), b = (1, 1, −2, 0).",
}
PRESETS: Presets = {
    "two features": {"features": 2},
    "almost equal": {"features": 2, "difference": 1e-3},
    "tensorflow's 0.73996": {"features": 2, "difference": 0.16441762 - 0.09484422, "eps": 1e-3},
    "one feature": {"features": 1},
    "three features: a circle": {"features": 3},
    "four features: a sphere": {"features": 4},
}


@in_style
def explore_collapse(
    features: int = 2,
    difference: float = 1.0,
    eps: float = 1e-5,
    points: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore where layer norm puts points with few features, and how ε holds back close ones.

    Args:
        features: D, from 1 to 4: how many features of each point are there.
        difference: what the differences between the features of each point are multiplied by, from
            0 to 1; its mean stays. By as much the marked point's first two features differ, unless
            `points` are given. One feature has no difference.
        eps: ε, from 1e-8 to 0.1.
        points: (N, D) or (N, L, D), in place of 120 random ones; the first row is marked.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry.

    >>> explore_collapse(preset="tensorflow's 0.73996").words[-45:]
    'The marked point becomes (0.73996, −0.73996).'
    """
    rows = _random_points() if points is None else rows_of(points, least=(1, 1))
    most = min(MOST, rows.shape[1])
    picture, (left, right) = fixed_panels(
        "Points before and after layer normalization",
        *(2, 3.35, 3.6),
        {"left": 0.08, "right": 0.99, "bottom": 0.13, "top": 0.83, "wspace": 0.15},
    )
    before = _panel(left, "before", 1.1 * rows.abs().max().item())
    # Beyond the star at a corner, and from there inward, or it would lie over an axis on a phone.
    look: dict[str, Any] = {"va": "center", "bbox": {"fc": "white", "ec": "none", "pad": 1}}
    counts = [
        right.text(1.4 * x, 2 * y, "", ha="right" if x > 0 else "left", **look) for x, y in CORNERS
    ]
    after = _panel(right, "after", 2.5)
    outline = line(right, "-", color=BLACK, lw=1, zorder=1)
    spacing: dict[str, Any] = {"columnspacing": 1.0, "handletextpad": 0.3, "fontsize": 10}
    picture.legend(handles=before.dots, loc="upper center", ncols=4, **spacing)

    def move(features: int, difference: float, eps: float) -> str:
        chosen = rows[:, :features]
        mean = chosen.mean(1, keepdim=True)
        x = mean + difference * (chosen - mean)
        y = standardize(x, eps=eps)
        # Not of x, which is rounded and can't tell.
        higher = np.sign(difference * (chosen[:, 0] - chosen[:, min(1, features - 1)]).numpy())
        for panel, values in ((before, x), (after, y)):
            panel.show(in_plane(values.numpy()), higher, features)
        for text, near in zip(counts, _near_corners(y), strict=True):
            text.set_text(counted(near, "point") if near else "")
        angle = np.linspace(0, 2 * np.pi, 100 if features > 2 else 0)
        outline.set_data(math.sqrt(features) * np.array([np.cos(angle), np.sin(angle)]))
        marked = ", ".join(fixed(value, 5 if features == 2 else 2) for value in y[0])
        return (
            f"{len(x)} points with {counted(features, 'feature')}. {_left(y)} "
            f"The marked point becomes ({marked}).{SEEN.get(features, '')}"
        )

    controls = {
        "features": Slider("number of features, D", features, range(1, most + 1)),
        "difference": Slider(
            "difference, ×",
            difference,
            [0, *powers_of_ten(-4, 0)],
            when=lambda values: values["features"] > 1,
        ),
        "eps": Slider("ε", eps, powers_of_ten(-8, -1)),
    }
    built_in = {name: v for name, v in PRESETS.items() if v.get("features", 0) <= most}
    moving = [outline, *before.all, *after.all, *counts]

    def marked_at(difference: float, features: int) -> NDArray:
        first = rows[:1, :features]
        mean = first.mean(1, keepdim=True)
        return in_plane((mean + difference * (first - mean)).numpy())[0]

    drag = Drag(before.dots[3], ["difference"], marked_at, ["features"])
    return Explorer(
        picture, moving, move, controls, built_in, preset, presets, narrow="beside", drags=[drag]
    )


def _random_points() -> Tensor:
    points = normal(120, MOST, seed=6).double()
    points[0] = torch.tensor([0.5, -0.5, 0.0, 0.0])
    return points


class Panel(NamedTuple):
    """What moves in a panel: circles, triangles, squares, the marked point, two labels."""

    dots: list[Line2D]
    labels: list[Text]

    @property
    def all(self) -> list[Artist]:
        """All of it, what is drawn first before what covers it."""
        return [*sorted(self.dots, key=Line2D.get_zorder), *self.labels]

    def show(self, places: NDArray, higher: NDArray, features: int) -> None:
        """Show points at these places, the first one marked, by the sign of feature 0 − 1."""
        for dots, sign in zip(self.dots, (1, -1, 0), strict=False):
            dots.set_data(places[higher == sign].T)
        self.dots[3].set_data(places[:1].T)
        for label, direction in zip(self.labels, DIRECTIONS[features], strict=True):
            label.set_text(direction)


def _panel(ax: Axes, title: str, span: float) -> Panel:
    dots = [
        line(ax, "o", color=SKY, ms=6, mew=0.5, label="feature 0 > feature 1"),
        line(ax, "^", color=PINK, ms=6, mew=0.5, label="feature 0 < feature 1"),
        line(ax, "s", color=GRAY, ms=5, mew=0.5, label="neither"),
        line(ax, "*", color=YELLOW, ms=18, mew=1, zorder=1.5, label="marked point"),
    ]
    ax.set(title=title, aspect="equal", xlim=(-span, span), ylim=(-span, span))
    ax.locator_params(nbins=6)
    ax.grid(color=GRAY, lw=0.5)
    return Panel(dots, [ax.set_xlabel("x"), ax.set_ylabel("y")])


def _left(y: Tensor) -> str:
    """Say in words what layer norm has left of the points."""
    features = y.shape[1]
    if features == 1:
        return "Every point becomes 0, whatever it was. With γ and β it would be β."
    largest = number(y.abs().max())
    if largest == "0.00":
        return "After: all lie at the center."
    if features == 2:
        near = _near_corners(y)
        if 10 * sum(near) < len(y):
            held = "most" if any(near) else "all"
            return f"After: ε holds {held} of them back, at most {largest} from 0 in each feature."
        return (
            f"After: {near[0]} lie within 0.01 of (1, −1), {near[1]} of (−1, 1), and "
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
    return f"After: all lie on a sphere of radius √4 = {full}, seen from one side."


def _near_corners(y: Tensor) -> list[int]:
    """Count the points within 0.01 of each corner, if they have two features."""
    if y.shape[1] != 2:
        return [0, 0]
    return [int(((y[:, 0] - first).abs() < 0.01).sum()) for first, _ in CORNERS]
