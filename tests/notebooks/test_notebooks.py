"""Every lesson keeps every rule, and is on record."""

import pytest
from compared_outputs import read_record
from lesson import Lesson
from notebook_rules import RULES
from project import NOTEBOOK_PATHS, NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.name)
def test_the_lesson_keeps_the_rules(path):
    lesson = Lesson(path)
    broken = [f"{rule.__name__}: {each}" for rule in RULES for each in rule(lesson)]
    assert not broken, "\n".join(broken)


def test_the_lessons_are_those_on_record():
    names = [path.name for path in NOTEBOOK_PATHS]
    assert names == sorted(read_record(NOTEBOOKS)) != [], "`make notebooks` records them."
