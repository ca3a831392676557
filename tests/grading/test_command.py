"""The commands `grade` and `report`: what they print and write, and what they refuse."""

import csv
from dataclasses import astuple

import nbformat
import pytest
from nbformat.v4 import new_notebook

from lnorm_utils.grading import __main__ as command
from lnorm_utils.grading import grade_many
from lnorm_utils.grading.__main__ import NO_SANDBOX, main
from lnorm_utils.grading.class_folder import EXERCISES, GRADES, REPORT
from lnorm_utils.grading.collect import HandedIn
from lnorm_utils.grading.grade import Grade
from lnorm_utils.grading.report import table
from lnorm_utils.grading.rows import read_rows, rows_of, write_rows
from lnorm_utils.grading.students import Student

LESSON = "01_mean"
STATES = {"ada.ipynb": "right", "b/c.ipynb": "wrong", "b/d.ipynb": "missing"}


@pytest.fixture
def class_of_three(tmp_path, monkeypatch):
    """Three submissions in a folder of the home folder, of which nothing is run."""
    folder = tmp_path / "class"
    for name in STATES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(), folder / name)

    def by_name(path, timeout, processes):
        state = STATES[path.relative_to(folder).as_posix()]
        return [Grade(LESSON, "one", state, message=f"{timeout:g} seconds, γ")]

    monkeypatch.setattr(grade_many, "grade", by_name)
    monkeypatch.setattr(command, "can_sandbox", lambda: True)
    monkeypatch.setattr(command, "is_root", lambda: False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return folder


def test_each_notebook_of_a_folder_has_a_table_in_their_order(class_of_three, capsys):
    (class_of_three / "notes.txt").write_text("no notebook")
    assert main(["grade", str(class_of_three)]) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        f"class/ada.ipynb: {LESSON}, 1 of 1 right\n  one  right\n\n"
        f"class/b/c.ipynb: {LESSON}, 0 of 1 right\n  one  wrong: 60 seconds, γ\n\n"
        f"class/b/d.ipynb: {LESSON}, 0 of 1 right\n  one  missing: 60 seconds, γ\n\n"
        "Not graded:\n  class/notes.txt: it is not a notebook.\n"
    )
    assert printed.err == ""


def test_the_results_have_a_row_for_each_student_and_one_for_each_exercise(class_of_three):
    assert main(["grade", "~/class", "--out", "~/out", "--timeout", "2.5"]) == 0
    out = class_of_three.parent / "out"
    assert [(row.file, row.state, row.message) for row in read_rows(out / EXERCISES)] == [
        (f"class/{name}", state, "2.5 seconds, γ") for name, state in STATES.items()
    ]
    lines = (out / GRADES).read_bytes().decode("utf-8-sig").split("\r\n")
    first, *_, last = csv.reader(lines[:-1])
    assert first == ["student", "lesson", "points", "maximum", "late files", "remarks", "id"]
    assert last[:4] == ["b", LESSON, "0", "1"]
    assert (out / REPORT).exists()


def test_a_report_is_made_of_several_parts(class_of_three):
    home = class_of_three.parent
    for name in STATES:
        assert main(["grade", str(class_of_three / name), "--out", f"{home / name}.out"]) == 0
    parts = [f"{home / name}.out" for name in STATES]
    assert main(["report", *parts[:2], f"{parts[2]}/{EXERCISES}", "--out", "~/all"]) == 0
    assert [row.state for row in read_rows(home / "all" / EXERCISES)] == list(STATES.values())


def test_one_notebook_can_be_graded_by_its_path_whatever_its_name(tmp_path, capsys):
    file = tmp_path / "notebook.txt"
    file.write_text("no notebook")
    assert main(["grade", str(file), "--as-root"]) == 0
    assert "notebook.txt: 0 right\n  not a notebook: " in capsys.readouterr().out


def test_what_is_missing_or_cannot_be_written_ends_in_one_sentence(class_of_three):
    empty = class_of_three / "empty"
    empty.mkdir()
    for nothing in (empty, empty / "missing"):
        with pytest.raises(SystemExit, match=r"^[^\n]*empty[^\n]*\.$"):
            main(["grade", str(nothing)])
    (empty / "file").write_text("no table")
    out = str(empty / "file" / "out")
    with pytest.raises(SystemExit, match=f"^{out} cannot be written to: .*\\.$"):
        main(["grade", str(class_of_three), "--out", out])
    for given in ("file", "missing"):
        with pytest.raises(SystemExit, match=rf"{given}[^\n]*\.$"):
            main(["report", str(empty / given), "--out", str(empty / "out")])


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "soon"])
def test_a_time_that_cannot_pass_is_refused(class_of_three, capsys, seconds):
    with pytest.raises(SystemExit):
        main(["grade", str(class_of_three), f"--timeout={seconds}"])
    assert f"'{seconds}' is not a number of seconds above 0" in capsys.readouterr().err


def test_root_is_refused_unless_asked_for_in_so_many_words(class_of_three, monkeypatch, capsys):
    monkeypatch.setattr(command, "is_root", lambda: True)
    with pytest.raises(SystemExit, match="--as-root"):
        main(["grade", str(class_of_three)])
    assert capsys.readouterr().out == ""
    assert main(["grade", str(class_of_three), "--as-root"]) == 0


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5"])
def test_a_number_of_jobs_that_is_none_is_refused(class_of_three, jobs, capsys):
    with pytest.raises(SystemExit):
        main(["grade", str(class_of_three), "--jobs", jobs])
    assert f"'{jobs}' is not a whole number above 0" in capsys.readouterr().err


def test_what_is_done_when_grading_is_interrupted_is_kept_and_not_done_again(
    class_of_three, monkeypatch
):
    by_name, asked = grade_many.grade, []

    def interrupted(path, *options):
        if path.name == "d.ipynb":
            raise KeyboardInterrupt
        return by_name(path, *options)

    def noted(path, *options):
        asked.append(path.name)
        return by_name(path, *options)

    out = class_of_three.parent / "out"
    command_line = ["grade", str(class_of_three), "--out", str(out), "--jobs", "1"]
    out.mkdir()
    (out / EXERCISES).write_text("what there was")
    monkeypatch.setattr(grade_many, "grade", interrupted)
    assert main(command_line) == 130
    assert (out / EXERCISES).read_text() == "what there was"
    monkeypatch.setattr(grade_many, "grade", noted)
    assert main([*command_line, "--resume"]) == 0
    assert asked == ["d.ipynb"]
    assert [row.state for row in read_rows(out / EXERCISES)] == list(STATES.values())
    assert not (out / command.JOURNAL).exists()


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
def test_a_spreadsheet_sees_no_formula_and_the_report_the_same_words(tmp_path, sign):
    file = HandedIn(Student(f"{sign}1+1\x1b"), "a.ipynb")
    given = rows_of(file, [Grade(LESSON, "one", "wrong", f"{sign}3", "one - for all")])
    write_rows(tmp_path / "rows.csv", given)
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as lines:
        _, cells = csv.reader(lines)
    assert cells[0] == f"'{sign}1+1�"
    assert f"'{sign}3" in cells
    assert list(map(astuple, read_rows(tmp_path / "rows.csv"))) == list(map(astuple, given))
