"""Explorers in pages of the web edition show what Python computes, whatever moves them."""

import pytest
from hands import Keyboard, Mouse, Touch, move_all
from pages import ALIVE, LESSONS
from site_page import NARROW
from test_row import CALM

# Two panels with two sliders; one that a batch moves; choices and switches.
UNLIKE = [LESSONS[2], LESSONS[4], LESSONS[8]]
HANDS = [(name, Keyboard) for name in ("docs/hour.html", *ALIVE)]
HANDS += [(name, hand) for name in UNLIKE for hand in (Mouse, Touch)]
TARGET = 44  # pixels
# Scroll to something, and tell whether it's seen whole with the whole picture beside it.
ARE_SEEN = """(root, one) => {
    const [block, behavior] = [one.matches('.chips') ? 'start' : 'end', 'instant'];
    one.scrollIntoView({ block, behavior });
    if (one.matches('.chips')) scrollBy({ top: -100, behavior });
    const [first, last] = [one, root.querySelector('.scene')]
        .map((e) => e.getBoundingClientRect()).sort((a, b) => a.top - b.top);
    return document.querySelector('.mobile-header').getBoundingClientRect().bottom <= first.top + 1
        && first.bottom <= last.top + 1 && last.bottom <= innerHeight + 1;
}"""

# What rings and a stream say, and how their controls stand.
STATE = """picture => [...picture.querySelectorAll('[role=status], td, [aria-pressed], input')]
    .map(part => [part.textContent, part.ariaPressed, part.value, part.checked].join())"""


@pytest.mark.parametrize(("name", "hand"), HANDS)
def test_every_explorer_shows_what_python_computes(visit, name, hand):
    opened = visit(name, **hand.options)
    assert opened.page.locator(".lnorm-live").count()
    for alive in opened.explorers:
        move_all(alive, hand(opened.page))


@pytest.mark.parametrize("name", UNLIKE)
def test_on_a_phone_what_moves_is_seen_with_what_moves_it_and_a_finger_can_take_it(visit, name):
    (alive,) = visit(name, **Touch.options).explorers
    for one in (alive.root.locator(".chips"), *alive.root.locator(".controls > *").all()):
        assert alive.root.evaluate(ARE_SEEN, one.element_handle())
    for target in alive.root.locator("button:visible, input").all():
        assert target.bounding_box()["height"] >= TARGET, target.inner_text()
    chips = alive.root.locator(".chips")
    assert len({chip.bounding_box()["y"] for chip in chips.locator("button").all()}) == 1
    assert chips.bounding_box()["width"] <= NARROW[0]


@pytest.mark.parametrize(("name", "hand"), [(LESSONS[5], Touch), (LESSONS[11], Mouse)])
def test_a_point_is_dragged_to_another_stop_of_its_sliders(visit, name, hand):
    opened = visit(name, **hand.options)
    (alive,) = opened.explorers
    opened.page.wait_for_timeout(500)  # the states that may come next are there
    for number, drag in enumerate(alive.about["drags"]):
        before = [alive.state[i] for i in drag["sliders"]]
        hand(opened.page).pull(alive.root.locator(".grip").nth(number), -60, 40)
        moved = alive.root.evaluate("root => looks(root, []).places")
        assert [moved[i] for i in drag["sliders"]] != before
        others = {*range(len(moved))} - {*drag["sliders"]}
        assert all(moved[i] == alive.state[i] for i in others)
        alive.shows(moved)


def test_a_link_leads_to_a_state_when_its_opened_and_when_the_page_is_open_already(visit):
    opened = visit(LESSONS[5], permissions=["clipboard-read", "clipboard-write"])
    page, (alive,) = opened.page, opened.explorers
    bare, states = page.url, {}
    for preset, state in alive.presets.items():
        for name in (preset, "copy link"):
            alive.root.get_by_role("button", name=name, exact=True).click()
        alive.root.get_by_role("button", name="link copied").wait_for()
        states[page.evaluate("navigator.clipboard.readText()")] = state
    assert len(states) == len(alive.presets)
    states[f"{bare}#collapse=1,2,3"] = [1, 2, 3]
    for address, state in states.items():
        assert address.startswith(f"{bare}#collapse=")
        for first in (address, bare):
            page.goto("about:blank")
            page.goto(first)
            alive.root.locator("p:not(:empty)").wait_for()
            page.goto(address)
            alive.shows(state)
            assert 0 <= alive.root.bounding_box()["y"] < 100
    for wrong in ("collapse=no-such-preset", "collapse=1,2", "collapse=99,0,0", "mean=1", "="):
        next(visit(f"{LESSONS[5]}#{wrong}").explorers)  # which shows its start


@pytest.mark.parametrize(
    ("lesson", "picture", "hands"),
    [
        (1, ".lnorm-rings >> nth=1", ["times 2, forward only", "train"]),
        (0, ".lnorm-rings", ["layer norm", "Adam", "race"]),
        (9, ".lnorm-stream >> nth=2", ["off"]),
        (10, ".lnorm-stream", ["pre-LN", "off", "each its own"]),
    ],
)
def test_a_copied_link_leads_to_rings_or_a_stream_as_they_were_left(visit, lesson, picture, hands):
    options = {"permissions": ["clipboard-read", "clipboard-write"], **CALM}
    page = visit(LESSONS[lesson], NARROW, **options).page
    bare, drawn = page.url, page.locator(picture)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    start = drawn.evaluate(STATE)
    for name in hands:
        drawn.locator("button, .name", has_text=name).first.click()
    drawn.get_by_role("slider").press("ArrowLeft")
    drawn.get_by_role("button", name="copy link").click()
    drawn.get_by_role("button", name="link copied").wait_for()
    left, address = drawn.evaluate(STATE), page.evaluate("navigator.clipboard.readText()")
    assert start != left
    for first in ("about:blank", bare):
        page.goto("about:blank")
        page.goto(first)
        page.goto(address)
        drawn.get_by_role("button", name="copy link").wait_for()
        assert drawn.evaluate(STATE) == left
        assert 40 < drawn.bounding_box()["y"] < 100  # below the page's header
    page.goto("about:blank")
    page.goto(f"{address}0")  # which no state has
    assert drawn.evaluate(STATE) == start


def test_without_a_connection_the_picture_stays_and_one_can_try_again(visit):
    opened = visit("index.html", NARROW)
    opened.context.route("**/*.gz", lambda route: route.abort("internetdisconnected"))
    opened.open(LESSONS[5])
    page, (alive,) = opened.page, opened.explorers
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
    assert not again.is_visible()
