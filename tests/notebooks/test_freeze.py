"""Freezing executes a notebook honestly and leaves one text, whoever runs it and how often."""

import shutil

import freeze
import nbformat
import pytest
from compared_outputs import read_record
from sample_notebooks import course, edit, sample_notebook


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    root = tmp_path_factory.mktemp("frozen")
    return course(root, one=sample_notebook(), two=sample_notebook("6 * 8")).parent


@pytest.fixture
def folder(frozen, tmp_path):
    """A folder of two frozen notebooks that a test may change."""
    return shutil.copytree(frozen, tmp_path / "course") / "notebooks"


def test_freezing_computes_every_output_afresh_and_changes_no_other_byte(folder):
    one = folder / "one.ipynb"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    edit(one, lambda cells: cells[2].outputs.clear())
    edit(one, lambda cells: cells[3].update(execution_count=9))
    assert freeze.main(before) == 0
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source": "1 / 0", "metadata": {"tags": ["raises-exception"]}}, "ZeroDivisionError"),
        ({"source": "import os; os._exit(1)"}, "Kernel died"),
    ],
)
def test_a_failing_notebook_is_left_as_it_was(folder, capsys, changes, reason):
    one = folder / "one.ipynb"
    edit(one, lambda cells: cells[2].update(changes))
    edit(folder / "two.ipynb", lambda cells: cells[2].update(source="7 * 7"))  # was two outputs
    before, record = one.read_bytes(), read_record(folder)
    assert freeze.main(folder.iterdir()) == 1
    said = capsys.readouterr().out
    assert reason in said.partition("one.ipynb is left as it was: ")[2]
    assert one.read_bytes() == before
    two = nbformat.read(folder / "two.ipynb", as_version=4)
    assert two.cells[2].outputs[0].data["text/plain"] == "49"
    assert read_record(folder) == {"one.ipynb": record["one.ipynb"], "two.ipynb": 5}
    assert {path.name for path in folder.iterdir()} == {"one.ipynb", "two.ipynb"}
