"""How a notebook becomes grades, run in a kernel and judged as those of a class are."""

import asyncio
import tempfile

import pytest
from submitted_mean import BANK, CODE, FURTHER, IMPORTS, PREDICTIONS, assert_graded, solved

from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises import standardize
from lnorm_course.slips.beliefs import Belief
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run import grade_many

P0, P1, P2, *_ = PREDICTIONS
C0, C1, C2 = CODE
MISTAKE = P1.wrong[0].answer
SAID = f"{P1.judge(MISTAKE).mistake}: {' '.join(P1.judge(MISTAKE).message.split())}"
OTHERS = Exercise.bank[standardize.TOPIC]
OVER_THE_BATCH = """
from lnorm_course.exercises.standardize import formula
over_the_batch = lambda x, eps: (x - x.mean(0)) / (x.var(0) + eps).sqrt()
formula.check(over_the_batch)"""
WHAT_EXERCISES_SAY = [
    (solved(P0), (P0, "right", "")),
    (f"{P1.name}.check({MISTAKE!r})", (P1, "wrong", SAID)),
    (f"{P2.name}.check()", (P2, "not attempted", P2.judge(...).message)),
    (solved(C0), (C0, "right", "")),
    (f"{C1.name}.check(lambda x: x.missing)", (C1, "wrong", "AttributeError")),
    (f"{FURTHER}.check(...)", (BANK[FURTHER], "not attempted", "")),
    (OVER_THE_BATCH, (OTHERS["formula"], "wrong", "")),
]
# A check counts however it's called, and the last one with the value that it was given.
SUBMISSIONS = {
    "ways to check": [
        (f"alias = {P0.name}; alias.check(99)\n{solved(P0)}; attempt = 98", (P0, "right", "")),
        (
            f"def check(attempt):\n    {P1.name}.check(attempt)\ncheck({P1.answers[0][0]!r})",
            (P1, "right", ""),
        ),
        (f"for x in (0, {P2.answers[0][0]!r}):\n    {P2.name}.check(x)", (P2, "right", "")),
        (
            solved(C0).replace(f"{C0.name}.check(", f"getattr({C0.name}, 'check')(attempt="),
            (C0, "right", ""),
        ),
        (f"{IMPORTS[:-1]}{C1.name} as x\nif True: print(x.check(3))", (C1, "wrong", "")),
    ],
    # A cell that fails takes the checks after it along, and no other cell.
    "cells that fail": [
        (f"1 / 0\n{C0.name}.check(1)",),
        (
            f"{solved(P0)}\n1 / 0\n{P1.name}.check(1)\nlater = 1",
            (P0, "right", ""),
            (P1, "crashed", "its cell failed: ZeroDivisionError: division by zero"),
        ),
        (f"later\n{P2.name}.check(2)", (P2, "crashed", "NameError")),
        (
            f"x = = 1\n{C1.name}.check(1)",
            (C1, "crashed", "its cell failed: SyntaxError: invalid syntax"),
        ),
        (
            f"import os; os._exit(1)\n{C2.name}.check(1)",
            (C2, "crashed", "its cell failed: the kernel died."),
        ),
        (f"{C0.name}.check(1)", (C0, "wrong", "")),
    ],
}


def grade(sources, bank=BANK):
    file = HandedIn(Grade("ada", "", "a.ipynb", ""), sources, [*bank.values()])
    return asyncio.run(grade_many.grade_one(file, 20))


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_each_exercise_of_a_submission_gets_its_grade(name):
    found = grade([IMPORTS, *(source for source, *_ in SUBMISSIONS[name])])
    assert_graded(found, SUBMISSIONS[name])
    assert {grade.lesson for grade in found} == {"01_mean"}


def test_of_two_lessons_each_has_its_grades_a_side_trip_too_and_several_beliefs():
    found = grade([IMPORTS, *(source for source, *_ in WHAT_EXERCISES_SAY)], BANK | OTHERS)
    assert_graded(found, WHAT_EXERCISES_SAY)
    found = {grade.exercise: grade for grade in found}
    assert (found[FURTHER].further, found[P0.name].further) == ("further", "")
    lessons = {found[name].lesson for name in BANK if name in found}
    assert (lessons, found["formula"].lesson) == ({"01_mean"}, "03_standardize")
    expected = {Belief.OVER_THE_BATCH.code, Belief.VARIANCE_OVER_D_MINUS_1.code}
    assert {*found["formula"].belief.split()} == expected


def test_judging_a_notebook_ends_in_time_whatever_it_sends(monkeypatch):
    monkeypatch.setattr(grade_many, "SECONDS_TO_JUDGE_ALL", 0.01)
    why = "it can't be judged: the 0.01 seconds for the whole notebook were over."
    assert_graded(grade([IMPORTS, solved(P0)]), [("", (P0, "timed out", why))])


def test_a_machine_without_room_for_a_kernel_is_not_the_students_fault(monkeypatch):
    def full(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    why = "its cell failed: the machine that grades it stopped early: no space left."
    assert_graded(grade([IMPORTS, solved(P0)]), [("", (P0, "crashed", why))])
