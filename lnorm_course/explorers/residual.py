"""Gradients and scales along the residual stream, by depth and place of the norm."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Choice, Slider, Switch
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import rows_of
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.functional import standardize, variance
from lnorm_utils.plotting.picture import BLUE, GRAY, GREEN, VERMILION, in_style
from lnorm_utils.words import significant

__all__ = ["DEPTHS", "PLACEMENTS", "explore_residual", "line_panel", "stacks_at", "told"]

DEPTHS = (2, 4, 6, 8, 12, 16, 24)
SEEDS = range(5)
FEATURES = 64
MOST_ROWS, MOST_FEATURES = 256, 128
PLACEMENTS = {"post-LN": "post", "pre-LN": "pre", "no norm": "none"}
LOOKS = {"post-LN": ("-o", BLUE), "pre-LN": ("-.^", GREEN), "no norm": ("--s", VERMILION)}
DARK_GRAY = "#6E6E6E"  # 5:1 on white
THICK, THIN = 2.5, 1.2
MOST_NUMBERS = 10  # below a panel
PRESETS: Presets = {
    "6 blocks, post-LN": {"depth": 6, "placement": "post-LN"},
    "24 blocks, post-LN": {"depth": 24, "placement": "post-LN"},
    "24 blocks, post-LN, own directions": {
        "depth": 24,
        "placement": "post-LN",
        "own_directions": True,
    },
    "24 blocks, pre-LN": {"depth": 24, "placement": "pre-LN"},
    "24 blocks, pre-LN, no final norm": {
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
    own_directions: bool = False,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how gradients and the scale of the stream depend on depth and on the norm's place.

    Stacks of feed-forward blocks at initialization, weights after Xavier. The gradient norm of a
    block is `gradient_norms`; the scale is the root of the mean variance of the rows. Both are
    medians over five seeds of the weights, for all three placements. Of the chosen one, thin gray
    lines mark the lowest and the highest seed.

    Args:
        depth: the number of blocks, from 2 to 24.
        placement: "post-LN", "pre-LN" or "no norm".
        final_norm: whether a layer norm follows the last block of pre-LN. With no norm in the
            blocks there always is one, and in post-LN each block ends in one.
        own_directions: whether the loss pulls each row its own way, or all rows the same way.
        x: (N, D) or (N, L, D), what enters the stream, at most 256 rows of at most 128 features,
            in place of 64 random rows of 64.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Xiong et al. 2020, arXiv:2002.04745, theorem 1 and figure 3, for gradients in
    transformers.

    >>> explore_residual(preset="24 blocks, pre-LN").words[:34]
    '24 pre-LN blocks with a final norm'
    """
    stacks = stacks_at(x)
    picture, axes = fixed_panels(
        "Gradient norm of each block, and scale of the stream after each block",
        *(2, 3.35, 3.5),
        {"left": 0.1, "right": 0.985, "bottom": 0.14, "top": 0.87, "wspace": 0.3},
    )
    extremes = stacks.extremes()
    gradient = line_panel(axes[0], "gradient norm", "block", [m.gradients for m in extremes])
    scale = line_panel(axes[1], "scale of the stream", "after block", [m.scales for m in extremes])
    shown = [*gradient.medians.values(), gradient.ends[0]]
    spacing: dict[str, Any] = {"columnspacing": 1.2, "fontsize": 10}
    picture.legend(handles=shown, loc="upper center", ncols=4, **spacing)

    def move(depth: int, placement: str, final_norm: bool, own_directions: bool) -> str:
        usual = {
            name: stacks.measured(depth, place, place != "post", own_directions)
            for name, place in PLACEMENTS.items()
        }
        has_final = placement == "no norm" or (placement == "pre-LN" and final_norm)
        now = stacks.measured(depth, PLACEMENTS[placement], has_final, own_directions)
        everything = {**usual, placement: now}
        gradient.show({name: m.gradients for name, m in everything.items()}, placement)
        scale.show({name: m.scales for name, m in everything.items()}, placement)
        stack = {"post-LN": "post-LN blocks", "pre-LN": "pre-LN blocks"}.get(placement, "blocks")
        end = {"post-LN": "", "no norm": " without norms"}.get(placement, " with a final norm")
        if placement == "pre-LN" and not final_norm:
            with_norm = np.median(usual[placement].gradients, axis=0)[0]
            times = told(np.median(now.gradients, axis=0)[0] / with_norm)
            end = f" without a final norm, which would divide block 1's gradient by {times}"
        pulled = ", each row pulled its own way" if own_directions else ""
        return f"{depth} {stack}{end}{pulled}. {_gradients(now)} {_scale(now)}"

    controls = {
        "depth": Slider("number of blocks", depth, DEPTHS),
        "placement": Choice("place of the norm", placement, PLACEMENTS),
        "final_norm": Switch(
            "final norm (pre-LN only)", final_norm, when=lambda v: v["placement"] == "pre-LN"
        ),
        "own_directions": Switch("the loss pulls each row its own way", own_directions),
    }
    moving = [*gradient.all, *scale.all]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def told(value: float) -> str:
    """Write a gradient norm or a scale."""
    return significant(value, 3 if 0.095 < value < 1000 else 2)


