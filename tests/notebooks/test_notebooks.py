"""Every lesson keeps every rule. `test_notebook_rules.py` shows that each rule can be broken."""

import re

import pytest
from compared_outputs import read_record
from lesson import Lesson
from nbconvert import HTMLExporter
from notebook_rules import RULES
from project import NOTEBOOK_PATHS, NOTEBOOKS

EXPORTER = HTMLExporter(embed_images=True)


@pytest.fixture(scope="module", params=NOTEBOOK_PATHS, ids=lambda path: path.name)
def lesson(request):
    """A lesson, read once for all rules."""
    return Lesson(request.param)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_lesson_keeps_the_rule(lesson, rule):
    assert list(rule(lesson)) == []


def test_the_html_export_has_an_alternative_for_each_picture(lesson):
    html, _ = EXPORTER.from_filename(str(lesson.path))
    images = re.findall("<img[^>]*>", html)
    assert images
    assert all(re.search('alt="(?!No description)[^"]{10,}"', image) for image in images)


def test_the_lessons_are_those_on_record():
    assert [path.name for path in NOTEBOOK_PATHS] == sorted(read_record(NOTEBOOKS)) != []
