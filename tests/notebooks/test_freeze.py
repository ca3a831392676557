"""Freezing executes a notebook honestly and leaves one text, whoever runs it and how often."""

import json
import shutil

import freeze
import nbformat
import pytest
from compared_outputs import read_record, record_of
from sample_notebooks import course, edit, sample_notebook


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    root = tmp_path_factory.mktemp("frozen")
    return course(root, one=sample_notebook(), two=sample_notebook("6 * 8")).parent


@pytest.fixture
def folder(frozen, tmp_path):
    """A folder of two frozen notebooks that a test may change."""
    return shutil.copytree(frozen, tmp_path / "course") / "notebooks"


@pytest.fixture
def one(folder):
    return folder / "one.ipynb"


def cells(path):
    return nbformat.read(path, as_version=4).cells


def test_freezing_computes_every_output_afresh_and_changes_no_other_byte(folder, one):
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
def test_a_failing_notebook_is_left_as_it_was(folder, one, capsys, changes, reason):
    edit(one, lambda cells: cells[2].update(changes))
    edit(folder / "two.ipynb", lambda cells: cells[2].update(source="7 * 7"))  # was two outputs
    before, record = one.read_bytes(), read_record(folder)
    assert freeze.main(folder.iterdir()) == 1
    said = capsys.readouterr().out
    assert "one.ipynb: code cell 2 failed, the file is left as it was." in said
    assert reason in said
    assert one.read_bytes() == before
    assert cells(folder / "two.ipynb")[2].outputs[0].data["text/plain"] == "49"
    assert read_record(folder) == {"one.ipynb": record["one.ipynb"], "two.ipynb": 5}
    assert {path.name for path in folder.iterdir()} == {"one.ipynb", "two.ipynb"}


def test_a_file_that_is_no_notebook_is_reported(one, capsys):
    one.write_text("{")
    assert freeze.main([one]) == 1
    assert "one.ipynb: reading it failed" in capsys.readouterr().out


def test_the_record_has_one_sorted_line_a_notebook_and_forgets_those_that_are_gone(folder, one):
    assert record_of(folder).read_text("utf-8") == '{\n "one.ipynb": 5,\n "two.ipynb": 6\n}\n'
    one.unlink()
    freeze.update_record(folder, {})
    assert read_record(folder) == {"two.ipynb": 6}


def test_the_widget_view_goes_and_the_picture_stays(one):
    shown = cells(one)[3].outputs[0]
    assert set(shown.data) == {"image/png", "text/html"}


def frozen_form(notebook):
    return json.loads(freeze.frozen_text(notebook))


def test_an_output_that_is_only_a_widget_view_goes_altogether():
    notebook = sample_notebook()
    view = nbformat.v4.new_output("display_data", data={freeze.WIDGET_VIEW: {}})
    notebook.cells[2].outputs.append(view)
    assert frozen_form(notebook)["cells"][2]["outputs"] == []


def test_only_the_metadata_of_a_lecture_stay():
    notebook, slideshow = sample_notebook(), {"slide_type": "slide"}
    notebook.metadata.update(widgets={}, language_info={"version": "3.11"})
    notebook.cells[0].metadata.update(slideshow=slideshow, tags=["a"], execution={"at": "noon"})
    metadata = {"kernelspec": freeze.KERNEL, "language_info": {"name": "python"}}
    assert frozen_form(notebook)["metadata"] == metadata
    assert frozen_form(notebook)["cells"][0]["metadata"] == {"slideshow": slideshow}


def test_missing_and_repeated_ids_are_replaced():
    notebook = sample_notebook()
    del notebook.cells[0]["id"]
    notebook.cells[2].id = notebook.cells[1].id
    ids = [cell["id"] for cell in frozen_form(notebook)["cells"]]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert ids[1] == notebook.cells[1].id
