"""Every lesson keeps every rule, and shows its pictures with their words where it's exported."""

import re

import pytest
from compared_outputs import read_record
from lesson import Lesson
from nbconvert import HTMLExporter
from notebook_rules import RULES
from project import LESSON_PATHS, NOTEBOOK_PATHS, NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.name)
def test_the_lesson_keeps_the_rules(path):
    lesson = Lesson(path)
    assert [f"{rule.__name__}: {each}" for rule in RULES for each in rule(lesson)] == []


def test_the_html_export_has_an_alternative_for_each_picture():
    html, _ = HTMLExporter(embed_images=True).from_filename(str(LESSON_PATHS[0]))
    images = re.findall("<img[^>]*>", html)
    assert images
    # The first panel of a picture speaks for the others.
    alts = [re.search('alt="([^"]*)"', image)[1] for image in images]
    assert alts[0]
    assert all(not alt or len(alt) >= 10 for alt in alts)
    assert "No description" not in html


def test_the_lessons_are_those_on_record():
    assert [path.name for path in NOTEBOOK_PATHS] == sorted(read_record(NOTEBOOKS)) != []
