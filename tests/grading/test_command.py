"""The command `grade`: which notebooks it finds, and what it prints and writes."""

import csv

import nbformat
import pytest
from nbformat.v4 import new_notebook

from lnorm_utils.grading import __main__ as command
from lnorm_utils.grading.__main__ import NO_SANDBOX, main
from lnorm_utils.grading.grade import Grade
from lnorm_utils.grading.report import COLUMNS, csv_rows, table

LESSON = "01_mean"
STATES = {"a.ipynb": "right", "b/c.ipynb": "wrong", "b/d.ipynb": "missing"}


@pytest.fixture
def class_of_three(tmp_path, monkeypatch):
    """Three submissions in a home folder, of which nothing is run, and what is none."""
    for name in (*STATES, ".ipynb_checkpoints/a.ipynb", "b/.ipynb_checkpoints/c.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(), tmp_path / name)
    (tmp_path / "notes.txt").write_text("no notebook")

    def by_name(path, timeout):
        state = STATES[path.relative_to(tmp_path).as_posix()]
        return [Grade(LESSON, "one", state, message=f"{timeout:g} seconds, γ")]

    monkeypatch.setattr(command, "grade", by_name)
    monkeypatch.setattr(command, "can_sandbox", lambda: True)
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
        with pytest.raises(SystemExit, match=f"^{nothing} is neither .*\\.$"):
            main(["grade", str(nothing)])
    file = empty / "no" / "grades.csv"
    with pytest.raises(SystemExit, match=f"^{file} cannot be written: .*\\.$"):
        main(["grade", str(class_of_three), "--csv", str(file)])


def test_without_a_sandbox_the_instructor_is_warned(class_of_three, monkeypatch, capsys):
    monkeypatch.setattr(command, "can_sandbox", lambda: False)
    assert main(["grade", str(class_of_three)]) == 0
    assert capsys.readouterr().err == f"{NO_SANDBOX}\n"


def test_the_table_has_a_line_for_each_exercise_and_a_total_for_each_lesson():
    grades = [
        Grade(LESSON, "one", "right", message="Because."),
        Grade(LESSON, "three", "wrong", "one for all", "One."),
        Grade("02_variance", "two", "crashed", message="the kernel died."),
        Grade("02_variance", "four", "not attempted", message="replace the three dots."),
    ]
    assert table("a\x1b.ipynb", iter(grades)) == (
        f"a�.ipynb: {LESSON}, 1 of 2 right; 02_variance, 0 of 2 right\n"
        "  one    right\n"
        "  three  wrong: one for all\n"
        "  two    crashed: the kernel died.\n"
        "  four   not attempted\n"
    )


@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_a_spreadsheet_sees_no_formula(sign):
    given = Grade(LESSON, "one", "wrong", "one - for all", f"{sign}here")
    (row,) = csv_rows(f"{sign}1+1\x1b.ipynb", [given])
    assert row == [f"'{sign}1+1�.ipynb", LESSON, "one", "wrong", "one - for all", f"'{sign}here"]
