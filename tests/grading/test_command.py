"""The command `grade`: what it prints and writes, and what it refuses."""

import asyncio
import contextlib
import csv
import io
import os
import re
import shutil
import signal
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from submissions import notebook, put, table, zipped

from lnorm_course.exercises.mean import row_means
from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lessons, update
from lnorm_staff.grading import __main__ as command
from lnorm_staff.grading.__main__ import WITHOUT_WALLS, main
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.report import class_folder
from lnorm_staff.grading.report.class_folder import EXERCISES, GRADES, read_grades, write_grades
from lnorm_staff.grading.run import grade_many

LESSON = "01_mean"
WORK = notebook("from lnorm_course.exercises.mean import row_means")
STATES = {"ada.ipynb": "right", "b/c.ipynb": "wrong", "b/d.ipynb": "missing"}


@pytest.fixture
def class_of_three(tmp_path, monkeypatch):
    """Three submissions in a folder of the home folder, of which nothing is run."""
    folder = tmp_path / "class"
    for name in STATES:
        put(folder / name, WORK)

    one = grade_many.grade_one

    async def by_name(file, timeout, is_last):
        if file.whole.state:
            return await one(file, timeout)
        state = STATES.get(file.whole.file, "right")
        if callable(state):
            state = await state(is_last)
        return [file.grade(row_means, state, f"{timeout:g} seconds, γ")]

    monkeypatch.setattr(grade_many, "grade_one", by_name)
    monkeypatch.setattr(command, "walls", lambda: ("bwrap",))
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return folder


def test_each_file_has_a_line_each_student_and_exercise_a_row_and_nobody_else_can_open_it(
    class_of_three, capsys
):
    put(class_of_three / "notes.txt", b"no notebook")
    assert main(["grade", "~/class", "--out", "~/out", "--timeout", "2.5"]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "Students: 3, such as ada, b, notes.txt",
        f"ada.ipynb: {LESSON}, 1 of 1 right",
        f"b/c.ipynb: {LESSON}, 0 of 1 right; wrong: row_means",
        f"b/d.ipynb: {LESSON}, 0 of 1 right; missing: row_means",
        "notes.txt: not graded: it is neither a notebook nor a zip archive.",
    ]
    out = class_of_three.parent / "out"
    assert len([*out.iterdir()]) == 4
    *rows, notes = read_grades(out / EXERCISES)
    told = [(row.file, row.state, row.message) for row in rows]
    assert told == [(name, state, "2.5 seconds, γ") for name, state in STATES.items()]
    assert notes.state == "not graded"
    ada, b, _ = table(out / GRADES)
    assert (ada["student"], ada[LESSON], ada["points"], ada["maximum"]) == ("ada", "1", "1", "1")
    remarks = f"{LESSON}: 2 notebooks were handed in; b/c.ipynb counts."
    assert (b["points"], b["remarks"]) == ("0", remarks)
    if os.name == "posix":  # elsewhere the folder above decides
        assert {path.stat().st_mode & 0o077 for path in (out, *out.rglob("*"))} == {0}


def test_exports_are_graded_together_and_feedback_goes_back_as_each_system_takes_it(
    class_of_three, tmp_path
):
    moodle = "Zoë M_7_assignsubmission_file_/"
    canvas = zipped(("poe_LATE_21_901_01_mean.ipynb", WORK), ("wu_22_902_01_mean-1.ipynb", WORK))
    put(tmp_path / "moodle.zip", zipped((f"{moodle}01_mean.ipynb", WORK)))
    put(tmp_path / "canvas.zip", canvas)
    put(tmp_path / "nbgrader" / "submitted" / "reed" / "week1" / "01_mean.ipynb", WORK)
    given = ("~/moodle.zip", "~/canvas.zip", "~/nbgrader")
    assert main(["grade", *given, "--out", "~/out"]) == 0
    rows = [(row["student"], row["id"], row["points"]) for row in table(tmp_path / "out" / GRADES)]
    assert rows == [("Zoë M", "7", "1"), ("poe", "21", "1"), ("reed", "", "1"), ("wu", "22", "1")]
    with zipfile.ZipFile(tmp_path / "out" / class_folder.FEEDBACK) as file:
        canvas = [f"{name}_feedback.html" for name in ("poe_LATE_21_901", "wu_22_902")]
        names = {f"{moodle}feedback.html", "reed/feedback.html", *canvas}
        assert {*file.namelist()} == names
        assert "60 seconds, γ" in file.read(f"{moodle}feedback.html").decode()


