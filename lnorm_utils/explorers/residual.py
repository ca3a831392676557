"""Lesson 9: gradients and scales along the residual stream, by depth and place of the norm."""

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import normal, residual_stack
from lnorm_utils.explorers.engine.controls import Choice, Slider, Switch
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import in_style, line
from lnorm_utils.explorers.engine.own_data import rows_of
from lnorm_utils.functional import standardize, variance
from lnorm_utils.numbers import fixed
from lnorm_utils.plotting.picture import BLUE, GRAY, VERMILION, new_picture

__all__ = ["explore_residual"]

DEPTHS = (2, 4, 6, 8, 12, 16, 24)
SEEDS = range(5)
FEATURES = 64
MOST_ROWS, MOST_FEATURES = 256, 128
PLACEMENTS = {"post-LN": "post", "pre-LN": "pre"}
PRESETS: Presets = {
    "six blocks, post-LN": {"depth": 6, "placement": "post-LN"},
    "six blocks, pre-LN": {"depth": 6, "placement": "pre-LN"},
    "twenty-four blocks, post-LN": {"depth": 24, "placement": "post-LN"},
    "twenty-four blocks, pre-LN": {"depth": 24, "placement": "pre-LN"},
    "twenty-four blocks, pre-LN, no final norm": {
        "depth": 24,
        "placement": "pre-LN",
        "final_norm": False,
    },
}


