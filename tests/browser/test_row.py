"""The row on pages: touched by keys, mouse and finger, or from the text."""

import pytest
import torch
from hands import Mouse, Touch
from pages import LESSONS
from site_page import NARROW

from lnorm_utils import layer_norm, standardize
from lnorm_utils.data import encoded_points

CALM = {"reduced_motion": "reduce"}
# What stands in the cells and below them, and the hands of a row on its way.
SEEN = """row => {
    const number = (text) => Number(text.replace('−', '-'));
    const cells = [...row.querySelectorAll('.cell')];
    return {
        x: cells.map(cell => number(cell.querySelector('input').ariaValueText)),
        below: [...row.querySelectorAll('.below')].map(below => number(below.textContent)),
        hands: Object.fromEntries([...row.querySelectorAll('.box:not(.away) [data-hand]')]
            .map(hand => [hand.dataset.hand, Number(hand.value)])),
        moved: [...row.querySelectorAll('.below')]
            .flatMap((below, i) => below.classList.contains('moved') ? [i] : []),
    };
}"""
# How many pictures a second are painted while a hand drags for two seconds.
PAINTED = """() => new Promise(done => {
    let count = 0;
    const next = () => { count += 1; requestAnimationFrame(next); };
    next();
    setTimeout(() => done(count / 2), 2000);
})"""
# Which numbers are as bright as ever, because they share a mean with what is pointed at.
BRIGHT = "cells => cells.flatMap((cell, i) => cell.style.opacity === '' ? [i] : [])"
SCROLLED_TO = """(link, share) => {
    const { top } = link.getBoundingClientRect();
    scrollBy({ top: top - share * innerHeight, behavior: 'instant' });
}"""
HEADS = ["", "x", "x − mean", "squared", "÷ root"]
TABLED = ["1.00", "3.00", "3.00", "9.00"]
TABLE = """row => [...row.querySelectorAll('tr')]
    .map(line => [...line.cells].map(cell => cell.textContent))"""
# Whether a finger anywhere on its track touches the slider, and nothing unseen above it.
UNCOVERED = """slider => {
    slider.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { left, top, width, height } = slider.getBoundingClientRect();
    const at = (x) => document.elementFromPoint(x, top + height / 2);
    return [...Array(width - 16 | 0).keys()].every((x) => at(left + 8 + x) === slider);
}"""


def close(seen, wanted):
    assert seen == pytest.approx(wanted.flatten().tolist(), abs=0.0051)


def opened(visit, page, **options):
    page = visit(page, **options, **CALM).page
    return page, page.locator(".lnorm-row").first


def press(row, name):
    button = row.get_by_role("button", name=name, exact=True)
    if not button.is_visible():
        row.get_by_role("button", name="more").click()
    button.click()


def numbers(row, kind="dot"):
    """Read the numbers of a row on its way, or its results."""
    hands = row.evaluate(SEEN)["hands"]
    return torch.tensor([v for name, v in hands.items() if name[:-1] == kind]).double()


def hand_of(row, name):
    return row.locator(f".box:not(.away) [data-hand={name}]").first


def chosen(row):
    return row.locator(".chips [aria-pressed=true]").all_inner_texts()


def read_on(link, share=0.55):
    """Scroll until the paragraph of a link is what a reader reads."""
    link.evaluate(SCROLLED_TO, share)
    link.page.wait_for_timeout(500)


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_numbers_mean_and_edge_of_the_first_page_are_changed_by_keys_and_by_hand(visit, hand):
    page, row = opened(visit, "index.html", **hand.options)
    truth = torch.tensor([-4.0, 2, 4, 10], dtype=torch.float64)
    assert torch.equal(numbers(row), truth)
    close(numbers(row, "result").tolist(), layer_norm(truth, 4))
    row.get_by_role("slider", name="number a of truth").press("ArrowRight")
    assert numbers(row).tolist() == [-3, 2, 4, 10]
    results = numbers(row, "result")
    for name, right in (("mean", 30), ("high", -20)):
        before = numbers(row)
        hand(page).pull(hand_of(row, name), right, 0)
        assert not torch.equal(numbers(row), before)
        close(numbers(row, "result").tolist(), results)
        row.get_by_text("no result has changed").wait_for()
    x = numbers(row)
    hand(page).pull(hand_of(row, "result0"), 25, 0)
    assert torch.equal(numbers(row)[1:], x[1:])
    assert numbers(row, "result")[0] > results[0] + 0.1
    close(numbers(row, "result").tolist(), layer_norm(numbers(row), 4))
    x = numbers(row)
    row.locator(".stage").dispatch_event("pointercancel")  # a finger that scrolls the page
    assert torch.equal(numbers(row), x)
    for name in ("all equal", "γ and β", "four numbers"):
        press(row, name)
    assert torch.equal(numbers(row), truth)


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_either_norm_is_shown_of_the_same_numbers_and_what_depends_on_one_is_lit(visit, hand):
    page, row = opened(visit, LESSONS[4], **hand.options)
    before = row.evaluate(SEEN)["x"]
    close(before, encoded_points())
    for preset, over, lit in (
        ("layer norm", 2, [8, 9, 10, 11]),
        ("batch norm", (0, 1), [*range(1, 24, 4)]),
    ):
        press(row, preset)
        assert row.evaluate(SEEN)["x"] == before
        hand(page).pull(row.locator(".cell").nth(9), 40, 0)
        seen = row.evaluate(SEEN)
        before, others = seen["x"], [*before[:9], *before[10:]]
        assert (seen["moved"], [*before[:9], *before[10:]]) == (lit, others)
        close(seen["below"], standardize(torch.tensor(before).double().reshape(3, 2, 4), over))
    press(row, "first numbers")
    close(row.evaluate(SEEN)["x"], encoded_points())
    press(row, "batch norm, new company")
    assert len(row.evaluate(SEEN)["moved"]) == 24


