"""Exercises in pages: judged as in Python, kept, counted, and what shows an answer opens then."""

from html import unescape
from math import isfinite
from re import sub

import pytest
from exercise_banks import BY_NAME, PREDICTIONS
from pages import ASKED, ASKING, LESSONS
from site_page import NARROW, WIDE, Visit

from lnorm_course.checking.feedback import State
from lnorm_staff.web.baking import curly
from lnorm_staff.web.exercises import code_exercise, prediction
from lnorm_staff.web.site import write_static
from lnorm_utils.words import inline

BARE = """<!doctype html><meta charset="utf-8"><title>Exercises</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="live.css">
{}<script type="module" src="site.js"></script>"""
FOLD = '<details class="lnorm-answer"><summary>Go on</summary></details>'
KINDS = (":not(.further)", ".further")  # of the exercises on a page
# Give one answer after the other, and tell what is said each time, whether it counts as right, and
# whether what shows the answer opens.
ANSWER = """(form, answers) => answers.map(answer => {
    const inputs = [...form.querySelectorAll('input[name=answer]')];
    if (inputs[0].type === 'text') inputs[0].value = answer;
    else inputs.forEach(input => { input.checked = input.value === answer; });
    form.nextElementSibling.open = false;
    form.requestSubmit();
    const isRight = form.classList.contains('right');
    return [form.querySelector('.said').textContent, isRight, form.nextElementSibling.open];
})"""
# Choose one program after the other, and tell which gaps have to change.
JUDGED = """async (form, programs) => {
    const selects = [...form.querySelectorAll('select')];
    const seen = [];
    for (const chosen of programs) {
        selects.forEach((select, n) => { select.value = chosen[n]; });
        form.requestSubmit();
        await new Promise((resolve) => setTimeout(resolve));
        const wrong = selects.flatMap((select, n) => select.ariaInvalid === 'true' ? [n] : []);
        seen.push([wrong, form.querySelector('.said').textContent]);
    }
    return seen;
}"""


@pytest.fixture
def bare(chromium, tmp_path):
    """Return a function that opens a page with nothing but some exercises."""
    write_static(tmp_path)
    visit = Visit(chromium, tmp_path, NARROW)

    def opened(*exercises):
        text = BARE.format("".join(exercise + FOLD for exercise in exercises))
        (tmp_path / "index.html").write_text(text, "utf-8")
        return visit.open("").page

    yield opened
    visit.close()


def typed(value):
    """Write a value as a reader types it."""
    return value if isinstance(value, str) else repr(value)


def answers(question):
    """Yield what readers answer: each value of the bank, also rounded, and what else comes up."""
    values = [value for value, *_ in (*question.answers, *question.wrong)]
    yield "", ...
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


def differs(question, value, said, is_right, is_open):
    """Tell whether a page judges an answer in another way than Python."""
    feedback = question.judge(value)
    messages = [message for _, message, *_ in (*question.answers, *question.wrong)]
    told = plain(feedback._repr_html_())
    if feedback.message in messages or any(w in told for w in ("two decimals", "closest")):
        is_said = said == told
    else:  # other words than in JupyterLab, where one calls `.hint()` and writes tuples
        known = (plain(inline(" ".join(message.split()))) for message in messages)
        is_said = said[0] in "✗○" and not any(message in said for message in known)
    if value is ...:
        is_said = said.split(":")[0] == told.split(":")[0] == "○ Not attempted"
    return not is_said or {is_right, is_open} != {feedback.state is State.RIGHT}


def test_every_prediction_is_judged_as_in_python_and_only_what_is_right_opens_its_answer(bare):
    page, wrong = bare(*map(prediction, PREDICTIONS)), []
    for form, question in zip(page.locator("form").all(), PREDICTIONS, strict=True):
        texts, values = zip(*answers(question), strict=True)
        for text, value, seen in zip(texts, values, form.evaluate(ANSWER, texts), strict=True):
            if differs(question, value, *seen):
                wrong.append((question.name, text, *seen))
    assert wrong == []


def program(name):
    """Write an exercise in code as a page does."""
    exercise = BY_NAME[name]
    return '<p class="lnorm-progress"></p>' + code_exercise(exercise, "")


def to_change(template, chosen, right):
    """Number the fewest gaps with distractors in which a program differs from a right one."""
    marked = [option.gap for option in template.options(chosen) if option.why]
    pairs = (zip(range(len(chosen)), chosen, other, strict=True) for other in right)
    ways = ([n for n, one, other in each if one != other] for each in pairs)
    possible = (way for way in ways if {*way} <= {*marked})
    return min(possible, key=lambda way: (len(way), way))


