"""Explorers in JupyterLab, as instruments: by mouse, touch and keyboard, at every width, in both
themes, linked, many at once, and where the kernel dies.
"""

import io

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from control_ends import make_all
from jupyterlab_page import Page
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image
from test_without_a_kernel import serious

NAMES = list(make_all())
IMPORT = "from lnorm_utils.explorers import *"
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
IS_SHOWN = "root => root.querySelector('p').textContent.length > 0"
# Elements with text of their own that is smaller than 12 pixels on the screen.
SMALL_TYPE = """root => {
    const small = [...root.querySelectorAll('*')].filter(
        e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
            && !e.closest('svg') && e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12
    ).map(e => e.outerHTML);
    const svg = root.querySelector('svg[role=img]');
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
OVER_EDGE = """root => [...root.querySelectorAll('*')].filter(e => !e.closest('.sheet'))
    .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1)
    .map(e => e.outerHTML.slice(0, 80))"""
SCROLLS = (
    "root => { const s = root.querySelector('.stage'); return s.scrollWidth > s.clientWidth; }"
)
# How tall picture, words, and what is between them are.
HEIGHT_TOGETHER = """root => root.querySelector('p').getBoundingClientRect().bottom
    - root.querySelector('.sheet').getBoundingClientRect().top"""
HEIGHT_OF_VIEW = "() => document.querySelector('.jp-WindowedPanel-outer').clientHeight"


def notebook(folder, name, *cells):
    """Write a notebook."""
    found = new_notebook(cells=[*map(new_code_cell, cells)], metadata={"kernelspec": KERNEL})
    nbformat.write(found, folder / name)
    return name


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


@pytest.fixture(params=NAMES)
def shown(page, request):
    shown = page.explorers[NAMES.index(request.param)]
    shown.name = request.param
    return shown


def slider_of(shown):
    """Return the first slider that can be moved."""
    return shown.root.locator("input[type=range]:enabled").first


def at(slider, share):
    """Return a place on a track, for the mouse or a finger."""
    box = slider.bounding_box()
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def is_still(shown):
    """Wait until the picture and its words have been the same for a while."""
    seen = None
    while seen != (seen := (shown.words, shown.paths, shown.root.bounding_box())):
        shown.page.wait_for_timeout(250)


def wait_until(page, is_so, seconds=20):
    """Wait until something is so."""
    for _ in range(20 * seconds):
        if is_so():
            return
        page.wait_for_timeout(50)
    assert is_so()


def follows(shown, act):
    """Assert that words and picture change, and agree, when something is done."""
    before = shown.words, shown.paths
    act()
    wait_until(shown.page, lambda: shown.words != before[0])
    is_still(shown)
    assert shown.alternative == shown.words


def test_a_slider_follows_mouse_finger_and_keys(shown):
    slider = slider_of(shown)
    slider.scroll_into_view_if_needed()
    mouse, touch, start = shown.page.mouse, shown.page.touchscreen, slider.input_value()
    slider.press("Home")
    is_still(shown)
    follows(shown, lambda: mouse.click(*at(slider, 0.99)))
    assert slider.input_value() == slider.get_attribute("max")
    follows(shown, lambda: touch.tap(*at(slider, 0.01)))
    assert slider.input_value() == "0"
    follows(shown, lambda: slider.press("End"))
    assert slider.input_value() == slider.get_attribute("max")
    shown.control("reset").click()
    wait_until(shown.page, lambda: slider.input_value() == start)


def test_play_sweeps_a_slider_and_stops_where_it_began(shown):
    button = shown.root.get_by_role("button", name="play", exact=True)
    slider = slider_of(shown)
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
    shown.control("reset").click()


def test_the_picture_can_be_saved(shown):
    with shown.page.expect_download() as download:
        shown.control("save picture").click()
    image = Image.open(io.BytesIO(download.value.path().read_bytes()))
    width, height = shown.root.locator("svg[role=img]").evaluate(
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
def test_picture_and_words_are_seen_together(page, size, is_large):
    large = [shown.control("large type") for shown in page.explorers if is_large]
    for button in large:
        button.click()
    page.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.page.wait_for_timeout(1000)
    room = page.page.evaluate(HEIGHT_OF_VIEW)
    tall = {n: s.root.evaluate(HEIGHT_TOGETHER) for n, s in zip(NAMES, page.explorers, strict=True)}
    page.page.set_viewport_size({"width": 1366, "height": 1000})
    page.page.wait_for_timeout(500)
    for button in large:
        button.click()
    assert {name: height for name, height in tall.items() if height > room} == {}


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