def test_a_word_of_the_text_lights_its_part_and_leads_to_a_state(visit):
    page, row = opened(visit, "index.html")
    page.get_by_role("link", name="mean", exact=True).focus()
    assert hand_of(row, "mean").evaluate("hand => hand.parentElement.classList.contains('lit')")
    page.get_by_role("link", name="Start").focus()
    assert row.locator(".lit").count() == 0
    page.get_by_role("link", name="scale γ and a shift β").press("Enter")
    assert "γ and β" in chosen(row)
    page.goto(page.url.split("#")[0] + "#row=all-equal")
    page.reload()
    assert "all equal" in chosen(row)


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_reading_on_shows_the_state_of_a_paragraph_unless_the_reader_is_at_the_picture(visit, hand):
    page, _ = opened(visit, LESSONS[0], **hand.options)
    row = page.locator(".lnorm-row-place:has(> p)", has_text="over features")

    def shown_at(text, share=0.55):
        read_on(page.get_by_role("link", name=text, exact=True), share)
        box = row.locator(".stage").bounding_box()
        assert box["y"] + box["height"] > 100
        return chosen(row)

    for text in ("one mean per sentence", "one mean per feature"):
        assert shown_at(text, share=0.65) != [text]  # there it's still below what is being read
        assert shown_at(text) == [text]
    hand(page).press(row.locator(".cell").nth(9))
    row.get_by_text("4 means of 6 numbers").wait_for()
    assert row.locator(".cell").evaluate_all(BRIGHT) == [*range(1, 24, 4)]
    assert shown_at("one mean per sentence") == ["one mean per feature"]
    press(row, "one mean per word")
    for name, frames in (("over words", 3), ("over sentences", 1), ("over features", 4)):
        press(row, name)
        assert row.locator(".frame:not(.away)").count() == frames
    page.wait_for_timeout(8500)  # until a hand at the picture doesn't count any more
    assert shown_at("one mean per feature") == ["one mean per feature"]


def test_a_word_of_the_text_leads_to_the_picture_that_has_its_state_and_unfolds_it(visit):
    page, _ = opened(visit, LESSONS[7])
    for text, chip in (("one mean per pixel", "per pixel"), ("(2, 4)", "shape 2, 4")):
        link = page.get_by_role("link", name=text, exact=True, include_hidden=True)
        link.evaluate("link => link.closest('details')?.setAttribute('open', '')")
        link.click()
        row = page.locator(".lnorm-row", has_text=chip)
        assert row.is_visible()
        assert chosen(row) == [chip]


def test_reading_on_changes_no_number_and_a_link_shows_what_it_changes_itself(visit):
    page, _ = opened(visit, LESSONS[0])
    row = page.locator(".lnorm-row-place", has_text="another number")
    link = page.get_by_role("link", name="a of “dogs”")
    read_on(link)
    before = row.evaluate(SEEN)["x"]
    close(before, encoded_points())
    row.get_by_role("slider", name="number c of hum").press("ArrowRight")
    link.click()
    seen = row.evaluate(SEEN)
    assert (seen["x"], seen["moved"]) == ([2, *before[1:]], [0, 1, 2, 3])


def test_every_depth_is_reached_by_keys_and_what_is_seen_is_heard_as_a_table(visit):
    _, row = opened(visit, LESSONS[4])

    def enter(name):
        row.get_by_role("button", name=name, exact=True).press("Enter")

    x = encoded_points()[1, 1].double()
    press(row, "sing")
    for way in ("sing", "its steps"):
        enter("batch norm")
        assert row.locator(".below").count() == 24
        enter(way)
        assert "layer norm" in chosen(row)
        close(numbers(row, "result").tolist(), layer_norm(x, 4))
        table = row.evaluate(TABLE)
        assert [line[0] for line in table] == HEADS
        y = torch.tensor([float(n.replace("−", "-")) for n in table[-1][1:5]])
        close(y.tolist(), layer_norm(x, 4))
    assert row.get_by_role("table").is_visible()
    assert row.get_by_role("slider").count() == 4 + 3 + 4 + 1
    for depth in ("its steps", "one word", "numbers"):
        enter(depth)
        row.get_by_role("button", name=depth, exact=True, pressed=True).wait_for()
    head, *lines = row.evaluate(TABLE)
    assert head == ["", *"abcd", "mean"]
    assert [line[0] for line in lines[:4]] == ["dogs", "its norm", "bark", "its norm"]
    x = torch.tensor([[float(n.replace("−", "-")) for n in line[1:5]] for line in lines])
    close(x[1::2].flatten().tolist(), layer_norm(encoded_points().double(), 4))
    for norm, whose in (("layer norm", "“dogs”"), ("batch norm", "a in all words")):
        press(row, norm)
        row.get_by_role("slider", name="number a of dogs").press("ArrowRight")
        row.get_by_text(f"results have changed, those of {whose}").wait_for()


