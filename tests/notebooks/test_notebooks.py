"""Every lesson keeps every rule, and is on record."""

import pytest
from compared_outputs import read_record
from lesson import Lesson
from notebook_rules import RULES
from project import NOTEBOOK_PATHS, NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.name)
def test_the_lesson_keeps_the_rules(path):
    lesson = Lesson(path)
    assert [f"{rule.__name__}: {each}" for rule in RULES for each in rule(lesson)] == []


def test_the_lessons_are_those_on_record():
    assert [path.name for path in NOTEBOOK_PATHS] == sorted(read_record(NOTEBOOKS)) != []
