"""Every answer and every wrong answer of an exercise gets the same verdict live and graded."""

import importlib
import itertools

import pytest
from exercise_banks import BANK

from lnorm_course.checking.prediction import Prediction
from lnorm_staff.grading.run import processes as starting
from lnorm_staff.grading.run.judge import judge
from lnorm_staff.grading.run.kernel import Kernel
from lnorm_staff.grading.run.processes import Processes

# In the kernel, the answers and mistakes of a bank beside its exercises without answers.
WITH_ANSWERS = """
import importlib, sys
name = "lnorm_course.exercises.{topic}"
graded = sys.modules[name]
for other in [n for n in sys.modules if n.startswith("lnorm_course.exercises")]:
    del sys.modules[other]  # one bank may import from another
bank = importlib.import_module(name)
"""
# In the kernel and here.
WITH_SLIPS = """
from decimal import Decimal
from fractions import Fraction
import numpy, sys, torch
def slipped(exercise, *numbers):
    pieces = [exercise.model.pieces[number] for number in numbers]
    return exercise.make(pieces)
"""
MOST_PAIRS = 6
# For runs without `--all`, topics that differ in what is handed in: numbers, shapes and functions;
# words, NaN, and functions that get a model; classes; gradients.
FEW = ["mean", "precision", "module", "backward"]


@pytest.fixture(scope="module")
def processes():
    """Start kernels that can read the files of the banks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "can_sandbox", lambda: False)
        with Processes(seconds=10) as processes:
            yield processes


def attempts(exercise):
    """Yield, as code, attempts that the exercise knows, and some that it doesn't."""
    own = f"bank.{exercise.name}"
    if isinstance(exercise, Prediction):
        yield from (f"{own}.answers[{n}][0]" for n in range(len(exercise.answers)))
        yield from (f"{own}.wrong[{n}].value" for n in range(len(exercise.wrong)))
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
        gaps = [piece.gap for piece in exercise.model.pieces]
        pairs = itertools.combinations(range(len(gaps)), 2)
        pairs = [(one, other) for one, other in pairs if gaps[one] != gaps[other]]
        for one, other in pairs[:: len(pairs) // MOST_PAIRS + 1]:
            yield f"slipped({own}, {one}, {other})"


def pytest_generate_tests(metafunc):
    """Run for a few topics, or with `--all` for all."""
    if "topic" in metafunc.fixturenames:
        metafunc.parametrize("topic", BANK if metafunc.config.getoption("all") else FEW)


def test_every_attempt_gets_the_same_verdict_live_and_graded(processes, topic):
    here = {"bank": importlib.import_module(f"lnorm_course.exercises.{topic}")}
    exec(WITH_SLIPS, here)
    with Kernel(processes, timeout=60, total=600) as kernel:
        assert kernel.run(WITH_ANSWERS.format(topic=topic) + WITH_SLIPS).failed == ""
        for name, exercise in BANK[topic].items():
            for attempt in attempts(exercise):
                outcome = kernel.run(f"graded.{name}.check({attempt})")
                assert outcome.failed == "", outcome
                live = exercise.judge(eval(attempt, here))
                assert judge(exercise, outcome.attempts[name]) == live, attempt
