"""Whatever a kernel sends, a child judges it, and the grader lives on."""

import asyncio
import functools
import math
import time
from dataclasses import replace

import pytest
import torch

from lnorm_course.exercises.mean import how_many
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run import child as starting
from lnorm_staff.grading.run import judge as judging
from lnorm_staff.grading.run.judge import DIED, NOT_AN_ATTEMPT, TOO_SLOW, Judge
from lnorm_staff.grading.run.plain_data import NUMBERS, encode

EMPTY = Grade("ada", "", "a.ipynb", "", "ada/feedback.html", "01_mean", "one")


class Asked(asyncio.Runner):
    """A judge that is asked outside of any coroutine."""

    def __enter__(self):
        self.judge = Judge()
        return super().__enter__()

    def __exit__(self, *error):
        self.run(self.judge.aclose())
        super().__exit__(*error)

    def grade(self, attempt):
        return self.run(self.judge.grade(EMPTY, how_many, attempt))


@pytest.fixture(scope="module")
def judge():
    with Asked() as asked:
        yield asked


@pytest.fixture
def lives_on(judge):
    """Say that the child has neither died nor been started again."""
    child = judge.run(judge.judge.start())
    yield
    assert judge.run(judge.judge.start()) is child
    assert judge.grade(sent(encode(6))).state == "right"


def sent(*values, error=None):
    """Return what a kernel sends of these values."""
    return {"values": values, "error": error, "notices": [], "code": ""}


def graded(judge, *values, error=None):
    return judge.grade(sent(*values, error=error))


def test_no_dtype_of_pytorch_ends_the_child_whatever_its_shape_and_bytes(judge, lives_on):
    known = {str(d) for d in vars(torch).values() if isinstance(d, torch.dtype)}
    for dtype in known | set(NUMBERS) | {"torch.load", "O", "V4", "f4,f4", "x" * 10**5, "\ud800"}:
        for shape in ([], [0], [2, 3], [0, 2**62, 2**62], [-2, -3], [2**70], [1] * 500):
            for text in ("", "AQAAAAAAAAA=", "/////w==", "A", "\ud800", 7):
                grade = graded(judge, ["numbers", dtype, shape, text])
                assert grade.state in ("wrong", "crashed"), (dtype, shape, text)
                assert grade.message.endswith((".", "?")), grade


ONE = encode(1)
TOO_DEEP = functools.reduce(lambda inner, _: [inner], range(10**5), [])
FORGED = {
    "nested too deep": sent(TOO_DEEP),
    "many in few": sent(functools.reduce(lambda v, _: ["list", *[v] * 7], range(6), ONE)),
    "a long text": sent(["plain", "1" * 10**5 + "x"]),
    "an error and all values": sent(ONE, error="It fails."),
    "an error without its parts": sent(error={"kind": "A"}),
    "a number as a sentence": sent(error={"kind": "A", "message": "", "told": 1}),
    "surrogates": sent(["other", "\ud800"]),
    "NaN as a shape": sent(["numbers", "torch.float32", [math.nan], "AAAA"]),
    "a bool of 7": sent(["numbers", "torch.bool", [1], "Bw=="]),
    "a text": "RIGHT",
}


@pytest.mark.parametrize("answer", FORGED.values(), ids=FORGED)
def test_what_no_kernel_writes_is_refused_at_once(judge, lives_on, answer):
    started = time.monotonic()
    grade = judge.grade(answer)
    assert (grade.state, grade.message) == ("crashed", NOT_AN_ATTEMPT)
    assert time.monotonic() - started < 2


# What a child does instead of judging, by the error that it's given.
BROKEN = """
import os, time
honest = judge.judge
def broken(exercise, answer):
    if answer["error"] == "die":
        os._exit(1)
    if answer["error"] == "wait":
        time.sleep(99)
    if answer["error"] == "take":
        bytearray(2**32)
    return honest(exercise, answer)
judge.judge = broken
"""


def test_what_breaks_the_judging_costs_only_its_own_exercise(monkeypatch):
    limited, _, served = starting.START.partition("serve({module")
    start = f"{limited}from lnorm_staff.grading.run import judge{BROKEN}serve({{module{served}"
    monkeypatch.setattr(starting, "START", start)
    with Asked() as judge:
        assert graded(judge, ONE, error="die").message == DIED
        assert graded(judge, encode(6)).state == "right"
        assert "MemoryError" in graded(judge, ONE, error="take").message
        monkeypatch.setattr(judging, "SECONDS_TO_JUDGE", 1)
        broken = graded(judge, ONE, error="wait")
        assert broken == replace(EMPTY, state="crashed", message=TOO_SLOW)
        monkeypatch.setattr(starting, "START", "import sys; sys.exit(1)")
        assert graded(judge, ONE).message == DIED
