"""Which part of a gradient passes back through a layer norm of three features."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine import Explorer, Slider, key, line, panel, steps
from lnorm_utils.backward import layer_norm_backward
from lnorm_utils.functional import layer_norm_steps
from lnorm_utils.plotting.picture import BLACK, BLUE, DATA, GRAY, in_style
from lnorm_utils.plotting.points import in_plane
from lnorm_utils.words import fixed, number

__all__ = ["explore_gradient"]

LENGTH = 1.5  # length of the gradient g that arrives
LEFT_OUT = "#767676"  # gray, for what's missing from the output
ALTS = ("a gradient as it arrives at x̂", "what comes out at x")
ACROSS, UP = (-6.2, 4.6), (-2.1, 4.1)  # in every state, all arrows end inside these limits
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


class _Back(NamedTuple):
    """A row (3,), its centered and normalized forms, 1/√(var + ε), and gradients in and out.

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
    """Return a gradient with mean 0, at this angle in degrees from (1, −1, 0)."""
    angle = math.radians(direction)
    axes = torch.tensor([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]).double()
    axes /= axes.norm(dim=1, keepdim=True)
    return LENGTH * (math.cos(angle) * axes[0] + math.sin(angle) * axes[1])


def _back(feature: float, scale: float, direction: float, eps: float) -> _Back:
    """Send a gradient back through the layer norm of scale · (feature, 1, −1)."""
    x, g = scale * torch.tensor([feature, 1.0, -1.0]).double(), gradient(direction)
    forward, found = layer_norm_steps(x, 3, eps=eps), layer_norm_backward(g, x, 3, eps=eps)
    along = forward.x_hat * found.g_slope
    return _Back(x, x - forward.mean, forward.x_hat, forward.rstd.item(), g, along, found.dx)


@in_style
def explore_gradient(preset: str | None = None, **start: Any) -> Explorer:
    """Explore what layer norm does to a gradient: one panel shows it arriving, the other leaving.

    The view in both panels is along (1, 1, 1), the direction that subtracting the mean removes.

    Source: Brody, Alon & Yahav 2023, arXiv:2305.02582, for the geometry of the forward pass.

    >>> explore_gradient(preset="along x̂").words[-53:]
    'Less than 0.01 of it passes, because g lies along x̂.'
    """
    planes = [panel(alt, aspect="equal", xlabel="→ (1, −1, 0)") for alt in ALTS]
    (_, left), (_, right) = planes
    for _, ax in planes:
        ax.set(xlim=ACROSS, ylim=UP, xticks=range(-6, 5), yticks=range(-2, 5))
        ax.set_ylabel("↑ (1, 1, −2)")
        ax.grid(color=GRAY, lw=0.5)
        # There are no ticks or labels, because only the lengths of the arrows matter.
        ax.tick_params(length=0, labelbottom=False, labelleft=False)
    key(left, ("→ g arrives at ★ x̂", BLACK), ("      ⇒ passes", BLUE), ("→ lost", LEFT_OUT))
    key(right, ("⇒ ∂x comes out at ● x", BLUE), ("→ g/σ", LEFT_OUT))
    angle = np.linspace(0, 2 * np.pi, 100)
    left.plot(*(math.sqrt(3) * np.array([np.cos(angle), np.sin(angle)])), "-", color=BLACK, lw=1)
    rays = [line(ax, ":", color=BLACK, lw=1) for ax in (left, right)]
    star, dot = line(left, "*", color=DATA, ms=15), line(right, "o", color=BLUE, ms=11)
    passes, leaves = (line(ax, "-", color=BLUE, lw=4) for ax in (left, right))
    lost, constant = (line(ax, "-", color=LEFT_OUT, lw=1.5) for ax in (left, right))
    arrives, tip = line(left, "-", color=BLACK, lw=2.5), line(left, "o", color=BLACK, ms=7)

    def show(found: _Back, **_: Any) -> str:
        vectors = found.centered, found.x_hat, found.g, found.along, found.dx
        x, x_hat, g, along, dx = in_plane(torch.stack(vectors).numpy())
        for ray in rays:
            ray.set_data(np.stack([np.zeros(2), x * _reach(x)], 1))
        for marker, at in ((star, x_hat), (dot, x), (tip, x_hat + g)):
            marker.set_data(at[:, None])
        arrives.set_data(_arrow(x_hat, g))
        passes.set_data(_arrow(x_hat, g - along))
        lost.set_data(_arrow(x_hat, along))
        leaves.set_data(_arrow(x, dx))
        constant.set_data(_arrow(x, found.rstd * g))
        return _words(found)

    drags = {tip: ["direction"], dot: ["feature", "scale"]}
    moving = [rays[0], star, passes, lost, arrives, tip], [rays[1], leaves, constant, dot]
    panels = {picture: those for (picture, _), those in zip(planes, moving, strict=True)}
    return Explorer(panels, _back, show, CONTROLS, PRESETS, preset, start, drags)


def _reach(at: NDArray) -> float:
    """Return the factor that moves a point to the edge of a panel."""
    edges = [(ACROSS[int(at[0] > 0)], at[0]), (UP[int(at[1] > 0)], at[1])]
    return min(edge / value for edge, value in edges if abs(value) > 1e-9) * (1 - 1e-9)


def _arrow(start: NDArray, way: NDArray) -> NDArray:
    """Return the points of an arrow drawn as one line, (2, 5), or (2, 0) if it's too short."""
    if (length := np.hypot(*way)) < 0.01:  # too short to be seen
        return np.zeros((2, 0))
    tip, size = start + way, min(0.3, length / 2)
    back, side = -way / length, np.array([-way[1], way[0]]) / length
    barbs = [tip + size * (back + 0.6 * sign * side) for sign in (1, -1)]
    return np.stack([start, tip, barbs[0], tip, barbs[1]], 1)


def _words(found: _Back) -> str:
    row = ", ".join(fixed(value) for value in found.x)
    begin = f"At x = ({row}), a gradient of length {fixed(LENGTH)} arrives"
    part, out = (found.g - found.along).norm().item(), found.dx.norm().item()
    if part < 0.01:
        return f"{begin}. Less than 0.01 of it passes, because g lies along x̂."
    cosine = abs((found.dx @ found.x_hat / (out * found.x_hat.norm())).item())
    degrees = fixed(math.degrees(math.acos(min(1.0, cosine))), 0)
    return (
        f"{begin}, and a part of length {fixed(part)} passes. Divided by √(var + ε) = "
        f"{number(1 / found.rstd)}, it has length {fixed(out)} and is at {degrees}° to x̂."
    )
