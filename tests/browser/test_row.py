"""The row on pages and in JupyterLab: touched by keys, mouse and finger, or from the text."""

from itertools import pairwise

import pytest
import torch
from hands import Mouse, Touch
from pages import LESSONS

from lnorm_utils import layer_norm, standardize
from lnorm_utils.data import encoded_points

CALM = {"reduced_motion": "reduce"}
# What stands in the cells and below them, and in the last row of the steps.
SEEN = """row => {
    const number = (text) => Number(text.replace('−', '-'));
    const cells = [...row.querySelectorAll('.cell')];
    return {
        x: cells.map(cell => number(cell.querySelector('input').ariaValueText)),
        below: [...row.querySelectorAll('.below')].map(below => number(below.textContent)),
        y: [...row.querySelectorAll('.step.last:not(.away)')].map(step => number(step.textContent)),
        moved: [...row.querySelectorAll('.below')]
            .flatMap((below, i) => below.classList.contains('moved') ? [i] : []),
    };
}"""
# How many pictures a second are painted while a hand drags for two seconds.
PAINTED = """() => new Promise(done => {
    let [count, start] = [0, performance.now()];
    const next = (now) => {
        count += 1;
        now - start < 2000 ? requestAnimationFrame(next) : done(count / 2);
    };
    requestAnimationFrame(next);
})"""
SCROLLED_TO = """(link, share) => {
    const { top } = link.getBoundingClientRect();
    scrollBy({ top: top - share * innerHeight, behavior: 'instant' });
}"""


def close(seen, wanted):
    torch.testing.assert_close(torch.tensor(seen).double(), wanted.flatten(), atol=0.0051, rtol=0)


def opened(visit, page, **options):
    page = visit(page, **options).page
    return page, page.locator(".lnorm-row").first


def press(row, name):
    row.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_a_number_of_the_first_page_is_changed_by_keys_and_by_hand(visit, hand):
    page, row = opened(visit, "index.html", **hand.options, **CALM)
    truth = torch.tensor([-6.0, 0, 2, 8], dtype=torch.float64)
    close(row.evaluate(SEEN)["y"], layer_norm(truth, 4))
    number = row.get_by_role("slider", name="number a of truth")
    number.focus()
    page.keyboard.press("ArrowRight")
    hand(page).pull(row.locator(".dot[data-pull]").nth(1), 60, 0)
    x = torch.tensor(row.evaluate(SEEN)["x"][-4:]).double()
    assert x[0] == -5.75
    assert x[1] > 1
    assert x[2:].tolist() == [2, 8]
    close(row.evaluate(SEEN)["y"], layer_norm(x, 4))
    for name in ("all equal", "γ and β", "four numbers"):
        press(row, name)
    close(row.evaluate(SEEN)["y"], layer_norm(truth, 4))


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_what_depends_on_a_number_is_lit_a_row_or_a_column(visit, hand):
    page, row = opened(visit, LESSONS[4], **hand.options, **CALM)
    for preset, over, lit in (
        ("layer norm", 2, [8, 9, 10, 11]),
        ("batch norm", (0, 1), range(1, 24, 4)),
    ):
        press(row, preset)
        hand(page).pull(row.locator(".cell").nth(9), 40, 0)
        seen = row.evaluate(SEEN)
        assert seen["moved"] == [*lit]
        x = torch.tensor(seen["x"]).double().reshape(3, 2, 4)
        close(seen["below"], standardize(x, over))
        press(row, "first numbers")
    press(row, "batch norm, new company")
    assert len(row.evaluate(SEEN)["moved"]) == 24


def test_a_word_of_the_text_lights_its_part_and_leads_to_a_state(visit):
    page, row = opened(visit, "index.html", **CALM)
    page.get_by_role("link", name="mean", exact=True).focus()
    assert row.locator(".value.lit").inner_text() == "mean 1.00"
    page.get_by_role("link", name="Start").focus()
    assert row.locator(".lit").count() == 0
    page.get_by_role("link", name="scale γ and a shift β").press("Enter")
    row.locator(".label", has_text="· γ + β").wait_for()
    page.goto(page.url.split("#")[0] + "#row=all-equal")
    page.reload()
    pressed = page.locator(".lnorm-row [aria-pressed=true]").all_inner_texts()
    assert "all equal" in pressed


def test_a_paragraph_shows_its_state_as_it_comes_into_view_unless_the_reader_is_at_the_picture(
    visit,
):
    page = visit(LESSONS[0], **CALM).page
    row = page.locator(".lnorm-row-reach", has_text="over features")
    stage = row.locator(".stage")

    def read(text, share=0.55):
        link = page.get_by_role("link", name=text, exact=True)
        link.evaluate(SCROLLED_TO, share)
        page.wait_for_timeout(500)
        assert stage.bounding_box()["y"] + stage.bounding_box()["height"] > 100
        return row.locator(".chips [aria-pressed=true]").all_inner_texts()

    for text in ("one mean per sentence", "one mean per feature"):
        assert read(text, share=0.65) != [text]  # there it's still below what is being read
        assert read(text) == [text]
    row.locator(".cell").nth(20).click()
    assert read("one mean per sentence") == ["one mean per feature"]


