"""The table of the README says what the title cells of the lessons say."""

import re

import nbformat
import pytest
from project import LESSON_PATHS, PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
ROW = r"^\| <img [^|]+> \| (\d+)\.&nbsp;\[(.+?)\]\((.+?)\) \| [^|]+ \| (\d+) \|$"
ROWS = re.findall(ROW, README, re.MULTILINE)


def title_of(path):
    return nbformat.read(path, as_version=4).cells[0].source


def minutes_of(path):
    return int(re.search(r"\*\*Time:\*\* (\d+) minutes", title_of(path))[1])


def test_the_table_has_a_row_for_each_lesson_in_order():
    links = [f"notebooks/{path.name}" for path in LESSON_PATHS]
    assert [link for _, _, link, _ in ROWS] == links
    assert [int(number) for number, *_ in ROWS] == [*range(1, len(LESSON_PATHS) + 1)]


@pytest.mark.parametrize(("number", "question", "link", "minutes"), ROWS)
def test_a_row_has_the_question_and_the_minutes_of_its_lesson(number, question, link, minutes):
    path = PROJECT / link
    assert title_of(path).splitlines()[0] == f"# {question}"
    assert minutes_of(path) == int(minutes)
