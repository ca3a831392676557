"""The tables of the README say what the title cells of the lessons say."""

import re

import nbformat
import pytest
from project import LESSON_PATHS, PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
ROW = r"^\| <img [^|]+><br>(\d+)\.&nbsp;\[(.+?)\]\((.+?)\) \| (\d+) \|$"
CORE = [*range(1, 9), 10]
ROWS = re.findall(ROW, README, re.MULTILINE)


def title_of(path):
    return nbformat.read(path, as_version=4).cells[0].source


def minutes_of(path):
    return int(re.search(r"\*\*Time:\*\* (\d+) minutes", title_of(path))[1])


def test_the_tables_have_a_row_for_each_lesson_and_the_core_comes_first():
    links = {path.name[:2]: f"notebooks/{path.name}" for path in LESSON_PATHS}
    assert {f"{int(number):02}": link for number, _, link, _ in ROWS} == links
    numbers = [int(number) for number, *_ in ROWS]
    electives = [number for number in range(1, len(links) + 1) if number not in CORE]
    assert numbers == [*CORE, *electives]
    (named,) = re.findall(r"The core takes six hours:\*\* lessons (\d) to (\d) and (\d+),", README)
    first, last, one_more = map(int, named)
    assert [*range(first, last + 1), one_more] == CORE


def test_every_elective_is_found_by_a_question():
    section = README.partition("## Electives\n")[2].partition("\n| ")[0]
    found = {int(number) for number in re.findall(r"\b\d+\b", section)}
    assert {int(number) for number, *_ in ROWS} - {*CORE} <= found


@pytest.mark.parametrize(("number", "question", "link", "minutes"), ROWS)
def test_a_row_has_the_question_and_the_minutes_of_its_lesson(number, question, link, minutes):
    path = PROJECT / link
    assert title_of(path).splitlines()[0] == f"# {question}"
    assert minutes_of(path) == int(minutes)


def test_the_core_takes_at_most_the_six_hours_that_are_promised():
    assert sum(int(minutes) for number, _, _, minutes in ROWS if int(number) in CORE) <= 360
