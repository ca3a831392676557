"""Which part of a gradient comes back through a layer norm of three features."""

import math
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Slider, steps
from lnorm_course.explorers.engine.dragging import Drag
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_utils.backward import layer_norm_backward
from lnorm_utils.functional import layer_norm_steps
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, SKY, VERMILION, YELLOW, in_style
from lnorm_utils.plotting.points import in_plane
from lnorm_utils.words import fixed, number

__all__ = ["explore_gradient"]

OTHERS = (1.0, -1.0)
LENGTH = 1.5  # of the gradient that arrives
SPAN = (-1.9, 4.0)  # of heights; in every state, all arrows end inside
DARK = {SKY: BLUE, VERMILION: "#B04E00"}  # of an arrow's color, for its name: 5:1 on white
ACROSS = ((-3.3, 2.2), (-4.1, 2.3))
PRESETS: Presets = {
    "at an angle": {"feature": -1.0, "direction": 30},
    "along x̂": {"feature": 1.0, "direction": 90},
    "along the circle": {"feature": 1.0, "direction": 0},
    "small row": {"feature": 0.0, "scale": 0.75, "direction": 60},
    "large row": {"feature": 0.0, "scale": 1.5, "direction": 60},
    "along x̂, large ε": {"feature": 1.0, "direction": 90, "eps": 1.0},
}


@in_style
def explore_gradient(
    feature: float = -1.0,
    scale: float = 1.0,
    eps: float = 1e-5,
    direction: int = 30,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore what layer norm makes of a gradient: one panel has it arrive, the other leave.

    The row has the features `feature`, 1 and −1, all times `scale`. It's seen along (1, 1, 1), the
    direction that subtracting the mean removes, as is the gradient.

    Args:
        feature: x₀, from −2 to 2.
        scale: what all three features are multiplied by: 0.75, 1 or 1.5.
        eps: ε: 1e-5, 0.1 or 1.
        direction: of the gradient that arrives, in degrees from the direction (1, −1, 0), from 0
            to 330. Its length is 1.5.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument is outside its range.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry of the forward pass.

    >>> explore_gradient(preset="along x̂").words[-53:]
    'Less than 0.01 of it passes, because g lies along x̂.'
    """
    picture, (left, right) = fixed_panels(
        "A gradient before and after it comes back through a layer norm of three features",
        *(2, 4.4, 4.9),
        {"left": 0.03, "right": 0.98, "bottom": 0.12, "top": 0.89, "wspace": 0.06},
        width_ratios=[high - low for low, high in ACROSS],
    )
    titles = ("at x̂, the star:\ng arrives", "at x, the dot:\n∂x comes out")
    for ax, title, across in zip((left, right), titles, ACROSS, strict=True):
        ax.set(title=title, aspect="equal", xlabel="→ (1, −1, 0)\n↑ (1, 1, −2)")
        ax.set(xlim=across, ylim=SPAN, xticks=range(-4, 3), yticks=range(-1, 4))
        ax.set_xlim(across)
        ax.grid(color=GRAY, lw=0.5)
        for axis in (ax.xaxis, ax.yaxis):  # what counts are lengths; the grid is one unit wide
            axis.set_major_formatter("")
            axis.set_tick_params(length=0)
    angle = np.linspace(0, 2 * np.pi, 100)
    left.plot(*(math.sqrt(3) * np.array([np.cos(angle), np.sin(angle)])), "-", color=BLACK, lw=1)
    rays = [line(ax, ":", color=BLACK, lw=1) for ax in (left, right)]
    x_hat_at = line(left, "*", color=YELLOW, ms=15)
    x_at = line(right, "o", color=YELLOW, ms=13, mew=2, zorder=3)
    passes, leaves = Arrow(left, SKY, 4, "passes"), Arrow(right, SKY, 4, "∂x")
    lost, constant = Arrow(left, VERMILION, 1.2, "lost"), Arrow(right, VERMILION, 1.2, "g/σ")
    arrives = Arrow(left, BLACK, 2.5, "g")
    tip = line(left, "o", color=BLACK, ms=7)

    def move(feature: float, scale: float, eps: float, direction: int) -> str:
        x = _row(feature, scale)
        g = _gradient(direction)
        forward, found = layer_norm_steps(x, 3, eps=eps), layer_norm_backward(g, x, 3, eps=eps)
        along = forward.x_hat * found.g_slope
        at_x, at_x_hat = _place(x - forward.mean), _place(forward.x_hat)
        for ray, across in zip(rays, ACROSS, strict=True):
            ray.set_data(np.stack([np.zeros(2), at_x * _reach(at_x, across)], 1))
        x_hat_at.set_data(at_x_hat[:, None])
        x_at.set_data(at_x[:, None])
        tip.set_data((at_x_hat + _place(g))[:, None])
        arrives.show(at_x_hat, g)
        passes.show(at_x_hat, g - along, g)
        lost.show(at_x_hat, along, g)
        leaves.show(at_x, found.dx)
        constant.show(at_x, forward.rstd * g, found.dx)
        return _told(x, g - along, found.dx, forward.x_hat, forward.rstd)

    controls = {
        "feature": Slider("feature 0", feature, steps(-2, 2, 0.25)),
        "scale": Slider("scale of the row, ×", scale, [0.75, 1.0, 1.5]),
        "direction": Slider("direction of g, °", direction, range(0, 360, 30)),
        "eps": Slider("ε", eps, [1e-5, 0.1, 1.0]),
    }
    arrows = (passes, leaves, lost, constant, arrives)
    moving = [
        *(*rays, x_hat_at, *(a.line for a in arrows), tip, x_at),
        *(a.name for a in arrows),
    ]
    drags = [
        Drag(tip, ["direction"], lambda direction: _place(_gradient(direction))),
        Drag(x_at, ["feature", "scale"], lambda feature, scale: _place(_row(feature, scale))),
    ]
    return Explorer(
        picture, moving, move, controls, PRESETS, preset, presets, narrow="beside", drags=drags
    )


def _row(feature: float, scale: float) -> Tensor:
    return scale * torch.tensor([feature, *OTHERS], dtype=torch.float64)


def _reach(place: NDArray, across: tuple[float, float]) -> float:
    """Tell by what a place is multiplied to lie on the edge of a panel."""
    edges = [(across[int(place[0] > 0)], place[0]), (SPAN[int(place[1] > 0)], place[1])]
    reach = min(edge / value for edge, value in edges if abs(value) > 1e-9)
    return reach * (1 - 1e-9)  # rounding leaves it inside


def _gradient(direction: float) -> Tensor:
    """Return the gradient that arrives: without a mean, and in this direction as it's seen."""
    angle = math.radians(direction)
    axes = torch.tensor([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]], dtype=torch.float64)
    axes /= axes.norm(dim=1, keepdim=True)
    return LENGTH * (math.cos(angle) * axes[0] + math.sin(angle) * axes[1])


