"""Answers that students give, with the verdict that each of them deserves.

They stand in `answers`, in a text file for each topic. They don't come from the banks or from
`slips`, on purpose: they are what somebody writes who has read the notebooks alone. They are
independent of the code that they test, so a mistake in that code can't hide itself.

    how_many
        right  6
        wrong  3  # one for each point
    row_means(x)
        right  x.mean(-1, keepdim=True)
        wrong  x.sum(-1, keepdim=True) / 4
        wrong
            def attempt(x):
                return x.mean(-1)

The words behind "  # " are parts of the message, with "; " between them. An attempt of several
lines stands below its verdict, and its last name is what is checked.
"""

# ruff: noqa: F401 (what the answers use)
import math
import textwrap
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
import torch.nn.functional as F
from cells_of_tests import as_cell
from exercise_banks import BY_NAME
from torch import nn

from lnorm_course.checking.feedback import State
from lnorm_utils import LayerNorm, layer_norm, mean, standardize, variance

VERDICTS = {"right": State.RIGHT, "wrong": State.WRONG, "nothing": State.NOT_ATTEMPTED}


class Answer(NamedTuple):
    """An answer to an exercise, the verdict, and parts of the message."""

    exercise: str
    parameters: str
    state: State
    source: str
    words: list[str]

    def attempt(self):
        """Return what the student gives to `check`."""
        around = dict(globals())
        if "\n" in self.source:
            before = set(around)
            exec(as_cell(self.source, "exec"), around)
            return around[[name for name in around if name not in before][-1]]
        code = f"lambda {self.parameters}: {self.source}" if self.parameters else self.source
        return eval(as_cell(code, "eval"), around)

    def judge(self):
        """Return what the exercise says of it."""
        return BY_NAME[self.exercise].judge(self.attempt())


def read(path):
    """Yield the answers that a file holds."""
    lines = path.read_text("utf-8").splitlines()
    starts = [n for n, line in enumerate(lines) if line[:5].strip() and not line.startswith("#")]
    for start, end in pairwise([*starts, len(lines)]):
        if not lines[start].startswith(" "):
            exercise, _, parameters = lines[start].removesuffix(")").partition("(")
            continue
        verdict, _, rest = lines[start].strip().partition(" ")
        source, _, words = f"  {rest.strip()}".partition("  # ")
        source = textwrap.dedent("\n".join(lines[start + 1 : end])).strip() or source.strip()
        words = words.split("; ") if words else []
        yield Answer(exercise, parameters, VERDICTS[verdict], source, words)


class Mine(torch.nn.LayerNorm):
    """A layer with PyTorch's γ and β, and a forward of its own: (x, axes, ε) -> x_hat."""

    def __init__(self, standardized, *arguments):
        super().__init__(*arguments)
        self.standardized = standardized

    def forward(self, x):
        if x.shape[-len(self.normalized_shape) :] != self.normalized_shape:
            raise ValueError(f"{self.normalized_shape} {tuple(x.shape)}")
        y = self.standardized(x, tuple(range(-len(self.normalized_shape), 0)), self.eps)
        y = y if self.weight is None else y * self.weight
        return y if self.bias is None else y + self.bias


class Changed(Mine):
    """A layer that is right, whose output is changed at the end."""

    def __init__(self, change, *arguments):
        super().__init__(over, *arguments)
        self.change = change

    def forward(self, x):
        return self.change(super().forward(x))


def sizes_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def mean_of(x):
    return x.mean(-1, keepdim=True)


def var_of(x):
    return x.var(-1, unbiased=False, keepdim=True)


def one_pass(x):
    return x.square().mean(-1, keepdim=True) - mean_of(x).square()


def norm_of(x, eps=1e-5):
    return (x - mean_of(x)) / (var_of(x) + eps).sqrt()


def over(x, dim, eps=1e-5, unbiased=False):
    var = x.var(dim, unbiased=unbiased, keepdim=True)
    return (x - x.mean(dim, keepdim=True)) / (var + eps).sqrt()


def error_of(y, right, name):
    return (y[name] - right[name]).abs()


def largest_of(right):
    return max(r.max() for r in right.values())


def radius(x):
    return x.shape[-1] ** 0.5


def pre_ln_blocks(x, fs, eps=1e-5):
    for f in fs:
        x = x + f(norm_of(x, eps))
    return x


ANSWERS = [a for path in sorted(Path(__file__).parent.glob("answers/*.txt")) for a in read(path)]
