"""The picture below the title of a lesson."""

import json
from xml.etree import ElementTree

import pytest
from project import NOTEBOOK_PATHS

from lnorm_utils.web.asking import asking
from lnorm_utils.web.lesson_page import lesson_page

MOST_BYTES, MOST_HEIGHT = 8000, 140


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.stem)
def test_every_lesson_has_a_small_picture_with_words_that_asks(path):
    text = asking(path.stem)
    (svg,) = ElementTree.fromstring(text)
    width, height = map(float, svg.get("viewBox").split()[2:])
    assert len(text.encode()) <= MOST_BYTES
    assert height <= MOST_HEIGHT
    assert svg.get("role") == "img"
    assert svg.get("aria-label")
    assert "asked" in {part.get("class") for part in svg}
    assert all(0 <= float(part.get("x", 0)) <= width for part in svg)
    assert all(0 <= float(part.get("y", 0)) <= height for part in svg)


def test_the_picture_stands_between_the_title_and_the_aims(tmp_path):
    (tmp_path / "page.json").write_text("{}", "utf-8")
    lesson = json.loads(NOTEBOOK_PATHS[0].read_text("utf-8"))
    page = lesson_page(lesson, lambda call: tmp_path, tmp_path, name=NOTEBOOK_PATHS[0].stem)
    title, picture, aims = ("".join(cell["source"]) for cell in page["cells"][:3])
    assert title.startswith("# ")
    assert asking(NOTEBOOK_PATHS[0].stem) in picture
    assert "lnorm-aims" in aims
