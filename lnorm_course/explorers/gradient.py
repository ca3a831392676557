"""Which part of a gradient comes back through a layer norm of three features."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Slider, steps
from lnorm_course.explorers.engine.panels import Explorer, key, line, panel
from lnorm_utils.backward import layer_norm_backward
from lnorm_utils.functional import layer_norm_steps
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, SPREAD, in_style
from lnorm_utils.plotting.points import in_plane
from lnorm_utils.words import fixed, number

__all__ = ["explore_gradient"]

LENGTH = 1.5  # of the gradient that arrives
LEFT_OUT = "#767676"  # the gray of what does not come out
ACROSS, UP = (-6.2, 4.6), (-2.1, 4.1)  # in every state, all arrows end inside
CONTROLS = {
    "feature": Slider("feature 0", -1.0, steps(-2, 2, 0.25)),
    "scale": Slider("scale of the row, ×", 1.0, [0.75, 1.0, 1.5]),
    "direction": Slider("direction of g, °", 30, range(0, 360, 30)),
    "eps": Slider("ε", 1e-5, [1e-5, 0.1, 1.0]),
}
PRESETS: dict[str, dict[str, Any]] = {
    "at an angle": {},
    "along x̂": {"feature": 1.0, "direction": 90},
    "along the circle": {"feature": 1.0, "direction": 0},
    "small row": {"feature": 0.0, "scale": 0.75, "direction": 60},
    "large row": {"feature": 0.0, "scale": 1.5, "direction": 60},
    "along x̂, large ε": {"feature": 1.0, "direction": 90, "eps": 1.0},
}


class Back(NamedTuple):
    """A row (3,) without its mean, x̂ and 1/√(var + ε), and the gradient that arrives and leaves.

    `along` is the part of g along x̂, which is lost.
    """

    x: Tensor
    centered: Tensor
    x_hat: Tensor
    rstd: float
    g: Tensor
    along: Tensor
    dx: Tensor


def gradient(direction: float) -> Tensor:
    """Return a gradient without a mean, at so many degrees from (1, −1, 0)."""
    angle = math.radians(direction)
    axes = torch.tensor([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]).double()
    axes /= axes.norm(dim=1, keepdim=True)
    return LENGTH * (math.cos(angle) * axes[0] + math.sin(angle) * axes[1])


def back(feature: float, scale: float, direction: float, eps: float) -> Back:
    """Send a gradient back through the layer norm of (feature, 1, −1), times the scale."""
    x, g = scale * torch.tensor([feature, 1.0, -1.0]).double(), gradient(direction)
    forward, found = layer_norm_steps(x, 3, eps=eps), layer_norm_backward(g, x, 3, eps=eps)
    along = forward.x_hat * found.g_slope
    return Back(x, x - forward.mean, forward.x_hat, forward.rstd.item(), g, along, found.dx)


@in_style
def explore_gradient(preset: str | None = None, **start: Any) -> Explorer:
    """Explore what layer norm makes of a gradient: one panel has it arrive, the other leave.

    Both are seen along (1, 1, 1), the direction that subtracting the mean removes.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry of the forward pass.

    >>> explore_gradient(preset="along x̂").words[-53:]
    'Less than 0.01 of it passes, because g lies along x̂.'
    """
    arriving, left = _plane("a gradient as it arrives at x̂")
    leaving, right = _plane("what comes out at x")
    key(left, ("★ x̂: g arrives", "#8a5a00"))
    key(right, ("● x: ∂x comes out", BLUE))
    angle = np.linspace(0, 2 * np.pi, 100)
    left.plot(*(math.sqrt(3) * np.array([np.cos(angle), np.sin(angle)])), "-", color=BLACK, lw=1)
    rays = [line(ax, ":", color=BLACK, lw=1) for ax in (left, right)]
    x_hat_at, x_at = line(left, "*", color=SPREAD, ms=15), line(right, "o", color=BLUE, ms=11)
    passes, leaves = Arrow(left, BLUE, 4, "passes"), Arrow(right, BLUE, 4, "∂x")
    lost, constant = Arrow(left, LEFT_OUT, 1.5, "lost"), Arrow(right, LEFT_OUT, 1.5, "g/σ")
    arrives, tip = Arrow(left, BLACK, 2.5, "g"), line(left, "o", color=BLACK, ms=7)

    def show(found: Back) -> str:
        at_x, at_x_hat = place(found.centered), place(found.x_hat)
        for ray in rays:
            ray.set_data(np.stack([np.zeros(2), at_x * _reach(at_x)], 1))
        x_hat_at.set_data(at_x_hat[:, None])
        x_at.set_data(at_x[:, None])
        tip.set_data((at_x_hat + place(found.g))[:, None])
        arrives.show(at_x_hat, found.g)
        passes.show(at_x_hat, found.g - found.along, found.g)
        lost.show(at_x_hat, found.along, found.g)
        leaves.show(at_x, found.dx)
        constant.show(at_x, found.rstd * found.g, found.dx)
        return _words(found)

    arrows = passes, lost, arrives
    moves = [rays[0], x_hat_at, *(a.line for a in arrows), tip, *(a.name for a in arrows)]
    others = [rays[1], leaves.line, constant.line, x_at, leaves.name, constant.name]
    drags = {tip: ["direction"], x_at: ["feature", "scale"]}
    panels = {arriving: moves, leaving: others}
    return Explorer(panels, back, show, CONTROLS, PRESETS, preset, start, drags)


def place(vector: Tensor) -> NDArray:
    """Return where a vector (3,) ends in the plane."""
    return in_plane(vector[None].numpy())[0]


def _plane(alt: str) -> Any:
    picture, ax = panel(alt, aspect="equal", xlim=ACROSS, ylim=UP, xlabel="→ (1, −1, 0)")
    ax.set(ylabel="↑ (1, 1, −2)", xticks=range(-6, 5), yticks=range(-2, 5))
    ax.grid(color=GRAY, lw=0.5)
    ax.tick_params(length=0, labelbottom=False, labelleft=False)  # what counts are lengths
    return picture, ax


def _reach(at: NDArray) -> float:
    """Tell by what a place is multiplied to lie on the edge of a panel."""
    edges = [(ACROSS[int(at[0] > 0)], at[0]), (UP[int(at[1] > 0)], at[1])]
    return min(edge / value for edge, value in edges if abs(value) > 1e-9) * (1 - 1e-9)


class Arrow:
    """An arrow with its name at its tip, or beside it."""

    def __init__(self, ax: Axes, color: str, width: float, name: str) -> None:
        self.line = line(ax, "-", color=color, lw=width)
        offset: dict[str, Any] = {"textcoords": "offset points"}
        self.name = ax.annotate(name, (0, 0), (0, 0), color=color, fontsize=11, **offset)

    def show(self, start: NDArray, vector: Tensor, other: Tensor | None = None) -> None:
        """Draw it from a start, its name beside it and away from another arrow, if there is one."""
        way = place(vector)
        length = float(np.hypot(*way))
        is_seen = length >= 0.01
        self.name.set_visible(is_seen)
        self.line.set_data(_outline(start, way, length) if is_seen else ([], []))
        if not is_seen:
            return
        to = way / length
        if other is not None:
            cross = way[0] * place(other)[1] - way[1] * place(other)[0]
            to = np.array([to[1], -to[0]]) * (1 if cross >= 0 else -1)
        self.name.xy = tuple(start + way * (1.0 if other is None else 0.6))
        self.name.set_position(tuple(8 * to))
        across = "left" if to[0] > 0.3 else "right" if to[0] < -0.3 else "center"
        up = "bottom" if to[1] > 0.3 else "top" if to[1] < -0.3 else "center"
        self.name.set(horizontalalignment=across, verticalalignment=up)


def _outline(start: NDArray, way: NDArray, length: float) -> NDArray:
    """Return an arrow as the points of one line, (2, 5): shaft, tip, and two barbs."""
    tip, size = start + way, min(0.3, length / 2)
    back, side = -way / length, np.array([-way[1], way[0]]) / length
    barbs = [tip + size * (back + 0.6 * sign * side) for sign in (1, -1)]
    return np.stack([start, tip, barbs[0], tip, barbs[1]], 1)


def _words(found: Back) -> str:
    row = ", ".join(fixed(value) for value in found.x)
    begin = f"At x = ({row}), a gradient of length {fixed(LENGTH)} arrives"
    part, out = (found.g - found.along).norm().item(), found.dx.norm().item()
    if part < 0.01:
        return f"{begin}. Less than 0.01 of it passes, because g lies along x̂."
    cosine = abs((found.dx @ found.x_hat / (out * found.x_hat.norm())).item())
    degrees = fixed(math.degrees(math.acos(min(1.0, cosine))), 0)
    return (
        f"{begin}, and a part of length {fixed(part)} passes. Divided by √(var + ε) = "
        f"{number(1 / found.rstd)}, it has length {fixed(out)} and stands at {degrees}° to x̂."
    )