def test_points_and_comments_of_a_person_count_and_stay_when_grades_are_written_again(
    class_of_three, monkeypatch, capsys
):
    out = class_of_three.parent / "out"
    assert main(["grade", "~/class", "--out", "~/out"]) == 0
    ada, c, d = read_grades(out / EXERCISES)
    ada, c = replace(ada, comment="-well seen"), replace(c, points="0.5", comment="half <way>")
    write_grades(out / EXERCISES, [ada, c, d])
    saved = (out / EXERCISES).read_text("utf-8-sig").replace('","', '";"').replace("0.5", "0,5")
    header, _, rows = saved.partition("\n")
    (out / EXERCISES).write_text(f"{header.replace(',', ';')}\n{rows}", "cp1252", "replace")
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)  # now no code of a student is run
    for given in (["~/out/exercises.csv"], ["~/class", "--out", "~/out"]):
        assert main(["grade", *given]) == 0
        told = [(each["points"], each["comments"]) for each in table(out / GRADES)]
        assert told == [("1", "row_means: -well seen"), ("0.5", "row_means: half <way>")]
        assert [row.points for row in read_grades(out / EXERCISES)] == ["", "0.5", ""]
        monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setitem(STATES, "ada.ipynb", "wrong")
    assert main(["grade", "~/class/ada.ipynb", "--out", "~/out"]) == 0  # the others stay
    told = [(row.state, row.points, row.comment) for row in read_grades(out / EXERCISES)]
    left = [("wrong", "0.5", "half <way>"), ("missing", "", "")]
    assert told == [("wrong", "", "-well seen"), *left]
    for points, said in (("many", "line 3: the points are 'many'"), ("-1", "'-1'")):
        write_grades(out / EXERCISES, [ada, replace(c, points=points)])
        assert main(["grade", "~/class", "--out", "~/out"]) == 1
        assert said in capsys.readouterr().err
    (out / EXERCISES).write_text("what there was")
    assert main(["grade", "~/class", "--out", "~/out"]) == 1
    assert (out / EXERCISES).read_text() == "what there was"


@pytest.mark.parametrize(
    ("earlier", "again", "added"),
    [
        ("a/x.ipynb 01", "b/x.ipynb 01", {"a/x.ipynb 01": "0.5", "b/x.ipynb 01": ""}),
        ("a/x.ipynb 01", "a/x.ipynb 01", {"a/x.ipynb 01": "0.5"}),
        ("a/x.ipynb 01", "a/x.ipynb 02", {"a/x.ipynb 01": "0.5", "a/x.ipynb 02": ""}),
    ],
)
def test_points_that_a_person_gave_belong_to_one_file_on_one_lesson(earlier, again, added):
    def graded(text, points=""):
        file, lesson = text.split()
        return Grade("ada", "", file, "", lesson, "row_means", "wrong", points)

    unread = Grade("ada", "", again.split()[0], "", state="not graded")
    found = class_folder.add_to([graded(earlier, "0.5"), unread], [graded(again)])
    assert {f"{grade.file} {grade.lesson}": grade.points for grade in found} == added


async def odd_error(is_last):
    raise RuntimeError("odd\x1b")


async def once_more(is_last):
    return "right" if is_last else "not judged"


