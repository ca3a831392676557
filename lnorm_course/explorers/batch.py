"""A point's batch norm depends on the rest of its batch; its layer norm doesn't."""

from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine import Explorer, Slider, key, line, panel
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm, layer_norm_steps
from lnorm_utils.plotting.picture import BATCH_NORM, BLACK, LAYER_NORM, MEAN, SPREAD, in_style
from lnorm_utils.words import number

__all__ = ["explore_batch"]

BATCHES, LARGEST = 40, 256
MOMENTUM = 0.1
# With SEED_OF_KEPT, the running statistics of small batches end up near the population's, so that
# nobody mistakes their jitter for a bias.
SEED_OF_COMPANY, SEED_OF_KEPT = 5, 8
CONTROLS = {
    "batch_size": Slider("batch size", 8, [2**power for power in range(9)]),
    "batch": Slider("which of 40 batches", 1, range(1, BATCHES + 1)),
}
PRESETS: dict[str, dict[str, Any]] = {
    "batch of eight": {},
    "batch of two": {"batch_size": 2},
    "batch of 256": {"batch_size": 256},
    "batch of one": {"batch_size": 1},
    "after 40 batches of two": {"batch_size": 2, "batch": 40},
    "after 40 batches of 256": {"batch_size": 256, "batch": 40},
}


class _Course(NamedTuple):
    """Batch norm's outputs for one point, batch after batch, and its running statistics.

    `outputs` has shape (40, 4). `mean` and `variance`, each of shape (41,), are the running
    statistics of feature 0 before the first batch and after each batch. They leave out the point,
    which is in every batch and would bias them.
    """

    outputs: NDArray
    mean: NDArray
    variance: NDArray


@cache
def points() -> Tensor:
    """Return points (1000, 4) whose features differ in mean and spread; point 0 is shown."""
    made = torch.tensor([3.0, 0, -2, 1]) + torch.tensor([2, 1, 1, 0.5]) * normal(1000, 4, seed=5)
    made[0] = torch.tensor([4.0, 1.5, -3, 1.2])
    return made.double()


@cache
def _drawn(size: int, seed: int) -> Tensor:
    """Draw batches (40, size, 4) from all points except the first, with the given seed."""
    generator = torch.Generator().manual_seed(seed)
    x = points()
    return x[torch.randint(1, len(x), (BATCHES, size), generator=generator)]


def _course(batch_size: int, **_: Any) -> _Course:
    """Normalize the point in 40 batches of one size, and track the running statistics."""
    if batch_size == 1:  # nn.BatchNorm1d raises an error
        nothing = np.full(BATCHES + 1, np.nan)
        return _Course(np.full((BATCHES, 4), np.nan), nothing, nothing)
    company = _drawn(LARGEST - 1, SEED_OF_COMPANY)[:, : batch_size - 1]
    batches = torch.cat([points()[:1].expand(BATCHES, 1, -1), company], dim=1)
    # Batch norm of a table is layer norm of its columns.
    y = layer_norm_steps(batches.transpose(1, 2), batch_size).y[:, :, 0]
    kept = _drawn(LARGEST, SEED_OF_KEPT)[:, :batch_size, 0]
    return _Course(y.numpy(), _running(kept.mean(1), 0.0), _running(kept.var(1), 1.0))


def _running(each: Tensor, start: float) -> NDArray:
    """Return running averages: after each batch, 0.9 · the last average + 0.1 · the new value."""
    values = each.tolist()
    kept = accumulate(values, lambda r, v: (1 - MOMENTUM) * r + MOMENTUM * v, initial=start)
    return np.array([*kept])


@in_style
def explore_batch(preset: str | None = None, **start: Any) -> Explorer:
    """Explore how one point's batch norm changes with its batch, while its layer norm doesn't.

    Source: Ioffe & Szegedy 2015, arXiv:1502.03167, for batch norm; its momentum of 0.1 and its
    unbiased running variance are PyTorch's.

    >>> explore_batch(preset="batch of 256").words.split(", ")[1].split("; ")[0]
    'and over 40 batches into numbers from 0.35 to 0.68'
    """
    first, ax = panel("the outputs of one point in batch after batch", xlabel="feature")
    ax.set(xlim=(-0.5, 3.5), xticks=range(4), ylim=(-3.2, 3.2), ylabel="output")
    key(ax, ("● batch norm", BATCH_NORM), ("▲ layer norm", LAYER_NORM))
    ax.axhline(0, color=BLACK, lw=0.8, zorder=0)
    at = np.arange(4)
    cloud = line(
        ax, "o", (at + np.linspace(-0.35, -0.05, BATCHES)[:, None]).ravel(), color=BATCH_NORM
    )
    cloud.set(markersize=3.5, markeredgewidth=0.3)
    now = line(ax, "o", at - 0.2, color=BATCH_NORM, ms=10, mew=2)
    y = layer_norm(points()[0], 4).numpy()
    line(ax, "^", at + 0.2, y, color=LAYER_NORM, ms=10)

    second, ax = panel("the running statistics of feature 0", xlabel="batches seen")
    ax.set(xlim=(-1, BATCHES + 1), ylim=(-0.2, 9.5), ylabel="of feature 0")
    key(ax, ("● mean", MEAN), ("- - of all points", BLACK), ("● variance", SPREAD))
    others, lines = points()[1:, 0], []
    of_all = others.mean().item(), others.var(correction=0).item()
    for color, population in zip((MEAN, SPREAD), of_all, strict=True):
        ax.axhline(population, color=color, ls="--", lw=1.5, zorder=0)
        future = line(ax, ":", color=color, lw=1)
        lines.append((line(ax, "o-", color=color, ms=9, mew=1.5, lw=2.5), future))

    def show(found: _Course, batch_size: int, batch: int) -> str:
        cloud.set_ydata(found.outputs.ravel())
        now.set_ydata(found.outputs[batch - 1])
        for (past, future), values in zip(lines, (found.mean, found.variance), strict=True):
            past.set_data(range(batch + 1), values[: batch + 1])
            past.set_markevery([batch])
            future.set_data(range(batch, BATCHES + 1), values[batch:])
        if batch_size == 1:
            return (
                "In a batch of 1, every feature is its own mean and its variance is 0, so in "
                "training mode nn.BatchNorm1d raises an error. Layer norm always turns "
                f"feature 0 into {number(y[0])}."
            )
        one, kept = found.outputs[:, 0], (found.mean[batch], found.variance[batch])
        out, low, high, always = map(number, (one[batch - 1], one.min(), one.max(), y[0]))
        mean, variance, true_mean, true_variance = map(number, (*kept, *of_all))
        return (
            f"Batch norm turns feature 0 into {out} now, and over {BATCHES} batches into numbers "
            f"from {low} to {high}; layer norm always into {always}. After batch {batch}, the "
            f"running mean is {mean} (of all points {true_mean}), the variance {variance} (of all "
            f"points {true_variance})."
        )

    moving = [part for pair in lines for part in reversed(pair)]
    panels: Any = {first: [cloud, now], second: moving}
    return Explorer(panels, _course, show, CONTROLS, PRESETS, preset, start)
