"""The tables of the README and of Teaching are those that `make notebooks` writes."""

import re

import pytest
from project import CORE, LESSON_PATHS, PROJECT
from tables import README, TEACHING, written

TEXT = README.read_text("utf-8")
ROWS = re.findall(r"^\| <img [^|]+><br>(\d+)\.&nbsp;.+ \| (\d+) \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("page", [README, TEACHING], ids=lambda page: page.name)
def test_the_tables_of_a_page_are_those_that_the_lessons_give_today(page):
    assert page.read_text("utf-8") == written()[page], "`make notebooks` writes them afresh."


def test_there_is_a_row_for_each_lesson_and_the_core_comes_first():
    electives = [number for number in range(1, len(LESSON_PATHS) + 1) if number not in CORE]
    assert [int(number) for number, _ in ROWS] == [*CORE, *electives]
    (named,) = re.findall(r"The core takes [a-z ]+ hours:\*\* lessons (\d) to (\d+),", TEXT)
    first, last = map(int, named)
    assert [*range(first, last + 1)] == CORE


def test_the_core_takes_about_the_hours_that_are_promised_and_each_lesson_30_to_40_minutes():
    minutes = [int(minutes) for number, minutes in ROWS if int(number) in CORE]
    assert sum(minutes) == pytest.approx(330, abs=15)
    assert (min(minutes), max(minutes)) == (30, 40)
    for page in (README, *(PROJECT / "docs" / name for name in ("index.md", "map.md"))):
        assert re.search(r"\bfive\s+and\s+a\s+half\s+hours\b", page.read_text("utf-8")), page.name