def _gradients(now: "Measured") -> str:
    """Say what gradient the first, the last and the largest block get."""
    norms = np.median(now.gradients, axis=0)
    largest = int(norms.argmax())
    first, last, most = (told(norms[n]) for n in (0, -1, largest))
    depth = len(norms)
    if largest == 0:
        return f"Block 1 gets the largest gradient, {first}, and block {depth} gets {last}."
    if largest == depth - 1:
        return f"Block 1 gets a gradient of {first}, and block {depth} gets the largest, {last}."
    return (
        f"Block 1 gets a gradient of {first}, block {depth} gets {last}, and block {largest + 1} "
        f"the largest, {most}."
    )


def _scale(now: "Measured") -> str:
    return f"The stream ends with scale {told(np.median(now.scales, axis=0)[-1])}."


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
        self.slopes = {
            False: normal(x.shape[-1], seed=2, dtype=torch.float64),
            True: normal(*x.shape, seed=2, dtype=torch.float64),
        }
        self.streams, self.blocks, self.all_scales = {}, {}, {}
        weights = _weights(x.shape[-1])
        for placement in PLACEMENTS.values():
            stream, blocks = [x.expand(len(SEEDS), *x.shape)], []
            for maps in weights:
                after, parameters = _block(stream[-1], maps, placement)
                stream.append(after)
                blocks.append(parameters)
            self.streams[placement], self.blocks[placement] = stream, blocks
            with torch.no_grad():
                scales = [variance(h).mean((1, 2)).sqrt() for h in stream]
            self.all_scales[placement] = torch.stack(scales, dim=1).numpy()
        self.known: dict[tuple[int, str, bool, bool], Measured] = {}

    def measured(self, depth: int, placement: str, has_final: bool, own: bool) -> Measured:
        """Measure a depth when it is asked for the first time."""
        if (key := (depth, placement, has_final, own)) not in self.known:
            last = self.streams[placement][depth]
            end = standardize(last) if has_final else last
            # Each seed has its own parameters, so their losses can be added.
            loss = (end * self.slopes[own]).sum(-1).mean(1).sum()
            gradients = _norms(loss, self.blocks[placement][:depth])
            self.known[key] = Measured(gradients, self.scales(depth, placement))
        return self.known[key]

    def scales(self, depth: int, placement: str) -> NDArray:
        """Return the scales of a stream of this depth, (seeds, depth + 1)."""
        return self.all_scales[placement][:, : depth + 1]

    def extremes(self) -> list[Measured]:
        """Measure the shortest and the deepest stacks, in every state."""
        return [
            self.measured(depth, placement, has_final, own)
            for depth in (DEPTHS[0], DEPTHS[-1])
            for placement in PLACEMENTS.values()
            for has_final in {"post": (False,), "pre": (False, True), "none": (True,)}[placement]
            for own in (False, True)
        ]


