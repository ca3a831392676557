"""How a small transformer trains at each rate, place of its norms, and beginning: 160 shipped runs.

There are four beginnings: embeddings of three sizes without a warm-up, and the smallest with one.

`make tool NAME=grid` trains all of them once and writes `grid.json`, with the versions it used.
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
WARM_UP = 100  # steps
EMBEDDINGS = (1, 4, 8)  # how many times as large they start
BEGINNINGS = ((1, 1), (WARM_UP, 1), (1, 4), (1, 8))  # a warm-up of 1 step is none
SEEDS = (0, 1)
STEPS = 300
EVERY = 5  # steps, over which the shipped losses are averaged


class Run(NamedTuple):
    """What a run left behind. A loss that wasn't finite is nan."""

    losses: list[float]  # in training, each the mean over 5 steps, in nats
    validation: float  # at the end, in nats
    text: str  # 200 characters that the model wrote; fewer if its numbers weren't finite


def split() -> tuple[Tensor, Tensor]:
    """Cut the text into what the models train on and the last tenth, which they never see."""
    codes = encode(austen())
    cut = len(codes) * 9 // 10
    return codes[:cut], codes[cut:]


def train_run(
    place: str, rate: float, warm_up: int = 1, seed: int = 0, embeddings: float = 1
) -> Run:
    """Train a transformer of six blocks for 300 steps, about ten seconds on one core.

    Args:
        place: of its norms, one of `PLACES`.
        rate: the learning rate of Adam behind the warm-up.
        warm_up: over how many steps the rate rises; 1 is no warm-up.
        seed: of the weights, of the pieces of text, and of the writing.
        embeddings: how many times as large they start, as in `Transformer`.
    """
    training, validation = split()
    model = Transformer(len(alphabet()), place, seed=seed, embeddings=embeddings)
    losses = train_transformer(model, training, rate, warm_up, STEPS, seed)
    text = decode(write(model, encode("\n"), seed=seed))
    means = losses.reshape(-1, EVERY).mean(dim=1).tolist()
    return Run(means, validation_loss(model, validation), text)


def run(place: str, rate: float, warm_up: int = 1, seed: int = 0, embeddings: float = 1) -> Run:
    """Look a run up in the grid, instead of training it.

    Args:
        place, rate, warm_up, seed, embeddings: as in `train_run`, each one of those in the grid.

    Raises:
        ValueError: the grid has no such run.

    >>> len(run("pre-LN", 1e-3).losses)
    60
    """
    runs = _grid()
    if (found := runs.get((place, rate, warm_up, seed, embeddings))) is None:
        raise ValueError(
            f"The grid has the places {', '.join(PLACES)}, the rates {_listed(RATES)}, "
            f"the seeds {_listed(SEEDS)}, and the warm-ups with embeddings {_listed(BEGINNINGS)}, "
            f"but {place!r}, {rate!r}, {seed!r}, and {(warm_up, embeddings)!r} were given."
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
        # JSON's null stands for what isn't finite; NumPy makes nan of it.
        losses, validation = (np.array(part, dtype=float).tolist() for part in numbers)
        found[tuple(each["of"])] = Run(losses, validation, text)
    return found
