"""Lessons in JupyterLab: run from the top, every slider moved from the keyboard."""

import re

import nbformat
import pytest
from jupyterlab_page import Page
from pages import few
from project import LESSON_PATHS

from lnorm_course import explorers

# A choice, switches, and a slider whose end moves; a button; points that can be dragged.
UNLIKE = [LESSON_PATHS[0], LESSON_PATHS[4], LESSON_PATHS[5]]


def explorers_of(path):
    """Make the explorers of a lesson here, from the calls in its cells."""
    for cell in nbformat.read(path, as_version=4).cells:
        if call := re.search(r"^explore_(?!row\b)\w+\(.*\)", cell.source, re.MULTILINE):
            yield eval(call[0], vars(explorers))


@pytest.fixture(params=few(LESSON_PATHS, UNLIKE), ids=lambda path: path.name)
def lesson(request, chromium, address):
    page = Page(chromium, address, request.param.name)
    page.run_all()
    expected = list(explorers_of(request.param))
    yield page, expected
    for explorer in expected:
        explorer.close()
    page.menu("Kernel", "Shut Down Kernel")
    page.page.close()


def test_every_control_moves_the_picture_and_its_words_to_the_right_values(lesson):
    page, expected = lesson
    assert expected
    assert len(page.explorers) == len(expected)
    for shown, explorer in zip(page.explorers, expected, strict=True):
        assert_same(shown, explorer)
        for name in explorer.presets:
            shown.press(name, "Enter")
            explorer.preset = name
            assert_same(shown, explorer)
        for name, control in explorer.controls.items():
            for target, key, value in moves(explorer, name, control):
                if control.when(explorer.values):
                    shown.press(target, key)
                    setattr(explorer, name, value)
                    assert_same(shown, explorer)
    assert page.page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.page.get_by_text("Error displaying widget").count() == 0
    assert page.errors == []


def moves(explorer, name, control):
    """Yield what to press with which key, and what the control is set to then."""
    stops = explorer.stops[name]
    if control.kind == "slider":
        last = explorer.frame()["most"].get([*explorer.controls].index(name), len(stops) - 1)
        yield control.label, "Home", stops[0]
        yield control.label, "End", stops[last]
        yield control.label, "ArrowLeft", stops[last - 1]
    elif control.kind == "choice":
        for option in stops:
            yield option, "Space", option
    elif control.kind == "switch":
        value = getattr(explorer, name)
        yield control.label, "Space", not value
        yield control.label, "Space", value
    else:
        value = getattr(explorer, name)
        yield control.label, "Enter", value + 1
        yield control.label, "Enter", value + 2


def assert_same(shown, explorer):
    frame = explorer.frame()
    expected = frame["words"], re.findall(r' d="([^"]+)"', frame["svg"])
    assert shown.wait_for(*expected) == expected
