"""The tables of the README and of Teaching, and the pictures, show the course as it is today."""

import re

import pytest
from pictures import KEPT, descriptions
from PIL import Image
from project import CORE, LESSON_PATHS, PROJECT
from tables import README, TEACHING, written

TEXT = README.read_text("utf-8")
ROWS = re.findall(r"^\| <img [^|]+><br>(\d+)\.&nbsp;.+ \| (\d+) \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("page", [README, TEACHING], ids=lambda page: page.name)
def test_the_tables_of_a_page_are_those_that_the_lessons_give_today(page):
    assert page.read_text("utf-8") == written()[page], "`make notebooks` writes them afresh."


def test_a_photograph_has_the_words_that_the_course_says_today():
    for name, words in descriptions().items():
        with Image.open(KEPT / name) as picture:
            said = picture.text["Description"]
        assert said == words, f"{name}: `make tool NAME=pictures` draws it afresh."


def test_the_core_takes_about_the_hours_that_are_promised_and_each_lesson_30_to_40_minutes():
    assert len(ROWS) == len(LESSON_PATHS)  # each with its picture
    minutes = [int(minutes) for number, minutes in ROWS if int(number) in CORE]
    assert sum(minutes) == pytest.approx(330, abs=15)
    assert (min(minutes), max(minutes)) == (30, 40)
    assert f"lessons 1 to {CORE[-1]}," in TEXT
    for page in (README, *(PROJECT / "docs" / name for name in ("index.md", "map.md"))):
        assert re.search(r"\bfive\s+and\s+a\s+half\s+hours\b", page.read_text("utf-8")), page.name
