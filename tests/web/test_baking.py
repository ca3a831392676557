"""States drawn ahead: which there are, and that they are what the explorer shows."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from lnorm_course import explorers
from lnorm_course.explorers import Button, Explorer, Slider, Switch
from lnorm_staff.web import baking
from lnorm_staff.web.baking import bake
from lnorm_utils.plotting import new_picture

PRESETS = {"low": {"place": 0}, "far": {"place": 3, "presses": 11}}


def explore_tiny(preset=None):
    picture, axes = new_picture("A dot", 1, 1, 3, 2)
    (dot,) = axes[0, 0].plot([0], [0], "o")
    axes[0, 0].set(xlim=(-1, 11))

    def move(place, is_high, presses):
        dot.set_data([place], [int(is_high)])
        return f"The dot's at {place}, {is_high}, {presses}."

    most = {"most": lambda values: 2 if values["is_high"] else 3}
    controls = {
        "place": Slider("place", 1, range(4), **most),
        "is_high": Switch("high", False),
        "presses": Button("press", 0),
    }
    return Explorer(picture, [dot], move, controls, PRESETS, preset)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(explorers, "explore_tiny", explore_tiny, raising=False)


def baked(folder, arrangement=0):
    """Read what was drawn: state → frame, and what the page says about itself."""
    found = {}
    for part in ("near", "rest"):
        text = gzip.decompress((folder / f"{arrangement}.{part}.gz").read_bytes()).decode()
        numbers, *lines = text.split("\n")
        frames = [json.loads(line) for line in lines]
        found |= {tuple(map(int, k.split(","))): frames[n] for k, n in json.loads(numbers).items()}
    return found, json.loads((folder / "page.json").read_text("utf-8"))


def words_in_python(states):
    """Return the words of states, with the apostrophes of the page around them."""
    frames = explore_tiny().frames
    return {state: frames.frame(0, state)["words"].replace("'", "’") for state in states}


def test_a_small_grid_is_drawn_whole(tiny, tmp_path):
    found, page = baked(bake("explore_tiny()", tmp_path))
    assert page["whole"]
    assert page["presses"] == 12
    grid = {(p, s, n) for p in range(4) for s in range(2) for n in range(12)}
    assert {state: frame["words"] for state, frame in found.items()} == words_in_python(grid)


def test_of_a_large_grid_each_control_is_drawn_alone(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(baking, "MOST_STATES", 10)
    found, page = baked(bake("explore_tiny()", tmp_path))
    assert not page["whole"]
    anchors = [(1, 0, 0), (0, 0, 0), (3, 0, 11)]
    grid = [(p, s, n) for p in range(4) for s in range(2) for n in range(12)]
    near = [g for g in grid if any(sum(map(int.__ne__, g, a)) < 2 for a in anchors)]
    assert {state: frame["words"] for state, frame in found.items()} == words_in_python(near)


def test_the_first_file_has_the_presets_and_the_background(tiny, tmp_path):
    folder = bake("explore_tiny()", tmp_path)
    first = json.loads(gzip.decompress((folder / "0.first.gz").read_bytes()))
    assert {*first["frames"]} == {"1,0,0", "0,0,0", "3,0,11"}
    assert shapes(first["background"]) == shapes(explore_tiny().frames.background(0))


def shapes(image):
    """Return what an SVG image draws; ids and what refers to them differ each time."""
    drawing = base64.b64decode(image.removeprefix("data:image/svg+xml;base64,")).decode()
    return re.findall(r' (?:d|style|transform)="(?!clip-path|.*url)([^"]+)"', drawing)


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
    (folder / "0.near.gz").write_bytes(b"")
    assert baked(bake("explore_tiny()", tmp_path))[0]


def test_a_call_needs_nothing_but_the_package(tmp_path):
    with pytest.raises(ValueError, match="mine"):
        bake("explore_collapse(points=mine)", tmp_path)
