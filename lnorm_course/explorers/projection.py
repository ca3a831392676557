"""Lesson 7: what a projection before layer norm saves, and what its bias adds."""

import math
from functools import cache

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike
from torch import Tensor, nn

from lnorm_course.explorers.engine.controls import Slider, Switch, powers_of_ten
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import rows_of
from lnorm_utils.data import normal, projection
from lnorm_utils.functional import layer_norm
from lnorm_utils.measures import decoder_r2, linear_decoder
from lnorm_utils.plotting.picture import BLACK, GRAY, SKY, YELLOW, Picture, in_style
from lnorm_utils.words import counted, fixed, significant

__all__ = ["explore_projection"]

SIZES = [2, 3, 4, 6, 8, 16, 32, 64]
SEED = 2634  # of the projection: with this one, R² is near the medians of lesson 7
RAYS, ON_RAY = 4, 4
# A shape for each ray, and its size; of those on one place, each can be seen.
SHAPES = (("o", 11), ("s", 6), ("^", 11), ("D", 4))
LOW = -0.08  # an R² below is drawn here
LEVELS = (
    (1 / math.pi, 70, 0.01, "right", "1/π: one bit"),
    (math.pi / 4, 70, -0.14, "right", "π/4: the direction"),
    (1, 1.8, 0.06, "left", "1: everything"),
)
PRESETS: Presets = {
    "two features, no bias": {"size": 2, "bias": False},
    "six features as in the lesson": {"size": 6, "bias": True, "bias_scale": 1.0},
    "six features, no bias": {"size": 6, "bias": False},
    "sixty-four, no bias: π/4": {"size": 64, "bias": False},
    "large bias": {"size": 6, "bias": True, "bias_scale": 10.0},
    "two features, large bias": {"size": 2, "bias": True, "bias_scale": 10.0},
}


