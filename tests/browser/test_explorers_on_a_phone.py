"""Explorers on a phone: what moves is seen with what moves it, and a finger can take it."""

import pytest
from hands import Mouse, Touch
from project import LESSON_PATHS
from site_page import NARROW

LESSONS = [f"notebooks/{path.stem}.html" for path in LESSON_PATHS]
TARGET = 44  # pixels
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


@pytest.mark.parametrize("name", LESSONS)
def test_what_moves_is_seen_with_what_moves_it(visit, name):
    (alive,) = visit(name, **Touch.options).explorers
    alive.check()
    controls = alive.root.locator(".controls > *").all()
    for one in (alive.root.locator(".chips"), *controls):
        places = alive.root.evaluate(SEEN, one.element_handle())
        first, last = sorted([places["picture"], places["one"]])
        top, bottom = places["seen"]
        assert top - 1 <= first[0], places
        assert first[1] <= last[0] + 1, places
        assert last[1] <= bottom + 1, places


@pytest.mark.parametrize("name", LESSONS)
def test_a_finger_can_take_every_control_and_presets_stand_in_one_row(visit, name):
    (alive,) = visit(name, **Touch.options).explorers
    alive.check()
    for target in alive.root.locator("button:visible, input[type=range], label:not(.slider)").all():
        assert target.bounding_box()["height"] >= TARGET, target.inner_text()
    tops = {chip.bounding_box()["y"] for chip in alive.root.locator(".chips button").all()}
    assert len(tops) == 1
    (width, _) = NARROW
    assert alive.root.locator(".chips").bounding_box()["width"] <= width


@pytest.mark.parametrize("hand", [Mouse, Touch])
@pytest.mark.parametrize("name", [LESSONS[5], LESSONS[11]])
def test_a_point_is_dragged_to_another_stop_of_its_sliders(visit, name, hand):
    opened = visit(name, **hand.options)
    (alive,) = opened.explorers
    alive.check()
    for number, drag in enumerate(alive.about["drags"]):
        stops = [alive.state[i] for i in (*drag["moves"], *drag["depends"])]
        x, y = drag["places"][",".join(map(str, stops))]
        others = stops[len(drag["moves"]) :]
        keys = [[*map(int, key.split(","))] for key in drag["places"]]
        to = next(key for key in keys[1::5] if key[len(drag["moves"]) :] == others and key != stops)
        right, up = (drag["places"][",".join(map(str, to))][i] - at for i, at in enumerate((x, y)))
        inch = alive.root.locator(".sheet").bounding_box()["width"]
        inch /= alive.about["sizes"][alive.arrangement][0]
        across, upward = drag["units"][alive.arrangement]
        grip = alive.root.locator(".grip").nth(number)
        hand(opened.page).pull(grip, right * across * inch, -up * upward * inch)
        for control, place in zip(drag["moves"], to, strict=False):
            alive.state = [*alive.state[:control], place, *alive.state[control + 1 :]]
        alive.check()
