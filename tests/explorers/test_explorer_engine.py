"""What runs an explorer: controls, presets, drawing, the checks of data, and what is closed."""

import asyncio
import gc
import gzip
import json
import math
import re

import pytest

from lnorm_course.explorers import Button, Choice, Explorer, Slider, Switch, steps
from lnorm_utils.plotting import new_picture

MADE = []


def make_dot(**options):
    """Make a small explorer with every kind of control."""
    picture, axes = new_picture("A dot", 1, 1, 3, 2)
    (line,) = axes[0, 0].plot([0], [0], "o")
    axes[0, 0].set(xlim=(-1, 11), ylim=(-1, 11))
    calls = []

    def move(x, kind, up, again):
        calls.append((x, kind, up, again))
        line.set_data([x], [again if up else 0])
        return f"{kind} at {x} & {again}"

    controls = {
        "x": Slider("place", 2, range(11)),
        "kind": Choice("kind", "dot", ["dot", "<b>"]),
        "up": Switch("goes up", False),
        "again": Button("again", 0, when=lambda values: values["up"]),
    }
    MADE.append(Explorer(picture, [line], move, controls, **options))
    MADE[-1].calls, MADE[-1].line = calls, line
    return MADE[-1]


@pytest.fixture(autouse=True)
def _close():
    yield
    while MADE:
        MADE.pop().close()


def test_one_change_is_one_drawing():
    explorer = make_dot()
    explorer.calls.clear()
    explorer.x = 7
    assert explorer.words == explorer.frame()["words"]
    assert explorer.calls == [(7, "dot", False, 0)]
    assert explorer.line.get_data() == ([7], [0])
    assert explorer.words == "dot at 7 & 0"


def test_a_preset_moves_all_controls_in_one_drawing_and_what_it_leaves_out_to_its_start():
    explorer = make_dot(presets={"far up": {"x": 10, "up": True, "again": 3}, "up": {"up": True}})
    assert explorer.preset == ""
    seen = []
    explorer.observe(seen.append, "values")
    explorer.preset = "far up"
    assert [change.new for change in seen] == [explorer.values]
    assert explorer.values == {"x": 10, "kind": "dot", "up": True, "again": 3}
    explorer.x = 9
    assert explorer.preset == ""
    explorer.x = 10
    assert explorer.preset == "far up"
    explorer.preset = "up"
    assert explorer.values == {"x": 2, "kind": "dot", "up": True, "again": 0}


def test_values_that_are_set_go_to_the_nearest_stops_and_what_is_left_out_stays():
    explorer = make_dot()
    explorer.values = {"x": 7, "up": True}
    assert explorer.values == {"x": 7, "kind": "dot", "up": True, "again": 0}
    assert (explorer.x, explorer.up) == (7, True)
    assert explorer.frame()["off"] == []
    explorer.up = False
    assert explorer.frame()["off"] == [3]  # "again" has no effect now
    picture, _ = new_picture("Nothing", 1, 1, 2, 2)
    MADE.append(Explorer(picture, [], lambda y: f"{y}", {"y": Slider("y", 0.0, steps(0, 1, 0.25))}))
    MADE[-1].y = 0.4
    assert MADE[-1].values == {"y": 0.5}


def test_what_cannot_be_set_is_refused_in_a_sentence_and_changes_nothing():
    explorer = make_dot(presets={"up": {"up": True}})
    before = explorer.values
    for name, value, said in (
        *(("x", 99, "x must be a whole number between 0 and 10"), ("kind", "cat", "'dot'")),
        *(("x", math.nan, "x must be a.*nan"), ("x", "2", "x must be a.*'2'")),
        *(("values", {"x": -1}, "x must be"), ("values", {"speed": 1}, "one of 'x', 'kind'")),
        ("preset", "down", "preset must be one of '', 'up'"),
    ):
        with pytest.raises(ValueError, match=said):
            setattr(explorer, name, value)
        assert explorer.values == before
        assert explorer.frames.state(before) == [2, 0, 0, 0]


