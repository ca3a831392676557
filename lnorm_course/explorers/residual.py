"""Gradients and scales along the residual stream, by depth and place of the norm."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state

from lnorm_course.explorers.engine.controls import Choice, Slider, Switch
from lnorm_course.explorers.engine.panels import Explorer, key, line, panel
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.functional import standardize, variance
from lnorm_utils.plotting.picture import BLUE, GRAY, GREEN, VERMILION, in_style
from lnorm_utils.words import significant

__all__ = ["explore_residual", "explore_stream"]

DEPTHS = (2, 4, 6, 8, 12, 16, 24)
SEEDS, FEATURES = 5, 64
PLACEMENTS = {"post-LN": "post", "pre-LN": "pre", "no norm": "none"}
LOOKS = {"post-LN": ("-o", BLUE, "●"), "pre-LN": ("-.^", GREEN, "▲")}
LOOKS["no norm"] = ("--s", VERMILION, "■")
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


class Stacks(NamedTuple):
    """The stacks of a depth: what is chosen, and for each placement a row for each seed.

    `gradients` are the gradient norms of the blocks (5, depth), and `scales` (5, depth + 1) those
    of what enters the stream and of what leaves each block. Where it has no final norm,
    `with_final` is the gradient norm that block 1 would have with one.
    """

    depth: int
    placement: str
    own_directions: bool
    gradients: dict[str, NDArray]
    scales: dict[str, NDArray]
    with_final: float | None


def stacks(
    depth: int, placement: str, final_norm: bool = True, own_directions: bool = False
) -> Stacks:
    """Measure the stacks of a depth; where it says so, the chosen one has no final norm."""
    gradients = {
        name: _gradients(depth, place, place != "post", own_directions)
        for name, place in PLACEMENTS.items()
    }
    with_final = None
    if placement == "pre-LN" and not final_norm:
        with_final = float(np.median(gradients[placement], 0)[0])
        gradients[placement] = _gradients(depth, "pre", False, own_directions)
    return Stacks(depth, placement, own_directions, gradients, _scales(depth), with_final)


class Stream(nn.Module):
    """Return what enters a stack, and what leaves each of its blocks."""

    def __init__(self, blocks: nn.ModuleList) -> None:
        super().__init__()
        self.blocks = blocks

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """Return tensors of the shape of x, one more than there are blocks."""
        stream = [x]
        for block in self.blocks:
            stream.append(block(stream[-1]))
        return tuple(stream)


@cache
def _deepest(placement: str) -> tuple[tuple[Tensor, ...], list[list[Tensor]]]:
    """Run the deepest stack of all seeds at once, which begins with the blocks of all others.

    Return its stream, each (5, 64, 64), and the parameters of each block.
    """
    streams = [Stream(residual_stack(DEPTHS[-1], placement, s).blocks) for s in range(SEEDS)]
    parameters, _ = stack_module_state(streams)
    x = normal(64, FEATURES, seed=1, dtype=torch.float64)
    found = torch.vmap(lambda these: functional_call(streams[0], these, (x,)))(parameters)
    numbers = range(DEPTHS[-1])
    blocks = [[p for name, p in parameters.items() if f"blocks.{n}." in name] for n in numbers]
    return found, blocks


@cache
def _gradients(depth: int, placement: str, has_final: bool, own: bool) -> NDArray:
    """Return the gradient norm of each block for each seed, (5, depth)."""
    stream, blocks = _deepest(placement)
    end = standardize(stream[depth]) if has_final else stream[depth]
    slope = normal(*((64, FEATURES) if own else (FEATURES,)), seed=2, dtype=torch.float64)
    loss = (end * slope).sum(-1).mean(1).sum()  # each seed has its own parameters
    flat = [parameter for block in blocks[:depth] for parameter in block]
    found = iter(torch.autograd.grad(loss, flat, retain_graph=True))
    squares = [[next(found).square().flatten(1).sum(1) for _ in block] for block in blocks[:depth]]
    return torch.stack([torch.stack(each).sum(0) for each in squares], dim=1).sqrt().numpy()


def _scales(depth: int) -> dict[str, NDArray]:
    found = {}
    for name, place in PLACEMENTS.items():
        stream = torch.stack(_deepest(place)[0][: depth + 1], dim=1).detach()
        found[name] = variance(stream).mean((2, 3)).sqrt().numpy()
    return found


class Lines:
    """Medians of all placements along the blocks, and of the chosen one the ends of five seeds."""

    def __init__(self, ax: Axes, first: int, limits: tuple[float, float], *ticks: float) -> None:
        key(ax, *((f"{mark} {name}", color) for name, (_, color, mark) in LOOKS.items()))
        ax.set(yscale="log", xlim=(-0.4, 24.4), ylim=limits, xticks=[first, *range(4, 25, 4)])
        ax.set_yticks(ticks, [significant(tick) for tick in ticks])
        ax.minorticks_off()
        ax.grid(color=GRAY, lw=0.5)
        self.first = first
        self.ends = [line(ax, "-", color="#6E6E6E", lw=0.8) for _ in range(2)]
        self.medians = {
            name: line(ax, kind, color=color, mec=color) for name, (kind, color, _) in LOOKS.items()
        }
        self.all: list[Artist] = [*self.ends, *self.medians.values()]

    def show(self, values: dict[str, NDArray], chosen: str) -> None:
        """Show what was measured, (seeds, blocks) for each placement."""
        # A logarithmic axis has no place for 0.
        values = {name: np.where(v > 0, v, np.nan) for name, v in values.items()}
        places = self.first + np.arange(values[chosen].shape[1])
        courses = values[chosen].min(axis=0), values[chosen].max(axis=0)
        for end, course in zip(self.ends, courses, strict=True):
            end.set_data(places, course)
        for name, median in self.medians.items():
            median.set_data(places, np.median(values[name], axis=0))
            median.set_linewidth(2.5 if name == chosen else 1.2)
            median.set_markersize(6 if name == chosen else 3)


@in_style
def explore_residual(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how gradients and the scale of the stream depend on depth and on the norm's place.

    Stacks of feed-forward blocks at initialization, weights after Xavier: medians over five seeds
    of the weights; thin lines mark the lowest and the highest seed of the chosen placement.

    Source: Xiong et al. 2020, arXiv:2002.04745, theorem 1 and figure 3, for transformers.

    >>> explore_residual(preset="24 blocks, pre-LN").words[:34]
    'With 24 pre-LN blocks and a final '
    """
    first, ax = panel("the gradient norm of each block", xlabel="block", ylabel="gradient norm")
    gradients = Lines(ax, 1, (1.5, 120), 2, 5, 10, 20, 50, 100)
    second, scales = _scale_panel()

    def show(found: Stacks) -> str:
        gradients.show(found.gradients, found.placement)
        scales.show(found.scales, found.placement)
        return f"{_stack(found)}, {_told(found)}. The stream ends with scale {_end(found)}."

    panels = {first: gradients.all, second: scales.all}
    return Explorer(panels, stacks, show, CONTROLS, PRESETS, preset, start)


