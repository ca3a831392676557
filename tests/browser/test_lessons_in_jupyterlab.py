"""Lessons in JupyterLab: as they open, run from the top, and moved by keys, mouse, and touch."""

import re

import nbformat
import pytest
from hands import Keyboard, Mouse, Touch, move_all
from jupyterlab_page import Page
from project import LESSON_PATHS
from site_page import SCRIPT, Alive
from test_without_a_kernel import ERROR, LOADED

from lnorm_course import explorers


def explorers_of(path):
    """Make the explorers of a lesson here, from the calls in its cells."""
    for cell in nbformat.read(path, as_version=4).cells:
        if call := re.search(r"^explore_(?!row\b)\w+\(.*\)", cell.source, re.MULTILINE):
            yield eval(call[0], vars(explorers))


# Two sliders, a choice, and points that can be dragged.
@pytest.mark.parametrize(("number", "hand"), [(5, Keyboard), (6, Mouse), (10, Touch)])
def test_its_pictures_are_seen_at_once_and_every_control_moves_them(
    chromium, address, number, hand
):
    path = LESSON_PATHS[number - 1]
    lab = Page(chromium, address, path.name, has_touch=hand is Touch)
    page, expected = lab.page, [*explorers_of(path)]
    images = page.locator(".jp-OutputArea img")
    images.first.wait_for()
    assert images.evaluate_all(LOADED)
    assert page.get_by_text(ERROR).count() == 0
    lab.run_all()
    page.evaluate(SCRIPT + "null")  # or it would call the function
    roots = page.locator(".lnorm-explorer").all()
    assert len(roots) == len(expected) > 0
    for root, explorer in zip(roots, expected, strict=True):
        move_all(Alive(page, root, explorer), hand(page))
        explorer.close()
    assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.get_by_text(ERROR).count() == 0
    assert lab.errors == []
    lab.menu("Kernel", "Shut Down Kernel")
    page.close()
