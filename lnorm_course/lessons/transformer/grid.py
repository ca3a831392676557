"""A grid of 160 recorded runs of a small transformer, by learning rate, norms, and initialization.

Each run begins in one of four ways: with the initial embeddings at one of three scales and no
warm-up, or at the smallest scale with a warm-up.

`make tool NAME=grid` repeats all runs, and writes them to `grid.json`, along with the versions of
Python and PyTorch.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from torch import Tensor

from lnorm_course.lessons.transformer.model import PLACES, Transformer
from lnorm_course.lessons.transformer.text import alphabet, austen, decode, encode
from lnorm_course.lessons.transformer.training import train_transformer, validation_loss, write

__all__ = [
    "BEGINNINGS",
    "EMBEDDINGS",
    "EVERY",
    "RATES",
    "SEEDS",
    "STEPS",
    "WARM_UP",
    "Run",
    "run",
    "split",
    "train_run",
]

RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
WARM_UP = 100  # the number of steps in a warm-up
EMBEDDINGS = (1, 4, 8)  # factors by which the initial embeddings are multiplied
BEGINNINGS = ((1, 1), (WARM_UP, 1), (1, 4), (1, 8))  # (warm-up, factor); 1 step means no warm-up
SEEDS = (0, 1)
STEPS = 300
EVERY = 5  # the number of steps over which each recorded loss is averaged


class Run(NamedTuple):
    """The results of a run. A loss that wasn't finite is nan."""

    losses: list[float]  # during training, each averaged over 5 steps, in nats
    validation: float  # the loss on new text at the end, in nats
    text: str  # 200 characters that the model wrote; fewer if its outputs weren't finite


def split() -> tuple[Tensor, Tensor]:
    """Split the text into nine tenths for training and the last tenth for validation."""
    codes = encode(austen())
    cut = len(codes) * 9 // 10
    return codes[:cut], codes[cut:]


def train_run(place: str, lr: float, warm_up: int = 1, seed: int = 0, embeddings: float = 1) -> Run:
    """Train a transformer of six blocks for 300 steps, in about ten seconds on one core.

    Args:
        place: where its norms are, one of `PLACES`.
        lr: Adam's learning rate after the warm-up.
        warm_up: the number of steps over which the learning rate rises; 1 means no warm-up.
        seed: seeds the weights, the random choice of pieces of text, and what the model writes.
        embeddings: the factor by which the initial embeddings are multiplied.
    """
    training, validation = split()
    model = Transformer(len(alphabet()), place, seed=seed, embeddings=embeddings)
    losses = train_transformer(model, training, lr, warm_up, STEPS, seed)
    text = decode(write(model, encode("\n"), seed=seed))
    means = losses.reshape(-1, EVERY).mean(dim=1).tolist()
    return Run(means, validation_loss(model, validation), text)


def run(place: str, lr: float, warm_up: int = 1, seed: int = 0, embeddings: float = 1) -> Run:
    """Look up a run in the grid instead of training a transformer.

    Args:
        place, lr, warm_up, seed, embeddings: as in `train_run`; only some combinations exist.

    Raises:
        ValueError: the grid has no such run.

    >>> len(run("pre-LN", 1e-3).losses)
    60
    """
    runs = _grid()
    if (found := runs.get((place, lr, warm_up, seed, embeddings))) is None:
        raise ValueError(
            f"The grid has the places {', '.join(PLACES)}, the learning rates {_listed(RATES)}, "
            f"the seeds {_listed(SEEDS)}, and the pairs (warm-up, embeddings) "
            f"{_listed(BEGINNINGS)}, but {place!r}, {lr!r}, {seed!r}, and "
            f"{(warm_up, embeddings)!r} were given."
        )
    return found


def _listed(numbers: tuple) -> str:
    return ", ".join(map(str, numbers))


@cache
def _grid() -> dict[tuple, Run]:
    runs = json.loads(Path(__file__).with_name("grid.json").read_text("utf-8"))["runs"]
    found = {}
    for each in runs:
        *numbers, text = each["left"]
        # JSON's null stands for a number that isn't finite; NumPy converts it to nan.
        losses, validation = (np.array(part, dtype=float).tolist() for part in numbers)
        found[tuple(each["of"])] = Run(losses, validation, text)
    return found
