"""The web edition, served as plain files: what lives in its pages shows what Python computes, by
keyboard, mouse and touch, and its predictions are judged as in JupyterLab.
"""

from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from math import isfinite
from pathlib import Path
from re import sub
from urllib.parse import parse_qs, unquote, urldefrag, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from hands import Keyboard, Mouse, Touch
from project import LESSON_PATHS, NOTEBOOK_PATHS, PROJECT
from searches import SEARCHES
from site_page import NARROW, WIDE, Visit, written
from test_without_a_kernel import serious

from lnorm_utils.checking.exercise import Exercise
from lnorm_utils.checking.feedback import State, inline
from lnorm_utils.web.baking import curly

LESSONS = [f"notebooks/{path.stem}.html" for path in LESSON_PATHS]
DOCS = [f"docs/{path.stem}.html" for path in sorted((PROJECT / "docs").glob("*.md"))]
NOTEBOOKS = [f"notebooks/{path.stem}.html" for path in NOTEBOOK_PATHS]
ASKING = ["docs/hour.html", *NOTEBOOKS]
ALIVE = ["index.html", *ASKING]
DEAD = [page for page in DOCS if page not in ("docs/index.html", *ALIVE)]
PAGES = [*ALIVE, "README.html", "search.html?q=mean", "404.html", *DEAD]
KINDS = (":not(.further)", ".further")  # of the questions on a page
ASKED = ":is(.lnorm-prediction, .lnorm-choosing)"
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"


