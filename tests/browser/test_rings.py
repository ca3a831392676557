"""The rings on pages: trained, raced, and moved by keys, mouse and finger."""

import pytest
from hands import Keyboard, Mouse, Touch
from pages import LESSONS
from site_page import seconds_a_move
from test_row import CALM

from lnorm_course.explorers.rings import CHANGES, RUNS

# How the threads of a ring are spread over the last strip, as a share of its width.
WIDTH = """rings => {
    const box = rings.querySelector('.strips svg').viewBox.baseVal;
    const dots = rings.querySelector('.strips .inner.dots').getAttribute('d').match(/M[^h]+/g);
    const places = dots.map(dot => dot.slice(1).split(' ').map(Number))
        .filter(([, level]) => Math.floor(level) === box.height - 2).map(([place]) => place);
    return (Math.max(...places) - Math.min(...places)) / box.width;
}"""
MOVES = """rings => {
    const slider = rings.querySelector('input[type=range]');
    for (let step = 0; step < 200; step += 2) {
        slider.value = step;
        slider.dispatchEvent(new Event('input'));
        rings.getBoundingClientRect(); // which lays it out
    }
}"""
TABLE = """rings => [...rings.querySelectorAll('tr')]
    .map(line => [...line.cells].map(cell => cell.textContent))"""


def shown(page, number=0):
    rings = page.locator(".lnorm-rings").nth(number)
    rings.scroll_into_view_if_needed()
    return rings


def button(rings, name):
    return rings.get_by_role("button", name=name, exact=True)


@pytest.mark.parametrize("hand", [Keyboard, Mouse, Touch])
def test_a_network_is_chosen_and_trained_and_moved_back(visit, hand):
    page = visit(LESSONS[1], **hand.options, **CALM).page
    rings = shown(page)
    assert rings.evaluate(WIDTH) < 0.01
    for name, step, words in (("plain", 200, "plateau"), ("Adam", 200, "two rings arrive apart")):
        hand(page).press(button(rings, name))
        hand(page).press(button(rings, "train"))
        rings.get_by_text(f"step {step}, loss {RUNS[name]['loss'][step]:.2f}").wait_for()
        assert words in rings.get_by_role("status").inner_text()
    hand(page).drag(rings.get_by_role("slider", name="step"), 0)
    assert "fall together" in rings.get_by_role("status").inner_text()
    hand(page).press(button(rings, "layer norm"))
    assert button(rings, "layer norm").get_attribute("aria-pressed") == "true"
    assert rings.evaluate(WIDTH) > 0.2
    head, line = rings.evaluate(TABLE)
    assert head == ["network", "loss", "apart after each layer"]
    assert [line[0], float(line[-1])] == ["layer norm", 2.3]


@pytest.mark.parametrize("hand", [Keyboard, Touch])
def test_a_race_is_predicted_then_run_and_only_then_shows_its_cause(visit, hand):
    page = visit(LESSONS[0], **hand.options, **CALM).page
    rings = shown(page)
    ticks, strips = rings.get_by_role("checkbox"), rings.locator(".strips").first
    assert ticks.count() == len(CHANGES) - 1
    assert rings.get_by_role("slider").is_disabled()
    assert not strips.is_visible()
    for name in ("layer norm", "Adam"):
        tick = rings.get_by_role("checkbox", name=name, exact=True)
        tick.press("Space") if hand is Keyboard else rings.locator(".name", has_text=name).tap()
        assert tick.is_checked()
    hand(page).press(button(rings, "race"))
    rings.get_by_text("You ticked 2.").wait_for()
    assert strips.is_visible()
    hand(page).drag(rings.get_by_role("slider", name="step"), 0)
    rings.get_by_text("Before training").wait_for()
    assert [float(line[-1]) > 0.5 for line in rings.evaluate(TABLE)[1:]].count(False) == 2


@pytest.mark.parametrize("lesson", [0, 1])
def test_a_move_takes_less_than_a_frame(visit, lesson):
    page = visit(LESSONS[lesson], **CALM).page
    rings = shown(page)
    button(rings, "race" if lesson == 0 else "train").click()
    rings.get_by_text("step 200").first.wait_for()
    assert seconds_a_move(page, rings, MOVES) < 1 / 60


def test_no_rings_that_answer_a_question_stand_before_it(visit):
    page = visit(LESSONS[1]).page
    assert [rings.is_visible() for rings in page.locator(".lnorm-rings").all()] == [True, False]