def _place(vector: Tensor) -> NDArray:
    return in_plane(vector[None].numpy())[0]


class Arrow:
    """An arrow with its name at its tip, or beside it."""

    def __init__(self, ax: Axes, color: str, width: float, name: str) -> None:
        self.line = line(ax, "-", color=color, lw=width, label=name)
        look: dict[str, Any] = {"textcoords": "offset points", "fontsize": 10}
        look["color"] = DARK.get(color, color)
        self.name = ax.annotate(name, (0, 0), (0, 0), **look)

    def show(self, start: NDArray, vector: Tensor, other: Tensor | None = None) -> None:
        """Draw it from a start, its name beside it and away from another arrow, if there is one."""
        points = _polyline(start, way := _place(vector))
        self.line.set_data(points)
        self.name.set_visible(points.size > 0)
        if not points.size:
            return
        to = way / np.hypot(*way)
        if other is not None:
            cross = way[0] * _place(other)[1] - way[1] * _place(other)[0]
            to = np.array([to[1], -to[0]]) * (1 if cross >= 0 else -1)
        self.name.xy = tuple(start + way * (1.0 if other is None else 0.6))
        self.name.set_position(tuple((8 if other is None else 7) * to))
        across = "left" if to[0] > 0.3 else "right" if to[0] < -0.3 else "center"
        up = "bottom" if to[1] > 0.3 else "top" if to[1] < -0.3 else "center"
        self.name.set(horizontalalignment=across, verticalalignment=up)


def _polyline(start: NDArray, vector: NDArray) -> NDArray:
    """Return an arrow as the points of one line, (2, 5): shaft, tip, and two barbs."""
    length = float(np.hypot(*vector))
    if length < 0.01:
        return np.empty((2, 0))
    tip = start + vector
    back, side = -vector / length, np.array([-vector[1], vector[0]]) / length
    size = min(0.25, length / 2)
    barbs = [tip + size * (back + 0.6 * sign * side) for sign in (1, -1)]
    return np.stack([start, tip, barbs[0], tip, barbs[1]], 1)


def _told(x: Tensor, passing: Tensor, dx: Tensor, x_hat: Tensor, rstd: Tensor) -> str:
    """Say in words how much of the gradient passes, and what comes out."""
    row = ", ".join(fixed(value) for value in x)
    root, part, out = number(1 / rstd), passing.norm().item(), dx.norm().item()
    begin = f"x = ({row}), and √(var + ε) is {root}. A gradient of length {fixed(LENGTH)} arrives."
    if part < 0.01:
        return f"{begin} Less than 0.01 of it passes, because g lies along x̂."
    cosine = abs((dx @ x_hat / (out * x_hat.norm())).item())
    degrees = math.degrees(math.acos(min(1.0, cosine)))
    return (
        f"{begin} A part of length {fixed(part)} passes. Divided by {root}, it has length "
        f"{fixed(out)} and stands at {fixed(degrees, 0)}° to x̂."
    )
