"""Every page can be read by all, on a phone and on a screen, and found, printed, and linked to."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from hands import Keyboard, Touch
from pages import LESSONS, PAGES, UNFOLD
from searches import SEARCHES
from site_page import NARROW, WIDE, Visit, written
from test_predictions import answer_by_hand
from test_site_explorers import move_to_all_ends
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
FIRST = """() => Math.min(...[...document.querySelectorAll('.lnorm-prediction, .lnorm-live')]
    .map((e) => e.getBoundingClientRect().top + scrollY))"""
SWIPED = "e => getComputedStyle(e, '::after').content"
WIDTH = "document.documentElement.scrollWidth"
SMALL = """boxes => boxes.filter(e => e.getClientRects().length)
    .filter(e => e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"""
NAMES = """() => [...document.querySelectorAll(
    ':is(.lnorm-prediction, .lnorm-exercise, .lnorm-closed) :is(button, summary),' +
    '.lnorm-answer > summary'
)].map(control => control.ariaLabel ?? control.textContent)"""
LEVELS = """() => [...document.querySelectorAll('[role=main] :is(h1, h2, h3, h4, [role=heading])')]
    .map(heading => Number(heading.ariaLevel ?? heading.tagName[1]))"""
IN_SIGHT = """() => {
    const { top, bottom } = document.querySelector(':target > h2').getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
}"""
ACTIVE = "place => place.contains(document.activeElement)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_and_a_screen_and_can_be_read_by_all(visit, name):
    opened = visit(name, **Touch.options)
    page = opened.page
    assert all(alive.root.is_visible() for alive in opened.explorers)
    assert (
        page.locator(".lnorm-prediction :is(button, label, [type=text])").evaluate_all(SMALL) == []
    )
    if name in LESSONS:  # the first one begins with a picture of its task
        assert page.evaluate(FIRST) < (3 if name == LESSONS[0] else 2) * NARROW[1]
    page.evaluate(UNFOLD)
    assert page.evaluate(WIDTH) <= NARROW[0]
    for whole in ("math", ".lnorm-line", ".lnorm-drawn:not(.wide) img"):
        assert page.evaluate(CUT, whole) == []
    for swiped in page.locator(".lnorm-drawn.wide").all():
        assert "Swipe" in swiped.evaluate(SWIPED)
    assert serious(Axe().run(page)) == []
    names, levels = page.evaluate(NAMES), page.evaluate(LEVELS)
    assert len({*names}) == len(names)
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    page.set_viewport_size(dict(zip(("width", "height"), WIDE, strict=True)))
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(WIDTH) <= WIDE[0]
    assert serious(Axe().run(page)) == []


def test_a_word_leads_to_its_meaning(visit):
    page = visit(LESSONS[1]).page
    page.evaluate(UNFOLD)
    words = page.locator("a.lnorm-word")
    names = words.evaluate_all("all => all.map(a => a.textContent.toLowerCase())")
    assert len(names) == len({*names}) > 3
    no_prose = ":is(h1, h2, h3, code, .lnorm-aims, .lnorm-prediction)"
    assert page.locator(f"{no_prose} a.lnorm-word").count() == 0
    word = words.filter(has_text="variance").first
    meaning = word.get_attribute("title")
    word.click()
    page.wait_for_url("**/docs/glossary.html#word-*")
    row = page.locator(":target").evaluate("e => e.parentElement.textContent")
    assert row.strip().endswith(meaning)


@pytest.mark.parametrize("size", [NARROW, (1100, 700)], ids=str)
def test_keys_open_a_list_walk_through_it_close_it_and_follow_it(visit, size):
    page = visit(LESSONS[5], size).page
    button = page.get_by_role("button", name="on this page")
    drawer = page.locator(".toc-drawer")
    page.get_by_role("button", name="colors").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(3):
        assert drawer.evaluate(ACTIVE)
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert button.evaluate(ACTIVE)
    assert button.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    drawer.get_by_role("link", name="Recap").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.wait_for_function(IN_SIGHT)
    assert page.locator(":target").evaluate(ACTIVE)
    assert button.get_attribute("aria-expanded") == "false"


def test_a_card_closes_a_whole_passage_for_everyone_until_an_answer_is_shown(visit):
    page = visit(LESSONS[5]).page
    passages = page.locator(".lnorm-passage")
    titles = passages.locator("h2").evaluate_all("all => all.map(e => e.firstChild.textContent)")
    assert titles
    assert passages.locator("form, .lnorm-exercise, .lnorm-live").count() == 0
    headings = page.get_by_role("heading", level=2)
    told = [*headings.all_inner_texts(), page.locator(".toc-tree").inner_text()]
    assert not any(title in text for title in titles for text in told)
    cards = page.get_by_role("button", name="show what comes next")
    cards.first.click()
    assert page.evaluate("document.activeElement.firstChild.textContent") == titles[0]
    assert titles[0] in page.locator(".toc-tree").inner_text()
    for fold in page.locator(".lnorm-answer > summary").all():
        fold.click()
    assert cards.count() == 0
    assert {*titles} <= {text.rstrip("¶") for text in headings.all_inner_texts()}


def test_a_link_to_a_closed_passage_opens_it(visit):
    closed = visit(LESSONS[5]).page.locator("section:has(> .lnorm-passage)").first
    place = closed.get_attribute("id")
    heading = visit(f"{LESSONS[5]}#{place}").page.locator(f"[id='{place}'] > h2")
    heading.wait_for()
    assert 0 <= heading.bounding_box()["y"] < 100


@pytest.mark.parametrize("name", ["index.html", LESSONS[0], "docs/hour.html"])
def test_without_javascript_nothing_promises_what_does_not_work(visit, name):
    page = visit(name, NARROW, java_script_enabled=False).page
    assert not any(b.is_visible() for b in page.locator(".content :is(button, input)").all())
    assert "work right here" not in page.locator(".content").inner_text()


def test_a_page_prints_without_what_only_a_screen_needs(visit):
    page = visit(LESSONS[5]).page
    page.locator(".lnorm-live").first.scroll_into_view_if_needed()
    page.locator(".lnorm-explorer > p:not(:empty)").first.wait_for()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})  # about a sheet
    assert not page.locator(".skip-to-content").is_visible()
    assert page.locator(".lnorm-passage").first.is_visible()
    wide = "all => all.filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).length"
    assert page.locator("pre").count() > 10
    assert page.locator(":is(pre, .stage)").evaluate_all(wide) == 0


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


def test_a_handout_is_alive_without_a_server(chromium, tmp_path):
    file = tmp_path / "lesson.html"
    written("handout", "collapse", "--out", file)
    visit = Visit(chromium, file.as_uri(), NARROW).open("")
    (alive,) = visit.explorers
    for preset in alive.presets:
        alive.root.get_by_role("button", name=preset, exact=True).click()
        alive.go(preset)
        alive.check()
    move_to_all_ends(alive, 0, alive.about["controls"][0], Keyboard(visit.page))
    answer_by_hand(visit.page.locator(".lnorm-prediction").last)
    images = visit.page.locator("img")
    visit.page.evaluate(UNFOLD)
    images.evaluate_all("images => images.forEach(image => { image.loading = 'eager'; })")
    images.evaluate_all("images => Promise.all(images.map(image => image.decode()))")
    visit.close()


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
