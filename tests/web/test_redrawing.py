"""Pictures of lessons, drawn again: what is run for them, and that they are the same pictures."""

import json
import re

import nbformat
import numpy as np
import pytest
from project import NOTEBOOKS, PROJECT

from lnorm_utils.plotting import shared_cells, signed_cells
from lnorm_utils.web.redrawing import redraw, with_drawings

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


def test_a_page_shows_the_drawings_with_their_words(tmp_path):
    path = NOTEBOOKS / "02_variance.ipynb"
    folder = redraw((path, tmp_path))
    sizes = json.loads((folder / "sizes.json").read_text())
    page = json.dumps(with_drawings(json.loads(path.read_text("utf-8")), folder, "../"))
    for name in sizes:
        files = [file.name for file in folder.glob(f"{name}.*")]
        assert {file.split(".")[1] for file in files} == {"wide", "narrow"}
        assert all(f"../drawn/{folder.name}/{file}" in page for file in files)
        assert sizes[name][next(file for file in files if "narrow" in file)][0] < 4
    assert page.count("**In words.**") == path.read_text("utf-8").count("**In words.**")


def in_the_dark(color):
    """Return the color that the page's style makes of a color, each part from 0 to 1."""
    style = (PROJECT / "lnorm_utils/web/reading.css").read_text("utf-8")
    invert, brightness = map(
        float, re.search(r"drawn img {\s+filter: invert\((.+)\) hue.+ness\((.+)\)", style).groups()
    )
    inverted = invert + (1 - 2 * invert) * np.array(color[:3])
    turned = 2 * np.dot((0.213, 0.715, 0.072), inverted) - inverted  # hue-rotate(180deg)
    return np.clip(brightness * np.clip(turned, 0, 1), 0, 1)


def contrast(*colors):
    """Return the contrast of two colors, from 1 to 21, as WCAG 2.1 defines it."""
    linear = (np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in colors)
    darker, lighter = sorted(np.dot((0.2126, 0.7152, 0.0722), each) for each in linear)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(
    "picture",
    [
        shared_cells(np.ones((8, 3)), 1),
        signed_cells([[1, -1]], title="A row", xlabel="input", ylabel="output"),
    ],
    ids=["shared", "signed"],
)
def test_digits_can_be_read_over_their_cells_in_the_dark(picture):
    black = (0, 0, 0)
    cells = [patch.get_facecolor() for ax in picture.axes for patch in ax.patches]
    assert cells
    assert min(contrast(in_the_dark(cell), in_the_dark(black)) for cell in cells) >= 4.5