def test_what_the_machine_fails_at_is_tried_again_at_the_end_and_then_told_first(
    class_of_three, monkeypatch, capsys
):
    monkeypatch.setitem(STATES, "ada.ipynb", once_more)
    assert main(["grade", "~/class"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"ada.ipynb: {LESSON}, 0 of 1 right; not judged: row_means"
    assert lines[4] == f"ada.ipynb: {LESSON}, 1 of 1 right"
    monkeypatch.setitem(STATES, "ada.ipynb", odd_error)
    assert main(["grade", "~/class", "--out", "~/out"]) == 3
    told = capsys.readouterr().out.splitlines()[-3:]
    assert told[0].startswith("Not judged because this machine failed")
    assert re.match("  ada: .*row_means", told[1])
    out = class_of_three.parent / "out"
    assert next(read_grades(out / EXERCISES)).message == "grading it raised RuntimeError: odd�"
    assert [(row["points"], row[LESSON]) for row in table(out / GRADES)] == [("", ""), ("0", "0")]
    assert main(["grade", str(out / EXERCISES)]) == 3
    monkeypatch.delitem(STATES, "ada.ipynb")
    for state in ("right", odd_error):  # no grade is lost to a failure
        monkeypatch.setitem(STATES, "ada.ipynb", state)
        assert main(["grade", "~/class/ada.ipynb", "--out", "~/out"]) == (state is odd_error) * 3
    assert f"{class_folder.KEPT}\n  ada.ipynb: row_means\n" in capsys.readouterr().out
    (class_of_three / "ada.ipynb").write_bytes(b"{")
    assert main(["grade", "~/class/ada.ipynb", "--out", "~/out"]) == 3
    assert "right" in [row.state for row in read_grades(out / EXERCISES)]


def test_grades_that_can_not_be_written_where_they_should_are_kept(
    class_of_three, capsys, monkeypatch
):
    out = class_of_three.parent / "out"
    (out / GRADES).mkdir(parents=True)
    assert main(["grade", "~/class", "--out", "~/out"]) == 1
    kept = re.search(r"saved in (.*?)\. ", capsys.readouterr().err)[1]
    assert main(["grade", kept, "--out", str(out / "again")]) == 0
    assert [row["points"] for row in table(out / "again" / GRADES)] == ["1", "0"]
    shutil.rmtree(Path(kept).parent)

    def full(*arguments, **options):
        raise OSError("full")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    assert main(["grade", "~/class", "--out", "~/out"]) == 1
    _, _, printed = capsys.readouterr().err.partition(f"as {EXERCISES}:\n")
    put(out / "printed.csv", printed.encode())
    assert len([*read_grades(out / "printed.csv")]) == 3


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("kind", ["SIGTERM", "SIGHUP", "a pipe that is closed"])
def test_an_end_that_comes_early_keeps_what_is_graded(class_of_three, monkeypatch, kind):
    async def ended(is_last):
        sent = getattr(signal, kind, None)
        if not sent:
            monkeypatch.setattr(command, "in_short", lambda grades: 1 / 0)
            return "wrong"
        os.kill(os.getpid(), sent)
        await asyncio.sleep(60)

    monkeypatch.setitem(STATES, "b/d.ipynb", ended)
    with contextlib.suppress(ExceptionGroup):
        assert main(["grade", "~/class", "--out", "~/out", "--jobs", "1"]) == 130
    rows = read_grades(class_of_three.parent / "out" / EXERCISES)
    assert [row.name for row in rows][:2] == ["ada.ipynb", "c.ipynb"]


def test_untouched_lessons_and_notebooks_on_other_lessons_are_counted_and_not_run(
    class_of_three, capsys, monkeypatch
):
    monkeypatch.setattr(grade_many, "replies", lambda *_: pytest.fail("it was run"))
    folder = class_of_three.parent / "hub"
    update(ORIGINALS, folder / "ada")
    assert list(update(ORIGINALS, folder / "ada")) == []
    put(folder / "ada" / "mine.ipynb", WORK)
    assert main(["grade", str(folder), "--lessons", "02", "--out", "~/out"]) == 0
    others = len(lessons(ORIGINALS))  # all but lesson 2, and `mine.ipynb`
    told = capsys.readouterr().out
    assert f"Notebooks on a different lesson: {others}\n" in told
    assert "Notebooks untouched: 1\n" in told


def slowly(state):
    async def found(is_last):
        await asyncio.sleep(0.1)
        return state

    return found


def test_no_student_takes_the_time_of_a_class(class_of_three, monkeypatch, capsys):
    monkeypatch.setitem(STATES, "b/c.ipynb", slowly("wrong"))
    (class_of_three / "b/e.txt").touch()
    for most, last in ((100, "01_mean, 0 of 1 right"), (0.1, "not graded: the 0.05 seconds for")):
        monkeypatch.setattr(grade_many, "NOTEBOOKS_IN_TIME", most)
        assert main(["grade", "~/class", "--jobs", "1", "--timeout", "0.1"]) == 0
        _, _, wrong, told, other = capsys.readouterr().out.splitlines()
        assert wrong.startswith("b/c.ipynb: 01_mean")
        assert told.startswith(f"b/d.ipynb: {last}")
        assert "neither a notebook" in other
    monkeypatch.setitem(STATES, "b/c.ipynb", slowly("not judged"))  # and no more at the end
    assert main(["grade", "~/class", "--jobs", "1", "--timeout", "0.1"]) == 3
    assert capsys.readouterr().out.count("b/c.ipynb: ") == 1


@pytest.mark.parametrize(
    ("option", "values"),
    [("--timeout", ["nan", "inf", "-1", "0", "soon"]), ("--jobs", ["0", "-1", "two", "1.5"])],
)
def test_a_time_that_cannot_pass_and_no_number_of_jobs_are_refused(class_of_three, option, values):
    for value in values:
        with pytest.raises(SystemExit) as refused:
            main(["grade", str(class_of_three), f"{option}={value}"])
        assert refused.value.code == 2 or option in refused.value.code


def test_who_is_root_or_has_no_walls_is_refused_unless_asked_for(
    class_of_three, monkeypatch, capsys
):
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(command, "walls", lambda: ())
    with pytest.raises(SystemExit, match="--as-root"):
        main(["grade", str(class_of_three)])
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(command, "problem", lambda: "bwrap: Permission denied")
    with pytest.raises(SystemExit, match=r"bwrap: Permission denied\n(?s:.*)--without-walls"):
        main(["grade", str(class_of_three), "--as-root"])
    assert main(["grade", str(class_of_three), "--as-root", "--without-walls"]) == 0
    assert capsys.readouterr().err == f"{WITHOUT_WALLS}\n"


def test_a_name_that_the_terminal_can_not_write_stops_no_class(class_of_three, monkeypatch):
    (class_of_three / "Łukasz.txt").write_text("no notebook")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", out)
    assert main(["grade", str(class_of_three)]) == 0
    out.seek(0)
    assert "?ukasz.txt: not graded" in out.read()


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", " ="])
def test_a_spreadsheet_sees_no_formula_and_the_report_the_same_words(tmp_path, sign):
    file = HandedIn(Grade(f"{sign}1+1", "", "a.ipynb", ""))
    given = [replace(file.grade(row_means, "wrong", "one - for all"), mistake=f"{sign}3")]
    given += [replace(given[0], message=f"a{s}{sign}1{s}'{sign}2") for s in (",", ";", "\n", "=")]
    given += [replace(given[0], message=f"y;{quotes}{sign}1") for quotes in ('"', "\"'", "'\"")]
    write_grades(tmp_path / "rows.csv", given)
    row = table(tmp_path / "rows.csv")[0]
    assert (row["student"], row["mistake"]) == (f"'{sign}1+1", f"'{sign}3")
    assert list(read_grades(tmp_path / "rows.csv")) == given
    text = (tmp_path / "rows.csv").read_text("utf-8-sig").splitlines()
    for other in ",;\t":
        read = [cell for row in csv.reader(text, delimiter=other) for cell in row]
        assert not any(re.match(f"[{sign}].", cell) for cell in read)
