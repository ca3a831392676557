"""States drawn ahead: which there are, and that they are what the explorer shows."""

import gzip
import itertools
import json
from pathlib import Path

import pytest

from lnorm_course.explorers import explore_stream
from lnorm_staff.web import baking
from lnorm_staff.web.baking import bake, page_of

CALL = "explore_stream()"  # the one with the fewest states


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bake(CALL, tmp_path_factory.mktemp("baked"))


def read(file):
    return gzip.decompress(file.read_bytes()).decode()


def test_every_state_is_drawn_in_order_as_the_explorer_shows_it(folder):
    explorer = explore_stream()
    frames = [json.loads(line) for line in read(folder / "all.gz").split("\n")]
    texts = [control["texts"] for control in explorer.page["controls"]]
    states = [*itertools.product(*(range(len(each)) for each in texts))]
    assert [tuple(frame["state"]) for frame in frames] == states
    for frame in frames:
        assert frame["words"] == explorer.frame(tuple(frame["state"]))["words"]
        assert len(frame["svgs"]) == len(explorer.panels)


def test_a_page_begins_with_the_frame_of_its_preset_and_the_first_file_has_all_presets(folder):
    explorer, first = explore_stream(), json.loads(read(folder / "first.gz"))
    keys = {name: ",".join(map(str, state)) for name, state in explorer.presets.items()}
    start = ",".join(map(str, explorer.state))
    assert {*first} == {start, *keys.values()}
    for name, key in ({"": start} | keys).items():
        page = page_of(folder, name)
        assert page["frame"] == first[key]
        assert ",".join(map(str, first[key]["state"])) == key
        assert page["start"] == explorer.state
    assert [(p["name"], tuple(p["state"])) for p in page["presets"]] == [*explorer.presets.items()]
    assert page["panels"][0]["still"].startswith("data:image/svg+xml;base64,")


def test_what_was_drawn_is_kept_unless_that_was_interrupted(tmp_path):
    def never(*arguments):
        raise AssertionError("It was drawn again.")

    folder = bake(CALL, tmp_path)
    drawn = read(folder / "all.gz").count("\n")
    assert bake(CALL, tmp_path, never) == folder
    (folder / "page.json").unlink()
    (folder / "all.gz").write_bytes(b"")
    assert read(bake(CALL, tmp_path) / "all.gz").count("\n") == drawn > 0


def test_an_explorer_is_drawn_again_when_its_own_file_has_changed(monkeypatch):
    before, read = baking._fingerprint("explore_gradient()"), Path.read_bytes
    changed = {"gradient.py": b" "}
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + changed.get(path.name, b""))
    assert baking._fingerprint("explore_gradient()") != before


def test_a_call_that_needs_more_than_the_package_is_refused(tmp_path):
    with pytest.raises(ValueError, match="mine"):
        bake("explore_collapse(features=mine)", tmp_path)
