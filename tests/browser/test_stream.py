"""The stream on pages: its norms moved by keys, mouse and finger."""

import pytest
from hands import Keyboard, Mouse, Touch
from pages import LESSONS
from playwright.sync_api import expect
from site_page import seconds_a_move
from test_row import CALM

TABLE = """stream => [...stream.querySelectorAll('tr')]
    .map(line => [...line.cells].map(cell => cell.textContent))"""
WIDTHS = """stream => ['.trunk', 'svg'].map(part =>
    stream.querySelector(part).getBoundingClientRect().width)"""
MOVES = """stream => {
    const slider = stream.querySelector('input');
    for (let move = 0; move < 100; move += 1) {
        slider.value = move % 9;
        slider.dispatchEvent(new Event('input'));
        stream.getBoundingClientRect(); // which lays it out
    }
}"""


def shown(page, number):
    stream = page.locator(".lnorm-stream").nth(number)
    for fold in page.locator("details:has(.lnorm-stream)").all():
        fold.evaluate("fold => { fold.open = true; }")
    stream.scroll_into_view_if_needed()
    return stream


def move(hand, page, stream, chip, key, right, down):
    """Move a chip to its next place with a key, or drag it there, in units of the picture."""
    handle = stream.get_by_role("slider", name=chip)
    if hand is Keyboard:
        handle.press(key)
    else:
        unit = stream.evaluate(WIDTHS)[1] / 340
        hand(page).pull(handle, right * unit, down * unit)


@pytest.mark.parametrize("hand", [Keyboard, Mouse, Touch])
def test_a_norm_on_the_trunk_narrows_it_and_words_table_and_buttons_say_so(visit, hand):
    page = visit(LESSONS[9], **hand.options, **CALM).page
    stream = shown(page, 2)
    says = stream.get_by_role("status")
    place, final = (stream.get_by_role("slider", name=name) for name in ("norm of each", "final"))
    assert "3.5 after 24 blocks. The final norm brings it to 1." in says.inner_text()
    grown, whole = stream.evaluate(WIDTHS)
    assert grown > whole / 5
    move(hand, page, stream, "final norm", "ArrowRight", 151, 0)
    assert "of that size" in says.inner_text()
    assert final.get_attribute("aria-valuetext") == "off"
    move(hand, page, stream, "norm of each block", "ArrowLeft", -96, 86)
    assert "brings the spread back, from 1.2 to 1 in block 24" in says.inner_text()
    assert place.get_attribute("aria-valuetext") == "post-LN"
    assert stream.get_by_role("button", name="post-LN").get_attribute("aria-pressed") == "true"
    assert not final.is_visible()
    assert stream.evaluate(WIDTHS)[0] < whole / 10
    _, *blocks = stream.evaluate(TABLE)
    assert {leaves for *_, leaves in blocks} == {"1"}
    assert len(blocks) == 24
    hand(page).press(stream.get_by_role("button", name="no norm"))
    expect(place).to_have_attribute("aria-valuetext", "no norm")  # a tap takes a moment
    assert "100 after 24 blocks" in says.inner_text()
    hand(page).drag(stream.get_by_role("slider", name="number of blocks"), 0)
    expect(says).to_contain_text("1.2 after the block")


def test_without_the_final_norm_the_gradients_are_3_5_times_as_wide(visit):
    page = visit(LESSONS[10], **CALM).page
    stream = shown(page, 0)
    stream.get_by_role("button", name="pre-LN").click()
    bars = "stream => stream.querySelector('.bars').getBBox().width"
    before = stream.evaluate(bars)
    stream.get_by_role("slider", name="final norm").click()
    assert stream.evaluate(bars) / before == pytest.approx(3.5, rel=0.05)


def test_no_stream_that_answers_a_question_is_seen_before_it(visit):
    page = visit(LESSONS[9]).page
    streams = page.locator(".lnorm-stream")
    assert [one.is_visible() for one in streams.all()] == [True, True, False]
    assert [one.locator("tr").count() - 1 for one in streams.all()] == [1, 2, 24]
    assert page.locator(".lnorm-stream .bars").count() == 0


def test_a_move_takes_less_than_a_frame(visit):
    page = visit(LESSONS[10], **CALM).page
    stream = shown(page, 0)
    assert seconds_a_move(page, stream, MOVES) < 1 / 60
