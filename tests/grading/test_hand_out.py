"""The copy for students is whole, closed, and without any answer; or there is none."""

import errno
import importlib
import os
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lnorm_course.exercises import Exercise, mean
from lnorm_course.lab.lesson_files import LessonError, exercises, read, topics
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.__main__ import main
from lnorm_staff.grading.hand_out.copies import (
    COURSE,
    answers_left_in,
    student_zip,
)

EMPTY = [
    "import torch",
    "prediction = ...\nquestion.check(prediction)",
    "def f(x):\n    ...\n\n\nquestion.check(f)",
    "def f(x): ...\n\n\nquestion.check(f)",
    "one.check(...)\ntwo.check(...)  # a number",
    "question.hint()",
    "# question.check(6)",
]
FILLED = [
    "prediction = 6\nquestion.check(prediction)",
    "question.check(6)",
    "def f(x):\n    return x[..., 0]\n\n\nquestion.check(f)",
    "other.check(...)\nquestion.check(6)",
    "question.solution()",
    "prediction = ...\nquestion.check(prediction)\nquestion.solution()",
]


def notebook(*sources, outputs=()):
    cells = [new_code_cell(source) for source in sources]
    cells[-1].outputs = list(outputs)
    return new_notebook(cells=cells)


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    (root / "lnorm_course" / "exercises").mkdir(parents=True)
    (root / "notebooks").mkdir()
    nbformat.write(notebook(*EMPTY), root / "notebooks" / "01_mean.ipynb")
    (root / "lnorm_course" / "exercises" / "mean.py").touch()
    for left_out in (
        *(".venv/lib", ".git", "lnorm_course/__pycache__", "lnorm_staff/grading"),
        *("week1-graded", ".ruff_cache", "my_lessons", "build", "tests"),
    ):
        (root / left_out).mkdir(parents=True)
        (root / left_out / "file").touch()
    return root


def files(folder):
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths}


ROOM = "lnorm_course/exercises"
COPIED = {
    *("README.md", "notebooks/01_mean.ipynb"),
    *(f"{ROOM}/mean.py", f"{ROOM}/solutions_are_closed"),
}


def handed_out(course, folder, wanted=None):
    """Write the archive, and unpack it without permissions, as Python does."""
    student_zip(course, folder / "copy.zip", wanted)
    with zipfile.ZipFile(folder / "copy.zip") as archive:
        archive.extractall(folder)
    return folder / "copy"


def test_everything_is_copied_but_caches_and_what_only_authors_need(course, tmp_path):
    (tmp_path / "new").mkdir()
    assert files(handed_out(course, tmp_path / "new")) == COPIED
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"copy.zip", "copy"}


def test_in_the_copy_of_this_course_the_instructor_has_closed_the_solutions(tmp_path, capsys):
    assert main(["student", str(tmp_path / "week1.zip")]) == 0
    assert str(tmp_path / "week1.zip") in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "week1.zip") as archive:
        archive.extractall(tmp_path)
    program = """
from lnorm_course.exercises import mean, Exercise
for exercise in Exercise.bank[mean.TOPIC].values():
    exercise.solution()
    exercise.choose()
    print(*sorted({*dir(exercise)} - {"choose"}))
"""
    command = [sys.executable, "-c", program]
    copied = {**os.environ, "PYTHONPATH": str(tmp_path / "week1")}
    run = subprocess.run(
        command, cwd=tmp_path / "week1", env=copied, capture_output=True, text=True, check=True
    )
    said = "Solution: closed by your instructor.\n" * 2 + "check hint solution\n"
    assert run.stdout == said * len(Exercise.bank[mean.TOPIC])


