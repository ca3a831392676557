"""States drawn ahead: which there are, and that they are what the explorer shows."""

import gzip
import json
from pathlib import Path

import pytest

from lnorm_course import explorers
from lnorm_course.explorers.engine import Explorer, Slider, Switch, line, panel
from lnorm_staff.web import baking
from lnorm_staff.web.baking import bake, page_of

PRESETS = {"low": {"place": 0}, "far": {"place": 3, "is_high": True}}


def explore_tiny(preset=None):
    picture, ax = panel("a dot", xlim=(-1, 11))
    dot = line(ax, "o", [0])

    def show(square, place, is_high):
        dot.set_data([place], [int(is_high)])
        return f"The dot's at {place}, {is_high}."

    controls = {"place": Slider("place", 1, range(4)), "is_high": Switch("high", False)}
    panels = {picture: [dot]}
    return Explorer(panels, lambda place, is_high: place**2, show, controls, PRESETS, preset)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(explorers, "explore_tiny", explore_tiny, raising=False)


def lines(folder):
    """Read the frames of all states, in order."""
    text = gzip.decompress((folder / "all.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.split("\n")]


def test_every_state_is_drawn_in_order_as_the_explorer_shows_it(tiny, tmp_path):
    explorer = explore_tiny()
    frames = lines(bake("explore_tiny()", tmp_path))
    assert [frame["state"] for frame in frames] == [[p, s] for p in range(4) for s in range(2)]
    for frame, state in zip(frames, explorer.states(), strict=True):
        assert frame["words"] == explorer.frame(state)["words"].replace("'", "’")
        assert len(frame["svgs"]) == 1


def test_too_many_states_are_refused(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(baking, "MOST_STATES", 7)
    with pytest.raises(ValueError, match="has 8 states, of at most 7"):
        bake("explore_tiny()", tmp_path)


def test_a_page_begins_with_the_frame_of_its_preset_and_the_first_file_has_all_presets(
    tiny, tmp_path
):
    folder = bake("explore_tiny()", tmp_path)
    first = json.loads(gzip.decompress((folder / "first.gz").read_bytes()))
    assert {*first} == {"1,0", "0,0", "3,1"}
    page = page_of(folder, "far")
    assert page["frame"] == first["3,1"]
    assert (page["start"], page["presets"][1]) == ([1, 0], {"name": "far", "state": [3, 1]})
    assert page["panels"][0]["still"].startswith("data:image/svg+xml;base64,")
    assert page_of(folder, "")["frame"] == first["1,0"]


def test_what_was_drawn_is_kept(tiny, tmp_path):
    def never(*arguments):
        raise AssertionError("It was drawn again.")

    folder = bake("explore_tiny()", tmp_path)
    assert bake("explore_tiny()", tmp_path, never) == folder


def test_an_explorer_is_drawn_again_when_its_own_file_has_changed(monkeypatch):
    before, read = baking._fingerprint("explore_gradient()"), Path.read_bytes
    changed = {"gradient.py": b" "}
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + changed.get(path.name, b""))
    assert baking._fingerprint("explore_gradient()") != before


def test_what_was_interrupted_is_drawn_again(tiny, tmp_path):
    folder = bake("explore_tiny()", tmp_path)
    (folder / "page.json").unlink()
    (folder / "all.gz").write_bytes(b"")
    assert len(lines(bake("explore_tiny()", tmp_path))) == 8


def test_a_call_needs_nothing_but_the_package(tmp_path):
    with pytest.raises(ValueError, match="mine"):
        bake("explore_collapse(features=mine)", tmp_path)
