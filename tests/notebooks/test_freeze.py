"""Freezing executes a notebook honestly and leaves one text, whoever runs it and how often."""

import re
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


def test_failing_notebooks_are_left_as_they_were(folder, capsys):
    one, two, three = (folder / f"{name}.ipynb" for name in ("one", "two", "three"))
    shutil.copy(one, three)
    fails = {"source": "1 / 0", "metadata": {"tags": ["raises-exception"]}}
    edit(one, lambda cells: cells[2].update(fails))
    edit(two, lambda cells: cells[2].update(source="7 * 7"))  # was two outputs
    edit(three, lambda cells: cells[2].update(source="import os; os._exit(1)"))
    before, record = {path: path.read_bytes() for path in (one, three)}, read_record(folder)
    assert freeze.main(folder.iterdir()) == 1
    _, *said = re.split(r"^(\w+\.ipynb)", capsys.readouterr().out, flags=re.MULTILINE)
    said = dict(zip(said[::2], said[1::2], strict=True))
    for path, reason in ((one, "ZeroDivisionError"), (three, "Kernel died")):
        assert said[path.name].startswith(" was left unchanged: ")
        assert reason in said[path.name]
        assert path.read_bytes() == before[path]
    frozen = nbformat.read(two, as_version=4)
    assert frozen.cells[2].outputs[0].data["text/plain"] == "49"
    assert read_record(folder) == {"one.ipynb": record["one.ipynb"], "two.ipynb": 5}
    assert {*folder.iterdir()} == {one, two, three}
