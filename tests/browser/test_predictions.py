"""Predictions in pages: judged as in Python, kept, counted, and what shows an answer opens then."""

from html import unescape
from importlib import import_module
from math import isfinite
from re import sub

import pytest
from pages import ASKED, ASKING, LESSONS
from site_page import NARROW, WIDE

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import State, inline
from lnorm_staff.web.baking import curly

KINDS = (":not(.further)", ".further")  # of the questions on a page
# Give one answer after the other, and tell what is said each time, and whether it counts as right.
ANSWER = """(form, answers) => answers.map(answer => {
    const inputs = [...form.querySelectorAll('input[name=answer]')];
    if (inputs[0].type === 'text') inputs[0].value = answer;
    else inputs.forEach(input => { input.checked = input.value === answer; });
    form.requestSubmit();
    return [form.querySelector('.said').textContent, form.classList.contains('right')];
})"""
# Whether what shows an answer is open, for each question that has such a thing.
OPENED = """() => [...document.querySelectorAll('.lnorm-prediction')]
    .map(form => form.nextElementSibling?.open).filter(open => open !== undefined)"""
IN_PRINT = """folds => addEventListener('beforeprint', () => {
    window.printed = folds.map(fold => fold.open);
})"""


def exercise(form):
    """Find the prediction that a form asks."""
    topic, name = form.get_attribute("id").split("-", 1)
    import_module(f"lnorm_course.exercises.{topic}")
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


def plain(text):
    return unescape(sub("<[^>]+>", "", curly(text)))


def answer_by_hand(form):
    """Answer rightly, as a reader does with keys."""
    question = exercise(form)
    right = typed(question.answers[0][0])
    if form.locator("input[type=text]").count():
        form.locator("input[type=text]").fill(right)
        form.locator("input[type=text]").press("Enter")
    else:
        form.locator(f'input[value="{right}"]').check()
        form.get_by_role("button", name="Check").press("Enter")
    form.locator(".said").get_by_text("Right").wait_for()


def assert_judged_as_in_python(form):
    question = exercise(form)
    given = [*answers(question)]
    (nothing, is_right), *seen = form.evaluate(ANSWER, ["", *(text for text, _ in given)])
    assert not is_right
    assert nothing.startswith(plain(question.judge(...)._repr_html_()).split(":")[0])
    messages = [message for _, message, *_ in (*question.answers, *question.wrong)]
    for (text, value), (said, is_right) in zip(given, seen, strict=True):
        feedback = question.judge(value)
        about = question.name, text, said
        assert is_right == (feedback.state is State.RIGHT), about
        same_words = ("two decimals", "closest")
        if feedback.message in messages or any(w in feedback.message for w in same_words):
            assert said == plain(feedback._repr_html_()), about
        else:  # other words than in JupyterLab, where one calls `.hint()` and writes tuples
            assert said.startswith(("✗", "○")), about
            known = (plain(inline(" ".join(message.split()))) for message in messages)
            assert not any(message in said for message in known), about


@pytest.mark.parametrize("name", ASKING)
def test_an_answer_unfolds_what_shows_it_is_kept_and_is_judged_as_in_python(visit, name):
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
    for form in forms:
        assert_judged_as_in_python(form)


def test_what_is_folded_is_printed(visit):
    page = visit(LESSONS[0]).page
    folds = page.locator("summary:text-matches('^(After|What|Show) ')").locator("..")
    folds.evaluate_all(IN_PRINT)
    page.pdf()
    assert folds.count() > page.locator(".lnorm-answer").count() > 0
    assert page.evaluate("printed") == [True] * folds.count()
    assert folds.evaluate_all("folds => folds.map(fold => fold.open)") == [False] * folds.count()


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=str)
def test_an_answer_is_counted_told_everywhere_and_forgotten(visit, size):
    opened = visit(LESSONS[1], size)
    page = opened.page
    assert not page.locator(".lnorm-bar, .lnorm-far").count()
    form = page.locator(".lnorm-prediction:has([type=text])").first
    for was_right in (False, True):  # what was wrong is not told again, and right stays right
        form.locator("input").fill("98765")
        form.locator("input").press("Enter")
        form.get_by_text("Not yet").wait_for()
        page.reload()
        assert form.locator(".said").inner_text()[:7] == "✓ Right" * was_right
        answer_by_hand(form)
    told = f"1 of {page.locator(f'{ASKED}:not(.further)').count()}"
    assert page.locator(".lnorm-bar").inner_text().startswith(told)
    page.reload()
    assert page.locator(".lnorm-bar").inner_text().startswith(told)
    opened.open("index.html")
    assert page.locator(".lnorm-map .lnorm-far").all_inner_texts() == [told]
    page.get_by_role("link", name="Go on with lesson 2").click()
    page.locator("h1", has_text="How spread out is one point?").wait_for()
    following = page.locator(f"{ASKED}:not(.further)").nth(1)
    assert page.url.endswith(f"#{following.get_attribute('id')}")
    assert 0 < following.bounding_box()["y"] < size[1]
    page.once("dialog", lambda dialog: dialog.accept())
    opened.open("docs/privacy.html")
    page.get_by_role("button", name="Forget my answers").click()
    page.get_by_role("status").get_by_text("forgotten").wait_for()
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('lnorm '))") == []
    opened.open("index.html")
    page.get_by_role("link", name="Start", exact=True).wait_for()
