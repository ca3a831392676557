"""The search names the fewest things that explain results, and all that do."""

import torch
from exercise_banks import BY_NAME

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.feedback import State
from lnorm_diagnose.fewest_slips import Mistake, Raised, in_words
from lnorm_diagnose.slips.notation import parse
from lnorm_utils.data import normal

X = normal(4, 4, 4, seed=1).double() + 1
NARROW = 0.01 * normal(2, 3, 6, seed=2).double() + 1
INPUTS = [X, NARROW]
HALF = Mistake(lambda norm, x: norm.standardize(x) / 2, "You halved it. Don't.")


def searched(mistakes=(HALF,)):
    """Return a search among what people do otherwise when they standardize."""
    program = """from lnorm_utils import standardize

def standardized(x):
    return ⟨standardize(x) ¦ x + 1 ⇒ You added 1.⟩"""
    exercise = CodeExercise(
        parse(program),
        hints=[],
        inputs={f"input {n}": (x,) for n, x in enumerate(INPUTS)},
        by_steps=lambda norm, x: norm.standardize(x),
        mistakes=mistakes,
    )
    return exercise.search


def told(attempt, source="", **options):
    """Return what is said of a function, "" if nothing."""
    found = searched(**options).find({n: attempt(x) for n, x in enumerate(INPUTS)}, source)
    return in_words(found)[1] if found else ""


def mean(x):
    return x.mean(-1, keepdim=True)


def root(x, correction=0, eps=1e-5):
    return (x.var(-1, keepdim=True, correction=correction) + eps).sqrt()


def test_one_thing_is_named_alone_and_two_things_are_both_named():
    assert told(lambda x: x / root(x)) == (
        "You didn't subtract the mean. Layer norm subtracts the mean from x."
    )
    assert told(lambda x: (mean(x) - x) / root(x, 1)).startswith(
        "Two things: the signs are flipped, because x is subtracted from the mean. Layer norm "
        "subtracts the mean from x. Also, your variance divides by D − 1"
    )


def test_a_mistake_of_the_exercise_comes_first_alone_and_with_another_thing():
    assert told(lambda x: (x - mean(x)) / root(x) / 2) == HALF.why
    assert told(lambda x: x / root(x) / 2).startswith(
        "Two things: you halved it. Don't. Also, you didn't subtract"
    )


def test_all_that_fit_are_said():
    same = Mistake(lambda norm, x: norm.standardize(x) / 2, "You took a half.")
    both = told(lambda x: (x - mean(x)) / root(x) / 2, mistakes=(HALF, same))
    assert both == "Either: You halved it. Don't. Or: You took a half."


def test_what_the_source_contradicts_is_not_said():
    def raised(x):
        return (x - mean(x)) / x.var(-1, keepdim=True, correction=0).clamp(min=1e-5).sqrt()

    assert "raised to ε" in told(raised, "x.var(-1).clamp(min = eps)")
    assert "raised to ε" not in told(raised, "x.var(-1)")


def test_one_everyday_slip_is_said_of_std_and_not_two_rare_ones():
    def divided(x):
        return (x - mean(x)) / x.std(-1, keepdim=True)

    assert told(divided, "x.std(-1)").startswith("Your variance divides by D − 1 and ε is left out")
    assert told(divided, "root of x").startswith("Two things: your variance divides by D − 1")
    assert "twice" not in told(divided, "x.std(-1, keepdim=True) + eps")


def test_an_error_is_explained_by_one_that_is_the_same():
    search = searched()
    lost = next(p for p in search.model_distractors if "Your variance is a sum" in p.why)
    assert search.find({0: X, 1: Raised("ValueError", "no such thing")}) == []
    values = {n: search.result((lost,), n) for n in range(2)}
    assert search.find(values) == [(lost,)]


def test_zeros_are_not_explained_by_two_things():
    assert told(torch.zeros_like) == ""


def test_two_things_are_not_said_where_one_place_makes_it_right():
    judged = BY_NAME["far_std"].judge(swapped)
    assert judged.state is State.WRONG
    assert judged.message.startswith(("Look at", "In place of the variance"))


def swapped(x):
    _mean, var = torch.var_mean(x, -1, correction=0, keepdim=True)
    return var.sqrt()
