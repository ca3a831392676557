"""What was done is named where a result is that of the answer with one thing done otherwise."""

import pytest
import torch

from lnorm_course.diagnose.variants import Variants
from lnorm_utils.data import normal


def answer(x, weight, bias):
    centered = x - x.mean(dim=-1, keepdim=True)
    return centered.square().sum(-1).sqrt() * weight + bias


def looped(x, weight, bias):
    total = x * 0
    for factor in weight:
        total = total + factor * x
    return total - bias


X, WEIGHT, BIAS = normal(4, 3, seed=1), normal(4, seed=2) + 2, normal(4, seed=3)


def told(right, attempt):
    inputs = [(X, WEIGHT, BIAS), (3 * X, BIAS, WEIGHT)]
    if right is looped:
        inputs = [(X, WEIGHT, BIAS[:3]), (3 * X, BIAS, WEIGHT[:3])]
    variants = Variants(right, inputs, lambda one, other: torch.allclose(one, other))
    return variants.name(dict(enumerate(attempt(*each) for each in inputs)), [0, 1])


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda x, w, b: answer(x, w, -b), "You subtracted `bias` where you should add it."),
        (lambda x, w, b: answer(x, b, w), "`weight` and `bias` have changed places."),
        (lambda x, w, b: answer(x, w, 0 * b), "`bias` is missing."),
        (lambda x, w, b: answer(x, w.mean(), b), "You averaged all numbers of `weight` to one."),
        (lambda x, w, b: (answer(x, 1, 0) ** 2 / 3).sqrt() * w + b,
         "You averaged where you should add up."),
        (lambda x, w, b: answer(x, w, b) ** 3, ""),
        (lambda x, w, b: 0 * answer(x, w, b), ""),
    ],
)  # fmt: skip
def test_one_thing_done_otherwise_is_named_by_what_was_done(attempt, words):
    assert told(answer, attempt) == words


def test_a_loop_that_ends_too_early_is_named():
    assert "last round" in told(looped, lambda x, w, b: w[:-1].sum() * x - b)
    assert "inside the loop" in told(looped, lambda x, w, b: w[0] * x - b)
