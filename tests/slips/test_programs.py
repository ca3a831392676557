"""What is wrong in a program is named, be it one thing or two, for each model."""

import math
import re
from pathlib import Path

import pytest
import torch
from cells_of_tests import as_cell
from exercise_banks import BY_NAME
from torch.nn import functional as F

from lnorm_course.checking.feedback import State
from lnorm_utils import standardize

# How a message begins that names more than one thing, or either some or others.
AT_ONCE = ("Two things: ", "Either: ", "Perhaps ")


def norm(x):
    return F.layer_norm(x, x.shape[-1:])


def rms(x):
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def block(x, f, g):
    x = x + f(norm(x))
    return x + g(norm(x))


def later_ones(q, diagonal=1):
    return torch.ones(q.shape[1], q.shape[1]).triu(diagonal).bool()


def later_of(scores, diagonal=1):
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal)


def scores_of(q, k):
    return q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5


def weights_of(scores, axis=-1):
    return scores.masked_fill(later_of(scores), -math.inf).softmax(axis)


def mix_of(scores, v, axis=-1):
    return weights_of(scores, axis) @ v


TEXT = Path(__file__).with_name("programs.txt").read_text("utf-8")
# Each exercise with its parameters, and below it the programs and the words they are named with.
GROUPS = re.findall(r"^(\w+)\((.*)\)\n((?:    .*\n)+)", TEXT, re.MULTILINE)


def attempted(parameters, source):
    code = source if "return " in source else f"return {source}"
    around = globals() | {"standardize": standardize}
    exec(as_cell(f"def attempt({parameters}): {code}", "exec"), around)
    return around["attempt"]


def is_named(feedback, words):
    told = f"{feedback.message} {feedback.message.casefold()}"
    is_one = not feedback.message.startswith(AT_ONCE)
    has_words = all(part in told for part in words)
    return feedback.state is State.WRONG and has_words and is_one == (len(words) == 1)


@pytest.mark.parametrize(("name", "parameters", "lines"), GROUPS, ids=[g[0] for g in GROUPS])
def test_what_is_wrong_in_a_program_is_named(name, parameters, lines):
    lines_of = [line.strip().split("  # ") for line in lines.splitlines()]
    told = [
        (source, words, BY_NAME[name].judge(attempted(parameters, source)))
        for source, words in lines_of
    ]
    assert [
        f"{s} → {said}" for s, words, said in told if not is_named(said, words.split("; "))
    ] == []


def test_every_program_is_read():
    assert sum(lines.count("\n") for *_, lines in GROUPS) == len(
        re.findall("^    ", TEXT, re.MULTILINE)
    )
