"""Every answer and every wrong answer of an exercise gets the same verdict live and graded."""

import asyncio
import itertools

from exercise_banks import BANK

from lnorm_course.checking.prediction import Prediction
from lnorm_staff.grading.run.judge import judge
from lnorm_staff.grading.run.replies import KERNEL, replies

# In the kernel and here.
SETUP = """
import importlib, numpy, sys, torch
from decimal import Decimal
from fractions import Fraction
bank = importlib.import_module("lnorm_course.exercises.{topic}")
def slipped(exercise, *numbers):
    distractors = [exercise.model.distractors[number] for number in numbers]
    return exercise.make(distractors)
"""
MOST_PAIRS = 6
# For runs without `--all`, topics that differ in what is handed in: numbers, shapes and functions;
# words, NaN, and functions that get a model; classes; gradients.
FEW = ["mean", "precision", "module", "backward"]


def attempts(exercise):
    """Yield, as code, attempts that the exercise knows, and some that it doesn't."""
    own = f"bank.{exercise.name}"
    if isinstance(exercise, Prediction):
        yield from (f"{own}.answers[{n}][0]" for n in range(len(exercise.answers)))
        yield from (f"{own}.wrong[{n}].answer" for n in range(len(exercise.wrong)))
        yield from ("...", "None", "-7.25", "'another word'", "max", "'1/6'", "float('nan')", "'ε'")
        yield from ("Fraction(1, 3)", "Fraction(10**400)", "Decimal('0.55')", "Decimal('sNaN')")
        yield from ("numpy.float32(0.55)", "torch.tensor(6)", "(Fraction(2), 3)", "(*range(40),)")
        return
    yield f"{own}.answer"
    yield from (f"{own}.make([{own}.mistakes[{n}]])" for n in range(len(exercise.mistakes)))
    yield from ("3", "lambda *inputs: None", "lambda x, *more: 3 * x if hasattr(x, 'ndim') else 3")
    yield "sys.modules['lnorm_utils'].standardize"
    yield "lambda x, *m: sys.modules['lnorm_utils'].standardize(x) if hasattr(x, 'ndim') else 3"
    if exercise.by_steps:
        gaps = [option.gap for option in exercise.model.distractors]
        pairs = itertools.combinations(range(len(gaps)), 2)
        pairs = [(one, other) for one, other in pairs if gaps[one] != gaps[other]]
        for one, other in pairs[:: len(pairs) // MOST_PAIRS + 1]:
            yield f"slipped({own}, {one}, {other})"


def pytest_generate_tests(metafunc):
    """Run for a few topics, or with `--all` for all."""
    if "topic" in metafunc.fixturenames:
        metafunc.parametrize("topic", BANK if metafunc.config.getoption("all") else FEW)


def test_every_attempt_gets_the_same_verdict_live_and_graded(topic):
    setup, here = SETUP.format(topic=topic), {}
    exec(setup, here)
    given = [(exercise, code) for exercise in BANK[topic].values() for code in attempts(exercise)]
    cells = [setup, *(f"bank.{exercise.name}.check({code})" for exercise, code in given)]

    async def graded():
        return [reply async for _, reply in replies(KERNEL, 10, cells, 60, 600)]

    first, *found = asyncio.run(graded())
    assert first.failed == ""
    for (exercise, code), reply in zip(given, found, strict=True):
        assert reply.failed == "", reply
        live = exercise.judge(eval(code, here))
        assert judge(exercise, reply.attempts[exercise.name]) == live, code
