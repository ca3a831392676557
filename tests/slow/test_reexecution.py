"""What nbval alone lets pass turns a run red, and so does a number that has changed."""

import re
import sys

import pytest
from compared_outputs import record_of
from copies import PROJECT, run
from sample_notebooks import course, edit, sample_notebook

NUMBER = 2  # the cell of the sample notebook that computes one
OTHER = {"text/plain": "43"}


def outcome_of(root):
    """Run a course's notebooks with the project's settings; return the exit code and the words."""
    settings = ["-c", PROJECT / "pyproject.toml", "--rootdir", root, "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *settings, "--color=no", "-n", "0", "notebooks"]
    done = run(root, command, PYTHONPATH=str(PROJECT))
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def notebooks(tmp_path):
    """A course of four notebooks, frozen and on record."""
    names = ("emptied", "shortened", "gone", "honest")
    folder = course(tmp_path, **{name: sample_notebook("'the end'") for name in names})
    assert record_of(folder).read_text("utf-8").count(".ipynb") == len(names)
    return folder


def empty(cells):
    for cell in cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)


def test_an_emptied_a_shortened_and_a_lost_notebook_are_named(notebooks):
    edit(notebooks / "emptied.ipynb", empty)
    edit(notebooks / "shortened.ipynb", lambda cells: cells.pop(NUMBER))
    (notebooks / "gone.ipynb").unlink()
    code, words = outcome_of(notebooks.parent)
    assert code == pytest.ExitCode.TESTS_FAILED, words
    assert " failed" not in words
    assert set(re.findall(r"^(\w+)\.ipynb\b.*`make notebooks`", words, re.MULTILINE)) == {
        *("emptied", "shortened", "gone")
    }


def test_a_number_that_has_changed_fails_in_its_cell(notebooks):
    code, words = outcome_of(notebooks.parent)
    assert code == pytest.ExitCode.OK, words
    edit(notebooks / "honest.ipynb", lambda cells: cells[NUMBER].outputs[1].data.update(OTHER))
    code, words = outcome_of(notebooks.parent)
    assert code == pytest.ExitCode.TESTS_FAILED, words
    assert f"honest.ipynb::Cell {NUMBER - 1}" in words
