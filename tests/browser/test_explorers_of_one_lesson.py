"""Explorers that are made, moved and closed by the code of one lesson."""

import pytest
from jupyterlab_page import Page, notebook, wait_until

SMALL = """
from lnorm_course.explorers.engine import Explorer, Slider, line, panel

def explore_dot():
    picture, ax = panel("a dot", xlim=(-1, 11))
    dot = line(ax, "o", [0])

    def show(square, place):
        dot.set_xdata([place])
        return f"The dot is at {place}."

    controls = {"place": Slider("place", 2, range(11))}
    presets = {"nine": {"place": 9}}
    return Explorer({picture: [dot]}, lambda place: place**2, show, controls, presets)
"""


@pytest.fixture
def opened(chromium, address, lessons):
    """Return a function that opens a notebook of some cells, and runs them all."""
    pages = []

    def open_(*cells):
        name = notebook(lessons, f"opened-{len(list(lessons.iterdir()))}.ipynb", *cells)
        pages.append(Page(chromium, address, name))
        pages[-1].run_all()
        return pages[-1]

    yield open_
    for page in pages:
        page.page.close()


def run_cell(page, cell):
    """Run one cell again, and wait until it is done."""
    cell = page.page.locator(".jp-CodeCell").nth(cell)
    before = cell.locator(".jp-InputPrompt").first.inner_text()
    cell.locator(".cm-content").click()
    page.page.keyboard.press("Control+Enter")
    prompt = cell.locator(".jp-InputPrompt").first
    wait_until(page.page, lambda: prompt.inner_text() not in (before, "[*]:"), seconds=60)


def test_two_views_of_one_agree_also_when_code_moves_it_and_go_when_its_cell_runs_again(opened):
    page = opened(SMALL, "one = explore_dot()\none", "one", "one.preset = 'nine'")
    run_cell(page, 3)
    views = page.explorers
    for moved, place in ((None, 9), (views[0], 10), (views[1], 10)):
        if moved:
            moved.press("place", "Home", "End")
        for view in views:
            assert view.wait_for(f"The dot is at {place}.") == (f"The dot is at {place}.",)
    views[1].press("place", *["ArrowLeft"] * 5)
    for width in (900, 1366):  # a resize, and code, in the middle of it
        page.page.set_viewport_size({"width": width, "height": 1000})
        views[1].press("place", "ArrowLeft")
    for view in views:
        assert view.wait_for("The dot is at 3.") == ("The dot is at 3.",)
        assert view.control("place").input_value() == "3"
    run_cell(page, 1)
    wait_until(page.page, lambda: len(page.explorers) == 1)
    assert page.explorers[0].wait_for("The dot is at 2.") == ("The dot is at 2.",)
    assert page.errors == []


def test_without_its_kernel_the_picture_stays_and_says_that_it_waits(opened):
    page = opened("from lnorm_course.explorers import *", "explore_broken()")
    (shown,) = page.explorers
    shown.wait_for("")
    before, paths = shown.words, shown.paths
    page.menu("Kernel", "Restart Kernel…")
    page.page.locator(".jp-Dialog .jp-mod-accept").click()
    page.page.wait_for_timeout(3000)
    assert (shown.words, shown.paths) == (before, paths)
    for control in shown.root.locator("input[type=range]:enabled").all():
        control.press("End")
        control.press("ArrowLeft")
    for box in shown.root.locator("input:not([type=range]):enabled").all():
        box.press("Space")
    wait_until(page.page, lambda: "waiting" in shown.root.get_attribute("class").split())
    assert shown.paths
    assert shown.words
    assert [error for error in page.errors if "Cannot send" not in error] == []
