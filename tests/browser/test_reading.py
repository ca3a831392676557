"""A lesson on a phone: nothing is cut or read sideways without saying so, and it begins soon."""

import pytest
from project import NOTEBOOK_PATHS
from site_page import Visit

PHONE = (390, 740)
LESSONS = [f"notebooks/{path.stem}.html" for path in NOTEBOOK_PATHS]
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
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
SWIPED = "e => getComputedStyle(e, '::after').content"
FIRST = """() => Math.min(...[...document.querySelectorAll('.lnorm-prediction, .lnorm-live')]
    .map((e) => e.getBoundingClientRect().top + scrollY))"""


@pytest.fixture
def on_a_phone(chromium, home):
    visits = []

    def open_page(name, **options):
        visits.append(Visit(chromium, home, PHONE, has_touch=True, is_mobile=True, **options))
        return visits[-1].open(name).page

    yield open_page
    for each in visits:
        each.close()


@pytest.mark.parametrize("name", LESSONS)
def test_formulas_code_and_pictures_fit_a_phone(on_a_phone, name):
    page = on_a_phone(name)
    # The first lesson begins with a picture of its task.
    assert page.evaluate(FIRST) < (3 if name == LESSONS[0] else 2) * PHONE[1]
    page.evaluate(UNFOLD)
    assert page.evaluate(CUT, "math") == []
    assert page.evaluate(CUT, ".lnorm-line") == []
    assert page.evaluate(CUT, ".lnorm-drawn:not(.wide) img") == []
    for swiped in page.locator(".lnorm-drawn.wide").all():
        assert "Swipe" in swiped.evaluate(SWIPED)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    title = page.locator("h1")
    lines = "e => e.getClientRects()[0].height / parseFloat(getComputedStyle(e).lineHeight)"
    assert round(title.evaluate(lines)) <= 2


@pytest.mark.parametrize("is_right", [True, False])
def test_right_and_wrong_differ_by_more_than_color(on_a_phone, is_right):
    form = on_a_phone("notebooks/02_variance.html").locator(".lnorm-prediction:has([type=text])")
    form = form.first
    form.locator("summary").first.click()
    data = form.locator("script").evaluate("e => JSON.parse(e.textContent)")
    known = data["right" if is_right else "wrong"][0]["value"]
    form.locator("input").fill(str(known).strip("[]"))
    form.get_by_role("button", name="Check").click()
    form.get_by_text("✓" if is_right else "✗").wait_for()
    line = form.evaluate("e => getComputedStyle(e).borderLeftStyle")
    assert line == ("double" if is_right else "dashed")
    is_hint_open = form.locator("details").first.evaluate("e => e.open")
    assert is_hint_open != is_right


@pytest.mark.parametrize("name", LESSONS[:3])
def test_what_is_touched_is_large_and_a_field_is_called_what_is_asked(on_a_phone, name):
    page = on_a_phone(name)
    touched = page.locator(".lnorm-prediction :is(button, label, summary, [type=text])")
    assert min(box.bounding_box()["height"] for box in touched.all() if box.is_visible()) >= 44
    named = page.locator(".lnorm-prediction [type=text][aria-labelledby]")
    assert named.count() > 0
    for field in named.all():
        question = page.locator(f"[id='{field.get_attribute('aria-labelledby')}']")
        assert len(question.inner_text()) > 10


def test_a_word_leads_to_its_meaning(on_a_phone):
    page = on_a_phone("notebooks/02_variance.html")
    page.evaluate(UNFOLD)
    words = page.locator("a.lnorm-word")
    names = words.evaluate_all("all => all.map(a => a.textContent.toLowerCase())")
    assert len(names) == len({*names}) > 3
    assert (
        page.locator(":is(h1, h2, h3, code, .lnorm-aims, .lnorm-prediction) a.lnorm-word").count()
        == 0
    )
    word = words.filter(has_text="variance").first
    meaning = word.get_attribute("title")
    word.click()
    page.wait_for_url("**/docs/glossary.html#word-*")
    row = page.locator(":target").evaluate("e => e.parentElement.textContent")
    assert row.strip().endswith(meaning)
    assert page.get_by_text("avoid", exact=True).count() == 0