def test_the_other_norm_is_shown_of_the_same_numbers(visit):
    _, row = opened(visit, LESSONS[4], **CALM)
    row.get_by_role("slider", name="number a of dogs").press("ArrowRight")
    press(row, "batch norm")
    x = encoded_points().double()
    x[0, 0, 0] = row.evaluate(SEEN)["x"][0]
    assert x[0, 0, 0] > -3.8
    close(row.evaluate(SEEN)["below"], standardize(x, (0, 1)))


def test_a_word_of_the_text_leads_to_the_picture_that_has_its_state_and_unfolds_it(visit):
    page = visit(LESSONS[7], **CALM).page
    for text, chip in (("Per pixel", "per pixel"), ("(2, 4)", "shape 2, 4")):
        page.get_by_role("link", name=text, exact=True).click()
        row = page.locator(".lnorm-row", has_text=chip)
        assert row.is_visible()
        assert row.locator(".chips [aria-pressed=true]").all_inner_texts() == [chip]


def test_reading_on_turns_the_other_norm_on_and_leaves_the_numbers(visit):
    page = visit(LESSONS[4], **CALM).page
    row = page.locator(".lnorm-row-reach", has_text="new company")
    link = row.get_by_role("link", name="layer norm", exact=True)
    chosen = row.locator(".chips [aria-pressed=true]")
    assert "batch norm" in chosen.all_inner_texts()
    link.evaluate(SCROLLED_TO, 0.55)
    row.get_by_role("button", name="layer norm", exact=True, pressed=True).wait_for()
    press(row, "batch norm, new company")
    before = row.evaluate(SEEN)["x"]
    page.evaluate("scrollBy({ top: -2 * innerHeight, behavior: 'instant' })")
    page.wait_for_timeout(8500)  # until a hand at the picture doesn't count any more
    link.evaluate(SCROLLED_TO, 0.55)
    page.wait_for_timeout(500)
    assert row.evaluate(SEEN)["x"] == before


def test_reading_on_changes_no_number_and_a_link_shows_what_it_changes_itself(visit):
    page = visit(LESSONS[0], **CALM).page
    row = page.locator(".lnorm-row-place", has_text="another number")
    link = page.get_by_role("link", name="a of “dogs”")
    link.evaluate(SCROLLED_TO, 0.55)
    page.wait_for_timeout(500)
    before = row.evaluate(SEEN)["x"]
    assert before == pytest.approx(encoded_points().flatten().tolist(), abs=0.006)
    row.get_by_role("slider", name="number c of hum").press("ArrowRight")
    link.click()
    seen = row.evaluate(SEEN)
    assert (seen["x"], seen["moved"]) == ([2, *before[1:]], [0, 1, 2, 3])


def test_a_finger_that_touches_a_number_sees_what_shares_its_mean(visit):
    page = visit(LESSONS[0], **Touch.options, **CALM).page
    row = page.locator(".lnorm-row-reach", has_text="over features")
    row.locator(".cell").nth(9).tap()
    row.get_by_text("6 means of 4 numbers").wait_for()
    bright = row.locator(".cell").evaluate_all(
        "cells => cells.flatMap((cell, i) => cell.style.opacity === '' ? [i] : [])"
    )
    assert bright == [8, 9, 10, 11]


def test_a_word_alone_has_the_mean_of_layer_norm(visit):
    _, row = opened(visit, LESSONS[4], **CALM)
    for way in ("sing", "its steps"):
        press(row, "batch norm")
        assert row.locator(".below").count() == 24
        press(row, way)
        assert "layer norm" in row.locator(".chips [aria-pressed=true]").all_inner_texts()
        close(row.evaluate(SEEN)["y"], layer_norm(encoded_points()[1, 1].double(), 4))


def test_the_axes_of_a_mean_are_chosen_one_by_one(visit):
    page = visit(LESSONS[0], **CALM).page
    row = page.locator(".lnorm-row-reach", has_text="over features")
    for name, frames in (("over words", 3), ("over sentences", 1), ("over features", 4)):
        press(row, name)
        assert row.locator(".frame:not(.away)").count() == frames


def test_every_depth_can_be_reached_and_left_by_keys(visit):
    _, row = opened(visit, LESSONS[4], **CALM)
    word = row.get_by_role("button", name="sing", exact=True)
    word.press("Enter")
    assert row.locator(".step:not(.away)").count() == 4
    row.get_by_role("slider", name="number d of sing").focus()
    word.press("Enter")
    assert row.get_by_role("slider").count() == 24
    for depth in ("its steps", "one word", "numbers"):
        row.get_by_role("button", name=depth, exact=True).press("Enter")
        assert (
            row.get_by_role("button", name=depth, exact=True).get_attribute("aria-pressed")
            == "true"
        )


def test_a_drag_of_two_seconds_paints_nearly_every_picture(visit):
    page, row = opened(visit, "index.html", **CALM)
    dot = row.locator(".dot[data-pull]").first.bounding_box()
    page.mouse.move(dot["x"] + 13, dot["y"] + 13)
    page.mouse.down()
    page.evaluate(f"window.painted = ({PAINTED})()")
    for step in range(100):
        page.mouse.move(dot["x"] + 13 + 3 * (step % 40), dot["y"] + 13)
    assert page.evaluate("window.painted") > 55