@in_style
def explore_projection(
    size: int = 6,
    bias: bool = True,
    bias_scale: float = 1.0,
    points: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore what a linear decoder recovers of two features after projection and layer norm.

    Args:
        size: how many features `nn.Linear` makes of the two, from 2 to 64.
        bias: whether it adds a bias.
        bias_scale: what that bias is multiplied by, from 0.1 to 10.
        points: (N, 2) or (N, L, 2) with at least 8 rows, in place of 400 random ones. The
            decoder is fitted on a random half and scored on the other. The lines at 1/π and π/4
            are for independent standard normal features, as the random ones have.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    >>> explore_projection(preset="two features, no bias").words[:60]
    'With 2 features and no bias, the decoder reaches R² = 0.32. '
    """
    rows = normal(400, 2, seed=399).double() if points is None else _checked(points)
    on_rays = _on_rays(rows)  # (RAYS · ON_RAY, 2)
    everything = torch.cat([rows, on_rays])
    span = 1.2 * on_rays.norm(dim=1).max().item() or 1.0
    picture, (left, right) = _panels(span)
    curves = _curves(left, rows)
    here = line(left, "*", color=YELLOW, ms=16, label="R² now")
    rays = _rays(right, on_rays)
    handles = [*curves, here, right.lines[1], rays[0]]
    picture.legend(handles=handles, loc="upper center", ncols=3, fontsize=10)

    def move(size: int, bias: bool, bias_scale: float) -> str:
        codes = _codes(everything, size, bias_scale * bias)
        decode = linear_decoder(codes[: len(rows)], rows)
        recovered = decode(codes[len(rows) :])
        here.set_data([size], [max(decode.r2, LOW)])
        places = recovered.clip(-span, span).numpy()
        for ray, those in zip(rays, np.split(places, RAYS), strict=True):
            ray.set_data(those.T)
        times = "the" if bias_scale == 1 else f"{significant(bias_scale)} times the"
        kind = f"{times} bias" if bias else "no bias"
        return (
            f"With {size} features and {kind}, the decoder reaches R² = {fixed(decode.r2)}. "
            f"{_left(rows, size, bias, decode.r2)}{_apart(on_rays, recovered)}"
        )

    controls = {
        "size": Slider("projection size", size, SIZES),
        "bias": Switch("bias", bias),
        "bias_scale": Slider(
            "bias scale", bias_scale, powers_of_ten(-1, 1), when=lambda values: values["bias"]
        ),
    }
    moving = [here, *rays]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _checked(x: ArrayLike) -> Tensor:
    points = rows_of(x, least=(8, 2))
    if points.shape[1] != 2:
        raise ValueError(f"This explorer needs points with 2 features, but got {points.shape[1]}.")
    # In another order, for an instructor's may go from class to class.
    points = points[torch.randperm(len(points), generator=torch.Generator().manual_seed(7))]
    if (points[len(points) // 2 :] == points[-1]).all():
        raise ValueError(
            "This explorer needs points that differ, but the half of them that is to be recovered "
            f"is nothing but {tuple(points[-1].tolist())}."
        )
    return points


def _codes(x: Tensor, size: int, scale: float) -> Tensor:
    """Project x (N, 2) to a size, with its bias times a scale, and normalize: (N, size)."""
    project = _projection(size)
    return layer_norm(x @ project.weight.T + scale * project.bias, size)


@cache
def _projection(size: int) -> nn.Linear:
    return projection(2, size, SEED).requires_grad_(False).double()


def _on_rays(points: Tensor) -> Tensor:
    """Choose rays from the origin to where the points are, and distances: (RAYS · ON_RAY, 2)."""
    distances = points.norm(dim=1).quantile(torch.linspace(0.2, 0.95, ON_RAY).double())
    angles = torch.atan2(points[:, 1], points[:, 0])
    angles = angles.quantile((torch.arange(RAYS).double() + 0.25) / RAYS)
    directions = torch.stack([angles.cos(), angles.sin()], dim=1)
    return (directions[:, None] * distances[:, None]).reshape(-1, 2)


def _panels(span: float) -> tuple[Picture, list[Axes]]:
    picture, (left, right) = fixed_panels(
        "What a linear decoder recovers after a projection and layer norm",
        *(2, 3.35, 3.9),
        {"left": 0.085, "right": 0.985, "bottom": 0.125, "top": 0.795, "wspace": 0.24},
        gridspec_kw={"width_ratios": [4, 5]},
    )
    left.set(title="what the decoder recovers", xlabel="projection size", ylabel="R²", xscale="log")
    left.set(xlim=(1.7, 75), ylim=(-0.1, 1.18))
    left.set_xticks(SIZES, [str(size) for size in SIZES])
    left.minorticks_off()
    for height, x, away, ha, name in LEVELS:
        left.axhline(height, color=BLACK, lw=1, zorder=0)
        left.text(x, height + away, name, ha=ha, va="bottom", fontsize=10)
    right.set(title="points on four rays, a shape each", aspect="equal")
    right.set(xlabel="feature 0", ylabel="feature 1", xlim=(-span, span), ylim=(-span, span))
    for ax, name in ((left, "R²"), (right, "points on rays")):
        ax.title.set_fontsize(11)
        ax.set_label(name)
    return picture, [left, right]


def _curves(ax: Axes, points: Tensor) -> list[Line2D]:
    """Draw R² by size, with the bias as it is and without one."""
    looks = ((1.0, "-", "R² with the bias"), (0.0, "--", "R² without a bias"))
    lines = []
    for scale, look, label in looks:
        r2 = [decoder_r2(_codes(points, size, scale), points) for size in SIZES]
        lines.append(line(ax, look, SIZES, np.maximum(r2, LOW), color=BLACK, label=label))
    return lines


def _rays(ax: Axes, on_rays: Tensor) -> list[Line2D]:
    """Draw points on rays faintly, and return the lines for what is recovered of each ray."""
    for ray, (marker, _) in zip(on_rays.split(ON_RAY), SHAPES, strict=True):
        ax.plot(*np.vstack([[0, 0], ray[-1]]).T, color=GRAY, lw=1, zorder=0)
        ax.plot(*ray.T, marker, color="none", mec=BLACK, ms=7, label="point on a ray")
    return [
        line(ax, f"{marker}-", color=BLACK, lw=1, mfc=SKY, ms=size, label="point recovered")
        for marker, size in SHAPES
    ]


def _left(points: Tensor, size: int, bias: bool, r2: float) -> str:
    """Say what is left for every decoder, linear or not."""
    if size == 2:
        return "Only two places are left. "
    if not bias:
        return "Only the direction from the origin is left. "
    if size > 3:
        return "Nothing is lost, but a linear decoder can't read all of it. "
    without = decoder_r2(_codes(points, size, 0.0), points)
    if without < r2 + 0.01:
        return "Only an angle is left. "
    return (
        "Only an angle is left. Without a bias it's the direction, which tells more: "
        f"R² = {fixed(without)}. "
    )


def _apart(before: Tensor, after: Tensor) -> str:
    """Say at how many places points on the rays come back if they're few, or how far apart."""
    rays = torch.stack([before, after]).reshape(2, RAYS, ON_RAY, 2)
    ends = (rays[:, :, -1] - rays[:, :, 0]).norm(dim=-1).mean(1)
    near = torch.cdist(after, after) <= 0.01 * ends[0]
    places = int((near.int().argmax(1) == torch.arange(len(after))).sum())  # near to none before it
    if places <= RAYS:
        return f"The {len(after)} points on {RAYS} rays come back at {counted(places, 'place')}."
    return f"The two ends of a ray, {fixed(ends[0])} apart, come back {fixed(ends[1])} apart."
