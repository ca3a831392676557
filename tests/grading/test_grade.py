"""Grading, with a kernel that runs each cell in this process: how a notebook becomes a table."""

import csv
import json
from dataclasses import astuple

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lnorm_utils.exercises import mean, module
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.grading import __main__ as command
from lnorm_utils.grading import grade as submissions
from lnorm_utils.grading import plain_data as probe
from lnorm_utils.grading.__main__ import OPEN, main
from lnorm_utils.grading.cells import pieces
from lnorm_utils.grading.grade import Grade, grade, judged
from lnorm_utils.grading.kernel import Outcome
from lnorm_utils.grading.submissions import COLUMNS, csv_rows, table, total

TOPIC, LESSON = mean.TOPIC, "01_mean"
BANK = Exercise.bank[TOPIC]
P0, P1, P2 = [e.name for e in BANK.values() if e.inputs is None][:3]
C0, C1, C2 = [e.name for e in BANK.values() if e.inputs is not None][:3]
IMPORTS = "from lnorm_utils.exercises.mean import *"
MISSING = ("missing", "", "no cell checks it.")
RIGHT = BANK[P0].answers[0]()


class Here:
    """A kernel without a process: the same questions, and answers of the same form."""

    made = []  # noqa: RUF012 - in the order in which they were asked for

    def __init__(self, timeout, total):
        self.limits, self.ran, self.asked, self.defined = (timeout, total), [], [], {}
        self.made.append(self)

    def __enter__(self):
        self.is_open = True
        return self

    def __exit__(self, *error):
        self.is_open = False

    def run(self, code):
        assert self.is_open
        self.ran.append(code)
        if "die" in code:
            return Outcome("crashed", "the kernel died.", lost=True)
        try:
            exec(code, self.defined)
        except Exception as error:
            return Outcome("crashed", f"{type(error).__name__}: {error}")
        return Outcome()

    def ask(self, attempt, inputs, trial=""):
        self.asked.append((attempt, trial))
        data = inputs and [[probe.encode(value) for value in values] for values in inputs]
        try:
            seen = probe.answer(lambda: eval(attempt, self.defined), data, 5, trial)
        except Exception as error:
            return Outcome("crashed", f"{type(error).__name__}: {error}")
        answer = seen._repr_json_()
        return Outcome(answer="a lie" if "lie" in attempt else answer)


@pytest.fixture
def kernels(monkeypatch):
    monkeypatch.setattr(Here, "made", [])
    monkeypatch.setattr(submissions, "Kernel", Here)
    return Here.made


def written(folder, sources, name=LESSON):
    path = folder / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


@pytest.fixture
def graded(tmp_path, kernels):
    """Grade a notebook with these cells: {exercise: (state, mistake, message)}."""

    def grades(*sources):
        found = grade(written(tmp_path, [IMPORTS, *sources], "handed_in"), 7)
        assert {g.lesson for g in found} == {TOPIC}
        assert [g.exercise for g in found] == list(BANK)
        return {g.exercise: astuple(g)[2:] for g in found}

    return grades


def test_what_no_cell_checks_is_missing(graded, kernels):
    assert graded() == dict.fromkeys(BANK, MISSING)
    assert kernels[0].limits == (7, 35)
    assert not kernels[0].is_open


def test_each_attempt_gets_what_its_exercise_says_of_it(graded):
    mistake = BANK[P1].mistakes[0]
    told = BANK[P1].judge(mistake())
    found = graded(
        f"{P0}.check({RIGHT!r})",
        f"{P1}.check({mistake()!r})",
        f"{P2}.check()",
        f"{C0}.check({C0}.answers[0])",
        f"{C1}.check(lambda x: x.missing)",
    )
    assert found[P0][:2] == ("right", "")
    assert found[P1] == ("wrong", told.mistake, " ".join(told.message.split()))
    assert found[P2] == ("not attempted", "", BANK[P2].judge(...).message)
    assert found[C0][0] == "right"
    assert found[C1][0] == "wrong"
    assert found[C1][2].startswith("your function raised AttributeError")
    assert found[C2] == MISSING


