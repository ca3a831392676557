"""States drawn ahead: which there are, and that they are what the explorer shows."""

import gzip
import json
from pathlib import Path

import pytest

from lnorm_course.explorers import explore_transformer
from lnorm_staff.web import baking
from lnorm_staff.web.baking import bake, page_of

CALL = "explore_transformer()"  # the one with the fewest states


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bake(CALL, tmp_path_factory.mktemp("baked"))


def read(file):
    return gzip.decompress(file.read_bytes()).decode()


def test_every_state_is_drawn_in_order_and_those_that_a_page_may_begin_with_come_first(folder):
    explorer = explore_transformer()
    frames = {tuple(f["state"]): f for f in map(json.loads, read(folder / "all.gz").split("\n"))}
    assert [*frames] == explorer.states()
    for state, frame in frames.items():
        assert frame["words"] == explorer.frame(state)["words"]
        assert len(frame["svgs"]) == len(explorer.panels)
    begins = {"": tuple(explorer.state), **explorer.presets}
    first = {",".join(map(str, state)): frames[state] for state in begins.values()}
    assert json.loads(read(folder / "first.gz")) == first
    assert {name: page_of(folder, name)["frame"] for name in begins} == {
        name: frames[state] for name, state in begins.items()
    }


def test_what_was_drawn_is_kept_and_of_what_was_interrupted_nothing(folder, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(baking, "typeset", interrupted)
    assert bake(CALL, folder.parent) == folder
    for part in ("typeset", "_write"):
        monkeypatch.setattr(baking, part, interrupted)
        with pytest.raises(KeyboardInterrupt):
            bake(CALL, tmp_path)
        assert [*tmp_path.iterdir()] == []
        monkeypatch.undo()
    assert [each.name for each in bake(CALL, tmp_path).iterdir()] != []


def test_an_explorer_is_drawn_again_when_its_own_file_has_changed(monkeypatch):
    before, read = baking._fingerprint("explore_gradient()"), Path.read_bytes
    changed = {"gradient.py": b" "}
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + changed.get(path.name, b""))
    assert baking._fingerprint("explore_gradient()") != before


def test_a_call_that_needs_more_than_the_package_is_refused(tmp_path):
    with pytest.raises(ValueError, match="mine"):
        bake("explore_collapse(features=mine)", tmp_path)