def test_of_the_course_only_the_lessons_that_are_named_are_handed_out(tmp_path):
    copy = handed_out(COURSE, tmp_path, ["01_mean", "02_variance"])
    assert [path.stem for path in lessons(copy / "notebooks")] == ["01_mean", "02_variance"]
    known = re.findall(r"^([a-z]+):", (copy / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert sorted(known) == ["clean", "help", "lab"]
    assert not {"course.mk", "tests", ".github", "lnorm_staff", "docs/grading.md"} & {
        *(path.relative_to(copy).as_posix() for path in copy.rglob("*"))
    }
    # What a student types first, where everything is installed.
    command = [sys.executable, "-m", "lnorm_course", "--copy-only"]
    copied = {**os.environ, "PYTHONPATH": str(copy)}
    subprocess.run(command, cwd=copy, env=copied, capture_output=True, check=True)
    given = [read(path) for path in lessons(copy / "my_lessons")]
    words = ["".join(cell["source"]) for notebook in given for cell in notebook["cells"]]
    linked = {link for text in words for link in re.findall(r"\((\w+\.ipynb)\)", text)}
    assert linked == {"01_mean.ipynb", "02_variance.ipynb"}


@pytest.mark.parametrize("wanted", [["99"], ["0"], ["01", "nothing"]])
def test_a_lesson_that_is_not_there_is_refused_in_one_sentence(tmp_path, capsys, wanted):
    with pytest.raises(SystemExit, match="2"):
        main(["student", str(tmp_path / "week1.zip"), "--lessons", *wanted])
    assert f"{wanted[-1]!r} isn't one lesson" in capsys.readouterr().err
    assert not (tmp_path / "week1.zip").exists()


def test_the_notebooks_of_the_copy_show_no_output(course, tmp_path):
    outputs = [new_output("stream", text="Right.")]
    nbformat.write(notebook("6 * 7", outputs=outputs), course / "notebooks" / "01_mean.ipynb")
    path = handed_out(course, tmp_path) / "notebooks" / "01_mean.ipynb"
    (cell,) = nbformat.read(path, 4).cells
    assert (cell.source, cell.outputs, cell.execution_count) == ("6 * 7", [], None)


def test_with_answers_or_unreadable_notebooks_there_is_no_copy_and_each_is_named(
    course, tmp_path, capsys
):
    nbformat.write(notebook("1", FILLED[0]), course / "notebooks" / "02_variance.ipynb")
    nbformat.write(notebook(FILLED[1]), course / "notebooks" / "03_standardize.ipynb")
    before = files(tmp_path)
    with pytest.raises(LessonError) as problem:
        student_zip(course, tmp_path / "copy.zip")
    variance, standardize = str(problem.value).splitlines()
    assert variance.startswith("02_variance.ipynb: in code cell 2, ")
    assert standardize.startswith("03_standardize.ipynb: in code cell 1, ")
    (course / "notebooks" / "01_mean.ipynb").write_text("{")
    with pytest.raises(LessonError, match=r"01_mean.*can't be read"):
        student_zip(course, tmp_path / "copy.zip")
    assert files(tmp_path) == before


def test_an_empty_attempt_is_no_answer():
    assert [source for source in EMPTY if list(answers_left_in(notebook(source)))] == []


def test_a_filled_in_attempt_is_found():
    for source in FILLED:
        (sentence,) = answers_left_in(notebook("1", source))
        assert re.match(r"in code cell 2, an answer to (other, )?question is ", sentence), source


@pytest.mark.parametrize("path", lessons(COURSE / "notebooks"), ids=lambda path: path.stem)
def test_each_solution_of_a_lesson_would_be_found_in_it(path):
    given = read(path)
    assert list(answers_left_in(given)) == []
    imported = dict.fromkeys(topics(given))
    for topic in imported:
        importlib.import_module(f"lnorm_course.exercises.{topic}")
    bank = {name: each for topic in imported for name, each in Exercise.bank[topic].items()}
    for name in exercises(given):
        code = bank[name].shown_solution().code
        answer = code if bank[name].inputs is None else bank[name].answer.__name__
        before = "" if bank[name].inputs is None else f"{code}\n\n\n"
        assert list(answers_left_in(notebook(f"{before}{name}.check({answer})"))), name


@pytest.mark.parametrize(
    ("out", "said"),
    [("file.zip", "exists"), ("file.zip/copy.zip", "File exists"), ("copy", "zip archive")],
)
def test_a_place_that_cannot_be_used_is_said_on_the_error_channel(tmp_path, capsys, out, said):
    (tmp_path / "file.zip").touch()
    assert main(["student", str(tmp_path / out)]) == 1
    shown, problem = capsys.readouterr()
    assert shown == ""
    assert said in problem
    assert files(tmp_path) == {"file.zip"}


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    def full_disk(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full_disk)
    assert main(["student", str(tmp_path / "copy.zip")]) == 1
    assert "No space" in capsys.readouterr().err
    assert files(tmp_path) == set()
