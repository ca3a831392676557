"""Explorers in JupyterLab, as instruments: by mouse, touch and keyboard, at every width, in both
themes, linked, many at once, and where the kernel dies.
"""

import io

import pytest
from axe_playwright_python.sync_playwright import Axe
from control_ends import make_all, with_a_slider
from jupyterlab_page import Page, is_still, notebook, wait_until
from PIL import Image
from test_without_a_kernel import serious

NAMES = list(make_all())
IMPORT = "from lnorm_utils.explorers import *"
IS_SHOWN = "root => root.querySelector('p').textContent.length > 0"
# Elements with text of their own that is smaller than 12 pixels on the screen.
SMALL_TYPE = """root => {
    const small = [...root.querySelectorAll('*')].filter(
        e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
            && !e.closest('svg') && e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12
    ).map(e => e.outerHTML);
    const svg = root.querySelector('.sheet > svg');
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    if (10 * scale < 11.99) small.push(`10 pt are ${10 * scale} pixels`);
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
    .filter(e => !e.closest(".sheet, .slim .chips, .said"))
    .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
    .map(e => e.outerHTML.slice(0, 80))"""
SCROLLS = (
    "root => { const s = root.querySelector('.stage'); return s.scrollWidth > s.clientWidth; }"
)
# How tall picture, words, and what is between them are.
HEIGHT_TOGETHER = """root => root.querySelector('p').getBoundingClientRect().bottom
    - root.querySelector('.sheet').getBoundingClientRect().top"""
# How tall presets, controls, and picture are.
HEIGHT_TO_OPERATE = """root => root.querySelector('.sheet').getBoundingClientRect().bottom
    - root.querySelector('.chips').getBoundingClientRect().top"""
# How many pixels an inch of the picture takes, and so how large its numbers are.
SCALE = """root => {
    const svg = root.querySelector('.sheet > svg');
    return 72 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
}"""
HEIGHT_OF_VIEW = "() => document.querySelector('.jp-WindowedPanel-outer').clientHeight"


@pytest.fixture(scope="module")
def all_cells():
    return [IMPORT, *(f"{name}()" for name in NAMES)]


@pytest.fixture(scope="module")
def page(chromium, address, lessons, all_cells):
    """A notebook with all explorers."""
    page = Page(chromium, address, notebook(lessons, "all.ipynb", *all_cells), has_touch=True)
    page.run_all()
    for shown in page.explorers:
        page.page.wait_for_function(IS_SHOWN, arg=shown.root.element_handle())
    yield page
    assert page.errors == []
    page.menu("Kernel", "Shut Down Kernel")
    page.page.close()


def named(page, name):
    shown = page.explorers[NAMES.index(name)]
    shown.name = name
    return shown


@pytest.fixture(params=NAMES)
def shown(page, request):
    return named(page, request.param)


@pytest.fixture(params=with_a_slider())
def slid(page, request):
    """An explorer that has a slider."""
    return named(page, request.param)


def slider_of(shown):
    """Return the first slider that can be moved."""
    return shown.root.locator("input[type=range]:enabled").first


def at(slider, share):
    """Return a place on a track, for the mouse or a finger, seen from its corner.

    JupyterLab still moves cells when it has measured others, so a place on the page can be old.
    """
    box = slider.bounding_box()
    return {"x": share * box["width"], "y": box["height"] / 2}


def follows(shown, act):
    """Assert that words and picture change, and agree, when something is done."""
    before = shown.words, shown.paths
    act()
    wait_until(shown.page, lambda: shown.words != before[0])
    is_still(shown)


def test_a_slider_follows_mouse_finger_and_keys(slid):
    slider = slider_of(slid)
    slider.scroll_into_view_if_needed()
    start = slider.input_value()
    slider.press("Home")
    is_still(slid)
    follows(slid, lambda: slider.click(position=at(slider, 0.99)))
    assert slider.input_value() == slider.get_attribute("max")
    follows(slid, lambda: slider.tap(position=at(slider, 0.01)))
    assert slider.input_value() == "0"
    follows(slid, lambda: slider.press("End"))
    assert slider.input_value() == slider.get_attribute("max")
    slid.control("reset").click()
    wait_until(slid.page, lambda: slider.input_value() == start)


def test_play_sweeps_a_slider_and_stops_where_it_began(slid):
    button = slid.root.get_by_role("button", name="play", exact=True)
    slider = slider_of(slid)
    start = slider.input_value()
    button.click()
    wait_until(slid.page, lambda: slider.input_value() != start)
    wait_until(slid.page, lambda: button.count() == 1)
    assert slider.input_value() == start
    for stop in (slid.control("reset"), slid.root.locator(".chips button").first):
        button.click()
        stop.click()
        assert button.count() == 1
        stood = slider.input_value()
        slid.page.wait_for_timeout(300)
        assert slider.input_value() == stood
    slid.control("reset").click()


def test_the_picture_can_be_saved(shown):
    with shown.page.expect_download() as download:
        shown.control("save picture").click()
    image = Image.open(io.BytesIO(download.value.path().read_bytes()))
    width, height = shown.root.locator(".sheet > svg").evaluate(
        "svg => [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height]"
    )
    assert image.format == "PNG"
    assert image.width == int(width * 192 / 72 + 1e-6)
    assert image.height > height * 192 / 72
    assert len(image.convert("RGB").getcolors(1 << 24)) > 20
    bottom = image.convert("L").crop((0, image.height - 10, *image.size))
    assert bottom.getextrema() == (255, 255), "The words end before the picture does."