def test_the_last_check_counts_with_the_value_that_it_was_given(graded):
    cell = f"x = 99\n{P0}.check(x)\nx = {RIGHT!r}\n{P0}.check(x)\nx = 98"
    assert graded(cell)[P0][0] == "right"
    assert graded(cell, "x = 97", f"{P0}.check(x)")[P0][0] == "wrong"


def test_a_check_that_stands_alone_is_not_run_and_one_in_other_code_is(graded, kernels):
    graded(f"{P0}.check(1)\nprint({P1}.check(2))")
    assert [code for code in kernels[0].ran if "check" in code] == [f"#\nprint({P1}.check(2))"]
    assert kernels[0].asked == [("1", ""), ("2", "")]


def test_a_cell_that_fails_takes_the_checks_after_it_along_and_no_other_cell(graded, kernels):
    found = graded(
        f"{P0}.check({RIGHT!r})\n1 / 0\n{P1}.check(1)\nlater = 1",
        f"later\n{P2}.check(2)",
        f"{C0}.check(1)",
    )
    reason = ("crashed", "", "its cell failed: ZeroDivisionError: division by zero")
    assert found[P0][0] == "right"
    assert found[P1] == reason
    assert found[P2] == ("crashed", "", "its cell failed: NameError: name 'later' is not defined")
    assert found[C0][0] == "wrong"
    assert kernels[0].asked == [(repr(RIGHT), ""), ("1", "")]
    assert "#\n#\n#\nlater = 1\n" not in kernels[0].ran


def test_a_check_in_code_that_fails_is_judged_all_the_same(graded):
    assert graded(f"x = [{P0}.check({RIGHT!r})][1]")[P0][0] == "right"


def test_a_check_in_code_that_ends_the_kernel_fails_with_it(graded):
    found = graded(f"die = [{P0}.check({RIGHT!r})]\n{P1}.check(1)")
    assert found[P0] == found[P1] == ("crashed", "", "its cell failed: the kernel died.")


def test_an_attempt_that_cannot_be_looked_at_says_why(graded):
    why = "its attempt cannot be looked at: NameError: name 'nowhere' is not defined"
    assert graded(f"{P0}.check(nowhere)")[P0] == ("crashed", "", why)


def test_an_answer_that_is_none_says_so(graded):
    found = graded("lie = 1", f"{P0}.check(lie)")
    assert found[P0][:2] == ("crashed", "")
    assert found[P0][2].startswith("its kernel sent what no attempt is: ")
    assert found[P0][2].endswith(".")


def test_a_cell_that_cannot_be_read_names_the_exercises_in_it(graded):
    found = graded(f"x = = 1\n{P0}.check(1)", f"{P1}.check({BANK[P1].answers[0]()!r})")
    assert found[P0] == (
        "crashed",
        "",
        "its cell cannot be read: invalid syntax (the cell, line 1).",
    )
    assert found[P1][0] == "right"
    assert found[P2] == MISSING


def test_what_a_student_writes_moves_no_cursor_and_ends(graded):
    found = graded(f"raise ValueError('a\\n \\x1b[2K' + 400 * 'b')\n{P0}.check(1)")
    said = "its cell failed: " + f"ValueError: a �[2K{400 * 'b'}"[:300]
    assert found[P0] == ("crashed", "", said)


def test_a_machine_without_room_for_a_kernel_is_not_the_students_fault(graded, monkeypatch):
    run, said = Here.run, ("crashed", "", "it could not be graded to its end: no space left.")

    def full(kernel, code):
        if "full" in code:
            raise OSError("no space left")
        return run(kernel, code)

    monkeypatch.setattr(Here, "run", full)
    found = graded(f"{P0}.check({RIGHT!r})", "full = 1", f"{P1}.check(1)")
    assert found[P0][0] == "right"
    assert {found[name] for name in BANK if name != P0} == {said}
    monkeypatch.setattr(Here, "__enter__", lambda kernel: full(kernel, "full"))
    assert graded() == dict.fromkeys(BANK, said)


