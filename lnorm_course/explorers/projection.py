"""Lesson 7: what a projection before layer norm saves, and what its bias adds."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lnorm_course.explorers.engine.controls import Slider, Switch, powers_of_ten
from lnorm_course.explorers.engine.panels import Explorer, key, line, panel
from lnorm_utils.data import normal, projection
from lnorm_utils.functional import layer_norm
from lnorm_utils.measures import decoder_r2, linear_decoder
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, in_style, tint
from lnorm_utils.words import counted, fixed, significant

__all__ = ["explore_projection"]

SIZES = [2, 3, 4, 6, 8, 16, 32, 64]
SEED = 2634  # of the projection: with this one, R² is near the medians of lesson 7
RAYS, ON_RAY = 4, 4
# A shape for each ray, and its size; of those on one place, each can be seen.
SHAPES = (("o", 11), ("s", 6), ("^", 11), ("D", 4))
LEVELS = (  # of R², how far away the name is, and on which side
    (1 / math.pi, -0.03, "top", "1/π: one bit"),
    (math.pi / 4, -0.12, "top", "π/4: the direction"),
    (1, 0.04, "bottom", "1: everything"),
)
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
    "two features, large bias": {"size": 2, "bias_scale": 10.0},
}


class Recovered(NamedTuple):
    """R² of a linear decoder, and what it makes of points on rays (RAYS · ON_RAY, 2)."""

    r2: float
    on_rays: Tensor
    size: int
    scale: float


def points() -> Tensor:
    """Make points (400, 2); the decoder is fitted on one half, and scored on the other."""
    return normal(400, 2, seed=399).double()


def on_rays() -> Tensor:
    """Choose rays from the origin to where points are, and distances: (RAYS · ON_RAY, 2)."""
    x = points()
    distances = x.norm(dim=1).quantile(torch.linspace(0.2, 0.95, ON_RAY).double())
    angles = torch.atan2(x[:, 1], x[:, 0]).quantile((torch.arange(RAYS).double() + 0.25) / RAYS)
    directions = torch.stack([angles.cos(), angles.sin()], dim=1)
    return (directions[:, None] * distances[:, None]).reshape(-1, 2)


def codes(x: Tensor, size: int, scale: float) -> Tensor:
    """Project x (N, 2) to a size, with its bias times a scale, and normalize: (N, size)."""
    project = _projection(size)
    return layer_norm(x @ project.weight.T + scale * project.bias, size)


@cache
def _projection(size: int) -> nn.Linear:
    return projection(2, size, SEED).requires_grad_(False).double()


def recovered(size: int, bias: bool, bias_scale: float) -> Recovered:
    """Recover points from what a projection and layer norm leave of them."""
    scale = bias_scale * bias
    decode, r2 = linear_decoder(codes(points(), size, scale), points())
    return Recovered(r2, decode(codes(on_rays(), size, scale)), size, scale)


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
    for height, away, va, name in LEVELS:
        left.axhline(height, color=GRAY, lw=1, zorder=0)
        left.text(73, height + away, name, ha="right", va=va, fontsize=10)
    key(left, ("– with the bias", BLACK), ("      - - without", BLACK), ("★ now", BLUE))
    for scale, look in ((1.0, "-"), (0.0, "--")):
        r2 = [decoder_r2(codes(points(), size, scale), points()) for size in SIZES]
        line(left, look, SIZES, r2, color=BLACK)
    here = line(left, "*", [2], color=BLUE, ms=16)

    plane, right = panel("points on four rays, and what comes back of them", height=2.6)
    right.set(aspect="equal", xlim=(-4, 4), ylim=(-2.6, 2.6), xlabel="feature 0")
    right.set_ylabel("feature 1")
    key(right, ("○ □ △ ◇ on four rays", BLACK), ("● recovered", BLUE))
    rays = []
    for ray, (marker, size) in zip(on_rays().split(ON_RAY), SHAPES, strict=True):
        line(right, "-", *np.vstack([[0, 0], ray[-1]]).T, color=GRAY, lw=1, zorder=0)
        line(right, marker, *ray.T, mfc="none", ms=7)
        rays.append(line(right, f"{marker}-", color=BLUE, lw=1, mfc=tint(BLUE, 0.6), ms=size))

    def show(found: Recovered) -> str:
        here.set_data([found.size], [found.r2])
        for ray, places in zip(rays, found.on_rays.split(ON_RAY), strict=True):
            ray.set_data(places.T)
        times = "the" if found.scale == 1 else f"{significant(found.scale)} times the"
        return (
            f"With {found.size} features and {f'{times} bias' if found.scale else 'no bias'}, the "
            f"decoder reaches R² = {fixed(found.r2)}{_left(found)}. {_apart(found.on_rays)}"
        )

    panels = {by_size: [here], plane: rays}
    return Explorer(panels, recovered, show, CONTROLS, PRESETS, preset, start)


def _left(found: Recovered) -> str:
    """Say what is left for every decoder, linear or not."""
    if found.size == 2:
        return "; only two places are left"
    if not found.scale:
        return "; only the direction from the origin is left"
    if found.size == 3:
        return "; only an angle is left"
    return "; nothing is lost, but a linear decoder can't read all of it"


def _apart(after: Tensor) -> str:
    """Say at how many places points on the rays come back if they're few, or how far apart."""
    rays = torch.stack([on_rays(), after]).reshape(2, RAYS, ON_RAY, 2)
    ends = (rays[:, :, -1] - rays[:, :, 0]).norm(dim=-1).mean(1)
    near = torch.cdist(after, after) <= 0.01 * ends[0]
    places = int((near.int().argmax(1) == torch.arange(len(after))).sum())  # near to none before it
    if places <= RAYS:
        return f"The {len(after)} points on {RAYS} rays come back at {counted(places, 'place')}."
    return f"The two ends of a ray, {fixed(ends[0])} apart, come back {fixed(ends[1])} apart."
