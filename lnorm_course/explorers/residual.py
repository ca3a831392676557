"""Gradients and scales along the residual stream, by depth and place of the norm."""

from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lnorm_course.explorers.engine import Choice, Explorer, Slider, Switch, key, line, panel
from lnorm_course.explorers.transformer import LOOKS
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.functional import variance
from lnorm_utils.measures import gradient_norms
from lnorm_utils.modules import ResidualStack
from lnorm_utils.plotting.picture import GRAY, Picture, in_style
from lnorm_utils.words import significant

__all__ = ["explore_residual", "explore_stream"]

DEPTHS = (2, 4, 6, 8, 12, 16, 24)
SEEDS, FEATURES = 5, 64
ENDS = f" (gray: range of {SEEDS} seeds)"
PLACEMENTS = {"post-LN": "post", "pre-LN": "pre", "no norm": "none"}
DEPTH = {"depth": Slider("number of blocks", 6, DEPTHS)}
CONTROLS = DEPTH | {
    "placement": Choice("place of the norm", "post-LN", PLACEMENTS),
    "final_norm": Switch(
        "final norm (pre-LN only)", True, when=lambda values: values["placement"] == "pre-LN"
    ),
    "own_directions": Switch("the loss pulls each row its own way", False),
}
DEEP = {"depth": 24}
PRESETS: dict[str, dict[str, Any]] = {
    "6 blocks, post-LN": {},
    "24 blocks, post-LN": DEEP,
    "24 blocks, post-LN, own directions": DEEP | {"own_directions": True},
    "24 blocks, pre-LN": DEEP | {"placement": "pre-LN"},
    "24 blocks, pre-LN, no final norm": DEEP | {"placement": "pre-LN", "final_norm": False},
}
STREAM = DEPTH | {"placement": Choice("place of the norm", "pre-LN", PLACEMENTS)}
STREAMS: dict[str, dict[str, Any]] = {
    "24 blocks, pre-LN": DEEP,
    "24 blocks, post-LN": DEEP | {"placement": "post-LN"},
    "24 blocks, no norm": DEEP | {"placement": "no norm"},
    "6 blocks, pre-LN": {},
}

Measured = dict[str, NDArray]  # placement → a row for each seed
Both = tuple[Measured, Measured]  # gradients, (5, depth), and scales, (5, depth + 1)


@cache
def gradients(depth: int, placement: str, final_norm: bool, own_directions: bool) -> NDArray:
    """Return the gradient norm of each block for each seed, (5, depth)."""
    x = normal(64, FEATURES, seed=1, dtype=torch.float64)
    slope = normal(*x.shape[0 if own_directions else 1 :], seed=2, dtype=torch.float64)
    norms = []
    for deepest in _deepest(placement):
        stack = ResidualStack(0, FEATURES, PLACEMENTS[placement], final_norm, dtype=x.dtype)
        stack.blocks = deepest.blocks[:depth]
        norms.append(gradient_norms(stack, x, slope))
    return torch.stack(norms).numpy()


@cache
@torch.no_grad()
def scales(placement: str) -> NDArray:
    """Return the scale of what enters the deepest stream and leaves each block, (5, 25)."""
    x = normal(64, FEATURES, seed=1, dtype=torch.float64)
    stacks = _deepest(placement)
    streams = [[*accumulate(s.blocks, lambda h, block: block(h), initial=x)] for s in stacks]
    return torch.stack([variance(torch.stack(h)).mean((1, 2)).sqrt() for h in streams]).numpy()


@cache
def _deepest(placement: str) -> list[ResidualStack]:
    """Make the deepest stack of each seed, which begins with the blocks of all others."""
    return [residual_stack(DEPTHS[-1], PLACEMENTS[placement], seed=seed) for seed in range(SEEDS)]


def measured(depth: int, placement: str, final_norm: bool, own_directions: bool) -> Both:
    """Measure gradients and scales; where it says so, the chosen stacks have no final norm."""
    has_final = {"post-LN": False, "pre-LN": placement != "pre-LN" or final_norm, "no norm": True}
    found = {n: gradients(depth, n, final, own_directions) for n, final in has_final.items()}
    return found, scales_of_all(depth)


def scales_of_all(depth: int, placement: str = "") -> Measured:
    """Measure the scales of the stacks of a depth."""
    return {name: scales(name)[:, : depth + 1] for name in PLACEMENTS}


