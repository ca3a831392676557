"""Freezing executes a notebook honestly and leaves one text, whoever runs it and how often."""

import json

import freeze
import nbformat
import pytest
from compared_outputs import read_record
from sample_notebooks import course, edit, sample_notebook


@pytest.fixture
def folder(tmp_path):
    return course(tmp_path, one=sample_notebook(), two=sample_notebook("6 * 8"))


def cells(path):
    return nbformat.read(path, as_version=4).cells


def test_freezing_twice_changes_no_byte(folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert freeze.main(before) == 0
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_every_output_is_computed_afresh(folder):
    before = (folder / "one.ipynb").read_bytes()
    edit(folder / "one.ipynb", lambda cells: cells[2].outputs.clear())
    edit(folder / "one.ipynb", lambda cells: cells[3].update(execution_count=9))
    assert freeze.main([folder / "one.ipynb"]) == 0
    assert (folder / "one.ipynb").read_bytes() == before


def test_a_cell_without_code_keeps_no_output(folder):
    edit(folder / "one.ipynb", lambda cells: cells[2].update(source=""))
    assert freeze.main([folder / "one.ipynb"]) == 0
    assert cells(folder / "one.ipynb")[2].outputs == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [("1 / 0", "ZeroDivisionError"), ("import os; os._exit(1)", "Kernel died")],
)
def test_a_failing_notebook_is_left_as_it_was(folder, capsys, source, reason):
    edit(folder / "one.ipynb", lambda cells: cells[2].update(source=source))
    edit(folder / "two.ipynb", lambda cells: cells[2].update(source="7 * 7"))  # was two outputs
    before, record = (folder / "one.ipynb").read_bytes(), read_record(folder)
    assert freeze.main(folder.iterdir()) == 1
    said = capsys.readouterr().out
    assert "one.ipynb: code cell 2 failed, the file is left as it was." in said
    assert reason in said
    assert (folder / "one.ipynb").read_bytes() == before
    assert cells(folder / "two.ipynb")[2].outputs[0].data["text/plain"] == "49"
    assert read_record(folder) == {"one.ipynb": record["one.ipynb"], "two.ipynb": 5}
    assert {path.name for path in folder.iterdir()} == {"one.ipynb", "two.ipynb"}


def test_a_cell_that_may_raise_fails_all_the_same(folder, capsys):
    edit(
        folder / "one.ipynb",
        lambda cells: cells[2].update(source="1 / 0", metadata={"tags": ["raises-exception"]}),
    )
    assert freeze.main([folder / "one.ipynb"]) == 1
    assert "code cell 2 failed" in capsys.readouterr().out


def test_a_file_that_is_no_notebook_is_reported(folder, capsys):
    (folder / "one.ipynb").write_text("{")
    assert freeze.main([folder / "one.ipynb"]) == 1
    assert "one.ipynb: reading it failed" in capsys.readouterr().out


def test_the_widget_view_goes_and_the_picture_stays(folder):
    picture = cells(folder / "one.ipynb")[3].outputs[0]
    assert set(picture.data) == {"image/png", "text/html"}
    assert 'alt="one pixel"' in picture.data["text/html"]


def test_an_output_that_is_only_a_widget_view_goes_altogether():
    notebook = sample_notebook()
    view = nbformat.v4.new_output("display_data", data={freeze.WIDGET_VIEW: {}})
    notebook.cells[2].outputs.append(view)
    assert json.loads(freeze.frozen_text(notebook))["cells"][2]["outputs"] == []


def test_only_the_metadata_of_a_lecture_stay():
    notebook = sample_notebook()
    notebook.metadata.update(widgets={}, language_info={"version": "3.11"})
    slideshow = {"slide_type": "slide"}
    notebook.cells[0].metadata.update(slideshow=slideshow, tags=["a"], execution={"at": "noon"})
    frozen = json.loads(freeze.frozen_text(notebook))
    assert frozen["metadata"] == {
        "kernelspec": freeze.KERNEL,
        "language_info": {"name": "python"},
    }
    assert frozen["cells"][0]["metadata"] == {"slideshow": slideshow}


def test_missing_and_repeated_ids_are_replaced():
    notebook = sample_notebook()
    del notebook.cells[0]["id"]
    notebook.cells[2].id = notebook.cells[1].id
    ids = [cell["id"] for cell in json.loads(freeze.frozen_text(notebook))["cells"]]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert ids[1] == notebook.cells[1].id


def test_the_record_has_one_sorted_line_a_notebook_and_forgets_those_that_are_gone(folder):
    record = folder.parent / "tests" / "notebooks" / "compared_outputs.json"
    assert record.read_text("utf-8") == '{\n "one.ipynb": 5,\n "two.ipynb": 6\n}\n'
    (folder / "one.ipynb").unlink()
    assert freeze.main([folder / "two.ipynb"]) == 0
    assert read_record(folder) == {"two.ipynb": 6}