def move_to_all_ends(alive, number, control, hand):
    """Move a control to both ends, or to all that can be chosen; look at each."""
    box = alive.root.locator(".controls > *").nth(number)
    if control["kind"] == "slider":
        slider = box.locator("input")
        for end in (1, 0):
            last = alive.frame["most"].get(number, len(control["texts"]) - 1)
            hand.drag(slider, end)
            if hand.passes_others:
                alive.moved(number, last // 2)
            alive.moved(number, last * end)
            alive.check()
    elif control["kind"] == "choice":
        for place in (*range(1, len(control["texts"])), 0):
            hand.choose(box.locator("input").nth(place))
            alive.moved(number, place)
            alive.check()
    elif control["kind"] == "switch":
        for _ in range(2):
            hand.tick(box.locator("input"))
            alive.moved(number, 1 - alive.state[number])
            alive.check()
    else:
        for _ in range(2):
            hand.press(box)
            alive.moved(number, (alive.state[number] + 1) % alive.presses)
            alive.check()


@pytest.mark.parametrize("hand", [Keyboard, Mouse, Touch])
@pytest.mark.parametrize("name", ALIVE)
def test_every_explorer_shows_what_python_computes(visit, name, hand):
    opened = visit(name, **hand.options)
    hand = hand(opened.page)
    for alive in opened.explorers:
        alive.check()
        alive.check_background()
        assert alive.note.is_visible() != alive.is_whole
        chip = alive.root.locator(".chips").get_by_role("button")
        for preset in alive.presets:
            hand.press(chip.get_by_text(preset, exact=True))
            alive.go(preset)
            alive.check()
        for number, control in enumerate(alive.about["controls"]):
            for preset in alive.presets:
                if number not in alive.frame["off"]:
                    break
                hand.press(chip.get_by_text(preset, exact=True))
                alive.go(preset)
                alive.check()
            assert number not in alive.frame["off"]
            move_to_all_ends(alive, number, control, hand)


def exercise(form):
    """Find the prediction that a form asks."""
    topic, name = form.get_attribute("id").split("-", 1)
    import_module(f"lnorm_utils.exercises.{topic}")
    return Exercise.bank[topic][name]


def typed(value):
    """Write a value as a reader types it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(repr, value))}{',' * (len(value) == 1)})"
    return value if isinstance(value, str) else repr(value)


def answers(question):
    """Yield what readers answer: each value of the bank, also rounded, and what else comes up."""
    values = [value for value, *_ in (*question.answers, *question.wrong)]
    yield from ((typed(value), value) for value in values)
    if not isinstance(values[0], str | bool):
        for value in (v for v in values if isinstance(v, float) and isfinite(v)):
            for digits in (1, 2, 3):
                yield repr(round(value, digits)), round(value, digits)
            yield f"{value * 4!r} / 4".replace("-", "−"), value
        for value in (v for v in values if isinstance(v, tuple) and v):
            yield str(value)[1:-1], value
            yield str(list(value)), value
        for value in (0.6 * choice + 0.1 for choice in question.choices):
            yield typed(value), value
        for value in (98765, -0.4321, (2, 3), (1, 2, 3, 4, 5), (2.5, 0.1), "many"):
            yield typed(value), value


# Give one answer after the other, and tell what is said each time, and whether it counts as right.
ANSWER = """(form, answers) => answers.map(answer => {
    const inputs = [...form.querySelectorAll('input[name=answer]')];
    if (inputs[0].type === 'text') inputs[0].value = answer;
    else inputs.forEach(input => { input.checked = input.value === answer; });
    form.requestSubmit();
    return [form.querySelector('.said').textContent, form.classList.contains('right')];
})"""


def text_of(feedback):
    return unescape(sub("<[^>]+>", "", curly(feedback._repr_html_())))


@pytest.mark.parametrize("name", ASKING)
def test_predictions_are_judged_as_in_python(visit, name):
    page = visit(name).page
    for form in page.locator(".lnorm-prediction").all():
        question = exercise(form)
        given = [*answers(question)]
        seen = form.evaluate(ANSWER, ["", *(text for text, _ in given)])
        (nothing, is_right), *seen = seen
        assert not is_right
        assert nothing.startswith(text_of(question.judge(...)).split(":")[0])
        messages = [message for _, message, *_ in (*question.answers, *question.wrong)]
        for (text, value), (said, is_right) in zip(given, seen, strict=True):
            feedback = question.judge(value)
            about = question.name, text, said
            assert is_right == (feedback.state is State.RIGHT), about
            same_words = ("two decimals", "closest")
            if feedback.message in messages or any(w in feedback.message for w in same_words):
                assert said == text_of(feedback), about
            else:  # other words than in JupyterLab, where one calls `.hint()` and writes tuples
                assert said.startswith(("✗", "○")), about
                assert not any(inline_text(message) in said for message in messages), about


def inline_text(message):
    return unescape(sub("<[^>]+>", "", curly(inline(" ".join(message.split())))))


def answer_by_hand(form):
    """Answer rightly, as a reader does with keys."""
    question = exercise(form)
    right = typed(question.answers[0][0])
    if form.locator("input[type=text]").count():
        form.locator("input[type=text]").fill(right)
        form.locator("input[type=text]").press("Enter")
    else:
        form.get_by_label(right, exact=True).check()
        form.get_by_role("button", name="Check").press("Enter")
    form.locator(".said").get_by_text("Right").wait_for()


# Whether what shows an answer is open, for each question that has such a thing.
OPENED = """() => [...document.querySelectorAll('.lnorm-prediction')]
    .map(form => form.nextElementSibling?.open).filter(open => open !== undefined)"""
IN_PRINT = """folds => addEventListener('beforeprint', () => {
    window.printed = folds.map(fold => fold.open);
})"""


@pytest.mark.parametrize("name", ASKING)
def test_an_answer_unfolds_what_shows_it_and_is_kept(visit, name):
    page = visit(name).page
    forms = page.locator(".lnorm-prediction").all()
    closed = page.evaluate(OPENED)
    assert closed
    assert not any(closed)
    for form in forms:
        form.evaluate(ANSWER, [typed(value) for value, *_ in exercise(form).wrong])
    assert page.evaluate(OPENED) == closed
    for form in forms:
        before = sum(page.evaluate(OPENED))
        answer_by_hand(form)
        has_fold = form.evaluate("form => 'open' in (form.nextElementSibling ?? {})")
        assert sum(page.evaluate(OPENED)) == before + has_fold
    assert all(page.evaluate(OPENED))
    said = page.locator(".lnorm-prediction .said")
    before = said.all_inner_texts()
    page.reload()
    assert all(page.evaluate(OPENED))
    assert said.all_inner_texts() == before
    main, further = (page.locator(f".lnorm-prediction{kind}").count() for kind in KINDS)
    asked, more = (page.locator(f"{ASKED}{kind}").count() for kind in KINDS)
    for progress in page.locator(".lnorm-progress").all():  # in a lesson
        told = progress.inner_text()
        assert told.startswith(f"{main} of {asked} ")
        assert told.endswith(f"In the side trips, {further} of {more}.") == bool(more)


def test_what_is_folded_is_printed(visit):
    page = visit(LESSONS[0]).page
    folds = page.locator("summary:text-matches('^(After|What|Show) ')").locator("..")
    folds.evaluate_all(IN_PRINT)
    page.pdf()
    assert folds.count() > page.locator(".lnorm-answer").count() > 0
    assert page.evaluate("printed") == [True] * folds.count()
    assert folds.evaluate_all("folds => folds.map(fold => fold.open)") == [False] * folds.count()


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=str)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_window_and_can_be_read_by_all(visit, name, size):
    opened = visit(name, size, dark=size == WIDE)
    assert all(alive.root.is_visible() for alive in opened.explorers)
    opened.page.evaluate(UNFOLD)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert serious(Axe().run(opened.page)) == []


@pytest.mark.parametrize("kind", SEARCHES)
def test_the_search_finds_an_answer_whatever_words_people_use(visit, kind):
    answers, wordings = SEARCHES[kind]
    page = visit("search.html").page
    for words in wordings:
        page.locator(".lnorm-search input").fill(words)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, q=words: parse_qs(urlsplit(url).query).get("q") == [q])
        page.locator(".lnorm-results a").first.wait_for()
        found = page.locator(".lnorm-results a").evaluate_all("all => all.map(a => a.href)")
        assert any(answer in address for answer in answers for address in found[:5]), words


def test_what_the_search_finds_can_be_gone_to_and_what_it_does_not_find_is_said(visit):
    page = visit("docs/questions.html").page
    page.locator(".lnorm-search input").fill("cricle")
    page.keyboard.press("Enter")
    assert page.locator("mark").first.inner_text() == "circle"
    assert page.title().startswith("cricle")
    page.locator(".lnorm-results a[href*='06_two_feature_collapse']").first.click()
    page.locator("h1", has_text="What is left of two features?").wait_for()
    page = visit("search.html?q=zymurgy").page
    page.locator(".lnorm-found", has_text="Nothing was found.").wait_for()


@pytest.mark.parametrize("name", LESSONS)
def test_a_link_leads_to_a_state(visit, name):
    opened = visit(name, permissions=["clipboard-read", "clipboard-write"])
    (alive,) = opened.explorers
    page = opened.page
    addresses = {}
    for preset in alive.presets:
        alive.root.get_by_role("button", name=preset, exact=True).click()
        alive.root.get_by_role("button", name="copy link").click()
        alive.root.get_by_role("button", name="link copied").wait_for()
        alive.root.get_by_role("button", name="copy link").wait_for()
        addresses[preset] = page.evaluate("navigator.clipboard.readText()")
    start = page.url.split("#")[0] + f"#{alive.topic}="
    assert len({*addresses.values()}) == len(addresses)
    for preset in list(alive.presets)[1:3]:
        assert addresses[preset].startswith(start)
        same_place(opened, addresses[preset], alive.presets[preset])
    alive.go(preset)
    number = next(i for i in range(len(alive.state)) if i not in alive.frame["off"])
    alive.moved(number, int(alive.state[number] == 0))
    same_place(opened, start + ",".join(map(str, alive.state)), alive.state)


def same_place(opened, address, state):
    """Assert that an address shows a state: when it's opened, and when the page is open already."""
    for first in (address, address.split("#")[0]):
        opened.page.goto("about:blank")
        opened.page.goto(first)
        if first != address:
            opened.explorers[0].check()
            opened.page.goto(address)
        (alive,) = opened.explorers
        alive.state = state
        alive.check()


@pytest.mark.parametrize(
    "wrong",
    ["collapse=no-such-preset", "collapse=1,2", "collapse=99,0,0", "mean=1", "collapse=%", "="],
)
def test_a_link_to_no_state_is_ignored(visit, wrong):
    (alive,) = visit(f"{LESSONS[5]}#{wrong}").explorers
    alive.check()


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