@pytest.mark.parametrize("width", [360, 600, 900])
def test_at_every_width_type_can_be_read_and_tracks_be_held(shown, width):
    shown.root.evaluate(SET_WIDTH, width)
    for is_large in (False, True):
        is_still(shown)
        if not is_large:
            wait_until(shown.page, lambda: not shown.root.evaluate(SCROLLS))
        assert shown.root.evaluate(SMALL_TYPE) == []
        assert shown.root.evaluate(SHORT_TRACKS) == []
        assert shown.root.evaluate(OVER_EDGE) == []
        shown.control("large type").click()
    shown.root.evaluate(SET_WIDTH, 0)
    is_still(shown)


@pytest.mark.parametrize("size", [(1366, 768), (1024, 768)], ids=str)
@pytest.mark.parametrize("is_large", [False, True], ids=["usual type", "large type"])
def test_a_picture_is_seen_together_with_its_words_and_with_its_controls(page, size, is_large):
    large = [shown.control("large type") for shown in page.explorers if is_large]
    for button in large:
        button.click()
    page.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.page.wait_for_timeout(1000)
    room = page.page.evaluate(HEIGHT_OF_VIEW)
    tall = {
        (name, what[:60]): shown.root.evaluate(what)
        for name, shown in zip(NAMES, page.explorers, strict=True)
        for what in (HEIGHT_TOGETHER, HEIGHT_TO_OPERATE)
    }
    page.page.set_viewport_size({"width": 1366, "height": 1000})
    page.page.wait_for_timeout(500)
    for button in large:
        button.click()
    assert {name: height for name, height in tall.items() if height > room} == {}


def test_large_type_makes_the_numbers_in_each_picture_larger_where_there_is_room(page):
    page.page.set_viewport_size({"width": 1366, "height": 768})
    page.page.wait_for_timeout(1000)
    scales = []
    for _ in range(2):
        scales.append([shown.root.evaluate(SCALE) for shown in page.explorers])
        for shown in page.explorers:
            shown.control("large type").click()
        page.page.wait_for_timeout(2000)
    page.page.set_viewport_size({"width": 1366, "height": 1000})
    assert [name for name, a, b in zip(NAMES, *scales, strict=True) if b <= a] == []


# Names what has too little contrast with the page behind it: texts, edges of buttons, and the color
# of what is chosen.
LOW_CONTRAST = """root => {
    const paper = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const over = (color, below) => {
        paper.fillStyle = below; paper.fillRect(0, 0, 1, 1);
        paper.fillStyle = color; paper.fillRect(0, 0, 1, 1);
        return `rgb(${[...paper.getImageData(0, 0, 1, 1).data].slice(0, 3)})`;
    };
    const behind = e => {
        const all = [];
        for (let at = e; at; at = at.parentElement)
            all.unshift(getComputedStyle(at).backgroundColor);
        return all.reduce((below, color) => over(color, below), 'white');
    };
    const light = color => color.match(/\\d+/g).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => {
        const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const found = [];
    const check = (e, what, color, below, least) => {
        const is = contrast(over(color, below), below);
        if (is < least) found.push(`${what} of ${e.tagName} ${e.textContent}: ${is.toFixed(2)}`);
    };
    for (const e of root.querySelectorAll('button:enabled, label, legend, p')) {
        if (e.querySelector(':disabled') || e.closest(':disabled')) continue;
        const look = getComputedStyle(e);
        check(e, 'text', look.color, behind(e), 4.5);
        for (let at = e; at; at = at.parentElement)
            if (getComputedStyle(at).opacity < 1) found.push(`${e.textContent} is pale`);
        if (e.tagName === 'BUTTON')
            check(e, 'edge', look.borderTopColor, behind(e.parentElement), 3);
    }
    for (const e of root.querySelectorAll('input:enabled'))
        check(e, 'accent', getComputedStyle(e).accentColor, behind(e), 3);
    return found;
}"""


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_each_theme_has_contrast_and_nothing_that_axe_calls_serious(page, theme):
    page.page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.page.get_by_text("Theme", exact=True).click()
    page.page.get_by_text(theme, exact=True).click()
    is_light = str(theme.endswith("Light")).lower()
    page.page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
    page.page.wait_for_timeout(500)
    assert serious(Axe().run(page.page, context=".lnorm-explorer")) == []
    for name, shown in zip(NAMES, page.explorers, strict=True):
        assert (name, shown.root.evaluate(LOW_CONTRAST)) == (name, [])


def test_a_page_that_follows_the_system_is_dark_when_the_system_is(page):
    veil = "sheet => getComputedStyle(sheet, '::after').backgroundColor"
    body = page.page.locator("body")
    was = body.get_attribute("data-jp-theme-light")
    body.evaluate("b => { delete b.dataset.jpThemeLight; b.dataset.theme = 'auto'; }")
    seen = []
    for scheme in ("light", "dark", "light"):
        page.page.emulate_media(color_scheme=scheme)
        seen.append(page.page.locator(".sheet").first.evaluate(veil))
    body.evaluate("(b, was) => { delete b.dataset.theme; b.dataset.jpThemeLight = was; }", was)
    assert seen[0] == seen[2] != seen[1]


def test_the_frames_of_an_explorer_are_few_megabytes(shown):
    session = shown.page.context.new_cdp_session(shown.page)

    def used():
        session.send("HeapProfiler.collectGarbage")
        return session.send("Runtime.getHeapUsage")["usedSize"]

    before = used()
    for chip in shown.root.locator(".chips button").all():
        chip.click()
        shown.page.wait_for_timeout(700)
    assert used() - before < 30e6
    shown.control("reset").click()