@in_style
def explore_stream(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how the scale of the stream depends on depth and on the norm's place.

    >>> explore_stream(preset="24 blocks, pre-LN").words[:44]
    'With 24 pre-LN blocks, the stream begins wit'
    """
    picture, scales = _scale_panel(3.2)

    def show(found: Stacks) -> str:
        scales.show(found.scales, found.placement)
        begin, end = np.median(found.scales[found.placement], 0)[[0, -1]]
        why = "a final norm brings it back to 1"
        if found.placement == "post-LN":
            why = "each block ends in a norm"
        return (
            f"With {_blocks(found)}, the stream begins with scale {number(begin)} and ends "
            f"with {number(end)}; {why}."
        )

    return Explorer({picture: scales.all}, stacks, show, STREAM, STREAMS, preset, start)


def _scale_panel(height: float = 2.5) -> tuple[Any, Lines]:
    picture, ax = panel("the scale of the stream after each block", height, xlabel="after block")
    ax.set_ylabel("scale of the stream")
    return picture, Lines(ax, 0, (0.7, 250), 1, 10, 100)


def number(value: float) -> str:
    """Write a gradient norm or a scale."""
    return significant(value, 3 if 0.095 < value < 1000 else 2)


def _end(found: Stacks) -> str:
    return number(np.median(found.scales[found.placement], axis=0)[-1])


def _blocks(found: Stacks) -> str:
    name = found.placement
    return f"{found.depth} {'blocks without norms' if name == 'no norm' else f'{name} blocks'}"


def _stack(found: Stacks) -> str:
    norms = np.median(found.gradients[found.placement], axis=0)
    end = " and a final norm" if found.placement == "pre-LN" else ""
    if found.with_final is not None:
        times = number(norms[0] / found.with_final)
        end = f" and no final norm, which would divide block 1's gradient by {times}"
    return f"With {_blocks(found)}{end}{', each row pulled its own way' * found.own_directions}"


def _told(found: Stacks) -> str:
    """Say what gradient the first, the last and the largest block get."""
    norms = np.median(found.gradients[found.placement], axis=0)
    largest, depth = int(norms.argmax()) + 1, len(norms)
    first, last, most = (number(norms[n - 1]) for n in (1, depth, largest))
    if largest == 1:
        return f"block 1 gets the largest gradient, {first}, and block {depth} gets {last}"
    begin = f"block 1 gets a gradient of {first}"
    if largest == depth:
        return f"{begin}, and block {depth} the largest, {last}"
    return f"{begin}, block {depth} gets {last}, and block {largest} the largest, {most}"
