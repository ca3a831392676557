"""How a notebook becomes grades, run in a kernel and judged as those of a class are."""

import asyncio
import tempfile

from submitted_mean import BANK, CODE, FURTHER, IMPORTS, PREDICTIONS, assert_graded, solved

from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises import residual, standardize, variance
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run import grade_many
from lnorm_staff.grading.run.replies import JUDGE, KERNEL, Reply

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
    (IMPORTS,),
    (solved(P0), (P0, "right", "")),
    (f"{P1.name}.check({MISTAKE!r})", (P1, "wrong", SAID)),
    (f"{P2.name}.check()", (P2, "not attempted", P2.judge(...).message)),
    (solved(C0), (C0, "right", "")),
    (f"{C1.name}.check(lambda x: x.missing)", (C1, "wrong", "AttributeError")),
    (f"{C2.name}.check(lambda x: x.transpose(0, 1) > 0)", (C2, "wrong", "bool")),
    (f"{FURTHER}.check(...)", (BANK[FURTHER], "not attempted", "")),
    (OVER_THE_BATCH, (OTHERS["formula"], "wrong", "")),
]
# A check counts however it's called, and the last one with the value that it was given.
WAYS = Exercise.bank[variance.TOPIC]
W0, W1, W2, *_ = (each for each in WAYS.values() if each.inputs is None)
V0, V1 = (each for each in WAYS.values() if each.inputs is not None)
IMPORT_WAYS = "from lnorm_course.exercises.variance import "
WAYS_TO_CHECK = [
    (f"{IMPORT_WAYS}*",),
    (f"alias = {W0.name}; alias.check(99)\n{solved(W0)}; attempt = 98", (W0, "right", "")),
    (
        f"def check(attempt):\n    {W1.name}.check(attempt)\ncheck({W1.answers[0][0]!r})",
        (W1, "right", ""),
    ),
    (f"for x in (0, {W2.answers[0][0]!r}):\n    {W2.name}.check(x)", (W2, "right", "")),
    (
        solved(V0).replace(f"{V0.name}.check(", f"getattr({V0.name}, 'check')(attempt="),
        (V0, "right", ""),
    ),
    (f"{IMPORT_WAYS}{V1.name} as x\nif True: print(x.check(3))", (V1, "wrong", "")),
]
# A cell that fails takes the checks after it along, and no other cell.
FAILS = Exercise.bank[residual.TOPIC]
F0, F1, F2, *_ = (each for each in FAILS.values() if each.inputs is None)
E0, E1, E2 = (each for each in FAILS.values() if each.inputs is not None)
CELLS_THAT_FAIL = [
    ("from lnorm_course.exercises.residual import *",),
    (f"1 / 0\n{E0.name}.check(1)",),
    (
        f"{solved(F0)}\n1 / 0\n{F1.name}.check(1)\nlater = 1",
        (F0, "right", ""),
        (F1, "crashed", "its cell failed: ZeroDivisionError: division by zero"),
    ),
    (f"later\n{F2.name}.check(2)", (F2, "crashed", "NameError")),
    (
        f"x = = 1\n{E1.name}.check(1)",
        (E1, "crashed", "its cell failed: SyntaxError: invalid syntax"),
    ),
    (
        f"import os; os._exit(1)\n{E2.name}.check(1)",
        (E2, "crashed", "its cell failed: the kernel died."),
    ),
    (f"{E0.name}.check(1)", (E0, "wrong", "")),
]
CELLS = [*WAYS_TO_CHECK, *CELLS_THAT_FAIL, *WHAT_EXERCISES_SAY]


def grade(sources, bank=BANK):
    file = HandedIn(Grade("ada", "", "a.ipynb", ""), sources, [*bank.values()])
    return asyncio.run(grade_many.grade_one(file, 20))


def test_each_exercise_of_four_lessons_gets_its_grade_a_side_trip_too_and_several_misconceptions():
    found = grade([source for source, *_ in CELLS], BANK | WAYS | FAILS | OTHERS)
    assert_graded(found, CELLS)
    found = {grade.exercise: grade for grade in found}
    assert (found[FURTHER].further, found[P0.name].further) == ("further", "")
    named = {found[name].lesson for bank in (BANK, WAYS, FAILS) for name in bank if name in found}
    assert named == {"01_mean", "02_variance", "10_add_and_norm"}
    assert found["formula"].lesson == "03_standardize"
    expected = {Misconception.OVER_THE_BATCH.code, Misconception.VARIANCE_OVER_D_MINUS_1.code}
    assert {*found["formula"].misconception.split()} == expected


def test_of_what_a_notebook_sends_a_part_is_held_and_the_latest_judged(monkeypatch):
    held = []

    async def sends(program, setup, asked, *times):
        held.extend(asked if program == JUDGE else [])
        for number in range(300 if program == KERNEL else 0):
            yield "", Reply(attempts={P0.name: f"{number:03}" * 100_000})

    monkeypatch.setattr(grade_many, "replies", sends)
    grade([IMPORTS])
    assert (len(held), held[-1][1][:3]) == (grade_many.MOST_SENT // (300_000 + 2**16), "299")


def test_judging_a_notebook_ends_in_time_whatever_it_sends(monkeypatch):
    monkeypatch.setattr(grade_many, "SECONDS_TO_JUDGE_ALL", 0.01)
    why = "it can't be judged: the 0.01 seconds for the whole notebook were used up."
    assert_graded(grade([IMPORTS, solved(P0)]), [("", (P0, "not judged", why))])


def test_a_machine_without_room_for_a_kernel_is_not_the_students_fault(monkeypatch):
    def full(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    why = "its cell failed: the machine that grades it stopped early: no space left."
    assert_graded(grade([IMPORTS, solved(P0)]), [("", (P0, "not judged", why))])


def test_the_best_attempt_counts_and_the_first_error_is_told_first():
    blank, wrong = f"{C0.name}.check(...)", f"{P0.name}.check({P0.wrong[0].answer!r})"
    cells = [
        ("import not_here\nfrom lnorm_course.exercises.mean import *",),
        (f"{P1.name}.check(0)", (P1, "crashed", "first failed with ModuleNotFoundError: ")),
        (f"{IMPORTS}\n{solved(C0)}\n{blank}", (C0, "right", "")),
        (blank,),
        (solved(P0), (P0, "right", "")),
        (wrong,),
    ]
    found = grade([source for source, *_ in cells])
    assert_graded(found, cells)
    assert {g.exercise: g.attempt for g in found}[P0.name] == repr(P0.answers[0].answer)
