"""Lessons in JupyterLab, and a notebook with all that moves, at last without its kernel."""

import re

import nbformat
import pytest
from freeze import KERNEL
from hands import Keyboard, Mouse, Touch, move_all
from jupyterlab_page import Page
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect
from project import LESSON_PATHS
from site_page import MISFITS, SCRIPT, Alive, serious
from test_row import SEEN, close, press

from lnorm_staff.web.baking import calls_in
from lnorm_staff.web.lesson_page import IN_BROWSER
from lnorm_utils import layer_norm
from lnorm_utils.data import encoded_points

CELLS = [
    "from lnorm_course.explorers import *\nfrom lnorm_course.exercises.mean import row_means",
    "explore_amplitude()",
    "explore_batch()",
    "one = explore_collapse()\none",
    "one",
    "one.preset = 'two features'",
    "explore_row(preset='batch norm')",
    "explore_rings(preset='Adam')",
    "explore_stream()",
    "row_means.choose()",
]
ERROR = "Error displaying widget"
# The first panel of a picture has the words for all of them.
LOADED = """images => images.every(i => i.complete && i.naturalWidth > 0
    && i.closest('.jp-OutputArea-output').querySelector('img').alt)"""
SET_WIDTH = """(root, width) =>
    Object.assign(root.parentElement.style, { width, overflow: 'visible' })"""
# How tall the picture with its words is, and presets and controls with the picture.
HEIGHTS = """root => {
    const [chips, scene, words] = ['.chips', '.scene', 'p']
        .map(part => root.querySelector(part).getBoundingClientRect());
    return [words.bottom - scene.top, scene.bottom - chips.top];
}"""


def axe_finds(page):
    page.add_style_tag(content="body { height: 100vh }")  # or axe takes all text for hidden
    return serious(page, context=".jp-OutputArea-output")


# Two sliders, a choice, and points that can be dragged.
@pytest.mark.parametrize(("number", "hand"), [(5, Keyboard), (6, Mouse), (9, Touch)])
def test_the_pictures_of_a_lesson_are_seen_at_once_and_every_control_moves_them(
    chromium, address, number, hand
):
    path = LESSON_PATHS[number - 1]
    lab = Page(chromium, address, path.name, has_touch=hand is Touch)
    page, cells = lab.page, nbformat.read(path, as_version=4).cells
    code = (cell.source for cell in cells if cell.cell_type == "code")
    calls = [call for source in code for call in calls_in(source) if call.topic not in IN_BROWSER]
    images = page.locator(".jp-OutputArea img")
    images.first.wait_for()
    assert images.evaluate_all(LOADED)
    assert page.get_by_text(ERROR).count() == 0
    assert page.get_by_text("Run this cell, and you can change it.").count() > 0
    assert axe_finds(page) == []
    lab.run_all()
    page.evaluate(SCRIPT + "null")  # or it would call the function
    roots = lab.explorers.all()
    assert len(roots) == len(calls) > 0
    for root, call in zip(roots, calls, strict=True):
        move_all(Alive(page, root, call.topic, call.preset), hand(page))
    assert page.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0
    assert page.get_by_text(ERROR).count() == 0
    assert lab.errors == []
    lab.menu("Kernel", "Shut Down Kernel")
    page.close()


@pytest.fixture(scope="module")
def lab(chromium, address, lessons):
    """A notebook with explorers, two views of one of them, a row, and a program with gaps."""
    notebook = new_notebook(cells=[*map(new_code_cell, CELLS)], metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, lessons / "all.ipynb")
    lab = Page(chromium, address, "all.ipynb")
    lab.run_all()
    lab.page.evaluate(SCRIPT + "null")
    yield lab
    lab.menu("Kernel", "Shut Down Kernel")
    lab.page.close()


def test_play_sweeps_a_slider_and_stops_where_it_began(lab):
    root = lab.explorers.first
    button = root.get_by_role("button", name="play", exact=True)
    slider = root.locator("input:enabled").first
    start = slider.input_value()
    button.click()
    expect(slider).not_to_have_value(start)
    button.wait_for(timeout=20000)
    assert slider.input_value() == start
    for stop in (root.locator(".chips button").first, root.get_by_text("reset", exact=True)):
        slider.press("End")
        button.click()
        stop.click()
        stood = slider.input_value()
        lab.page.wait_for_timeout(300)
        assert (button.count(), slider.input_value()) == (1, stood)
    assert stood == start


