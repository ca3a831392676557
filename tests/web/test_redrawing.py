"""Pictures of lessons, drawn again: what is run for them, and that they are the same pictures."""

import json

import nbformat
import pytest

from lnorm_staff.web.redrawing import redraw

DRAWN = """from lnorm_utils.plotting import signed_cells
row = [1, -1]
row.append(2)
signed_cells([row], title="A row", xlabel="input", ylabel="output")"""


@pytest.fixture
def lesson(tmp_path):
    """Return a function that writes a lesson, whose last cell has a picture with these words."""

    def write(*sources, words="**In words.** A row. Output 0: 1.00, −1.00, 2.00."):
        cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
        image = {"image/png": "", "text/html": "<img>", "text/plain": "A row"}
        datas = [image, {"text/markdown": words}]
        cells[-1].outputs = [nbformat.v4.new_output("display_data", data) for data in datas]
        path = tmp_path / "lesson.ipynb"
        path.write_text(json.dumps(nbformat.v4.new_notebook(cells=cells)), "utf-8")
        return path

    return write


def test_only_the_cells_that_a_picture_needs_are_run(lesson, tmp_path):
    *needed, shown = DRAWN.splitlines()
    path = lesson(*needed, "raise RuntimeError", "print(1 / 0)", "row_2 = 1 / 0", shown)
    folder = redraw((path, tmp_path))
    assert list(json.loads((folder / "sizes.json").read_text())) == ["c6"]
    assert redraw((path, tmp_path)) == folder


def test_a_picture_that_has_changed_is_named(lesson, tmp_path):
    with pytest.raises(ValueError, match=r"lesson\.ipynb: the cell c0 draws another picture"):
        redraw((lesson(DRAWN, words="**In words.** Something else."), tmp_path))