class Lines:
    """Medians of all placements along the blocks, and of the chosen one the ends of five seeds."""

    def __init__(self, ax: Axes, first: int, limits: tuple[float, float], *ticks: float) -> None:
        key(ax, *((f"{LOOKS[name][2]} {name}", LOOKS[name][1]) for name in PLACEMENTS))
        ax.set(yscale="log", xlim=(-0.4, 24.4), ylim=limits, xticks=[first, *range(4, 25, 4)])
        ax.set_yticks(ticks, [significant(tick) for tick in ticks])
        ax.minorticks_off()
        ax.grid(color=GRAY, lw=0.5)
        self.first = first
        self.ends = [line(ax, "-", color="#6E6E6E", lw=0.8) for _ in range(2)]
        looks = {name: LOOKS[name] for name in PLACEMENTS}
        self.medians = {n: line(ax, kind, color=c, mec=c) for n, (kind, c, _) in looks.items()}
        self.all: list[Artist] = [*self.ends, *self.medians.values()]

    def show(self, values: Measured, chosen: str) -> NDArray:
        """Show what was measured, and return the median of the chosen placement."""
        places = self.first + np.arange(values[chosen].shape[1])
        courses = values[chosen].min(axis=0), values[chosen].max(axis=0)
        for end, course in zip(self.ends, courses, strict=True):
            end.set_data(places, course)
        for name, median in self.medians.items():
            median.set_data(places, np.median(values[name], axis=0))
            median.set_linewidth(2.5 if name == chosen else 1.2)
            median.set_markersize(6 if name == chosen else 3)
        return np.median(values[chosen], axis=0)


@in_style
def explore_residual(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how gradients and the scale of the stream depend on depth and on the norm's place.

    Stacks of feed-forward blocks at initialization, weights after Xavier: medians over five seeds
    of the weights; thin lines mark the lowest and the highest seed of the chosen placement.

    Source: Xiong et al. 2020, arXiv:2002.04745, theorem 1 and figure 3, for transformers.

    >>> explore_residual(preset="24 blocks, pre-LN").words[:36]
    'With 24 pre-LN blocks and a final no'
    """
    first, ax = panel("the gradient norm of each block", ylabel="gradient norm")
    ax.set_xlabel(f"block{ENDS}")
    blocks = Lines(ax, 1, (1.5, 120), 2, 5, 10, 20, 50, 100)
    second, stream = _stream()

    def show(
        found: Both, depth: int, placement: str, final_norm: bool, own_directions: bool
    ) -> str:
        norms, sizes = blocks.show(found[0], placement), stream.show(found[1], placement)
        has_final = placement == "no norm" or (placement == "pre-LN" and final_norm)
        last, largest = len(norms) - 1, int(norms.argmax())
        begin, end, most, size = map(number, (norms[0], norms[last], norms[largest], sizes[-1]))
        return (
            f"With {_blocks(depth, placement)}{' and a final norm' * has_final}"
            f"{', each row pulled its own way' * own_directions}, the gradient norm is {begin} in "
            f"block 1 and {end} in block {depth}; it's largest in block {largest + 1}, {most}. The "
            f"stream ends with scale {size}."
        )

    panels = {first: blocks.all, second: stream.all}
    return Explorer(panels, measured, show, CONTROLS, PRESETS, preset, start)


@in_style
def explore_stream(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how the scale of the stream depends on depth and on the norm's place.

    >>> explore_stream(preset="24 blocks, pre-LN").words
    'With 24 pre-LN blocks, the scale of the stream goes from 0.977 to 3.51.'
    """
    picture, stream = _stream(3.2)

    def show(found: Measured, depth: int, placement: str) -> str:
        begin, *_, end = map(number, stream.show(found, placement))
        return (
            f"With {_blocks(depth, placement)}, the scale of the stream goes from {begin} to {end}."
        )

    return Explorer({picture: stream.all}, scales_of_all, show, STREAM, STREAMS, preset, start)


def _stream(height: float = 2.5) -> tuple[Picture, Lines]:
    picture, ax = panel("the scale of the stream after each block", height)
    ax.set(xlabel=f"after block{ENDS}", ylabel="scale of the stream")
    return picture, Lines(ax, 0, (0.7, 250), 1, 10, 100)


def number(value: float) -> str:
    """Write a gradient norm or a scale."""
    return significant(value, 3 if 0.095 < value < 1000 else 2)


def _blocks(depth: int, placement: str) -> str:
    return f"{depth} {'blocks without norms' if placement == 'no norm' else f'{placement} blocks'}"
