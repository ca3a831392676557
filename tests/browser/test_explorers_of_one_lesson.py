"""Explorers that are made, moved and closed by the code of one lesson."""

import pytest
from jupyterlab_page import Page, is_still, notebook, wait_until

SMALL = """
from IPython.display import display
from ipywidgets.widgets import widget
from lnorm_utils.explorers import Explorer, Slider
from lnorm_utils.plotting import new_picture

VIEW = "application/vnd.jupyter.widget-view+json"

def explore_dot():
    picture, axes = new_picture("A dot", 1, 1, 3, 2)
    (dot,) = axes[0, 0].plot([0], [0], "o")
    axes[0, 0].set(xlim=(-1, 11))

    def move(place):
        dot.set_xdata([place])
        return f"The dot is at {place}."

    return Explorer(picture, [dot], move, {"place": Slider("place", 2, range(11))})
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


def said(page, cell):
    """Return what a cell has printed."""
    return page.page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").inner_text()


def run_cell(page, cell):
    """Run one cell again, and wait until it is done."""
    cell = page.page.locator(".jp-CodeCell").nth(cell)
    before = cell.locator(".jp-InputPrompt").first.inner_text()
    cell.locator(".cm-content").click()
    page.page.keyboard.press("Control+Enter")
    prompt = cell.locator(".jp-InputPrompt").first
    wait_until(page.page, lambda: prompt.inner_text() not in (before, "[*]:"), seconds=60)


# What the page no longer needs can be gone, though it is remembered so.
REMEMBER = """() => { window.kept = [...window.kept ?? [],
    ...[...document.querySelectorAll('.lnorm-explorer')].map(e => new WeakRef(e))]; }"""


def test_fifty_made_and_closed_leave_nothing(opened):
    count = "print(len(widget._instances))"
    page = opened(SMALL, "made = []", "for one in made: one.close()", count)
    session = page.page.context.new_cdp_session(page.page)
    before = said(page, 3)
    cell = page.page.locator(".jp-CodeCell").nth(1)
    cell.locator(".cm-content").click()
    page.page.keyboard.press("Control+A")
    page.page.keyboard.insert_text(
        "made = [explore_dot() for _ in range(25)]\ndisplay(*made, include=[VIEW])"
    )
    for _ in range(2):
        run_cell(page, 1)
        wait_until(page.page, lambda: len(page.explorers) == 25, seconds=30)
        page.page.evaluate(REMEMBER)
        run_cell(page, 2)
        wait_until(page.page, lambda: len(page.explorers) == 0, seconds=30)
        run_cell(page, 3)
        assert said(page, 3) == before
    page.page.wait_for_timeout(500)
    session.send("HeapProfiler.collectGarbage")
    assert page.page.evaluate("kept.filter(one => one.deref()).length") == 0


def test_it_is_linked_in_python_and_stands_in_a_box(opened):
    page = opened(
        SMALL,
        "import ipywidgets, traitlets\n"
        "one, other, player = explore_dot(), explore_dot(), ipywidgets.Play(max=10, interval=100)\n"
        "ipywidgets.link((player, 'value'), (one, 'place'))\n"
        "traitlets.link((one, 'values'), (other, 'values'))\n"
        "ipywidgets.VBox([player, ipywidgets.HBox([one, other])])",
    )
    one, other = page.explorers
    one.wait_for("The dot is at 0.")
    page.page.locator(".widget-play button, .jupyter-widgets-play button").first.click()
    for shown in (one, other):
        assert shown.wait_for("The dot is at 10.") == ("The dot is at 10.",)
    other.press("place", "Home")
    assert one.wait_for("The dot is at 0.") == ("The dot is at 0.",)
    widths = [shown.root.bounding_box()["width"] for shown in (one, other)]
    assert min(widths) > 300, widths
    assert page.errors == []


def test_two_views_of_one_agree_also_when_code_moves_it_and_go_when_its_cell_runs_again(opened):
    page = opened(SMALL, "one = explore_dot()\none", "one", "one.values = {'place': 9}")
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


def test_what_stands_below_the_words_stays_when_they_get_shorter(opened):
    spoken = SMALL.replace('f"The dot is at {place}."', '"Words. " * (1 + 60 * place)')
    (shown,) = opened(spoken, "explore_dot()").explorers
    tops = []
    for key in ("End", "Home", "End"):
        shown.press("place", key)
        is_still(shown)
        tops.append((len(shown.words), shown.control("reset").bounding_box()["y"]))
    assert tops[0][0] == tops[2][0] > tops[1][0]
    assert len({top for _, top in tops}) == 1


LIMITED = """
picture, axes = new_picture("One of the first few", 1, 1, 6, 2.4)
(one,) = axes[0, 0].plot([0], [0], "o")
axes[0, 0].set(xlim=(-1, 11))

def move(count, which):
    one.set_xdata([which])
    return f"Number {which} of {count}."

controls = {
    "count": Slider("count", 5, range(1, 11)),
    "which": Slider("which", 0, range(10), most=lambda values: values["count"] - 1),
}
Explorer(picture, [one], move, controls, {"the last": {"count": 10, "which": 9}})
"""


def test_a_slider_ends_where_its_numbers_stop_to_mean_anything(opened):
    (shown,) = opened(SMALL, LIMITED).explorers
    shown.press("the last", "Enter")
    shown.wait_for("Number 9 of 10.")
    shown.press("count", *["ArrowLeft"] * 5)
    assert shown.wait_for("Number 4 of 5.") == ("Number 4 of 5.",)
    which = shown.control("which")
    assert (which.input_value(), which.get_attribute("max")) == ("4", "4")
    shown.press("count", "Home")
    assert shown.wait_for("Number 0 of 1.") == ("Number 0 of 1.",)
    assert which.is_disabled()
    shown.press("count", "End")
    shown.press("which", "End")
    assert shown.wait_for("Number 9 of 10.") == ("Number 9 of 10.",)


@pytest.mark.parametrize("ending", ["shut down", "restarted"])
def test_without_its_kernel_the_picture_stays_and_says_that_it_waits(opened, ending):
    page = opened("from lnorm_utils.explorers import *", "explore_broken()")
    (shown,) = page.explorers
    shown.wait_for("")
    before, paths = shown.words, shown.paths
    if ending == "shut down":
        page.menu("Kernel", "Shut Down Kernel")
    else:
        page.page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.page.get_by_text("Restart Kernel…", exact=True).click()
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