def test_the_row_travels_from_station_to_station_and_says_where_it_is(visit):
    _, row = opened(visit, "index.html", size=NARROW)
    scrubber = row.get_by_role("slider", name="way of the numbers")
    assert scrubber.evaluate(UNCOVERED)
    for at, said in ((0.5, "slide by the same 3"), (1.5, "by the same 5"), (2.5, "8 times")):
        scrubber.fill(str(at))
        row.get_by_text(said).wait_for()
    scrubber.fill("3")
    press(row, "γ and β")
    scrubber.fill("3.5")
    row.get_by_text("a γ and a β of its own").wait_for()
    press(row, "four numbers")
    below = row.get_by_role("status").bounding_box()["y"]
    for name in ("all + 4", "all equal"):
        press(row, name)
        assert row.get_by_role("status").bounding_box()["y"] == below


def test_rmsnorm_stands_beside_layer_norm_and_epsilon_holds_a_row_open(visit):
    _, row = opened(visit, "index.html", size=(1280, 900))
    press(row, "RMSNorm")
    assert row.locator("svg:not([hidden])").count() == 2
    press(row, "RMSNorm")
    press(row, "ε = 1")
    hand_of(row, "high").press("ArrowLeft")
    for _ in range(5):
        hand_of(row, "high").press("ArrowLeft")
    assert numbers(row).std() == 0
    assert numbers(row, "result").tolist() == [0] * 4


@pytest.mark.parametrize("hand", [Mouse, Touch])
def test_results_are_covered_until_they_have_been_guessed(visit, hand):
    page, row = opened(visit, LESSONS[2], **hand.options)
    x = numbers(row)
    assert row.evaluate(TABLE) == [["", "a", "b", "c", "d", ""], ["x", *TABLED, "mean 4.00"]]
    assert not hand_of(row, "result0").count()
    before = numbers(row, "guess")
    hand(page).pull(hand_of(row, "guess3"), 25, 0)
    hand_of(row, "guess0").press("ArrowRight")
    guessed = numbers(row, "guess")
    assert guessed[3] > before[3]
    close(guessed[:3].tolist(), before[:3] + torch.tensor([0.1, 0, 0]))
    assert torch.equal(numbers(row), x)
    press(row, "uncover")
    close(numbers(row, "result").tolist(), layer_norm(x, 4))
    rings = row.locator("svg:not([hidden]) .ring").evaluate_all(
        "rings => rings.map(ring => Number(ring.getAttribute('cx')))"
    )
    steps = [(one - rings[0]) / (guessed[i] - guessed[0]) for i, one in enumerate(rings) if i]
    assert [float(step) for step in steps] == pytest.approx([float(steps[0])] * 3)
    press(row, "a guess")
    close(numbers(row, "guess").tolist(), before)
    press(row, "uncover")  # without a guess of one's own
    assert "your guesses" not in row.inner_text()


def test_a_drag_of_two_seconds_paints_nearly_every_picture(visit):
    page, row = opened(visit, "index.html")
    dot = hand_of(row, "dot0").bounding_box()
    page.mouse.move(dot["x"] + 13, dot["y"] + 13)
    page.mouse.down()
    page.evaluate(f"window.painted = ({PAINTED})()")
    for step in range(100):
        page.mouse.move(dot["x"] + 13 + 3 * (step % 40), dot["y"] + 13)
    assert page.evaluate("window.painted") > 55


def test_a_copied_link_leads_to_what_a_hand_has_made_of_a_row(visit):
    page, row = opened(visit, "index.html", permissions=["clipboard-read", "clipboard-write"])
    for act in ("all equal", "result0", "dot1"):
        if act in ("result0", "dot1"):
            hand_of(row, act).press("ArrowRight")
        else:
            press(row, act)
        before = row.evaluate(SEEN)
        press(row, "copy link")
        row.get_by_role("button", name="link copied").wait_for()
        address = page.evaluate("navigator.clipboard.readText()")
        page.goto("about:blank")
        page.goto(address)
        assert row.evaluate(SEEN)["hands"] == pytest.approx(before["hands"], abs=1e-4)
    for wrong in ('{"x":[["<b>"]]}', '{"x":3}', "{", "%"):
        page.goto("about:blank")
        page.goto(address.split("#")[0] + f"#row=four-numbers{wrong}")
        assert numbers(row).tolist() == [-4, 2, 4, 10]
