"""Explorers in JupyterLab: they play, and fit every width and both themes."""

import itertools
from functools import partial

import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyterlab_page import Page, is_still, notebook, wait_until
from site_page import serious

NAMES = ["explore_amplitude", "explore_batch", "explore_collapse"]
IS_SHOWN = "root => root.querySelector('p').textContent.length > 0"
# Elements with text of their own that is smaller than 12 pixels on the screen.
SMALL_TYPE = """root => {
    const small = [...root.querySelectorAll('*')].filter(
        e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
            && !e.closest('svg') && e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12
    ).map(e => e.outerHTML);
    for (const svg of root.querySelectorAll('.sheet > svg')) {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        if (10 * scale < 11.99) small.push(`10 pt are ${10 * scale} pixels`);
    }
    return small;
}"""
SHORT_TRACKS = """root => [...root.querySelectorAll('input[type=range]')]
    .map(e => e.getBoundingClientRect().width).filter(width => width < 160)"""
SET_WIDTH = """(root, width) => {
    const box = root.parentElement;
    box.style.width = width ? `${width}px` : '';
    box.style.overflow = 'visible';
}"""
OVER_EDGE = """root => [...root.querySelectorAll("*")]
    .filter(e => !e.closest(".sheet, .chips"))
    .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
    .map(e => e.outerHTML.slice(0, 80))"""
SCROLLS = (
    "root => { const s = root.querySelector('.scene'); return s.scrollWidth > s.clientWidth; }"
)
# How tall picture, words, and what is between them are.
HEIGHT_TOGETHER = """root => root.querySelector('p').getBoundingClientRect().bottom
    - root.querySelector('.scene').getBoundingClientRect().top"""
# How tall presets, controls, and picture are.
HEIGHT_TO_OPERATE = """root => root.querySelector('.scene').getBoundingClientRect().bottom
    - root.querySelector('.chips').getBoundingClientRect().top"""
HEIGHT_OF_VIEW = "() => document.querySelector('.jp-WindowedPanel-outer').clientHeight"


@pytest.fixture(scope="module")
def page(chromium, address, lessons):
    """A notebook with explorers."""
    cells = ["from lnorm_course.explorers import *", *(f"{name}()" for name in NAMES)]
    page = Page(chromium, address, notebook(lessons, "some.ipynb", *cells))
    page.run_all()
    for shown in page.explorers:
        page.page.wait_for_function(IS_SHOWN, arg=shown.root.element_handle())
    yield page
    assert page.errors == []
    page.menu("Kernel", "Shut Down Kernel")
    page.page.close()


def test_play_sweeps_a_slider_and_stops_where_it_began(page):
    shown = page.explorers[0]
    button = shown.root.get_by_role("button", name="play", exact=True)
    slider = shown.root.locator("input[type=range]:enabled").first
    start = slider.input_value()
    button.click()
    wait_until(shown.page, lambda: slider.input_value() != start)
    wait_until(shown.page, lambda: button.count() == 1)
    assert slider.input_value() == start
    for stop in (shown.control("reset"), shown.root.locator(".chips button").first):
        button.click()
        stop.click()
        assert button.count() == 1
        stood = slider.input_value()
        shown.page.wait_for_timeout(300)
        assert slider.input_value() == stood
    slider.press("End")
    shown.control("reset").click()
    wait_until(shown.page, lambda: slider.input_value() == start)


def test_at_every_width_type_can_be_read_and_tracks_be_held(page):
    for shown, width in itertools.product(page.explorers, (360, 600, 900, 0)):
        shown.root.evaluate(SET_WIDTH, width)
        is_still(shown)
        wait_until(shown.page, partial(shown.root.evaluate, f"root => !({SCROLLS})(root)"))
        for wrong in (SMALL_TYPE, SHORT_TRACKS, OVER_EDGE):
            assert shown.root.evaluate(wrong) == []


def test_a_picture_is_seen_together_with_its_words_and_with_its_controls(page):
    page.page.set_viewport_size({"width": 1366, "height": 768})
    page.page.wait_for_timeout(1000)
    room = page.page.evaluate(HEIGHT_OF_VIEW)
    tall = [
        (name, height)
        for name, shown in zip(NAMES, page.explorers, strict=True)
        for what in (HEIGHT_TOGETHER, HEIGHT_TO_OPERATE)
        if (height := shown.root.evaluate(what)) > room
    ]
    page.page.set_viewport_size({"width": 1366, "height": 1000})
    page.page.wait_for_timeout(500)
    assert tall == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_in_each_theme_axe_finds_nothing_serious(page, theme):
    page.page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.page.get_by_text("Theme", exact=True).click()
    page.page.get_by_text(theme, exact=True).click()
    is_light = str(theme.endswith("Light")).lower()
    page.page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
    page.page.wait_for_timeout(500)
    assert serious(Axe().run(page.page, context=".jp-OutputArea-output")) == []
