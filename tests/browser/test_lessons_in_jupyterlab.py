"""Each lesson in JupyterLab: run from the top, every slider moved from the keyboard."""

import ast
import re
from functools import partial

import ipywidgets
import nbformat
import pytest
from jupyterlab_page import Page
from project import LESSON_PATHS

from lnorm_utils import explorers


def explorers_of(path):
    """Make the explorers of a lesson here, from the calls in its cells."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(r"^explore_\w+\(", cell.source, re.MULTILINE):
            call = ast.unparse(ast.parse(cell.source).body[-1])
            yield eval(call, vars(explorers))


@pytest.fixture(params=LESSON_PATHS, ids=lambda path: path.name)
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
        for widget in [explorer.chooser, *explorer.controls.values()]:
            for target, key, follow in moves(widget):
                if not widget.disabled:
                    shown.press(target, key)
                    follow()
                    assert_same(shown, explorer)
    assert page.page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.page.get_by_text("Error displaying widget").count() == 0
    assert page.errors == []


def moves(widget):
    """Yield what to press with which key, and what does the same to the widget here."""
    label = widget.description
    if isinstance(widget, ipywidgets.SelectionSlider):
        last = len(widget.options) - 1
        yield label, "Home", partial(widget.set_trait, "index", 0)
        yield label, "End", partial(widget.set_trait, "index", last)
        yield label, "ArrowLeft", partial(widget.set_trait, "index", last - 1)
    elif isinstance(widget, ipywidgets.ToggleButtons):
        for option in widget.options:
            yield option, "Enter", partial(widget.set_trait, "value", option)
    elif isinstance(widget, ipywidgets.Checkbox):
        for value in (not widget.value, widget.value):
            yield label, "Space", partial(widget.set_trait, "value", value)
    else:
        for _ in range(2):
            yield label, "Enter", widget.click


def assert_same(shown, explorer):
    assert shown.wait_for(explorer.words) == explorer.words
    assert shown.alternative == explorer.words
    assert shown.paths == re.findall(r' d="([^"]+)"', explorer.foreground.value)
