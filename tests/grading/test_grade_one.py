"""How a notebook becomes grades, run in a kernel and judged as those of a class are."""

import asyncio
import tempfile

import pytest

from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises import mean, standardize
from lnorm_course.slips.beliefs import Belief
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run import grade_many

LESSON = "01_mean"
BANK = Exercise.bank[mean.TOPIC]
MAIN = [name for name, exercise in BANK.items() if not exercise.further]
P0, P1, P2, *_ = [name for name in BANK if BANK[name].inputs is None]
C0, C1, C2 = [name for name in BANK if BANK[name].inputs is not None]
FURTHER = next(name for name in BANK if BANK[name].further)
IMPORTS = "from lnorm_course.exercises.mean import *"
MISSING = ("missing", "", "no cell checks it.")


def answer(name):
    return BANK[name].shown_solution().code


def grade(sources, bank=BANK):
    file = HandedIn(Grade("ada", "", "a.ipynb", ""), sources, [*bank.values()])
    return asyncio.run(grade_many.grade_one(file, 20))


@pytest.fixture
def graded():
    """Grade a notebook with these cells: {exercise: (state, mistake, message)}."""

    def grades(*sources):
        found = grade([IMPORTS, *sources])
        assert {g.lesson for g in found} == {LESSON}
        assert {*MAIN} <= {g.exercise for g in found}
        return {g.exercise: (g.state, g.mistake, g.message) for g in found}

    return grades


def test_each_attempt_gets_what_its_exercise_says_of_it(graded):
    mistake = BANK[P1].wrong[0].value
    told = BANK[P1].judge(mistake)
    found = graded(
        f"{P0}.check({answer(P0)})",
        f"{P1}.check({mistake!r})",
        f"{P2}.check()",
        f"{answer(C0)}\n{C0}.check({BANK[C0].answer.__name__})",
        f"{C1}.check(lambda x: x.missing)",
    )
    assert found[P0][:2] == ("right", "")
    assert found[P1] == ("wrong", told.mistake, " ".join(told.message.split()))
    assert found[P2] == ("not attempted", "", BANK[P2].judge(...).message)
    assert found[C0][0] == "right"
    assert found[C1][0] == "wrong"
    assert "AttributeError" in found[C1][2]
    assert {*MAIN} - {P0, P1, P2, C0, C1} == {n for n, told in found.items() if told == MISSING}
    assert {*found} == {*MAIN}  # and none of a side trip


def test_of_two_lessons_each_has_its_grades_a_side_trip_too_and_several_beliefs():
    cell = """
from lnorm_course.exercises.standardize import formula
over_the_batch = lambda x, eps: (x - x.mean(0)) / (x.var(0) + eps).sqrt()
formula.check(over_the_batch)"""
    both = BANK | Exercise.bank[standardize.TOPIC]
    found = grade([IMPORTS, f"{FURTHER}.check(...)", cell], both)
    found = {grade.exercise: grade for grade in found}
    assert (found[FURTHER].further, found[P0].further) == ("further", "")
    assert found["formula"].lesson == "03_standardize"
    assert {*standardize.__all__} & {*found}
    expected = {Belief.OVER_THE_BATCH.code, Belief.VARIANCE_OVER_D_MINUS_1.code}
    assert {*found["formula"].belief.split()} == expected


def test_every_way_to_check_counts_and_the_last_one_with_the_value_that_it_was_given(graded):
    found = graded(
        f"alias = {P0}; alias.check(99); alias.check({answer(P0)}); later = 98",
        f"def check():\n    {P1}.check({answer(P1)})\ncheck()",
        f"for x in (0, {answer(P2)}):\n    {P2}.check(x)",
        f"{answer(C0)}\ngetattr({C0}, 'check')(attempt={BANK[C0].answer.__name__})",
        f"from lnorm_course.exercises.mean import {C1} as x\nif True: print(x.check(3))",
    )
    states = {name: state for name, (state, *_) in found.items() if state != "missing"}
    assert states == {**dict.fromkeys((P0, P1, P2, C0), "right"), C1: "wrong"}


def test_a_cell_that_fails_takes_the_checks_after_it_along_and_no_other_cell(graded):
    found = graded(
        f"1 / 0\n{C0}.check(1)",
        f"{P0}.check({answer(P0)})\n1 / 0\n{P1}.check(1)\nlater = 1",
        f"later\n{P2}.check(2)",
        f"x = = 1\n{C1}.check(1)",
        f"import os; os._exit(1)\n{P0}.check(1)",
        f"{C0}.check(1)",
    )
    assert found[P0][0] == "right"  # a check that ran counts
    assert found[P1] == ("crashed", "", "its cell failed: ZeroDivisionError: division by zero")
    assert found[P2][0] == found[C1][0] == "crashed"
    assert "NameError" in found[P2][2]
    assert found[C1][2].startswith("its cell failed: SyntaxError: invalid syntax")
    assert found[C0][0] == "wrong"


def test_judging_a_notebook_ends_in_time_whatever_it_sends(graded, monkeypatch):
    monkeypatch.setattr(grade_many, "SECONDS_TO_JUDGE_ALL", 0.01)
    state, _, message = graded(f"{P0}.check({answer(P0)})")[P0]
    assert state == "timed out"
    assert message == "it can't be judged: the 0.01 seconds for the whole notebook were over."


def test_a_machine_without_room_for_a_kernel_is_not_the_students_fault(graded, monkeypatch):
    def full(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    found = graded(f"{P0}.check(1)")
    said = "its cell failed: the machine that grades it stopped early: no space left."
    assert found.pop(P0) == ("crashed", "", said)
    assert {*found.values()} == {MISSING}
