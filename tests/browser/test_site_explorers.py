"""Explorers in pages of the web edition show what Python computes, whatever moves them."""

import pytest
from hands import Keyboard, Mouse, Touch
from pages import ALIVE, LESSONS, UNLIKE, few
from site_page import NARROW

WITH_EXPLORERS = [name for name in ALIVE if "appendix" not in name]
HANDS = [(name, hand) for hand in (Keyboard, Mouse, Touch) for name in WITH_EXPLORERS]
NOW = [pair for pair in HANDS if pair[1] is Keyboard or pair[0] in UNLIKE]
TARGET = 44  # pixels
# Where each slider stands.
PLACES = "root => [...root.querySelectorAll('.controls input')].map(input => Number(input.value))"
# The picture, and something, when it was scrolled to: where both are, and where all is seen.
SEEN = """(root, one) => {
    const [block, behavior] = [one.matches('.chips') ? 'start' : 'end', 'instant'];
    one.scrollIntoView({ block, behavior });
    if (one.matches('.chips')) scrollBy({ top: -100, behavior });
    const ends = (box) => [box.getBoundingClientRect().top, box.getBoundingClientRect().bottom];
    const header = document.querySelector('.mobile-header').getBoundingClientRect().bottom;
    const picture = ends(root.querySelector(".scene"));
    return { seen: [header, innerHeight], picture, one: ends(one) };
}"""


def move_to_all_ends(alive, number, control, hand):
    """Move a control to both ends, or to all that can be chosen; look at each."""
    box = alive.root.locator(".controls > *").nth(number)
    if control["kind"] == "slider":
        slider = box.locator("input")
        for end in (1, 0):
            last = len(control["texts"]) - 1
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
    else:
        for _ in range(2):
            hand.tick(box.locator("input"))
            alive.moved(number, 1 - alive.state[number])
            alive.check()


@pytest.mark.parametrize(("name", "hand"), few(HANDS, NOW))
def test_every_explorer_shows_what_python_computes(visit, name, hand):
    opened = visit(name, **hand.options)
    hand = hand(opened.page)
    for alive in opened.explorers:
        alive.check()
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


@pytest.mark.parametrize("name", few(LESSONS[1:], UNLIKE))
def test_on_a_phone_what_moves_is_seen_with_what_moves_it_and_a_finger_can_take_it(visit, name):
    (alive,) = visit(name, **Touch.options).explorers
    alive.check()
    for one in (alive.root.locator(".chips"), *alive.root.locator(".controls > *").all()):
        places = alive.root.evaluate(SEEN, one.element_handle())
        first, last = sorted([places["picture"], places["one"]])
        top, bottom = places["seen"]
        assert top - 1 <= first[0], places
        assert first[1] <= last[0] + 1, places
        assert last[1] <= bottom + 1, places
    for target in alive.root.locator("button:visible, input[type=range], label:not(.slider)").all():
        assert target.bounding_box()["height"] >= TARGET, target.inner_text()
    chips = alive.root.locator(".chips")
    assert len({chip.bounding_box()["y"] for chip in chips.locator("button").all()}) == 1
    assert chips.bounding_box()["width"] <= NARROW[0]


DRAGGED = [(name, hand) for name in (LESSONS[5], LESSONS[11]) for hand in (Touch, Mouse)]


@pytest.mark.parametrize(("name", "hand"), few(DRAGGED, [DRAGGED[0], DRAGGED[3]]))
def test_a_point_is_dragged_to_another_stop_of_its_sliders(visit, name, hand):
    opened = visit(name, **hand.options)
    (alive,) = opened.explorers
    alive.check()
    opened.page.wait_for_timeout(500)  # the states that may come next are there
    for number, drag in enumerate(alive.about["drags"]):
        before = [alive.state[i] for i in drag["sliders"]]
        hand(opened.page).pull(alive.root.locator(".grip").nth(number), -60, 40)
        moved = alive.root.evaluate(PLACES)
        assert [moved[i] for i in drag["sliders"]] != before
        others = {*range(len(moved))} - {*drag["sliders"]}
        assert all(moved[i] == alive.state[i] for i in others)
        alive.state = moved
        alive.check()


@pytest.mark.parametrize("name", few(LESSONS[1:], [LESSONS[5]]))
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
        assert 0 <= alive.root.bounding_box()["y"] < 100


def test_a_link_to_no_state_is_ignored(visit):
    page = f"{LESSONS[5]}#{{}}"
    for wrong in ("collapse=no-such-preset", "collapse=1,2", "collapse=99,0,0", "mean=1", "="):
        (alive,) = visit(page.format(wrong)).explorers
        alive.check()


def test_without_a_connection_the_picture_stays_and_one_can_try_again(visit):
    opened = visit("index.html", NARROW)
    opened.context.route("**/*.gz", lambda route: route.abort("internetdisconnected"))
    opened.open(LESSONS[5])
    page, (alive,) = opened.page, opened.explorers
    alive.check()
    again = page.get_by_role("button", name="Try again")
    again.wait_for()
    again.click()  # still without a connection
    again.wait_for()
    assert opened.wrong
    opened.wrong.clear()
    opened.context.unroute("**/*.gz")
    again.click()
    alive.root.locator("input[type=range]").last.press("End")
    alive.moved(2, len(alive.about["controls"][2]["texts"]) - 1)
    alive.check()
    assert not again.is_visible()
