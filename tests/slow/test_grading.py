"""Only a right attempt gets credit, and no submission stops another, whatever it does."""

import csv
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_utils.exercises import mean
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.grading.__main__ import main
from lnorm_utils.grading.report import COLUMNS

TOPIC, LESSON = mean.TOPIC, "01_mean"
BANK = Exercise.bank[TOPIC]
PREDICTIONS = [e for e in BANK.values() if e.inputs is None][:3]
CODES = [e for e in BANK.values() if e.inputs is not None][:3]
P0, P1, P2 = PREDICTIONS
C0, C1, C2 = CODES
IMPORTS = "import torch\nfrom lnorm_utils.exercises.mean import *"
TIMEOUT = 6


def solved(exercise):
    name = exercise.answers[0].__name__
    brackets = "" if exercise.inputs else "()"
    return f"{exercise.source()}\n\n\nattempt = {name}{brackets}\n{exercise.name}.check(attempt)"


def checked(exercise, attempt, before=""):
    return f"{before}\nattempt = {attempt}\n{exercise.name}.check(attempt)"


def mistaken(exercise):
    name = f"{exercise.name}.mistakes[0]"
    return checked(exercise, name if exercise.inputs else f"{name}()")


def named(exercise):
    return exercise.mistakes[0].__name__.replace("_", " ")


