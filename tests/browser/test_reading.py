"""Every page can be read by all, on a phone and on a screen, and found, printed, and linked to."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from hands import Touch
from pages import LESSONS, PAGES, UNFOLD
from searches import SEARCHES
from site_page import NARROW, WIDE
from test_without_a_kernel import serious

# Parts of the page that end beyond a box that hides or scrolls them.
CUT = """selector => {
    const right = (e) => Math.max(...[e, ...e.querySelectorAll('*')]
        .map((part) => part.getBoundingClientRect().right));
    const isCut = (e) => {
        for (let box = e.parentElement; box.tagName !== 'BODY'; box = box.parentElement)
            if (getComputedStyle(box).overflowX !== 'visible')
                return right(e) > box.getBoundingClientRect().right + 1;
        return right(e) > innerWidth;
    };
    return [...document.querySelectorAll(`article ${selector}`)]
        .filter((e) => e.getClientRects().length && isCut(e)).map((e) => e.textContent);
}"""
# Parts of the page beyond the window, where nothing scrolls to them.
OUTSIDE = """() => [...document.querySelectorAll('article *')].filter((e) => {
    if (e.getBoundingClientRect().right <= innerWidth + 1 || e.closest('svg, math')) return false;
    for (let box = e.parentElement; box.tagName !== 'BODY'; box = box.parentElement)
        if (getComputedStyle(box).overflowX !== 'visible') return false;
    return true;
}).map((e) => e.outerHTML)"""
FIRST = """() => Math.min(
    ...[...document.querySelectorAll('.lnorm-prediction, .lnorm-live, .lnorm-row')]
    .map((e) => e.getBoundingClientRect().top + scrollY))"""
SWIPED = "e => getComputedStyle(e, '::after').content"
PHONE = (390, 740)
# Colors on their way from one state to another have no contrast of their own.
STILL = """() => Promise.allSettled(document.getAnimations()
    .filter((each) => each.effect.getComputedTiming().iterations !== Infinity)
    .map((each) => each.finished))"""
SMALL = """boxes => boxes.filter(e => e.getClientRects().length)
    .filter(e => e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"""
NAMES = """() => [...document.querySelectorAll(
    ':is(.lnorm-prediction, .lnorm-exercise) :is(button, summary),' +
    '.lnorm-answer > summary'
)].map(control => control.ariaLabel ?? control.textContent)"""
LEVELS = """() => [...document.querySelectorAll('[role=main] :is(h1, h2, h3, h4, [role=heading])')]
    .map(heading => Number(heading.ariaLevel ?? heading.tagName[1]))"""
NEEDS_SCRIPT = ".content :is(button:not(.lnorm-word), input)"
ACTIVE = "place => place.contains(document.activeElement)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_and_a_screen_and_can_be_read_by_all(visit, name):
    # Without motion, or axe would look at colors of the opening picture in passing.
    opened = visit(name, **{**Touch.options, "size": PHONE}, reduced_motion="reduce")
    page = opened.page
    assert all(alive.root.is_visible() for alive in opened.explorers)
    assert (
        page.locator(".lnorm-prediction :is(button, label, [type=text])").evaluate_all(SMALL) == []
    )
    if name in LESSONS:  # the first one begins with a picture of its task
        assert page.evaluate(FIRST) < (3 if name == LESSONS[0] else 2) * PHONE[1]
    page.evaluate(UNFOLD)
    for whole in ("math", "pre", ".lnorm-picture:not(.wide) img"):
        assert page.evaluate(CUT, whole) == []
    for swiped in page.locator(".lnorm-picture.wide").all():
        assert "Swipe" in swiped.evaluate(SWIPED)
    page.evaluate(STILL)
    assert serious(Axe().run(page)) == []
    names, levels = page.evaluate(NAMES), page.evaluate(LEVELS)
    assert len({*names}) == len(names)
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    page.emulate_media(color_scheme="dark")
    for width, height in (PHONE, NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(OUTSIDE) == []
    page.evaluate(STILL)
    assert serious(Axe().run(page)) == []


def test_keys_open_a_list_close_it_and_follow_it(visit):
    page = visit(LESSONS[5], NARROW).page
    button, drawer = page.get_by_role("button", name="on this page"), page.locator(".toc-drawer")
    button.focus()
    page.keyboard.press("Enter")
    assert drawer.is_visible()
    page.keyboard.press("Escape")
    assert not drawer.is_visible()
    assert button.evaluate(ACTIVE)
    page.keyboard.press("Enter")
    drawer.get_by_role("link", name="Recap").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#recap")
    assert not drawer.is_visible()


def test_a_word_of_the_glossary_opens_its_meaning(visit):
    page = visit(LESSONS[5], NARROW).page
    word = page.locator(".lnorm-word").first
    word.press("Enter")
    meaning = page.locator(".lnorm-meaning:popover-open")
    assert word.inner_text().lower() in meaning.inner_text().lower()
    page.keyboard.press("Escape")
    assert meaning.count() == 0


@pytest.mark.parametrize("name", ["index.html", LESSONS[0], "docs/hour.html"])
def test_without_javascript_nothing_promises_what_does_not_work(visit, name):
    page = visit(name, NARROW, java_script_enabled=False).page
    assert not any(b.is_visible() for b in page.locator(NEEDS_SCRIPT).all())
    assert "work right here" not in page.locator(".content").inner_text()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_cheat_sheet_of_the_site_prints_on_one_sheet(visit, paper):
    margins = dict.fromkeys(("top", "right", "bottom", "left"), "10mm")
    printed = visit("docs/cheat_sheet.html").page.pdf(format=paper, margin=margins)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


def test_the_search_finds_an_answer_whatever_words_people_use(visit):
    page = visit("search.html").page
    lost = []
    for answers, wordings in SEARCHES.values():
        for words in wordings:
            page.locator(".lnorm-search input").fill(words)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url, q=words: parse_qs(urlsplit(url).query).get("q") == [q])
            page.locator(".lnorm-results a").first.wait_for()
            found = page.locator(".lnorm-results a").evaluate_all("all => all.map(a => a.href)")
            if not any(answer in address for answer in answers for address in found[:5]):
                lost.append(words)
    assert lost == []


def test_what_the_search_finds_can_be_gone_to_and_what_it_does_not_find_is_said(visit):
    page = visit("docs/questions.html").page
    page.locator(".lnorm-search input").fill("cricle")
    page.keyboard.press("Enter")
    assert page.locator("mark").first.inner_text() == "circle"
    page.locator(".lnorm-results a[href*='06_two_feature_collapse']").first.click()
    page.locator("h1", has_text="What is left of two features?").wait_for()
    page = visit("search.html?q=zymurgy").page
    page.locator(".lnorm-found", has_text="Nothing was found.").wait_for()


class Links(HTMLParser):
    """What a page links to or shows, and the places in it that links can lead to."""

    def __init__(self, page):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        self.places.add(found.get("id"))


def test_links_lead_somewhere(site):
    pages = {page: Links(page) for page in site.rglob("*.html")}
    broken = []
    for page, found in pages.items():
        for link in found.links:
            address, place = urldefrag(urljoin(page.as_uri(), link))
            if urlsplit(address).scheme != "file" or "=" in place:  # a state of an explorer
                continue
            file = Path(unquote(urlsplit(address).path))
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file() or (file in pages and unquote(place) not in pages[file].places):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []
