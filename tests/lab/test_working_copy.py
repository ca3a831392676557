"""A student's copy of the lessons: made without outputs, kept up to date, and never overwritten."""

import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from project import NOTEBOOK_PATHS, NOTEBOOKS, PROJECT

from lnorm_course import __main__ as command
from lnorm_course.lab.working_copy import fresh_copy, update

MEAN, VARIANCE = (f"from lnorm_course.exercises.{t} import *" for t in ("mean", "variance"))


def write(path, *sources, text="42\n"):
    cells = [new_markdown_cell("# A question?")]
    cells += [
        new_code_cell(s, execution_count=1, outputs=[new_output("stream", text=text)])
        for s in sources
    ]
    nbformat.write(new_notebook(cells=cells), path)


def edit(path, source):
    """Do what a student does: change the last cell, run it, save."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = source
    notebook.cells[-1].outputs = [new_output("stream", text="mine")]
    nbformat.write(notebook, path)
    return path.read_bytes()


def source(path):
    return nbformat.read(path, as_version=4).cells[-1].source


@pytest.fixture
def originals(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    write(folder / "01_mean.ipynb", MEAN, "how_many.check(...)")
    write(folder / "02_variance.ipynb", VARIANCE, "a.check(...)", "b.check(...)")
    return folder


@pytest.fixture
def copies(originals, tmp_path):
    folder = tmp_path / "my_lessons"
    assert list(update(originals, folder)) == []
    return folder


def test_the_lessons_of_this_course_are_copied_as_valid_notebooks(tmp_path):
    list(update(NOTEBOOKS, tmp_path))
    copies = sorted(tmp_path.glob("*.ipynb"))
    assert [path.name for path in copies] == [path.name for path in NOTEBOOK_PATHS]
    for path, original in zip(copies, NOTEBOOK_PATHS, strict=True):
        copy = nbformat.read(path, as_version=4)
        nbformat.validate(copy)
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in copy.cells)
        sources = [cell.source for cell in nbformat.read(original, as_version=4).cells]
        assert [cell.source for cell in copy.cells] == sources


def test_new_outputs_are_no_new_edition_and_new_code_replaces_an_unchanged_copy(originals, copies):
    own = edit(copies / "01_mean.ipynb", "how_many.check(6)")
    write(originals / "01_mean.ipynb", MEAN, "how_many.check(...)", text="43\n")
    assert list(update(originals, copies)) == []
    assert (copies / "01_mean.ipynb").read_bytes() == own
    write(originals / "02_variance.ipynb", VARIANCE, "b.check(...)  # new")
    (sentence,) = update(originals, copies)
    assert "02_variance.ipynb" in sentence
    assert source(copies / "02_variance.ipynb") == "b.check(...)  # new"


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b'{"cells": [{}]}'])
def test_a_new_edition_leaves_what_a_student_has_and_says_how_to_get_it(originals, copies, content):
    own = edit(copies / "01_mean.ipynb", "how_many.check(6)")
    if content is not None:  # it's no notebook any more
        (copies / "01_mean.ipynb").write_bytes(own := content)
    write(originals / "01_mean.ipynb", MEAN, "how_many.check(...)  # new")
    for _ in range(2):
        (sentence,) = update(originals, copies)
        assert "--fresh 01_mean" in sentence
        assert (copies / "01_mean.ipynb").read_bytes() == own


def test_a_new_lesson_comes_along_and_a_lesson_that_is_gone_stays(originals, copies):
    (originals / "02_variance.ipynb").rename(originals / "03_more.ipynb")
    (sentence,) = update(originals, copies)
    assert "03_more.ipynb" in sentence
    assert {"02_variance.ipynb", "03_more.ipynb"} <= {path.name for path in copies.iterdir()}


def test_starting_over_keeps_every_former_attempt(originals, copies):
    first = edit(copies / "01_mean.ipynb", "how_many.check(6)")
    assert "01_mean_kept_1.ipynb" in fresh_copy(originals, copies, "01_mean")
    second = edit(copies / "01_mean.ipynb", "how_many.check(7)")
    assert "01_mean_kept_2.ipynb" in fresh_copy(originals, copies, "01_mean.ipynb")
    assert fresh_copy(originals, copies, "variance").startswith("02_variance.ipynb is now a")
    assert source(copies / "01_mean.ipynb") == "how_many.check(...)"
    assert (copies / "01_mean_kept_1.ipynb").read_bytes() == first
    assert (copies / "01_mean_kept_2.ipynb").read_bytes() == second
    assert list(update(originals, copies)) == []


@pytest.fixture
def started(originals, copies, monkeypatch):
    """Call the command as a student does; return what JupyterLab would have been started with."""
    calls = []
    monkeypatch.setattr(command, "ORIGINALS", originals)
    monkeypatch.setattr(command, "start_jupyterlab", lambda *call: calls.append(call))

    def start(*arguments):
        assert command.main(["--folder", str(copies), *arguments]) == 0
        return calls.pop() if calls else None

    return start


def test_it_opens_the_first_lesson_of_which_not_all_exercises_but_side_trips_are_right(
    started, originals, copies
):
    lesson = nbformat.read(originals / "02_variance.ipynb", as_version=4)
    lesson.cells += [new_markdown_cell("## Recap"), new_code_cell("c.check(...)")]  # a side trip
    nbformat.write(lesson, originals / "02_variance.ipynb")
    assert started() == (copies, "01_mean.ipynb", [])
    (copies / ".progress").mkdir()
    for name, opened in (
        ("mean.how_many.right", "02_variance.ipynb"),
        ("variance.a.right", "02_variance.ipynb"),
        ("variance.b.wrong", "02_variance.ipynb"),
        ("variance.b.right", "01_mean.ipynb"),  # all is finished
    ):
        (copies / ".progress" / name).touch()
        assert started() == (copies, opened, [])


def test_it_starts_over_makes_the_copy_only_or_opens_the_originals(started, originals, copies):
    edit(copies / "02_variance.ipynb", "mine")
    assert started("--fresh", "02", "--port", "9")[1:] == ("02_variance.ipynb", ["--port", "9"])
    assert source(copies / "02_variance_kept_1.ipynb") == "mine"
    assert started("--copy-only") is None
    assert started("--edit") == (originals, "01_mean.ipynb", [])


def test_what_cannot_be_done_is_said_in_one_line(started, copies, capsys):
    for folder, fresh, words in [
        (copies, "12", "Choose from 01_mean, 02_variance"),
        (copies, "../01_mean", "Choose from 01_mean, 02_variance"),
        (__file__, "01", "is a file"),
        (command.ORIGINALS, "01", "the course's own notebooks"),
    ]:
        assert command.main(["--folder", str(folder), "--fresh", fresh]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line


def test_a_full_disk_takes_no_lesson_away_leaves_no_half_of_one_and_opens_what_there_is(
    started, originals, copies, tmp_path, monkeypatch, capsys
):
    def full(path, *_, **__):
        path.touch()
        raise OSError(28, "No space left on device", str(path))

    own = edit(copies / "01_mean.ipynb", "how_many.check(6)")
    write(originals / "03_more.ipynb", "1")
    before = sorted(copies.iterdir())
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        fresh_copy(originals, copies, "01_mean")
    with pytest.raises(OSError, match="No space"):
        list(update(originals, tmp_path / "new"))
    assert list((tmp_path / "new").iterdir()) == []
    assert started() == (copies, "01_mean.ipynb", [])
    assert "No space left on device" in capsys.readouterr().err
    assert (copies / "01_mean.ipynb").read_bytes() == own
    assert sorted(copies.iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no root here")
@pytest.mark.parametrize("user", [0, 1000])
def test_only_root_is_started_with_allow_root_and_told_so(monkeypatch, capsys, tmp_path, user):
    from jupyterlab.labapp import LabApp

    calls = []
    monkeypatch.setattr(LabApp, "launch_instance", calls.append)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    command.start_jupyterlab(tmp_path, "01_mean.ipynb", ["--ip", "0.0.0.0"])
    (arguments,) = calls
    assert ("--allow-root" in arguments) is (user == 0)
    assert ("root" in capsys.readouterr().out) is (user == 0)
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(PROJECT), "elsewhere"]
    assert not any("token" in a or "password" in a or "ip=" in a for a in arguments)