EVIL = f"""
from lnorm_utils.exercises import Exercise
from lnorm_utils.exercises.engine import running
from lnorm_utils.exercises.engine.feedback import Feedback, State
right = lambda *anything: Feedback(State.RIGHT, "")
Exercise.check = Exercise.judge = Exercise.judge_results = Exercise._judge = right
running.results = lambda *anything: (True, "")
torch.allclose = torch.equal = lambda *anything, **more: True
class Always:
    check = right
    def __eq__(self, other): return True
    def __getattr__(self, name): return lambda *anything: self
for e in ({P0.name}, {P1.name}, {C0.name}, {C1.name}):
    e.answers, e.mistakes, e.inputs = [right], [], None
{P0.name} = {P1.name} = Always()
print("Right.")
"""
LIAR = """
import runpy
class Lie:
    def _repr_json_(self): return {"values": "Right.", "remark": 0, "state": "RIGHT"}
runpy.run_path = lambda path: {"fetch": lambda *anything: Lie()}
"""
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
NOTEBOOKS = {
    "right": [IMPORTS, *map(solved, BANK.values())],
    "wrong": [
        IMPORTS,
        mistaken(P0),
        checked(P1, "..."),
        mistaken(C0),
        "#\n#\ndef attempt(x):\n    return x.nothing()\n\n" + f"{C1.name}.check(attempt)",
        f"def attempt(x):\n    x += 1\n    return x\n\n\n{C2.name}.check(attempt)",
    ],
    "forms": [
        IMPORTS,
        solved(P0),
        mistaken(P0),
        f"prediction = {P0.answers[0]()!r}\n{P0.name}.check(prediction); prediction = "
        f"{P1.answers[0]()!r}; {P1.name}.check(attempt=prediction); prediction = 99",
        f"%matplotlib inline\nfor value in [0, {P2.answers[0]()!r}]:\n    {P2.name}.check(value)",
        checked(C0, "None"),
        f"def attempt(x):\n    ...\n\n\nprint({C1.name}.check(attempt))",
        checked(C2, "3"),
    ],
    "failing": [
        IMPORTS,
        checked(P0, "1 / 0"),
        checked(P1, P1.answers[0](), "import os; os._exit(0)"),
        solved(P2),
        f"def attempt(x):\n    while True: pass\n\n\n{C0.name}.check(attempt)",
        checked(C1, "nonsense nonsense"),
        checked(C2, f"{C2.name}.answers[0]", "while True: pass"),
    ],
    "cheating": [
        IMPORTS,
        EVIL,
        checked(P0, "..."),
        checked(P1, "Always()"),
        f"print('{P2.name}: Right.')",
        checked(C0, "Always()"),
        checked(C1, "lambda x: Always()"),
        LIAR,
        mistaken(C2),
    ],
    "greedy": [
        IMPORTS,
        checked(P0, P0.answers[0](), "for _ in range(20000): print('x' * 1000)"),
        checked(P1, P1.answers[0](), "attempt = bytearray(2**34)"),
        checked(C0, "lambda x: torch.zeros(1).expand(2**31)"),
        checked(P2, P2.answers[0](), DEAF),
        solved(C1),
    ],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Grade all of them, and three files that are none: {submission: {exercise: row}}."""
    folder = tmp_path_factory.mktemp("submissions")
    (folder / "sub").mkdir()
    for name, sources in NOTEBOOKS.items():
        cells = [new_code_cell(source) for source in sources]
        nbformat.write(new_notebook(cells=cells), folder / "sub" / f"{name}.ipynb")
    nbformat.write(new_notebook(), folder / f"{LESSON}_of_nobody.ipynb")
    nbformat.write(new_notebook(), folder / "holiday.ipynb")
    (folder / "broken.ipynb").write_text("{")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "broken.ipynb").write_text("{")
    file = folder / "grades.csv"
    assert main(["grade", str(folder), "--csv", str(file), "--timeout", str(TIMEOUT)]) == 0
    rows = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            rows.setdefault(row["submission"], {})[row["exercise"]] = row
    return rows


def state(results, name, exercise):
    row = results[f"sub/{name}.ipynb"][exercise.name]
    return row["state"], row["mistake"] or row["message"]


def test_every_submission_has_a_row_for_each_exercise(results):
    assert len(results) == len(NOTEBOOKS) + 3
    for name in NOTEBOOKS:
        rows = results[f"sub/{name}.ipynb"]
        assert list(rows) == list(BANK)
        assert {row["lesson"] for row in rows.values()} == {LESSON}
        assert all(list(row) == COLUMNS for row in rows.values())


def test_right_attempts_are_right(results):
    assert {state(results, "right", e)[0] for e in BANK.values()} == {"right"}


def test_a_mistake_has_its_name(results):
    assert state(results, "wrong", P0) == ("wrong", named(P0))
    assert state(results, "wrong", C0) == ("wrong", named(C0))


def test_three_dots_are_not_attempted_and_a_deleted_cell_is_missing(results):
    assert state(results, "wrong", P1)[0] == "not attempted"
    assert state(results, "wrong", P2) == ("missing", "no cell checks it.")


def test_a_function_that_raises_or_changes_its_input_is_wrong_with_that_sentence(results):
    said, why = state(results, "wrong", C1)
    assert (said, "AttributeError in line 4 of your cell" in why) == ("wrong", True)
    said, why = state(results, "wrong", C2)
    assert (said, why) == (
        "wrong",
        "your function changes its input: compute a new tensor instead.",
    )


def test_the_last_check_counts_with_the_value_that_it_was_given(results):
    assert state(results, "forms", P0)[0] == "right"
    assert state(results, "forms", P1)[0] == "right"


def test_checks_in_other_forms_are_found(results):
    assert state(results, "forms", P2)[0] == "right"
    assert state(results, "forms", C0)[0] == "not attempted"
    assert state(results, "forms", C1)[0] == "not attempted"
    assert state(results, "forms", C2)[0] == "wrong"


def test_a_cell_that_fails_crashes_its_own_exercise_only(results):
    assert state(results, "failing", P0) == (
        "crashed",
        "its cell failed: ZeroDivisionError: division by zero",
    )
    assert state(results, "failing", P1) == ("crashed", "its cell failed: the kernel died.")
    assert state(results, "failing", P2)[0] == "right"
    assert "its cell cannot be read" in state(results, "failing", C1)[1]


def test_what_never_ends_is_stopped(results):
    said, why = state(results, "failing", C0)
    assert (said, why) == ("wrong", "your function did not finish within 2 seconds.")
    said, why = state(results, "failing", C2)
    assert (said, why) == ("timed out", "its cell failed: it ran for more than 6 seconds.")


def test_nothing_that_is_changed_in_the_kernel_gives_credit(results):
    assert state(results, "cheating", P0)[0] == "not attempted"
    assert state(results, "cheating", P1)[0] == "wrong"
    assert state(results, "cheating", P2)[0] == "missing"
    assert state(results, "cheating", C0)[0] == "wrong"
    assert state(results, "cheating", C1)[0] == "wrong"
    assert "its kernel sent what no attempt is" in state(results, "cheating", C2)[1]


def test_output_without_end_and_a_kernel_that_cannot_be_interrupted_stop_nothing(results):
    assert state(results, "greedy", P0)[0] == "right"
    assert state(results, "greedy", C0)[0] == "wrong"
    assert state(results, "greedy", P2)[0] == "timed out"
    assert state(results, "greedy", C1)[0] == "right"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits what a process allocates")
def test_a_kernel_cannot_take_all_memory(results):
    assert state(results, "greedy", P1) == ("crashed", "its cell failed: MemoryError:")


def test_a_file_that_is_no_lesson_gets_a_row_that_says_so(results):
    assert results["broken.ipynb"][""]["state"] == "not a notebook"
    assert results["holiday.ipynb"][""]["state"] == "not a notebook of this course"
    nobody = results[f"{LESSON}_of_nobody.ipynb"]
    assert {row["state"] for row in nobody.values()} == {"missing"}
    assert list(nobody) == list(BANK)
