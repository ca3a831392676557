"""How a notebook becomes grades, with a kernel that runs each cell in this process."""

import json
import sys
import textwrap
from types import ModuleType
from unittest.mock import patch

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises import mean, variance
from lnorm_course.slips.beliefs import Belief
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.collect.whose import Student
from lnorm_staff.grading.grade import STRAY
from lnorm_staff.grading.run import grade_one as grading
from lnorm_staff.grading.run.judge_process import Judge
from lnorm_staff.grading.run.kernel import Outcome
from lnorm_staff.grading.run.recording import ATTEMPTS, Recorder, describe_banks

LESSON = "01_mean"
BANK = Exercise.bank[mean.TOPIC]
P0, P1, P2 = [e.name for e in BANK.values() if e.inputs is None][:3]
C0, C1, C2 = [e.name for e in BANK.values() if e.inputs is not None][:3]
IMPORTS = "from lnorm_course.exercises.mean import *"
MISSING = ("missing", "", "no cell checks it.")
RIGHT = eval(BANK[P0].shown_solution().code)


class KernelHere:
    """A kernel without a process: the same questions, and answers of the same form."""

    made = []  # noqa: RUF012 - in the order in which they were made

    def __init__(self, processes, timeout, total):
        self.limits, self.ran, self.defined = (timeout, total), [], {}
        self.banks = {}
        for topic, bank in describe_banks().items():
            recorders = {name: Recorder(name, **about, seconds=5) for name, about in bank.items()}
            name = f"lnorm_course.exercises.{topic}"
            self.banks[name] = ModuleType(name)
            vars(self.banks[name]).update(recorders)
        self.made.append(self)

    def __enter__(self):
        self.is_open = True
        return self

    def __exit__(self, *error):
        self.is_open = False

    def run(self, code):
        assert self.is_open
        self.ran.append(code)
        ATTEMPTS.clear()
        if code.startswith("die"):
            return Outcome("crashed", "the kernel died.", lost=True)
        if "forge" in code:
            return Outcome(attempts={P0: "a lie", "unknown": {}})
        try:
            with patch.dict(sys.modules, self.banks):
                exec(code, self.defined)
        except Exception as error:
            return Outcome("crashed", f"{type(error).__name__}: {error}", dict(ATTEMPTS))
        return Outcome(attempts=dict(ATTEMPTS))


@pytest.fixture(autouse=True)
def no_side_trips(monkeypatch):
    """Let all exercises of these lessons belong to the main way."""
    for topic in (mean.TOPIC, variance.TOPIC):
        for exercise in Exercise.bank[topic].values():
            monkeypatch.setattr(exercise, "further", False)


@pytest.fixture
def kernels(monkeypatch):
    monkeypatch.setattr(KernelHere, "made", [])
    monkeypatch.setattr(grading, "Kernel", KernelHere)
    return KernelHere.made


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


def grade(path, timeout, judge):
    return grading.grade_one(HandedIn(Student("ada"), path.name, path), timeout, None, judge)


def written(folder, sources, name="handed_in"):
    path = folder / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


@pytest.fixture
def graded(tmp_path, kernels, judge):
    """Grade a notebook with these cells: {exercise: (state, mistake, message)}."""

    def grades(*sources):
        found = grade(written(tmp_path, [IMPORTS, *sources]), 7, judge)
        assert {g.lesson for g in found} == {LESSON}
        assert [g.exercise for g in found] == list(BANK)
        return {g.exercise: (g.state, g.mistake, g.message) for g in found}

    return grades


def test_a_side_trip_is_graded_apart_and_only_if_a_cell_checks_it(
    tmp_path, kernels, judge, monkeypatch
):
    for name in (P0, P1):
        monkeypatch.setattr(BANK[name], "further", True)
    found = grade(written(tmp_path, [IMPORTS, f"{P0}.check({RIGHT!r})"]), 5, judge)
    assert [g.exercise for g in found] == [name for name in BANK if name != P1]
    assert [(g.exercise, g.state) for g in found if g.further] == [(P0, "right")]


def test_each_attempt_gets_what_its_exercise_says_of_it(graded):
    mistake = BANK[P1].wrong[0].value
    told = BANK[P1].judge(mistake)
    found = graded(
        f"{P0}.check({RIGHT!r})",
        f"{P1}.check({mistake!r})",
        f"{P2}.check()",
        f"{BANK[C0].shown_solution().code}\n{C0}.check({BANK[C0].answer.__name__})",
        f"{C1}.check(lambda x: x.missing)",
    )
    assert found[P0][:2] == ("right", "")
    assert found[P1] == ("wrong", told.mistake, " ".join(told.message.split()))
    assert found[P2] == ("not attempted", "", BANK[P2].judge(...).message)
    assert found[C0][0] == "right"
    assert found[C1][0] == "wrong"
    assert "AttributeError" in found[C1][2]
    assert found[C2] == MISSING


def test_a_grade_names_each_of_several_common_beliefs(tmp_path, kernels, judge):
    cell = """
        from lnorm_course.exercises.standardize import formula
        over_the_batch = lambda x, eps: (x - x.mean(0)) / (x.var(0) + eps).sqrt()
        formula.check(over_the_batch)
    """
    found = grade(written(tmp_path, [textwrap.dedent(cell)]), 5, judge)
    (told,) = [g.belief for g in found if g.exercise == "formula"]
    expected = {Belief.OVER_THE_BATCH.code, Belief.VARIANCE_OVER_D_MINUS_1.code}
    assert set(told.split()) == expected


