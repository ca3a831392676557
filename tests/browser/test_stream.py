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


def move(hand, page, stream, chip, right, down, button):
    """Drag a chip, in units of the picture, or press its button, which is the way for keys."""
    if hand is Keyboard:
        hand(page).press(stream.get_by_role("button", name=button, exact=True))
    else:
        unit = stream.evaluate(WIDTHS)[1] / 340
        hand(page).pull(stream.locator(f".hand.{chip} rect"), right * unit, down * unit)


@pytest.mark.parametrize("hand", [Keyboard, Mouse, Touch])
def test_a_norm_on_the_trunk_narrows_it_and_words_table_and_buttons_say_so(visit, hand):
    page = visit(LESSONS[9], **hand.options, **CALM).page
    stream = shown(page, 2)
    says = stream.get_by_role("status")

    def is_pressed(*names):
        for name in names:
            button = stream.get_by_role("button", name=name, exact=True)
            expect(button).to_have_attribute("aria-pressed", "true")

    expect(says).to_contain_text("3.5 after 24 blocks. The final norm brings it to 1.")
    grown, whole = stream.evaluate(WIDTHS)
    assert grown > whole / 5
    move(hand, page, stream, "final", 151, 0, "off")
    expect(says).to_contain_text("of that size")
    is_pressed("pre-LN", "off")
    move(hand, page, stream, "place", -96, 86, "post-LN")
    expect(says).to_contain_text("brings the spread back, from 1.2 to 1 in block 24")
    is_pressed("post-LN")
    assert stream.locator(".hand").count() == 1
    assert stream.evaluate(WIDTHS)[0] < whole / 10
    _, *blocks = stream.evaluate(TABLE)
    assert {leaves for *_, leaves in blocks} == {"1"}
    assert len(blocks) == 24
    hand(page).press(stream.get_by_role("button", name="no norm"))
    is_pressed("no norm")
    expect(says).to_contain_text("100 after 24 blocks")
    hand(page).drag(stream.get_by_role("slider", name="number of blocks"), 0)
    expect(says).to_contain_text("1.2 after the block")


@pytest.mark.parametrize("hand", [Keyboard, Mouse, Touch])
def test_a_place_of_the_trunk_opens_a_row_there_and_goes_back(visit, hand):
    page = visit(LESSONS[9], **hand.options, **CALM).page
    stream = shown(page, 2)
    row, back = stream.get_by_role("dialog"), stream.get_by_role("button", name="← back")
    tool = stream.get_by_role("button", name="one row on its way")
    if hand is Keyboard:
        tool.press("Enter")
    else:  # on the last block
        tapped = stream.locator(".trunk")
        box = tapped.bounding_box()
        at = {"x": box["width"] / 2, "y": 0.83 * box["height"]}
        (tapped.tap if hand is Touch else tapped.click)(position=at, force=True)
    expect(row.get_by_role("button", name="block 24")).to_have_attribute("aria-pressed", "true")
    expect(row.get_by_role("status")).to_contain_text("The final norm divides by it")
    spread = row.get_by_role("slider", name="right edge")
    assert float(spread.get_attribute("aria-valuetext")) == pytest.approx(3.5, rel=0.1)
    hand(page).press(row.get_by_role("button", name="block 1", exact=True))
    expect(row.get_by_role("status")).to_contain_text("The norm in block 2 divides by it")
    if hand is Keyboard:
        page.keyboard.press("Escape")
        expect(tool).to_be_focused()
    else:
        hand(page).press(back)
    expect(row).to_have_count(0)
    hand(page).press(stream.get_by_role("button", name="post-LN"))
    expect(stream.get_by_role("status")).to_contain_text("brings the spread back")


def test_without_the_final_norm_the_gradients_are_3_5_times_as_wide(visit):
    page = visit(LESSONS[10], **CALM).page
    stream = shown(page, 0)
    stream.get_by_role("button", name="pre-LN").click()
    bars = "stream => stream.querySelector('.bars').getBBox().width"
    before = stream.evaluate(bars)
    stream.get_by_role("button", name="off").click()
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
