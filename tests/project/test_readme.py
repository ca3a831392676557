"""The tables of the README, and the pictures, show the course as it is today."""

import re

from freeze import PICTURE, with_rows
from pictures import KEPT, descriptions
from PIL import Image
from project import CORE, PROJECT, rows_below

README = PROJECT / "README.md"
TEXT = README.read_text("utf-8")


def test_each_lesson_has_a_row_with_its_question_and_its_minutes_and_a_picture_that_exists():
    assert with_rows(TEXT) == TEXT, "`make notebooks` writes the rows."
    for name in PICTURE.findall(TEXT):
        assert (KEPT / f"{name}.png").exists(), name


def test_a_photograph_has_the_words_that_the_course_says_today():
    for name, words in descriptions().items():
        with Image.open(KEPT / name) as picture:
            said = picture.text["Description"]
        assert said == words, f"{name}: `make tool NAME=pictures` draws it afresh."


def test_the_core_takes_about_the_hours_that_are_promised_and_each_lesson_30_to_40_minutes():
    minutes = [int(minutes) for _, minutes in rows_below(TEXT, "The core")]
    assert len(minutes) == len(CORE)
    assert 340 <= sum(minutes) < 360
    assert (min(minutes), max(minutes)) == (30, 40)
    assert f"lessons 1 to {CORE[-1]}," in TEXT
    for page in (README, *(PROJECT / "docs" / name for name in ("index.md", "map.md"))):
        words = " ".join(page.read_text("utf-8").split())
        assert re.search(r"\ba little under six hours\b", words), page.name
