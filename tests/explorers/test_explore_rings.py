"""The rings show what was recorded, which is what lessons print, and say nothing else of it."""

import base64
import json
import math
import os
import re
import shutil
import subprocess
from itertools import pairwise

import nbformat
import numpy as np
import pytest
from project import LESSON_PATHS
from still_images import assert_is_still

from lnorm_course.explorers.rings import CHANGES, NETWORKS, RECORDED, RUNS, SCRIPT, explore_rings

MOMENTS = RECORDED["moments"]
STEPS = sorted({*range(MOMENTS[-1] + 1), *(step + 0.5 for step in MOMENTS[:-1])})
# Writes what the picture shows of each network at each step, and says.
PROGRAM = """
globalThis.document = { querySelectorAll: () => [] };
%s
const all = (name, step) => {
    const seen = at(name, step);
    return { ...seen, rows: seen.rows(), told: told(seen) };
};
const race = (step) => ["plain", ...%s].map((name) => at(name, step));
const shown = Object.fromEntries(Object.keys(RUNS).map((name) =>
    [name, %s.map((step) => all(name, step))]));
console.log(JSON.stringify([shown, [0, 40, 200].map((step) => toldRace(race(step), 3))]));
"""
NUMBER = re.compile(r"(\d+(?:\.\d+)?)(%?)")


def digits(value):
    return f"{value:.0f}" if value >= 9.95 else f"{float(f'{value:.2g}'):g}"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the module makes of the recording: {network: its states}, and the words of a race."""
    if not shutil.which("node") and "CI" not in os.environ:
        pytest.skip("no Node.js")
    file = tmp_path_factory.mktemp("rings") / "run.mjs"
    file.write_text(PROGRAM % (SCRIPT, json.dumps(CHANGES[1:]), json.dumps(STEPS)), "utf-8")
    ran = subprocess.run(["node", str(file)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("name", RUNS)
def test_at_a_moment_it_shows_what_was_recorded_and_in_between_what_lies_between(shown, name):
    run, at = RUNS[name], dict(zip(STEPS, shown[0][name], strict=True))
    bytes_of = {key: base64.b64decode(run[key]) for key in ("says", "along")}
    bytes_of["p"] = run["p"].encode()
    apart = np.array(run["apart"])
    along = np.frombuffer(bytes_of["along"], np.int8).reshape(*apart.shape, -1)
    for i, moment in enumerate(MOMENTS):
        close = np.testing.assert_allclose
        close(at[moment]["apart"], apart[i], rtol=1e-12)
        close(at[moment]["rows"], along[i] / 40 * apart[i][:, None], atol=1e-9)
        close(at[moment]["range"], run["range"][i])
        for key, least, most in (("p", ord("#"), ord("[")), ("says", 0, 255)):
            wanted = np.frombuffer(bytes_of[key], np.uint8).reshape(len(MOMENTS), -1)[i]
            close(at[moment][key], (wanted - float(least)) / (most - least))
    assert [at[step]["loss"] for step in range(MOMENTS[-1] + 1)] == pytest.approx(run["loss"])
    for first, last in pairwise(MOMENTS):
        low, high = np.sort([apart[MOMENTS.index(step)] for step in (first, last)], axis=0)
        between = np.array(at[first + 0.5]["apart"])
        assert ((low <= between * 1.0001) & (between <= high * 1.0001)).all()


@pytest.mark.parametrize("name", RUNS)
def test_its_words_have_no_number_and_no_claim_that_the_state_lacks(shown, name):
    for state in shown[0][name]:
        words, last, loss = state["told"], state["last"], state["loss"]
        layers, plain = len(state["apart"]), RUNS["plain"]["maps"][0][0]
        with_two_digits = [*state["apart"], state["gradient"], plain]
        for number, percent in NUMBER.findall(words):
            of_two = pytest.approx(float(number), rel=0.051)
            known = any(value == of_two for value in with_two_digits)
            known |= float(number) in (1, layers, math.floor(state["step"]))
            known |= float(number) == pytest.approx(loss, abs=0.00501)
            shares = [100 * share for share in (*state["range"], 0.5)]
            near = any(float(number) == pytest.approx(share, abs=0.501) for share in shares)
            assert near if percent else known, (number, words)
        if "apart on their way" in words or "arrive apart" in words:
            assert last >= 0.5 or loss < 0.2, words
        low, high = state["range"]
        assert ("same answer," in words) <= (high - low < 0.051), words
        assert ("different answers" in words) <= (high - low > 0.049), words
        assert ("plateau" in words) <= (last < 0.1 and abs(loss - math.log(2)) < 0.01), words


def test_the_race_ends_with_six_and_begins_with_five_apart(shown):
    before, _, after = shown[1]
    assert all(name in after for name in CHANGES[1:])
    assert "plain" not in after
    assert [name for name in CHANGES[1:] if name in before] == ["Adam"]
    for name in CHANGES[1:]:
        assert RUNS[name]["loss"][-1] < 0.2
        assert (RUNS[name]["apart"][0][-1] > 0.5) == (name != "Adam")


def test_what_lessons_print_is_what_was_recorded():
    one, two = (printed(LESSON_PATHS[number]) for number in (0, 1))
    ends = dict(re.findall(r"^(.+?) +the loss ends at (.+)$", one, re.M))
    assert ends == {name: f"{RUNS[name]['loss'][199]:.1f}" for name in CHANGES}
    assert " ".join(map(digits, RUNS["plain"]["apart"][0])) in two
    kinds = {"plain": "plain", "forward": "times 2, forward only"}
    kinds["backward"] = "times 2, backward only"
    for kind, name in kinds.items():
        first, last = (f"{value:.0e}" for value in RUNS[name]["maps"][0])
        learns = RUNS[name]["loss"][199] < 0.1
        line = f"{kind:8} gradient of the first map {first}, of the last {last}, learns: {learns}"
        assert line in two


def printed(path):
    """Return what the cells of a notebook print."""
    cells = nbformat.read(path, as_version=4).cells
    return "".join(out.get("text", "") for cell in cells for out in cell.get("outputs", []))


@pytest.mark.parametrize("preset", NETWORKS)
def test_a_preset_has_its_network_a_still_image_and_words(preset):
    rings = explore_rings(preset)
    assert_is_still(rings)
    assert (rings.page["preset"] in rings.page["names"]) == (preset != "race")
    # What lesson 2 asks about is in no picture that stands before the question.
    assert ("times 2, forward only" in rings.page["names"]) == ("only" in str(preset))
    rings.close()


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="preset must be one of"):
        explore_rings("nothing")
