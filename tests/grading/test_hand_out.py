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
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_course.exercises import Exercise, mean
from lnorm_course.lab.lesson_files import LessonError, exercises, read, topics
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.__main__ import main
from lnorm_staff.grading.hand_out import COURSE, answers_left_in, student_zip

EMPTY = [
    *("import torch", "prediction = ...\nquestion.check(prediction)", "question.hint()"),
    *("def f(x):\n    ...\n\n\nquestion.check(f)", "def f(x): ...\n\n\nquestion.check(f)"),
    *("one.check(...)\ntwo.check(...)  # a number", "# question.check(6)"),
]
FILLED = [
    *("prediction = 6\nquestion.check(prediction)", "question.check(6)", "question.solution()"),
    "def f(x):\n    return x[..., 0]\n\n\nquestion.check(f)",
    "one.check(...)\nquestion.check(6)",
    "prediction = ...\nquestion.check(prediction)\nquestion.solution()",
]


def notebook(*sources):
    return new_notebook(cells=[*map(new_code_cell, sources)])


# What a student types first, where everything is installed, and then in a lesson.
FIRST = ["-m", "lnorm_course", "--copy-only"]
THEN = """
import os
from lnorm_course.exercises import mean, Exercise
for exercise in Exercise.bank[mean.TOPIC].values():
    exercise.solution()
    exercise.choose()
    print(*sorted({*dir(exercise)} - {"choose"}), flush=True)
os._exit(0)  # for PyTorch takes long to end
"""


def test_the_copy_of_this_course_has_the_lessons_that_are_named_and_closed_solutions(
    tmp_path, capsys
):
    assert main(["student", str(tmp_path / "week1.zip"), "--lessons", "01", "02"]) == 0
    assert str(tmp_path / "week1.zip") in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "week1.zip") as archive:
        archive.extractall(tmp_path)  # without permissions, as Python does
    copy = tmp_path / "week1"
    known = re.findall(r"^([a-z]+):", (copy / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert sorted(known) == ["clean", "help", "lab"]
    packed = [path.relative_to(copy) for path in copy.rglob("*")]
    assert {"README.md", "LICENSE", "docs"} <= {path.name for path in packed}
    left_out = {"course.mk", "tests", ".github", ".git", "lnorm_staff", "my_lessons", "grading.md"}
    assert not (left_out | {"__pycache__"}) & {part for path in packed for part in path.parts}
    for path in lessons(copy / "notebooks"):
        assert not any(cell.get("outputs") for cell in read(path)["cells"])

    def told_by(*command):
        copied = {"cwd": copy, "env": {**os.environ, "PYTHONPATH": str(copy)}}
        return subprocess.check_output([sys.executable, *command], text=True, **copied)

    assert "0 of 2 finished" in told_by(*FIRST)
    given = [read(path) for path in lessons(copy / "my_lessons")]
    words = ["".join(cell["source"]) for notebook in given for cell in notebook["cells"]]
    linked = {link for text in words for link in re.findall(r"\((\w+\.ipynb)\)", text)}
    assert linked == {"01_mean.ipynb", "02_variance.ipynb"}
    said = "Solution: closed by your instructor.\n" * 2 + "check hint solution\n"
    assert told_by("-c", THEN) == said * len(Exercise.bank[mean.TOPIC])


@pytest.mark.parametrize("wanted", [["99"], ["0"], ["01", "nothing"]])
def test_a_lesson_that_is_not_there_is_refused_in_one_sentence(tmp_path, capsys, wanted):
    with pytest.raises(SystemExit, match="2"):
        main(["student", str(tmp_path / "week1.zip"), "--lessons", *wanted])
    assert f"{wanted[-1]!r} doesn't match exactly one lesson" in capsys.readouterr().err
    assert not (tmp_path / "week1.zip").exists()


def test_with_answers_or_unreadable_notebooks_there_is_no_copy_and_each_is_named(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    nbformat.write(notebook(*EMPTY), folder / "01_mean.ipynb")
    nbformat.write(notebook("1", FILLED[0]), folder / "02_variance.ipynb")
    nbformat.write(notebook(FILLED[1]), folder / "03_standardize.ipynb")
    with pytest.raises(LessonError) as problem:
        student_zip(tmp_path, tmp_path / "copy.zip")
    variance, standardize = str(problem.value).splitlines()
    assert variance.startswith("02_variance.ipynb: in code cell 2, ")
    assert standardize.startswith("03_standardize.ipynb: in code cell 1, ")
    (folder / "01_mean.ipynb").write_text("{")
    with pytest.raises(LessonError, match=r"01_mean.*can't be read"):
        student_zip(tmp_path, tmp_path / "copy.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["notebooks"]


def test_a_filled_in_attempt_is_found_and_an_empty_one_is_no_answer():
    assert [source for source in EMPTY if list(answers_left_in(notebook(source)))] == []
    for source in FILLED:
        (sentence,) = answers_left_in(notebook("1", source))
        assert re.match(r"in code cell 2, an answer to (one, )?question is ", sentence), source


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
    [
        *(("file.zip", "exists"), ("file.zip/copy.zip", "File exists"), ("copy", "zip archive")),
        ("new.zip", "No space"),  # because the disk is full
    ],
)
def test_what_can_not_be_written_is_said_on_the_error_channel_and_leaves_nothing_behind(
    tmp_path, monkeypatch, capsys, out, said
):
    def full_disk(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full_disk)
    (tmp_path / "file.zip").touch()
    assert main(["student", str(tmp_path / out)]) == 1
    shown, problem = capsys.readouterr()
    assert shown == ""
    assert said in problem
    assert [path.name for path in tmp_path.iterdir()] == ["file.zip"]