def test_the_last_check_counts_with_the_value_that_it_was_given(graded):
    cell = f"x = 99\n{P0}.check(x)\nx = {RIGHT!r}\n{P0}.check(x)\nx = 98"
    assert graded(cell)[P0][0] == "right"
    assert graded(cell, "x = 97", f"{P0}.check(x)")[P0][0] == "wrong"


CHECKS = [
    "alias = {name}; alias.check({value})",
    "def later():\n    {name}.check({value})\nlater()",
    "for x in (0, {value}):\n    {name}.check(x)",
    "getattr({name}, 'check')(attempt={value})",
    "from lnorm_course.exercises.mean import {name} as x\nif True: print(x.check({value}))",
]


def test_every_way_to_check_counts(graded):
    for cell in CHECKS:
        assert graded(cell.format(name=P0, value=repr(RIGHT)))[P0][0] == "right", cell


def test_a_cell_that_fails_takes_the_checks_after_it_along_and_no_other_cell(graded):
    found = graded(
        f"{P0}.check({RIGHT!r})\n1 / 0\n{P1}.check(1)\nlater = 1",
        f"later\n{P2}.check(2)",
        f"{C0}.check(1)",
    )
    assert found[P0][0] == "right"
    assert found[P1] == ("crashed", "", "its cell failed: ZeroDivisionError: division by zero")
    assert found[P2][0] == "crashed"
    assert "NameError" in found[P2][2]
    assert found[C0][0] == "wrong"


def test_a_check_that_ran_counts_whatever_becomes_of_other_cells(graded):
    checks = f"{P0}.check({RIGHT!r})", f"{P1}.check({BANK[P1].wrong[0].value!r})"
    found = graded(*checks, f"1 / 0\n{P0}.check(1)", f"die = 1\n{P1}.check(1)")
    assert (found[P0][0], found[P1][0]) == ("right", "wrong")
    found = graded(f"1 / 0\n{P0}.check(1)", *checks)
    assert (found[P0][0], found[P1][0]) == ("right", "wrong")


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (f"{P0}.check(nowhere)", "its cell failed: NameError"),
        ("forge", "its kernel sent something"),
        (f"x = = 1\n{P0}.check(1)", "its cell failed: SyntaxError: invalid syntax"),
    ],
)
def test_an_attempt_that_cannot_be_judged_crashes_alone_and_says_why(graded, cell, why):
    found = graded(cell, f"{P1}.check({BANK[P1].shown_solution().code})")
    assert found[P0][:2] == ("crashed", "")
    assert found[P0][2].startswith(why)
    assert found[P1][0] == "right"


def test_a_machine_without_room_for_a_kernel_is_not_the_students_fault(graded, monkeypatch):
    run, said = KernelHere.run, ("crashed", "", "its grading stopped early: no space left.")

    def full(kernel, code):
        if "full" in code:
            raise OSError("no space left")
        return run(kernel, code)

    monkeypatch.setattr(KernelHere, "run", full)
    found = graded(f"{P0}.check({RIGHT!r})", "full = 1", f"{P1}.check(1)")
    assert found[P0][0] == "right"
    assert {found[name] for name in BANK if name != P0} == {said}
    monkeypatch.setattr(KernelHere, "__enter__", lambda kernel: full(kernel, "full"))
    assert graded() == dict.fromkeys(BANK, said)


def test_a_notebook_without_an_import_is_known_by_its_name_or_is_of_another_course(
    tmp_path, kernels, judge
):
    found = grade(written(tmp_path, [], f"{LESSON}_of_nobody"), 5, judge)
    assert [(g.lesson, g.exercise) for g in found] == [(LESSON, name) for name in BANK]
    assert {(g.state, g.mistake, g.message) for g in found} == {MISSING}
    kernels.clear()
    for name in ("holiday", "77_nothing"):
        (one,) = grade(written(tmp_path, ["import lnorm_course.exercises.nothing"], name), 5, judge)
        assert (one.lesson, one.exercise, one.state) == ("", "", STRAY)
    assert kernels == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "text",
    [
        *("{\n", "", "null", "[" * 100_000, '{"nbformat": 3}'),
        '{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": 1}]}',
        '{"nbformat": 3, "metadata": {}, "worksheets": [{"cells": 5}]}',
    ],
)
def test_a_file_that_is_no_notebook_says_so_and_shows_nothing_of_itself(
    tmp_path, kernels, judge, text
):
    path = tmp_path / f"{LESSON}.ipynb"
    path.write_text(text)
    (one,) = grade(path, 5, judge)
    assert (one.lesson, one.exercise, one.state) == ("", "", "not a notebook")
    assert one.message == "it can't be read as a notebook."


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("version", "minor"), [(3, 0), (4, 4), (4, 5)])
def test_notebooks_of_older_formats_and_without_ids_are_read(
    tmp_path, kernels, judge, version, minor
):
    cells = [new_markdown_cell("words"), new_code_cell(f"{IMPORTS}\n{P0}.check({RIGHT!r})")]
    for cell in cells:
        del cell["id"]
    notebook = nbformat.convert(new_notebook(cells=cells, nbformat_minor=4), version)
    notebook.nbformat_minor = minor
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8-sig")
    assert [g.state for g in grade(path, 5, judge)].count("right") == 1
