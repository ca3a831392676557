"""A reader's own progress: nothing before an answer, then the same count wherever it's told."""

import json
from itertools import pairwise

import pytest
from site_page import NARROW, WIDE
from test_site import ASKED, LESSONS, answer_by_hand

NAMES = """() => [...document.querySelectorAll(
    ':is(.lnorm-prediction, .lnorm-exercise, .lnorm-closed) :is(button, summary),' +
    '.lnorm-answer > summary'
)].map(control => control.ariaLabel ?? control.textContent)"""
LEVELS = """() => [...document.querySelectorAll('[role=main] :is(h1, h2, h3, h4, [role=heading])')]
    .map(heading => Number(heading.ariaLevel ?? heading.tagName[1]))"""


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=str)
def test_an_answer_is_counted_told_everywhere_and_forgotten(visit, size):
    opened = visit(LESSONS[1], size)
    page = opened.page
    assert not page.locator(".lnorm-bar, .lnorm-far").count()
    assert page.locator(".lnorm-needs").is_visible()
    answer_by_hand(page.locator(".lnorm-prediction").first)
    told = f"1 of {page.locator(f'{ASKED}:not(.further)').count()}"
    assert page.locator(".lnorm-bar").inner_text().startswith(told)
    page.reload()
    assert page.locator(".lnorm-bar").inner_text().startswith(told)
    opened.open("index.html")
    assert page.locator(".lnorm-map .lnorm-far").all_inner_texts() == [told]
    page.get_by_role("link", name="Go on with lesson 2").click()
    page.locator("h1", has_text="How spread out is one point?").wait_for()
    assert page.locator(".lnorm-needs").is_visible()
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


def test_right_stays_right_and_what_was_wrong_is_not_told_again(visit):
    page = visit(LESSONS[1]).page
    form = page.locator(".lnorm-prediction:has(+ .lnorm-answer):has([type=text])").first
    form.locator("input").fill("98765")
    form.locator("input").press("Enter")
    form.get_by_text("Not yet").wait_for()
    page.reload()
    assert form.locator(".said").inner_text() == ""
    answer_by_hand(form)
    form.locator("input").fill("98765")
    form.locator("input").press("Enter")
    form.get_by_text("Not yet").wait_for()
    assert page.locator(".lnorm-bar").inner_text().startswith("1 of ")
    page.reload()
    form.get_by_text("Right").wait_for()
    assert page.locator(".lnorm-bar").inner_text().startswith("1 of ")


def known(page, **lessons):
    page.evaluate(f"localStorage.setItem('lnorm progress', {json.dumps(json.dumps(lessons))})")
    page.reload()


def test_who_is_done_goes_on_with_the_core_and_is_not_told_what_a_lesson_builds_on(visit):
    opened = visit("index.html")
    begun = {"06_two_feature_collapse": [1, 9], "08_build_the_layer": [9, 9]}
    known(opened.page, **begun)
    opened.page.get_by_role("link", name="Go on with lesson 10").wait_for()
    assert opened.page.locator(".lnorm-map .done").count() == 1
    for lesson, is_told in ((LESSONS[6], False), (LESSONS[8], True)):  # it needs lesson 5 too
        opened.open(lesson)
        assert opened.page.locator(".lnorm-needs").is_visible() == is_told


@pytest.mark.parametrize("name", ["index.html", LESSONS[0], LESSONS[12], "docs/map.html"])
def test_controls_of_questions_have_names_of_their_own_and_headings_do_not_jump(visit, name):
    page = visit(name).page
    names = page.evaluate(NAMES)
    assert len({*names}) == len(names)
    levels = page.evaluate(LEVELS)
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