def test_a_class_is_tried_as_its_exercise_says(tmp_path, kernels):
    bank = Exercise.bank[module.TOPIC]
    exercise = next(e for e in bank.values() if e.trial)
    cells = [
        "from lnorm_utils.exercises.module import *\nimport torch",
        f"{exercise.name}.check({exercise.name}.answers[0])",
    ]
    found = {g.exercise: g.state for g in grade(written(tmp_path, cells), 5)}
    assert list(found) == list(bank)
    assert found[exercise.name] == "right"
    assert kernels[0].asked == [(f"{exercise.name}.answers[0]", exercise.trial.__name__)]


def test_a_notebook_with_two_lessons_is_graded_in_both(tmp_path, kernels):
    cells = [IMPORTS, "from lnorm_utils.exercises.variance import *"]
    found = grade(written(tmp_path, cells, "both"), 5)
    assert [g.lesson for g in found] == ["mean"] * len(BANK) + ["variance"] * (
        len(found) - len(BANK)
    )
    assert len(found) > len(BANK)


def test_a_lesson_that_imports_nothing_is_known_by_its_name(tmp_path, kernels):
    found = grade(written(tmp_path, [], f"{LESSON}_of_nobody"), 5)
    assert [g.exercise for g in found] == list(BANK)
    assert {astuple(g)[2:] for g in found} == {MISSING}


@pytest.mark.parametrize("name", ["holiday", "77_nothing"])
def test_a_notebook_of_another_course_says_so(tmp_path, kernels, name):
    (one,) = grade(written(tmp_path, ["1"], name), 5)
    assert one == Grade(
        *("", "", "not a notebook of this course", ""),
        "neither its cells nor its name say which lesson it is.",
    )
    assert kernels == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{\n", "Notebook does not appear to be JSON: '{\\n'"),
        ("", "Notebook does not appear to be JSON: ''"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "cells"),
    ],
)
def test_a_file_that_is_no_notebook_says_so(tmp_path, kernels, text, why):
    path = tmp_path / f"{LESSON}.ipynb"
    path.write_text(text)
    (one,) = grade(path, 5)
    assert astuple(one)[:4] == ("", "", "not a notebook", "")
    assert why in one.message


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("version", "minor"), [(3, 0), (4, 4), (4, 5)])
def test_notebooks_of_older_formats_and_without_ids_are_read(tmp_path, kernels, version, minor):
    notebook = new_notebook(
        cells=[new_markdown_cell("words"), new_code_cell(f"{IMPORTS}\n{P0}.check({RIGHT!r})")]
    )
    for cell in notebook.cells:
        del cell["id"]
    notebook.nbformat_minor = 4
    notebook = nbformat.convert(notebook, version)
    notebook.nbformat_minor = minor
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(notebook))
    assert [g.state for g in grade(path, 5)].count("right") == 1


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ("RIGHT", "string indices must be integers"),
        ({"values": [["int", "0x1"]]}, "'remark'"),
        ({"remark": ""}, "'values'"),
        ({"values": [["int", "0x1"], ["int", "0x2"]], "remark": ""}, "2 values"),
        ({"values": [], "remark": ""}, "0 values"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_what_it_is(sent, why):
    with pytest.raises(ValueError, match=why):
        judged(BANK[P0], sent)


def test_as_many_values_as_there_are_inputs_are_an_answer():
    exercise = BANK[C0]
    encoded = [probe.encode(value) for value in exercise.expected(exercise.answers[0])]
    assert judged(exercise, {"values": encoded, "remark": ""}).state.value == "Right"
    with pytest.raises(ValueError, match=f"^{len(encoded) + 1} values$"):
        judged(exercise, {"values": [*encoded, encoded[0]], "remark": ""})
    fewer = judged(exercise, {"values": encoded[:-1], "remark": "a\x1b\nremark"})
    assert (fewer.state.value, fewer.message) == ("Not yet", "a� remark")


def test_a_cell_made_to_keep_a_parser_busy_is_not_parsed():
    assert [piece.checks for piece in pieces("%magic\n" * 10_000, BANK)] == [()]
    with pytest.raises(ValueError, match="longer than 200 lines"):
        list(pieces("%magic\n" * 10_000 + f"{P0}.check(1)", BANK))


def test_the_table_has_a_line_for_each_exercise_and_a_total():
    grades = [
        Grade(LESSON, "one", "right", message="Because."),
        Grade(LESSON, "three", "wrong", "one for all", "One."),
        Grade("02_variance", "two", "crashed", message="the kernel died."),
        Grade("02_variance", "four", "not attempted", message="replace the three dots."),
        Grade("02_variance", "five", "lost"),
    ]
    assert table("a\x1b.ipynb", iter(grades)) == (
        f"a�.ipynb: {LESSON}, 1 of 2 right; 02_variance, 0 of 3 right\n"
        "  one    right\n"
        "  three  wrong: one for all\n"
        "  two    crashed: the kernel died.\n"
        "  four   not attempted\n"
        "  five   lost\n"
    )
    none = Grade("", "", "not a notebook", message="It is empty.")
    assert total([none]) == "0 right"
    assert table("a", [none]) == "a: 0 right\n  not a notebook: It is empty.\n"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_a_spreadsheet_sees_no_formula(sign):
    given = Grade(LESSON, "one", "wrong", "one - for all", f"{sign}here")
    (row,) = csv_rows(f"{sign}1+1\x1b.ipynb", [given])
    assert row == [f"'{sign}1+1�.ipynb", LESSON, "one", "wrong", "one - for all", f"'{sign}here"]


STATES = {"a.ipynb": "right", "b/c.ipynb": "wrong", "b/d.ipynb": "missing"}


@pytest.fixture
def class_of_three(tmp_path, monkeypatch):
    """Three submissions in a home folder, of which nothing is run, and what is none."""
    for name in (*STATES, ".ipynb_checkpoints/a.ipynb", "b/.ipynb_checkpoints/c.ipynb"):
        written(tmp_path, [], name.removesuffix(".ipynb"))
    (tmp_path / "notes.txt").write_text("no notebook")

    def by_name(path, timeout):
        state = STATES[path.relative_to(tmp_path).as_posix()]
        return [Grade(LESSON, "one", state, message=f"{timeout:g} seconds, γ")]

    monkeypatch.setattr(command, "grade", by_name)
    monkeypatch.setattr(command, "walls", lambda: ("bwrap",))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


def test_each_notebook_of_a_folder_has_a_table_in_their_order(class_of_three, capsys):
    assert main(["grade", str(class_of_three)]) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        f"a.ipynb: {LESSON}, 1 of 1 right\n  one  right\n\n"
        f"b/c.ipynb: {LESSON}, 0 of 1 right\n  one  wrong: 60 seconds, γ\n\n"
        f"b/d.ipynb: {LESSON}, 0 of 1 right\n  one  missing: 60 seconds, γ\n\n"
    )
    assert printed.err == ""


