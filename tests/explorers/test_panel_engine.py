"""What runs an explorer of panels: its state, presets, and starts, and what a browser asks for."""

import asyncio
import gc
import re

import pytest

from lnorm_course.explorers.engine import Choice, Explorer, Slider, Switch, line, panel

MADE = []
CONTROLS = {
    "x": Slider("place", 2.0, [0.0, 2.0, 5.0, 10.0]),
    "kind": Choice("kind", "dot", ["dot", "<b>"]),
    "up": Switch("goes up", False, when=lambda values: values["x"] > 0),
}
PRESETS = {"far up": {"x": 10.0, "up": True}, "up": {"up": True}}


def make_dot(preset=None, **start):
    """Make a small explorer with every kind of control."""
    picture, ax = panel("a dot", xlim=(-1, 11), ylim=(-1, 11))
    dot = line(ax, "o", [0])
    calls = []

    def computed(x, kind, up):
        calls.append((x, kind, up))
        return 5 if up else 0

    def show(y, x, kind, up):
        dot.set_data([x], [y])
        return f"{kind} at {x:g} and {y}."

    MADE.append(Explorer({picture: [dot]}, computed, show, CONTROLS, PRESETS, preset, start))
    MADE[-1].calls, MADE[-1].dot = calls, dot
    return MADE[-1]


def values_of(explorer):
    return explorer.values_of(explorer.state)


@pytest.fixture(autouse=True)
def _close():
    yield
    while MADE:
        MADE.pop().close()


def test_state_and_preset_follow_each_other_and_a_preset_leaves_the_rest_at_its_start():
    explorer = make_dot()
    assert (explorer.state, explorer.preset) == ([1, 0, 0], "")
    explorer.preset = "far up"
    assert (explorer.state, explorer.words) == ([3, 0, 1], "dot at 10 and 5.")
    explorer.state = [0, 0, 1]
    assert (explorer.preset, values_of(explorer)) == ("", {"x": 0.0, "kind": "dot", "up": True})
    explorer.state = [1, 0, 1]
    assert explorer.preset == "up"
    with pytest.raises(ValueError, match="preset must be one of '', 'far up', 'up'"):
        explorer.preset = "down"
    for state in ([4, 0, 0], [0, 0], [0, -1, 0]):
        with pytest.raises(ValueError, match="state must have an index below each of"):
            explorer.state = state
    assert explorer.state == [1, 0, 1]
    for wrong, said in (({"y": 1}, "'y'"), ({"x": 3.0}, "2.0, 5.0")):
        with pytest.raises(ValueError, match=said):
            explorer.state_of({**values_of(explorer), **wrong})


def test_it_starts_at_the_nearest_stop_to_what_is_given_on_top_of_a_preset():
    assert values_of(make_dot(x=9)) == {"x": 10.0, "kind": "dot", "up": False}
    assert values_of(make_dot("up", x=0.4, kind="<b>")) == {"x": 0.0, "kind": "<b>", "up": True}


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"preset": "down"}, "preset must be one of 'far up', 'up', but 'down' was given."),
        ({"y": 1}, "the name of a control must be one of 'x', 'kind', 'up', but 'y' was given."),
        ({"x": 11}, "x must be a number between 0 and 10, but 11 was given."),
        ({"x": "2"}, "x must be a number between 0 and 10, but '2' was given."),
        ({"kind": "cat"}, "kind must be one of 'dot', '<b>', but 'cat' was given."),
        ({"up": 1}, "up must be True or False, but 1 was given."),
    ],
)
def test_a_start_that_there_is_not_gets_a_sentence_that_says_what_there_is(start, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        make_dot(**start)


def test_one_change_is_one_computation_and_a_browser_gets_the_frame_it_asks_for():
    explorer = make_dot()
    expected = explorer.frame((0, 1, 1))
    assert (expected["words"], expected["off"]) == ("<b> at 0 and 5.", [2])
    heard = []
    explorer.send = heard.append
    explorer.calls.clear()

    async def ask():
        explorer._handle_custom_msg({"state": [0, 1, 1]}, [])
        await asyncio.sleep(0)

    asyncio.run(ask())
    assert heard == [expected]
    assert explorer.calls == [(0.0, "<b>", True)]
    assert explorer.state == [1, 0, 0]  # which a browser sets when the hand rests


def test_explorers_that_are_moved_and_closed_leave_memory_where_it_was():
    def objects_after(explorers):
        for _ in range(explorers):
            explorer = make_dot()
            for state in explorer.states():
                explorer.frame(state)
            MADE.pop().close()
        del explorer
        gc.collect()
        return len(gc.get_objects())

    objects_after(1)
    assert objects_after(1) >= objects_after(4)
