"""Lessons in JupyterLab: run from the top, every slider moved from the keyboard."""

import re

import nbformat
import pytest
from jupyterlab_page import Page
from pages import few
from project import LESSON_PATHS

from lnorm_course import explorers

# Lesson 1 has the row alone. Those with two sliders, a choice, and points that can be dragged.
WITH_EXPLORERS = LESSON_PATHS[1:]
UNLIKE = [LESSON_PATHS[4], LESSON_PATHS[5], LESSON_PATHS[9]]


def explorers_of(path):
    """Make the explorers of a lesson here, from the calls in its cells."""
    for cell in nbformat.read(path, as_version=4).cells:
        if call := re.search(r"^explore_(?!row\b)\w+\(.*\)", cell.source, re.MULTILINE):
            yield eval(call[0], vars(explorers))


@pytest.fixture(params=few(WITH_EXPLORERS, UNLIKE), ids=lambda path: path.name)
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
        state = [*explorer.state]
        assert_same(shown, explorer, state)
        for name, chosen in explorer.presets.items():
            shown.press(name, "Enter")
            state = [*chosen]
            assert_same(shown, explorer, state)
        for number, control in enumerate(explorer.controls.values()):
            for target, key, place in moves(control, state[number]):
                if number not in explorer.frame(state)["off"]:
                    shown.press(target, key)
                    state[number] = place
                    assert_same(shown, explorer, state)
    assert page.page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.page.get_by_text("Error displaying widget").count() == 0
    assert page.errors == []


def moves(control, place):
    """Yield what to press with which key, and at which stop the control is then."""
    texts = control.texts()
    if control.kind == "slider":
        last = len(texts) - 1
        yield from ((control.label, "Home", 0), (control.label, "End", last))
        yield control.label, "ArrowLeft", last - 1
    elif control.kind == "choice":
        for number, text in enumerate(texts):
            yield text, "Space", number
    else:
        yield from ((control.label, "Space", 1 - place), (control.label, "Space", place))


def assert_same(shown, explorer, state):
    frame = explorer.frame(state)
    expected = frame["words"], re.findall(r' d="([^"]+)"', "".join(frame["svgs"]))
    assert shown.wait_for(*expected) == expected
