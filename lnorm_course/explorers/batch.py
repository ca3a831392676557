"""Batch norm depends on a point's company, layer norm doesn't."""

import math
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Button, Slider
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import rows_of
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm, layer_norm_steps
from lnorm_utils.plotting.picture import BLACK, BLUE, ORANGE, Picture, in_style, limits
from lnorm_utils.words import number

__all__ = ["explore_batch"]

MOST = 8  # features
BATCHES = 40
LARGEST = 256
MOMENTUM = 0.1
# With the second, the running statistics of small batches end near the population's: they jitter,
# and no class takes the jitter for a bias.
SEED_OF_COMPANY, SEED_OF_KEPT = 5, 8
PRESETS: Presets = {
    "batch of eight": {"batch_size": 8},
    "batch of two": {"batch_size": 2},
    "batch of 256": {"batch_size": 256},
    "batch of one": {"batch_size": 1},
    "after 40 batches of two": {"batch_size": 2, "draws": 39},
    "after 40 batches of 256": {"batch_size": 256, "draws": 39},
}


@in_style
def explore_batch(
    batch_size: int = 8,
    draws: int = 0,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how batch norm changes one point with its company, and layer norm does not.

    Args:
        batch_size: from 1 to 256, how many points are in each batch, the one point among them.
        draws: how often another batch was drawn, from 0 on; after 40 batches the first is back.
        x: (N, D) or (N, L, D) with at least 4 rows and 2 to 8 features, in place of 1,000 random
            points. The first row is the one point, in every batch; its company is drawn from the
            others, with replacement. The running statistics are over batches of the same size
            without the point, drawn from the others: with it in each, they would lean toward it.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Ioffe & Szegedy 2015, arXiv:1502.03167, for batch norm; its momentum, 0.1, and its
    unbiased running variance as in PyTorch.

    >>> explore_batch(preset="batch of 256").words.split(", ")[1].split("; ")[0]
    'and over 40 batches into anything from 0.35 to 0.68'
    """
    rows = _random_rows() if x is None else rows_of(x, least=(4, 2), most=(math.inf, MOST))
    features = rows.shape[1]
    company = _drawn(rows, LARGEST - 1, SEED_OF_COMPANY)
    batches = torch.cat([rows[:1].expand(BATCHES, 1, -1), company], dim=1)
    without = _drawn(rows, LARGEST, SEED_OF_KEPT)[..., 0]
    courses = {size: _course(batches, without, size) for size in range(1, LARGEST + 1)}
    others = rows[1:, 0]
    population = (others.mean().item(), others.var(correction=0).item())
    picture, outputs, *kept = _panels(features)
    dots = _dots(outputs, features)
    alone = layer_norm(rows[:1], features)
    outputs.set_ylim(limits(np.vstack([alone, *(c.outputs for c in courses.values())])))
    lines = [
        _lines(ax, np.array([c.running[i] for c in courses.values()]), population[i])
        for i, ax in enumerate(kept)
    ]
    picture.legend(handles=[*dots, kept[0].lines[-1]], loc="upper center", ncols=4, fontsize=12)

    def move(batch_size: int, draws: int) -> str:
        batch, course = draws % BATCHES, courses[batch_size]
        y = layer_norm(batches[batch, :batch_size], features)[0]
        heights = (course.outputs.ravel(), course.outputs[batch], y)
        for drawn, values in zip(dots, heights, strict=True):
            drawn.set_ydata(values)
        seen = batch + 1
        for (past, future), values in zip(lines, course.running, strict=True):
            past.set_data(range(seen + 1), values[: seen + 1])
            past.set_markevery([seen])
            future.set_data(range(seen, BATCHES + 1), values[seen:])
        return _words(course, batch, batch_size, y[0].item(), population)

    controls = {
        "batch_size": Slider("batch size", batch_size, [2**power for power in range(9)]),
        "draws": Button("draw another batch", draws),
    }
    moving = [*(line for pair in lines for line in reversed(pair)), *dots]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _random_rows() -> Tensor:
    """Make 1,000 points (1000, 4) whose features differ in mean and spread."""
    points = torch.tensor([3.0, 0, -2, 1]) + torch.tensor([2, 1, 1, 0.5]) * normal(1000, 4, seed=5)
    points[0] = torch.tensor([4.0, 1.5, -3, 1.2])
    return points.double()


def _drawn(x: Tensor, size: int, seed: int) -> Tensor:
    """Draw batches of all rows but the first: (batches, size, D); a smaller one is its start."""
    generator = torch.Generator().manual_seed(seed)
    return x[torch.randint(1, len(x), (BATCHES, size), generator=generator)]


class Course(NamedTuple):
    """What batch norm gives and keeps, batch after batch."""

    outputs: NDArray  # (batches, D), of the first row
    running: NDArray  # (2, batches + 1), mean and variance of feature 0 without that row, from 0 on


def _course(batches: Tensor, without: Tensor, size: int) -> Course:
    if size == 1:  # nn.BatchNorm1d refuses
        nothing = np.full((2, BATCHES + 1), np.nan)
        return Course(np.full((BATCHES, batches.shape[2]), np.nan), nothing)
    # Batch norm of a table is layer norm of its columns.
    steps = layer_norm_steps(batches[:, :size].transpose(1, 2), size)
    kept = without[:, :size]
    running = [_running(kept.mean(1), 0.0), _running(kept.var(1), 1.0)]
    return Course(steps.y[:, :, 0].numpy().copy(), np.array(running))


def _running(each: Tensor, start: float) -> list[float]:
    """Begin with a start; at each batch keep nine tenths and add a tenth of the batch's own."""
    means = accumulate(
        each.tolist(), lambda r, new: (1 - MOMENTUM) * r + MOMENTUM * new, initial=start
    )
    return list(means)


def _panels(features: int) -> tuple[Picture, Axes, Axes, Axes]:
    """Lay out one panel for the outputs, and beside it two for feature 0's running statistics."""
    alt = "One point in batch after batch: its outputs, and the running statistics"
    margins = {"left": 0.08, "right": 0.98, "bottom": 0.115, "top": 0.85}
    picture, (outputs,) = fixed_panels(alt, 1, 9.6, 4.7, {**margins, "wspace": 0.2, "hspace": 0.42})
    grid = picture.add_gridspec(2, 2)
    outputs.set_subplotspec(grid[:, 0])
    outputs.set(title="outputs of the same point", xlabel="feature", ylabel="output")
    outputs.set_label("outputs")
    outputs.set(xlim=(-0.5, features - 0.5), xticks=range(features))
    mean, variance = (picture.add_subplot(grid[row, 1]) for row in range(2))
    for ax, name in ((mean, "mean"), (variance, "variance")):
        ax.set(title=f"running {name} of feature 0", xlim=(-1, BATCHES + 1))
    mean.set_label("running statistics")
    mean.tick_params(labelbottom=False)
    variance.set_xlabel("batches seen (dotted: still to come)")
    return picture, outputs, mean, variance


def _dots(ax: Axes, features: int) -> list[Line2D]:
    """Draw a dot for each output: of batch norm in all batches and in this one, of layer norm."""
    ax.axhline(0, color=BLACK, lw=0.8, zorder=0)
    at = np.arange(features)
    spread = (at + np.linspace(-0.35, -0.05, BATCHES)[:, None]).ravel()
    return [
        line(ax, "o", spread, color=ORANGE, ms=4, mew=0.5, label="batch norm, 40 batches"),
        line(ax, "o", at - 0.2, color=ORANGE, ms=11, mew=2, label="batch norm, this batch"),
        line(ax, "^", at + 0.2, color=BLUE, ms=11, label="layer norm"),
    ]


def _lines(ax: Axes, every: NDArray, population: float) -> tuple[Line2D, Line2D]:
    """Draw a running statistic up to now and from now on, and that of the population."""
    ax.set_ylim(limits(np.append(every, population)))
    past = line(ax, "o-", color=ORANGE, ms=11, mew=2, lw=3)
    future = line(ax, ":", color=BLACK, lw=1, zorder=1)
    ax.axhline(population, color=BLACK, ls="--", lw=1.5, label="population", zorder=0)
    return past, future


def _words(
    course: Course, batch: int, size: int, layer: float, population: tuple[float, float]
) -> str:
    if size == 1:
        return (
            "In a batch of 1, every feature is its own mean and its variance is 0. In training "
            "mode nn.BatchNorm1d refuses it. Layer norm always turns feature 0 into "
            f"{number(layer)}."
        )
    feature = course.outputs[:, 0]
    now, low, high = map(number, (feature[batch], feature.min(), feature.max()))
    mean, variance = (number(values[batch + 1]) for values in course.running)
    of_all = [number(value) for value in population]
    seen = "1 batch" if batch == 0 else f"{batch + 1} batches"
    reach = _of_two(course.outputs) if size == 2 else f"anything from {low} to {high}"
    return (
        f"Batch norm turns feature 0 into {now} now, and over {BATCHES} batches into {reach}; "
        f"layer norm always into {number(layer)}. After {seen}, the running mean is "
        f"{mean} (population {of_all[0]}), the variance {variance} (population {of_all[1]})."
    )


def _of_two(outputs: NDArray) -> str:
    """Say what a batch of two leaves; where the two are hardly apart, ε is not small."""
    if np.abs(outputs).min() < 0.9:
        return "+1 or −1, or closer to 0 if the two are close"
    return "+1 or −1, by which of the two is larger"
