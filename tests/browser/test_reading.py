"""Every page can be read by all, on a phone and on a screen, and found, printed, and linked to."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hands import Touch
from pages import LESSONS, PAGES
from site_page import MISFITS, NARROW, WIDE, serious

PHONE = (390, 844)
LOOKS = {"phone": {**Touch.options, "size": PHONE}, "dark": {"size": WIDE, "dark": True}}
# What is touched within the first screen.
DOT = ".box:not(.away) [data-hand=dot0]"
TOUCHED = {"index.html": DOT, LESSONS[0]: ".cell", LESSONS[4]: ".cell"}
# How far things have moved by themselves since the page was opened.
SHIFTED = """() => new Promise(done => {
    const add = (list) => done(list.getEntries().reduce((sum, entry) => sum + entry.value, 0));
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(0), 500);
})"""
# How far below the top the first thing stands that can be touched.
FIRST = """() => Math.min(
    ...[...document.querySelectorAll('.lnorm-recall, .lnorm-prediction, .lnorm-live, .lnorm-row')]
    .filter((e) => e.getClientRects().length).map((e) => e.getBoundingClientRect().top))"""
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
# Parts of the page that end beyond the window, and those that end beyond a box that hides or
# scrolls them, though they should be seen whole.
TOO_WIDE = """() => {
    const right = (e) => e.getBoundingClientRect().right;
    const whole = 'math, pre, .lnorm-picture:not(.wide) img';
    const boxOf = (e) => (getComputedStyle(e).overflowX === 'visible' && e.tagName !== 'BODY'
        ? boxOf(e.parentElement) : e);
    const edgeOf = (e) => (boxOf(e).tagName === 'BODY' ? innerWidth : right(boxOf(e)) + 1);
    return [...document.querySelectorAll('article *')].filter((e) => (e.matches(whole)
        ? e.getClientRects().length
            && Math.max(...[e, ...e.querySelectorAll('*')].map(right)) > edgeOf(e.parentElement)
        : right(e) > innerWidth + 1 && !e.closest('svg, math')
            && boxOf(e.parentElement).tagName === 'BODY'
    )).map((e) => `too wide: ${e.outerHTML}`);
}"""
# What a finger or a screen reader would miss.
MISSED = """(isPhone) => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const small = all('.lnorm-prediction :is(button, label, [type=text])')
        .filter((e) => e.getClientRects().length && e.getBoundingClientRect().height < 44);
    const swiped = all('.lnorm-picture.wide')
        .filter((e) => !getComputedStyle(e, '::after').content.includes('Swipe'));
    const names = all(':is(.lnorm-prediction, .lnorm-exercise) :is(button, summary),' +
        '.lnorm-answer > summary').map((e) => e.ariaLabel ?? e.textContent);
    const broken = all('article :is(td, th) code').filter((e) => {
        const lines = new Set([...e.getClientRects()].map((box) => box.top));
        return lines.size > 1 && /^[\\w.]+$/.test(e.textContent);
    });
    const levels = all('[role=main] :is(h1, h2, h3, h4, [role=heading])')
        .map((e) => Number(e.ariaLevel ?? e.tagName[1]));
    return [
        ...all('.lnorm-live:not(:has(.sheet > svg *))').map((e) => `not drawn: ${e.id}`),
        ...(isPhone ? [...small, ...swiped] : []).map((e) => `for a finger: ${e.outerHTML}`),
        ...broken.map((e) => `broken: ${e.textContent}`),
        ...names.filter((name, i) => names.indexOf(name) < i).map((name) => `twice: ${name}`),
        ...levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1).map((e) => `h${e}`),
    ];
}"""
# Colors on their way from one state to another have no contrast of their own.
STILL = """() => Promise.allSettled(document.getAnimations()
    .filter((each) => each.effect.getComputedTiming().iterations !== Infinity)
    .map((each) => each.finished))"""
IN_PRINT = """folds => addEventListener('beforeprint', () => {
    window.printed = folds.map(fold => fold.open);
})"""
# The addresses of the first five results for each wording.
FOUND = """async (wordings) => {
    const { opened } = await import(new URL('_static/search.js', document.baseURI));
    const find = await opened();
    return wordings.map((words) => find(words).slice(0, 5).map(({ id }) => id));
}"""
LINK = r'\b(?:href|src)="([^"?#]*)[^"#]*#?([^"]*)"'  # its address, and the place there
NEEDS_SCRIPT = ".content :is(button:not(.lnorm-word), input)"
ACTIVE = "place => place.contains(document.activeElement)"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("look", LOOKS)
def test_a_page_holds_still_fits_and_can_be_read_by_all(visit, name, look):
    # Without motion, or axe would look at colors of the opening picture in passing.
    page = visit(name, **LOOKS[look], reduced_motion="reduce").page
    is_phone = look == "phone"
    assert page.evaluate(SHIFTED) < 0.02
    if name in TOUCHED:
        part = page.locator(".lnorm-row").first.locator(TOUCHED[name]).first.bounding_box()
        assert part["y"] + part["height"] < page.viewport_size["height"]
    if name in LESSONS and is_phone:
        assert page.evaluate(FIRST) < 2 * 740
    page.evaluate(UNFOLD)
    wrong = page.evaluate(MISSED, is_phone) + page.evaluate(TOO_WIDE)
    for explorer in page.locator(".lnorm-explorer").all():
        wrong += explorer.evaluate(MISFITS)
    page.evaluate(STILL)
    wrong += serious(page)
    if is_phone:
        page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
        wrong += page.evaluate(TOO_WIDE)
    assert wrong == []


def test_keys_open_a_list_and_what_a_word_means_and_close_them(visit):
    page = visit(LESSONS[5], NARROW).page
    button, drawer = page.get_by_role("button", name="on this page"), page.locator(".toc-drawer")
    for _ in range(2):
        button.press("Enter")
        assert drawer.is_visible()
        page.keyboard.press("Escape")
        assert not drawer.is_visible()
        assert button.evaluate(ACTIVE)
    button.press("Enter")
    drawer.get_by_role("link", name="Recap").press("Enter")
    page.wait_for_url("**#recap")
    assert not drawer.is_visible()
    word = page.locator(".lnorm-word:visible").first
    word.press("Enter")
    meaning = page.locator(".lnorm-meaning:popover-open")
    assert word.inner_text().lower() in meaning.inner_text().lower()
    page.keyboard.press("Escape")
    assert meaning.count() == 0


@pytest.mark.parametrize("name", ["docs/hour.html", *TOUCHED])
def test_without_javascript_nothing_promises_what_does_not_work(visit, name):
    page = visit(name, NARROW, java_script_enabled=False).page
    assert not any(b.is_visible() for b in page.locator(NEEDS_SCRIPT).all())
    assert "work right here" not in page.locator(".content").inner_text()
    if name in TOUCHED:
        assert page.locator(".lnorm-row-place img").first.is_visible()


def test_in_high_contrast_what_is_pressed_differs(visit):
    page = visit(LESSONS[5], forced_colors="active").page
    pressed, other = (
        page.locator(f".chips [aria-pressed={is_pressed}]").first.evaluate(
            "button => getComputedStyle(button).backgroundColor"
        )
        for is_pressed in ("true", "false")
    )
    assert pressed != other


def test_what_is_folded_is_printed(visit):
    page = visit(LESSONS[0]).page
    folds = page.locator("summary:text-matches('^(After|What|Show) ')").locator("..")
    folds.evaluate_all(IN_PRINT)
    page.pdf()
    assert folds.count() > page.locator(".lnorm-answer").count() > 0
    assert page.evaluate("printed") == [True] * folds.count()
    assert folds.evaluate_all("folds => folds.map(fold => fold.open)") == [False] * folds.count()


def test_on_a_phone_long_code_unfolds_and_an_argument_stays_beside_its_gap(visit):
    page = visit(LESSONS[4], NARROW).page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    button = page.locator(".lnorm-more").first
    lines = button.locator("..").locator(".lnorm-line").element_handles()
    assert [line.is_visible() for line in lines] == [True] * 3 + [False] * (len(lines) - 3)
    button.click()
    assert all(line.is_visible() for line in lines)
    argument = page.locator(".argument", has_text="keepdim=").first
    code, gap = (argument.locator(part).bounding_box() for part in ("code", "select"))
    assert gap["y"] < code["y"] + code["height"] / 2 < gap["y"] + gap["height"]
    assert page.locator(".mobile-header .brand").inner_text().startswith("5. ")


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_cheat_sheet_of_the_site_prints_on_one_sheet_with_its_picture(visit, paper):
    margins = dict.fromkeys(("top", "right", "bottom", "left"), "10mm")
    page = visit("docs/cheat_sheet.html").page
    picture = page.locator(".lnorm-one-sheet")
    picture.evaluate("img => addEventListener('beforeprint', () => { seen = img.width; })")
    assert not picture.is_visible()
    printed = page.pdf(format=paper, margin=margins)
    assert page.evaluate("seen") > 200
    assert picture.evaluate("img => img.naturalWidth")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


def test_the_search_finds_an_answer_whatever_words_people_use(visit):
    asked, answers = {}, []
    for line in Path(__file__).with_name("searches.txt").read_text("utf-8").splitlines():
        if line.startswith(" "):
            asked[line.strip()] = answers
        else:
            answers = line.split()
    found = visit("search.html").page.evaluate(FOUND, [*asked])
    assert [
        words
        for (words, answers), addresses in zip(asked.items(), found, strict=True)
        if not any(answer in address for answer in answers for address in addresses)
    ] == []


def test_what_the_search_finds_can_be_gone_to_and_what_it_does_not_find_is_said(visit):
    page = visit("docs/questions.html").page
    page.locator(".lnorm-search input").fill("cricle")
    page.keyboard.press("Enter")
    assert page.locator("mark").first.inner_text() == "circle"
    page.locator(".lnorm-results a[href*='06_two_feature_collapse']").first.click()
    page.locator("h1", has_text="What is left of two features?").wait_for()
    page = visit("search.html?q=zymurgy").page
    page.locator(".lnorm-found", has_text="Nothing was found.").wait_for()


def test_links_lead_somewhere(site):
    texts = {page: unescape(page.read_text("utf-8")) for page in site.resolve().rglob("*.html")}
    broken = []
    for page, text in texts.items():
        for address, place in re.findall(LINK, text):
            if urlsplit(address).scheme or "=" in place:  # a state of an explorer
                continue
            file = (page.parent / unquote(address)).resolve() if address else page
            file = file / "index.html" if file.is_dir() else file
            is_there = not place or file not in texts or f'id="{unquote(place)}"' in texts[file]
            if not file.is_file() or not is_there:
                broken.append(f"{page.relative_to(site.resolve())}: {address}#{place}")
    assert broken == []
