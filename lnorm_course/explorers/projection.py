"""Lesson 7: what a projection before layer norm preserves, and what its bias adds."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lnorm_course.explorers.engine import Explorer, Slider, Switch, key, line, panel, powers_of_ten
from lnorm_utils.data import normal, projection
from lnorm_utils.functional import layer_norm
from lnorm_utils.measures import decoder_r2, linear_decoder
from lnorm_utils.plotting.picture import BLACK, DATA, GRAY, in_style, tint
from lnorm_utils.words import fixed, significant

__all__ = ["explore_projection"]

SIZES = [2, 3, 4, 6, 8, 16, 32, 64]
SEED = 2634  # for the projection; with this seed, R² is near lesson 7's medians
RAYS, ON_RAY = 4, 4
# The marker and its size for each ray, chosen so that markers that coincide can still be seen.
SHAPES = (("o", 11), ("s", 6), ("^", 11), ("D", 4))
LEVELS = {"1/π: one bit": (1 / math.pi, 0.24), "π/4: the direction": (math.pi / 4, 0.62)}
LEVELS |= {"1: everything": (1, 1.09)}  # maps a name to a level of R² and to the name's height
CONTROLS = {
    "size": Slider("projection size", 6, SIZES),
    "bias": Switch("bias", True),
    "bias_scale": Slider("bias scale", 1.0, powers_of_ten(-1, 1), when=lambda now: now["bias"]),
}
PRESETS: dict[str, dict[str, Any]] = {
    "two features, no bias": {"size": 2, "bias": False},
    "six features as in the lesson": {},
    "six features, no bias": {"bias": False},
    "sixty-four, no bias: π/4": {"size": 64, "bias": False},
    "large bias": {"bias_scale": 10.0},
}


def points() -> Tensor:
    """Return points (400, 2); the decoder is fitted on one half and scored on the other."""
    return normal(400, 2, seed=399).double()


def on_rays() -> Tensor:
    """Return points (RAYS · ON_RAY, 2) on rays from the origin, spread like the data."""
    x = points()
    distances = x.norm(dim=1).quantile(torch.linspace(0.2, 0.95, ON_RAY).double())
    angles = torch.atan2(x[:, 1], x[:, 0]).quantile((torch.arange(RAYS).double() + 0.25) / RAYS)
    directions = torch.stack([angles.cos(), angles.sin()], dim=1)
    return (directions[:, None] * distances[:, None]).reshape(-1, 2)


def _apart(rays: Tensor) -> str:
    """Return the mean distance between the first and the last point of a ray, as text."""
    ends = rays.reshape(RAYS, ON_RAY, 2)[:, [0, -1]]
    return fixed(ends.diff(dim=1).norm(dim=-1).mean())


def _codes(x: Tensor, size: int, scale: float) -> Tensor:
    """Project x (N, 2) to (N, size), with the bias multiplied by `scale`, and apply layer norm."""
    project = projection(2, size, SEED).requires_grad_(False).double()
    return layer_norm(x @ project.weight.T + scale * project.bias, size)


def _recovered(size: int, bias: bool, bias_scale: float) -> tuple[float, Tensor]:
    """Decode the points linearly; return R² and where the points on the rays end up, (16, 2)."""
    decode, r2 = linear_decoder(_codes(points(), size, bias_scale * bias), points())
    return r2, decode(_codes(on_rays(), size, bias_scale * bias))


@in_style
def explore_projection(preset: str | None = None, **start: Any) -> Explorer:
    """Explore what a linear decoder recovers of two features after projection and layer norm.

    >>> explore_projection(preset="two features, no bias").words[:58]
    'With 2 features and no bias, the decoder reaches R² = 0.32'
    """
    by_size, left = panel("what a linear decoder recovers by size", height=2.4, ylabel="R²")
    left.set(xlabel="projection size", xscale="log", xlim=(1.7, 75), ylim=(0, 1.25))
    left.set_xticks(SIZES, [str(size) for size in SIZES])
    left.minorticks_off()
    for name, (height, above) in LEVELS.items():
        left.axhline(height, color=GRAY, lw=1, zorder=0)
        left.text(73, above, name, ha="right", va="center", fontsize=10)
    key(left, ("– with the bias", BLACK), ("      - - without", BLACK), ("★ now", DATA))
    for scale, look in ((1.0, "-"), (0.0, "--")):
        r2 = [decoder_r2(_codes(points(), size, scale), points()) for size in SIZES]
        line(left, look, SIZES, r2, color=BLACK)
    here = line(left, "*", [2], color=DATA, ms=16)

    plane, right = panel("points on four rays, and what the decoder recovers of them", height=2.6)
    right.set(aspect="equal", xlim=(-4, 4), ylim=(-2.6, 2.6), xlabel="feature 0")
    right.set_ylabel("feature 1")
    key(right, ("○ □ △ ◇ on four rays", BLACK), ("● recovered", DATA))
    rays = []
    for ray, (marker, size) in zip(on_rays().split(ON_RAY), SHAPES, strict=True):
        line(right, "-", *np.vstack([[0, 0], ray[-1]]).T, color=GRAY, lw=1, zorder=0)
        line(right, marker, *ray.T, mfc="none", ms=7)
        rays.append(line(right, f"{marker}-", color=DATA, lw=1, mfc=tint(DATA, 0.6), ms=size))

    def show(found: tuple[float, Tensor], size: int, bias: bool, bias_scale: float) -> str:
        r2, back = found
        here.set_data([size], [r2])
        for ray, places in zip(rays, back.split(ON_RAY), strict=True):
            ray.set_data(places.T)
        times = "the" if bias_scale == 1 else f"{significant(bias_scale)} times the"
        left = "nothing is lost, but a linear decoder can't read all of it"
        if size == 2:
            left = "only two places are left"
        elif not bias or size == 3:
            left = f"only {'an angle' if bias else 'the direction from the origin'} is left"
        return (
            f"With {size} features and {f'{times} bias' if bias else 'no bias'}, the decoder "
            f"reaches R² = {fixed(r2)}; {left}. The two ends of a ray, {_apart(on_rays())} apart, "
            f"come back {_apart(back)} apart."
        )

    panels = {by_size: [here], plane: rays}
    return Explorer(panels, _recovered, show, CONTROLS, PRESETS, preset, start)
