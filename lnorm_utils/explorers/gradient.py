"""Which part of a gradient comes back through a layer norm of three features."""

import math

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from torch import Tensor

from lnorm_utils.backward import layer_norm_backward
from lnorm_utils.explorers.engine.controls import Slider, steps
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import fixed_panels, in_style, line
from lnorm_utils.functional import layer_norm_steps
from lnorm_utils.numbers import fixed, number
from lnorm_utils.plotting.picture import BLACK, GRAY, SKY, VERMILION, YELLOW
from lnorm_utils.plotting.points import in_plane

__all__ = ["explore_gradient"]

OTHERS = (1.0, -1.0)
LENGTH = 1.5  # of the gradient that arrives
SPANS = 4.6, 4.0  # in every state, all arrows end inside
PRESETS: Presets = {
    "at an angle": {"feature": -2.0, "direction": 30},
    "along x̂": {"feature": 1.0, "direction": 90},
    "along the circle": {"feature": 1.0, "direction": 0},
    "small row": {"feature": 0.0, "scale": 0.5, "direction": 60},
    "large row": {"feature": -3.0, "scale": 1.5, "direction": 60},
    "along x̂, large ε": {"feature": 1.0, "direction": 90, "eps": 1.0},
}


@in_style
def explore_gradient(
    feature: float = -2.0,
    scale: float = 1.0,
    eps: float = 1e-5,
    direction: int = 30,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore what layer norm makes of a gradient: on the left it arrives, on the right it leaves.

    The row has the features `feature`, 1 and −1, all times `scale`. It's seen along (1, 1, 1), the
    direction that subtracting the mean removes, as is the gradient.

    Args:
        feature: x₀, from −3 to 3.
        scale: what all three features are multiplied by: 0.5, 1 or 1.5.
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
        *(2, 4.6, 5.1),
        {"left": 0.06, "right": 0.995, "bottom": 0.11, "top": 0.8, "wspace": 0.14},
    )
    for ax, title in ((left, "at x̂, the star: g arrives"), (right, "at x, the dot: ∂x comes out")):
        ax.set(title=title, aspect="equal", xlabel="along (1, −1, 0)")
        ax.set(xlim=(-SPANS[0], SPANS[0]), ylim=(-SPANS[1], SPANS[1]), yticks=range(-4, 5, 2))
        ax.grid(color=GRAY, lw=0.5)
    left.set_ylabel("along (1, 1, −2)")
    angle = np.linspace(0, 2 * np.pi, 100)
    left.plot(*(math.sqrt(3) * np.array([np.cos(angle), np.sin(angle)])), "-", color=BLACK, lw=1)
    rays = [line(ax, ":", color=BLACK, lw=1, label="through x̂") for ax in (left, right)]
    x_hat_at = line(left, "*", color=YELLOW, ms=15)
    x_at = line(right, "o", color=YELLOW, ms=9)
    passes = _arrow(left, SKY, 5, "the part that passes")
    leaves = _arrow(right, SKY, 5, "∂x, what comes out")
    arrives = _arrow(left, BLACK, 2.5, "g, what arrives")
    lost = _arrow(left, VERMILION, 1.2, "the part that is lost")
    constant = _arrow(right, VERMILION, 1.2, "g/σ: mean and σ as constants")
    handles = [arrives, rays[0], passes, lost, leaves, constant]
    picture.legend(handles=handles, loc="upper center", ncols=3)

    def move(feature: float, scale: float, eps: float, direction: int) -> str:
        x = scale * torch.tensor([feature, *OTHERS], dtype=torch.float64)
        g = _gradient(direction)
        forward, found = layer_norm_steps(x, 3, eps=eps), layer_norm_backward(g, x, 3, eps=eps)
        along = forward.x_hat * found.g_slope
        at_x, at_x_hat = _place(x - forward.mean), _place(forward.x_hat)
        edge = at_x / (np.abs(at_x) / SPANS).max()
        for ray in rays:
            ray.set_data(np.stack([np.zeros(2), edge], 1))
        x_hat_at.set_data(at_x_hat[:, None])
        x_at.set_data(at_x[:, None])
        for arrow, start, vector in (
            (arrives, at_x_hat, g),
            (passes, at_x_hat, g - along),
            (lost, at_x_hat, along),
            (leaves, at_x, found.dx),
            (constant, at_x, forward.rstd * g),
        ):
            arrow.set_data(_polyline(start, _place(vector)))
        return _told(x, g - along, found.dx, forward.x_hat, forward.rstd)

    controls = {
        "feature": Slider("feature 0", feature, steps(-3, 3, 0.25)),
        "scale": Slider("scale of the row, ×", scale, [0.5, 1.0, 1.5]),
        "direction": Slider("direction of g, °", direction, range(0, 360, 30)),
        "eps": Slider("ε", eps, [1e-5, 0.1, 1.0]),
    }
    moving = [*rays, x_hat_at, x_at, passes, leaves, arrives, lost, constant]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _gradient(direction: float) -> Tensor:
    """Return the gradient that arrives: without a mean, and in this direction as it's seen."""
    angle = math.radians(direction)
    axes = torch.tensor([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]], dtype=torch.float64)
    axes /= axes.norm(dim=1, keepdim=True)
    return LENGTH * (math.cos(angle) * axes[0] + math.sin(angle) * axes[1])


def _place(vector: Tensor) -> NDArray:
    return in_plane(vector[None].numpy())[0]


def _arrow(ax: Axes, color: str, width: float, label: str) -> Line2D:
    return line(ax, "-", color=color, lw=width, label=label)


def _polyline(start: NDArray, vector: NDArray) -> NDArray:
    """Return an arrow as the points of one line, (2, 5): shaft, tip, and two barbs."""
    length = float(np.hypot(*vector))
    if length < 0.01:
        return np.empty((2, 0))
    tip = start + vector
    back, side = -vector / length, np.array([-vector[1], vector[0]]) / length
    size = min(0.3, length / 2)
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