def test_a_slider_ends_where_its_numbers_stop_to_mean_anything():
    picture, _ = new_picture("Nothing", 1, 1, 2, 2)
    controls = {
        "few": Switch("few", False),
        "n": Slider("n", 9, range(10), most=lambda values: 3 if values["few"] else 9),
    }
    MADE.append(Explorer(picture, [], lambda few, n: f"{n}", controls))
    explorer = MADE[-1]
    assert explorer.frame()["most"] == {1: 9}
    explorer.few = True
    assert (explorer.n, explorer.words) == (3, "3")
    frame = explorer.frames.frame(0, [1, 7])
    assert (frame["state"], frame["most"]) == ([1, 3], {1: 3})


class Browser:
    """What a browser says to an explorer, and what it hears."""

    def __init__(self, explorer):
        self.explorer, self.heard = explorer, []
        explorer.send = lambda content, buffers=(): self.heard.append((content, buffers))

    def says(self, **content):
        async def hear():
            self.explorer._handle_custom_msg({"arrangement": 0, "background": False, **content}, [])
            while self.explorer._is_drawing:
                await asyncio.sleep(0)

        asyncio.run(hear())
        frames = {}
        for content, buffers in self.heard:
            frames |= content.get("frames", {})
            for buffer in buffers:
                frames |= json.loads(gzip.decompress(buffer))
        self.heard.clear()
        return frames


def test_the_browser_gets_the_frame_it_asks_for_and_those_it_may_need_next():
    explorer = make_dot()
    explorer.x = 7
    expected = explorer.frame()
    explorer.x = 2
    browser = Browser(explorer)
    assert browser.says(now=[7, 0, 0, 0]) == {"0:7,0,0,0": expected}
    states = [[x, 0, 0, 0] for x in range(11)]
    ahead = browser.says(next=states)
    assert json.loads(json.dumps(expected)) == ahead["0:7,0,0,0"]
    assert [*ahead] == [f"0:{x},0,0,0" for x in range(11)]
    assert explorer.words == "dot at 2 & 0"


@pytest.mark.parametrize(
    ("control", "value", "sentence"),
    [
        (Slider("ε", 1, [0.5, 20_000]), 0.4, "a number between 0.5 and 20,000, but 0.4"),
        (Slider("ε", 1, [1, 0.5]), "1", "a number between 0.5 and 1, but '1'"),
        (Slider("ε", 0, [0, 1.5]), True, "a number between 0 and 1.5, but True"),
        (Slider("ε", 0, [-2, 3]), 4, "a whole number between −2 and 3, but 4"),
        (Slider("ε", 0, [-2, 3]), 1.0, "a whole number between −2 and 3, but 1.0"),
        (Switch("ε", False), 1, "True or False, but 1"),
        (Button("ε", 0), -1, "a whole number from 0 on, but -1"),
        (Choice("ε", "a", ["a", "b"]), "c", "one of 'a', 'b', but 'c'"),
    ],
)
def test_a_control_refuses_a_value_in_a_sentence_that_names_what_it_takes(control, value, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(f'eps must be {sentence} was given.')}$"):
        control.checked("eps", value)
    assert control.checked("eps", control.start) == control.start


@pytest.mark.parametrize(
    ("error", "said", "options"),
    [
        (TypeError, "returned None", {"move": lambda: None}),
        (ValueError, "at least one stop", {"controls": {"n": Slider("n", 0, [])}}),
        (ValueError, "'values' is taken", {"controls": {"values": Switch("n", True)}}),
        (ValueError, "preset must be one of .*'nothing'", {"preset": "nothing"}),
    ],
)
def test_an_explorer_that_cannot_be_made_says_why_in_a_sentence(error, said, options):
    picture, _ = new_picture("Nothing", 1, 1, 2, 2)
    arguments = {"move": lambda **_: "Nothing.", "controls": {}, **options}
    with pytest.raises(error, match=said):
        Explorer(picture, [], **arguments)


def test_explorers_that_are_moved_and_closed_leave_memory_where_it_was():
    def objects_after(explorers):
        for _ in range(explorers):
            explorer = make_dot(presets={"up": {"up": True}})
            for step in range(11):
                explorer.x = step
            MADE.pop().close()
        del explorer
        gc.collect()
        return len(gc.get_objects())

    objects_after(1)
    assert objects_after(1) >= objects_after(4)
