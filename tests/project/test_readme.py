"""The tables of the README, and the pictures, show the course as it is today."""

import re

import nbformat
import pytest
from pictures import KEPT, descriptions
from PIL import Image
from project import CORE, LESSON_PATHS, PROJECT, rows_below

README = PROJECT / "README.md"
TEXT = README.read_text("utf-8")
CORE_ROWS, ELECTIVES = rows_below(TEXT, "The core"), rows_below(TEXT, "Electives")


def test_each_lesson_has_a_row_with_its_picture_its_question_and_its_minutes():
    for path, (cell, minutes) in zip(LESSON_PATHS, CORE_ROWS + ELECTIVES, strict=True):
        title = nbformat.read(path, as_version=4).cells[0].source
        question = title.splitlines()[0].removeprefix("# ")
        link = f"<br>{int(path.stem[:2])}.&nbsp;[{question}](notebooks/{path.name})"
        assert cell.startswith(f'<img src="docs/pictures/{path.stem}.png" '), link
        assert cell.endswith(link)
        assert f"**Time:** {minutes} minutes" in title, link


def test_a_photograph_has_the_words_that_the_course_says_today():
    for name, words in descriptions().items():
        with Image.open(KEPT / name) as picture:
            said = picture.text["Description"]
        assert said == words, f"{name}: `make tool NAME=pictures` draws it afresh."


def test_the_core_takes_about_the_hours_that_are_promised_and_each_lesson_30_to_40_minutes():
    minutes = [int(minutes) for _, minutes in CORE_ROWS]
    assert len(minutes) == len(CORE)
    assert sum(minutes) == pytest.approx(330, abs=15)
    assert (min(minutes), max(minutes)) == (30, 40)
    assert f"lessons 1 to {CORE[-1]}," in TEXT
    for page in (README, *(PROJECT / "docs" / name for name in ("index.md", "map.md"))):
        assert re.search(r"\bfive\s+and\s+a\s+half\s+hours\b", page.read_text("utf-8")), page.name