def test_the_file_has_a_row_for_each_exercise(class_of_three):
    assert main(["grade", "~", "--csv", "~/grades.csv", "--timeout", "2.5"]) == 0
    lines = (class_of_three / "grades.csv").read_bytes().decode().split("\r\n")
    assert list(csv.reader(lines[:-1])) == [
        COLUMNS,
        *([name, LESSON, "one", state, "", "2.5 seconds, γ"] for name, state in STATES.items()),
    ]


def test_one_notebook_can_be_graded_by_its_path_whatever_its_name(tmp_path, capsys):
    file = tmp_path / "notebook.txt"
    file.write_text("no notebook")
    assert main(["grade", str(file)]) == 0
    assert capsys.readouterr().out.startswith("notebook.txt: 0 right\n  not a notebook: ")


def test_what_is_missing_or_cannot_be_written_ends_in_one_sentence(class_of_three):
    empty = class_of_three / "empty"
    empty.mkdir()
    for nothing in (empty, empty / "missing"):
        with pytest.raises(SystemExit) as end:
            main(["grade", str(nothing)])
        assert end.value.code == f"{nothing} is neither a notebook nor a folder with one."
    file = empty / "no" / "grades.csv"
    with pytest.raises(SystemExit) as end:
        main(["grade", str(class_of_three), "--csv", str(file)])
    assert end.value.code == f"{file} cannot be written: No such file or directory."


def test_without_walls_the_instructor_is_warned(class_of_three, monkeypatch, capsys):
    monkeypatch.setattr(command, "walls", lambda: ())
    assert main(["grade", str(class_of_three)]) == 0
    assert capsys.readouterr().err == f"{OPEN}\n"