@in_style
def explore_residual(
    depth: int = 6,
    placement: str = "post-LN",
    final_norm: bool = True,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how gradients and the scale of the stream depend on depth and on the norm's place.

    Stacks of feed-forward blocks at initialization, weights after Xavier. The gradient norm of a
    block is `gradient_norms`; the scale is the root of the mean variance of the rows. Both are
    medians over five seeds of the weights; thin lines mark the lowest and the highest. A dashed
    line is the median of the other placement at the same depth, pre-LN then with a final norm.

    Args:
        depth: the number of blocks, from 2 to 24.
        placement: "post-LN" or "pre-LN".
        final_norm: whether a layer norm stands behind the last block of pre-LN.
        x: (N, D) or (N, L, D), what enters the stream, at most 256 rows of at most 128 features,
            in place of 64 random rows of 64.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Xiong et al. 2020, arXiv:2002.04745, figure 3, for gradients in transformers.

    >>> explore_residual(preset="twenty-four blocks, pre-LN").words[:36]
    '24 blocks, pre-LN, with a final norm'
    """
    stacks = _usual() if x is None else Stacks(rows_of(x, most=(MOST_ROWS, MOST_FEATURES)))
    picture, axes = new_picture(
        "Gradient norm of each block, and scale of the stream after each block", 1, 2, 4.9, 4.4
    )
    gradient, scale = (
        _panel(axes[0, column], label, first, [m[column] for m in stacks.known.values()])
        for column, (label, first) in enumerate((("gradient norm", 1), ("scale of the stream", 0)))
    )
    picture.legend(handles=gradient.lines[1:], loc="outside upper center", ncols=3)

    def move(depth: int, placement: str, final_norm: bool) -> str:
        has_final = final_norm and placement == "pre-LN"
        now = stacks.measured(depth, PLACEMENTS[placement], has_final)
        usual = {p: stacks.measured(depth, p, p == "pre") for p in PLACEMENTS.values()}
        other = usual["pre" if placement == "post-LN" else "post"]
        gradient.show(now.gradients, other.gradients)
        scale.show(now.scales, other.scales)
        medians = np.median(now.gradients, axis=0)
        first, last = medians[0], medians[-1]
        after = np.median(now.scales, axis=0)[-1]
        ending = " (each block ends in a norm)"
        scale_is = "Scale of the stream after the last block"
        if placement == "pre-LN":
            ending = f", {'with a' if has_final else 'no'} final norm"
        if placement == "pre-LN" and not has_final:
            ratio = fixed(first / np.median(usual["pre"].gradients, axis=0)[0], 1)
            scale_is = (
                f"The first is {ratio} times the first block's with a final norm; the scale of "
                "the stream after the last block is"
            )
        return (
            f"{depth} blocks, {placement}{ending}. Gradient norm of the first block "
            f"{fixed(first, 1)}, of the last block {fixed(last, 1)}, which is "
            f"{fixed(last / first)} times the first. {scale_is} {fixed(after)}."
        )

    controls = {
        "depth": Slider("number of blocks", depth, DEPTHS),
        "placement": Choice("place of the norm", placement, PLACEMENTS),
        "final_norm": Switch(
            "final norm (pre-LN only)", final_norm, when=lambda v: v["placement"] == "pre-LN"
        ),
    }
    moving = [*gradient.lines, *scale.lines]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


class Measured(NamedTuple):
    """What is measured of the stacks, a row for each seed; the scales begin with that of x."""

    gradients: NDArray  # (seeds, depth)
    scales: NDArray  # (seeds, depth + 1)


class Stacks:
    """Stacks of all depths and placements at x (N, D), the weights of all seeds in one tensor.

    Stacks of one seed begin with the same blocks, so the deepest is run once, and the gradients are
    taken from behind each depth.
    """

    def __init__(self, x: Tensor) -> None:
        features = x.shape[-1]
        self.slope = normal(features, seed=2, dtype=torch.float64)
        self.streams, self.blocks = {}, {}
        weights = _weights(features)
        for placement in PLACEMENTS.values():
            stream, blocks = [x.expand(len(SEEDS), *x.shape)], []
            for maps in weights:
                after, parameters = _block(stream[-1], maps, placement)
                stream.append(after)
                blocks.append(parameters)
            self.streams[placement], self.blocks[placement] = stream, blocks
        self.known: dict[tuple[int, str, bool], Measured] = {}
        for depth in DEPTHS:
            for placement in PLACEMENTS.values():
                for has_final in (False, placement == "pre"):
                    self.measured(depth, placement, has_final)

    def measured(self, depth: int, placement: str, has_final: bool) -> Measured:
        """Measure a depth when it is asked for the first time."""
        if (key := (depth, placement, has_final)) not in self.known:
            stream = self.streams[placement][: depth + 1]
            end = standardize(stream[-1]) if has_final else stream[-1]
            loss = (end @ self.slope).mean(1).sum()  # each seed has its own parameters
            gradients = _norms(loss, self.blocks[placement][:depth])
            with torch.no_grad():
                scales = torch.stack([variance(h).mean((1, 2)).sqrt() for h in stream], dim=1)
            self.known[key] = Measured(gradients, scales.numpy())
        return self.known[key]


@cache
def _usual() -> Stacks:
    return Stacks(normal(64, FEATURES, seed=1, dtype=torch.float64))


def _weights(features: int) -> list[list[Tensor]]:
    """Stack the weights of all seeds: for each block its two maps, (seeds, D, D), turned."""
    stacks = [residual_stack(DEPTHS[-1], "none", seed, features).blocks for seed in SEEDS]
    return [
        [
            torch.stack([getattr(block.f, name).weight.detach().T for block in blocks])
            for name in ("first", "second")
        ]
        for blocks in zip(*stacks, strict=True)
    ]


def _block(x: Tensor, maps: list[Tensor], placement: str) -> tuple[Tensor, list[Tensor]]:
    """Do what `ResidualBlock` does, for all seeds at once; return its parameters as well."""
    seeds, _, features = x.shape
    shape = (seeds, 1, features)
    first, second = (m.clone().requires_grad_() for m in maps)
    zeros = [torch.zeros(shape, dtype=x.dtype).requires_grad_() for _ in range(3)]
    weight = torch.ones(shape, dtype=x.dtype).requires_grad_()

    def f(h: Tensor) -> Tensor:
        return (h @ first + zeros[0]).relu() @ second + zeros[1]

    def norm(h: Tensor) -> Tensor:
        return standardize(h) * weight + zeros[2]

    after = norm(x + f(x)) if placement == "post" else x + f(norm(x))
    return after, [first, second, *zeros, weight]


def _norms(loss: Tensor, blocks: list[list[Tensor]]) -> NDArray:
    """Take the gradient norm of each block for each seed: (seeds, depth)."""
    flat = [parameter for block in blocks for parameter in block]
    gradients = iter(torch.autograd.grad(loss, flat, retain_graph=True))
    squares = [[next(gradients).square().sum((1, 2)) for _ in block] for block in blocks]
    return torch.stack([torch.stack(s).sum(0) for s in squares], dim=1).sqrt().numpy()


class Panel(NamedTuple):
    """What moves in a panel: lowest and highest seed, the median with its dots, and the other's."""

    lines: list[Line2D]
    first: int  # the number of the first block that it shows

    def show(self, values: NDArray, other: NDArray) -> None:
        """Show what was measured of a stack for all seeds, and of the other placement."""
        places = np.arange(self.first, self.first + values.shape[1])
        median, others = (np.median(v, axis=0) for v in (values, other))
        courses = values.min(axis=0), values.max(axis=0), median, others
        for shown, course in zip(self.lines, courses, strict=True):
            shown.set_data(places, course)


def _panel(ax: Axes, label: str, first: int, values: list[NDArray]) -> Panel:
    ends = [line(ax, "-", color=GRAY, label="lowest and highest of 5 seeds") for _ in range(2)]
    median = line(ax, "-o", color=BLUE, mec=BLUE, label="median of 5 seeds")
    other = line(ax, "--", color=VERMILION, alpha=0.6, lw=1.5, label="other placement")
    high = max(v.max() for v in values)
    ax.set(xlabel="block" if first else "after block", ylabel=label)
    ax.set(xlim=(first - 1, DEPTHS[-1] + 1), ylim=(0, 1.1 * high))
    ax.grid(color=GRAY, lw=0.5)
    return Panel([*ends, median, other], first)