# In the second one, two distractors make a right program together.
@pytest.mark.parametrize("name", ["swap", "unit_w"])
def test_every_program_is_judged_as_in_python(bare, name):
    exercise, form = BY_NAME[name], bare(program(name)).locator("form")
    template = exercise.template
    right = [*filter(exercise.is_right_with, template.programs)]
    seen = form.evaluate(JUDGED, template.programs)
    for chosen, (wrong, said) in zip(template.programs, seen, strict=True):
        assert wrong == to_change(template, chosen, right), chosen
        assert said.startswith("✗" if wrong else "✓ Right")
        for n in wrong:
            assert curly(template.gaps[n][chosen[n]].why.replace("`", "")) in said


def test_a_program_is_done_with_keys_and_kept(bare):
    page = bare(program("row_means"))
    gaps = [page.get_by_role("combobox", name=f"gap {n} of 2, line 2, after ") for n in (1, 2)]
    page.get_by_role("button", name="Check").press("Enter")
    assert gaps[0].evaluate("gap => gap === document.activeElement")
    for gap, option in zip(gaps, ["-1", "True"], strict=True):
        gap.focus()
        page.keyboard.type(option)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(2):
        page.locator(".said").get_by_text("Right").wait_for()
        assert page.locator(".lnorm-answer").get_attribute("open") is not None
        assert page.locator(".lnorm-progress").inner_text().startswith("1 of 1 ")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        page.reload()


def answer_by_hand(form):
    """Answer rightly, as a reader does with keys, who has unfolded the card that the form is on."""
    card = form.locator("xpath=ancestor::details[not(@open)]")
    if card.count():
        card.locator("> summary").press("Enter")
    question = BY_NAME[form.get_attribute("id").split("-", 1)[1]]
    right = typed(question.answers[0][0])
    if form.locator("input[type=text]").count():
        form.locator("input[type=text]").fill(right)
        form.locator("input[type=text]").press("Enter")
    else:
        form.locator(f'input[value="{right}"]').check()
        form.get_by_role("button", name="Check").press("Enter")
    form.locator(".said").get_by_text("Right").wait_for()


@pytest.mark.parametrize("name", ASKING)
def test_a_right_answer_unfolds_what_shows_it_and_is_kept_and_counted(visit, name):
    page = visit(name).page
    forms, folds = page.locator(".lnorm-prediction"), page.locator(".lnorm-prediction + details")
    opened = page.locator(".lnorm-prediction + details[open]")
    assert folds.count()
    assert not opened.count()
    for form in forms.all():
        before = opened.count()
        answer_by_hand(form)
        assert opened.count() == before + form.locator(":scope + details").count()
    page.reload()
    assert opened.count() == folds.count()
    main, further = (page.locator(f".lnorm-prediction{kind}").count() for kind in KINDS)
    asked, more = (page.locator(f"{ASKED}{kind}").count() for kind in KINDS)
    for progress in page.locator(".lnorm-progress").all():  # in a lesson
        told = progress.inner_text()
        assert told.startswith(f"{main} of {asked} ")
        assert told.endswith(f"In the side trips, {further} of {more}.") == bool(more)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=str)
def test_an_answer_is_counted_told_everywhere_and_forgotten(visit, size):
    opened = visit(LESSONS[1], size)
    page = opened.page
    assert not page.locator(".lnorm-bar, .lnorm-far").count()
    form = page.locator(".lnorm-prediction:has([type=text])").first
    for was_right in (False, True):  # what was wrong is not told again, and right stays right
        page.locator(".lnorm-recall").evaluate("card => { card.open = true; }")
        form.locator("input").fill("98765")
        form.locator("input").press("Enter")
        form.get_by_text("Not yet").wait_for()
        page.reload()
        assert form.locator(".said").text_content()[:7] == "✓ Right" * was_right
        answer_by_hand(form)
    told = f"1 of {page.locator(f'{ASKED}:not(.further)').count()}"
    assert page.locator(".lnorm-bar").inner_text().startswith(told)
    page.reload()
    assert page.locator(".lnorm-bar").inner_text().startswith(told)
    opened.open("index.html")
    assert page.locator(".lnorm-map .lnorm-far").all_inner_texts() == [told]
    page.get_by_role("link", name="Go on with lesson 2").click()
    page.locator("h1", has_text="How spread out is one row?").wait_for()
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