def stacks_at(x: ArrayLike | None) -> Stacks:
    """Return stacks at rows of somebody's own, or at the usual ones, which are run once."""
    return _usual() if x is None else Stacks(rows_of(x, most=(MOST_ROWS, MOST_FEATURES)))


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

    if placement == "none":
        return x + f(x), [first, second, *zeros[:2]]
    after = norm(x + f(x)) if placement == "post" else x + f(norm(x))
    return after, [first, second, *zeros, weight]


def _norms(loss: Tensor, blocks: list[list[Tensor]]) -> NDArray:
    """Take the gradient norm of each block for each seed: (seeds, depth)."""
    flat = [parameter for block in blocks for parameter in block]
    gradients = iter(torch.autograd.grad(loss, flat, retain_graph=True))
    squares = [[next(gradients).square().sum((1, 2)) for _ in block] for block in blocks]
    return torch.stack([torch.stack(s).sum(0) for s in squares], dim=1).sqrt().numpy()


class Panel(NamedTuple):
    """What moves in a panel: numbers of blocks, lowest and highest seed, and all medians."""

    grid: Line2D  # an upright for each number
    span: tuple[float, float]  # from where to where they go
    numbers: list[Text]  # of blocks; a moving axis would take ten times as long to draw
    begin: int  # the number at the left
    ends: list[Line2D]  # of the chosen placement
    medians: dict[str, Line2D]

    @property
    def all(self) -> list[Artist]:
        """All of it, what is drawn first before what covers it."""
        return [self.grid, *self.numbers, *self.ends, *self.medians.values()]

    def show(self, values: dict[str, NDArray], chosen: str) -> None:
        """Show what was measured of all placements; the stack fills the panel at every depth."""
        count = values[chosen].shape[1]
        places = np.linspace(0, 1, count)
        each = next(step for step in (1, 2, 4) if count <= 8 * step + 1)
        numbered = [n for n in range(count) if n == 0 or (n + self.begin) % each == 0]
        uprights = np.repeat(places[numbered], 3)
        self.grid.set_data(uprights, np.tile([*self.span, np.nan], len(numbered)))
        for text in self.numbers[len(numbered) :]:
            text.set_text("")
        for text, n in zip(self.numbers, numbered, strict=False):
            text.set_text(str(n + self.begin))
            text.set_x(places[n])
        # A logarithmic axis has no place for 0.
        values = {name: np.where(v > 0, v, np.nan) for name, v in values.items()}
        courses = values[chosen].min(axis=0), values[chosen].max(axis=0)
        for end, course in zip(self.ends, courses, strict=True):
            end.set_data(places, course)
        for name, median in self.medians.items():
            median.set_data(places, np.median(values[name], axis=0))
            median.set_linewidth(THICK if name == chosen else THIN)
            median.set_markersize(6 if name == chosen else 3)


def line_panel(ax: Axes, label: str, below: str, values: list[NDArray]) -> Panel:
    """Draw axes that have room for all values, and lines for a seed's ends and for medians."""
    told = "lowest and highest of 5 seeds"
    grid = line(ax, "-", color=GRAY, lw=0.5)
    ends = [line(ax, "-", color=DARK_GRAY, lw=1, label=told) for _ in range(2)]
    medians = {
        name: line(ax, kind, color=color, mec=color, label=name)
        for name, (kind, color) in LOOKS.items()
    }
    high = max(v.max() for v in values)
    low = min(v[v > 0].min(initial=high) for v in values)
    ax.set(xlabel=below, ylabel=label, yscale="log", xlim=(-0.04, 1.04))
    low, high = low / 1.5, 1.5 * high
    ax.set_ylim(low, high)
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    ticks = [10.0**n for n in range(first, last + 1, 1 + (last - first) // 6)]
    if last - first < 2:
        ticks = [tick for tick in sorted([*ticks, *(3 * t for t in ticks)]) if low < tick < high]
    ax.set_yticks(ticks, [significant(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_xticks([])
    ax.xaxis.labelpad = 15
    ax.grid(color=GRAY, lw=0.5)
    look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 10}
    look["transform"] = ax.get_xaxis_transform()
    numbers = [ax.text(0, -0.025, "", **look) for _ in range(MOST_NUMBERS)]
    return Panel(grid, (low, high), numbers, int(below == "block"), ends, medians)