def test_at_every_width_it_can_be_read_and_held_and_is_seen_with_its_words_and_controls(lab):
    lab.page.set_viewport_size({"width": 1366, "height": 768})
    lab.page.wait_for_timeout(1000)
    room = lab.page.locator(".jp-WindowedPanel-outer").evaluate("view => view.clientHeight")
    for root in lab.explorers.all():
        for width in ("360px", "600px", "900px", ""):
            root.evaluate(SET_WIDTH, width)
            assert root.evaluate(MISFITS) == []
        assert max(root.evaluate(HEIGHTS)) <= room


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_in_each_theme_axe_finds_nothing_serious(lab, theme):
    page = lab.page
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).click()
    page.get_by_text(theme, exact=True).click()
    is_light = str(theme.endswith("Light")).lower()
    page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
    page.wait_for_timeout(500)
    assert axe_finds(page) == []


def test_two_views_of_one_agree_whatever_moves_it_and_go_when_its_cell_runs_again(lab):
    start = "collapse", "two features"
    one, other = views = [Alive(lab.page, root, *start) for root in lab.explorers.all()[2:]]
    place, *others = code = one.state
    last = len(one.about["controls"][0]["texts"]) - 1
    assert one.about["controls"][0]["kind"] == "slider"
    assert place != last

    def assert_both_show(state):
        for view in views:
            view.shows(state)

    for view in views:
        assert_both_show(code)
        view.root.locator("input").first.press("End")
        assert_both_show([last, *others])
        lab.run_cell(5)
    slider = other.root.locator("input").first
    slider.press("End")
    for width in (900, 1366):  # a resize in the middle of it
        lab.page.set_viewport_size({"width": width, "height": 1000})
        slider.press("ArrowLeft")
    assert_both_show([last - 2, *others])
    lab.run_cell(3)
    expect(lab.explorers).to_have_count(3)
    Alive(lab.page, lab.explorers.last, "collapse")


def test_the_program_that_is_chosen_is_judged(lab):
    page = lab.page
    for piece, said in (("0", "over the sentences of the batch"), ("-1", "Now write it yourself")):
        page.get_by_role("combobox", name="gap 1 of 2, line 2").select_option(label=piece)
        page.get_by_role("combobox", name="gap 2 of 2, line 2").select_option(label="True")
        page.get_by_role("button", name="Check", exact=True).click()
        page.locator(".said").get_by_text(said).wait_for()
    assert lab.errors == []


def test_without_its_kernel_pictures_stay_an_explorer_says_that_it_waits_and_the_row_moves(lab):
    root = lab.explorers.last
    before = root.inner_html()
    lab.menu("Kernel", "Restart Kernel…")
    lab.page.locator(".jp-Dialog .jp-mod-accept").click()
    lab.page.wait_for_timeout(3000)
    assert root.inner_html() == before
    for slider in root.locator("input:enabled").all():
        slider.press("End")
        slider.press("ArrowLeft")
    for button in root.locator(".choice button:enabled").all():
        button.press("Space")
    expect(root).to_have_class(re.compile(r"\bwaiting\b"))
    assert root.locator(".sheet > svg path").count()
    assert root.locator("p").inner_text()
    assert [error for error in lab.errors if "Cannot send" not in error] == []
    lab.menu("Kernel", "Shut Down Kernel")
    rings = lab.page.locator(".lnorm-rings")
    rings.get_by_role("button", name="train").click()
    rings.get_by_text("The two rings arrive apart.").wait_for()
    stream = lab.page.locator(".lnorm-stream")
    stream.get_by_role("button", name="post-LN").press("Enter")
    stream.get_by_text("brings the spread back").wait_for()
    stream.get_by_role("button", name="one row on its way").press("Enter")
    stream.get_by_text("The norm there divides by it").wait_for()
    lab.page.keyboard.press("Escape")
    expect(stream.get_by_role("dialog")).to_have_count(0)
    row = lab.page.locator(".lnorm-row")
    press(row, "layer norm")
    for _ in range(3):
        row.get_by_role("slider", name="number a of dogs").press("ArrowRight")
    x = encoded_points().double()
    x[0, 0, 0] = -3
    close(row.evaluate(SEEN)["below"], layer_norm(x, 4))
