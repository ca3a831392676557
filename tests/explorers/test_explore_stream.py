"""The stream shows what was recorded, which is what stacks give, and says nothing else of it."""

import json
import os
import re
import shutil
import subprocess
from itertools import product

import numpy as np
import pytest
import torch
from still_images import assert_is_still

from lnorm_course.explorers.stream import PRESETS, RECORDED, SCRIPT, explore_stream
from lnorm_utils.data import normal, residual_stack

STATES = [
    {"place": place, "depth": depth, "final": final, "own": own, "back": back, "has": has}
    for place, depth, final, own, (back, has) in product(
        RECORDED["spreads"],
        RECORDED["depths"],
        ("on", "off"),
        ("one", "own"),
        ((False, ["place"]), (True, ["place", "final", "own"])),
    )
]
PROGRAM = """
globalThis.document = { querySelectorAll: () => [] };
%s
console.log(JSON.stringify(%s.map((state) => ({ ...at(state), words: told(at(state), state) }))));
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the module makes of each state."""
    if not shutil.which("node") and "CI" not in os.environ:
        pytest.skip("no Node.js")
    file = tmp_path_factory.mktemp("stream") / "run.mjs"
    file.write_text(PROGRAM % (SCRIPT, json.dumps(STATES)), "utf-8")
    ran = subprocess.run(["node", str(file)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return list(zip(STATES, json.loads(ran.stdout), strict=True))


def by_backward(depth, place, final, own):
    """Compute spreads (seeds, depth, 3) and gradient norms (seeds, depth), block by block."""
    x = normal(64, 64, seed=1, dtype=torch.float64)
    slope = normal(*x.shape[0 if own == "own" else 1 :], seed=2, dtype=torch.float64)
    spreads, norms = [], []
    for seed in range(5):
        stack = residual_stack(depth, place, seed=seed, final_norm=final)
        (stack(x) * slope).sum(-1).mean().backward()
        each = [torch.cat([p.grad.flatten() for p in b.parameters()]) for b in stack.blocks]
        norms.append([gradient.norm().item() for gradient in each])
        h, found = x, []
        for block in stack.blocks:
            added = block.f(block.norm(h) if place == "pre" else h)
            total = h + added
            h = block.norm(total) if place == "post" else total
            found.append(
                [one.var(-1, correction=0).mean().sqrt().item() for one in (added, total, h)]
            )
        spreads.append(found)
    return np.array(spreads), np.array(norms)


@pytest.mark.parametrize(
    ("depth", "place", "final", "own"),
    [
        (24, "post", False, "own"),
        (6, "pre", True, "one"),
        (24, "pre", False, "own"),
        (3, "none", True, "one"),
    ],
)
def test_it_shows_what_five_stacks_give(shown, depth, place, final, own):
    wanted = {"depth": depth, "place": place, "final": "on" if final else "off", "own": own}
    seen = next(one for state, one in shown if wanted.items() <= state.items())
    spreads, norms = by_backward(depth, place, final, own)
    drawn = np.stack([seen[key] for key in ("added", "sum", "leaves")], axis=1)
    np.testing.assert_allclose(drawn, np.median(spreads, 0), rtol=1e-3)
    np.testing.assert_allclose(seen["gradient"], np.median(norms, 0), rtol=1e-3)
    assert seen["enters"][1:] == seen["leaves"][:-1]


@torch.no_grad()
@pytest.mark.parametrize("place", RECORDED["rows"])
def test_a_row_has_four_numbers_of_one_token_with_its_mean_and_the_spread_of_the_trunk(place):
    sums = []
    for seed in range(5):
        h = normal(64, 64, seed=1, dtype=torch.float64)
        sums.append([h])
        for block in residual_stack(24, place, seed=seed).blocks:
            sums[-1].append(h + block.f(block.norm(h) if place == "pre" else h))
            h = block.norm(sums[-1][-1]) if place == "post" else sums[-1][-1]
    whole = torch.stack([torch.stack(each) for each in sums])[:, [0, *RECORDED["depths"]]]
    four = torch.tensor(RECORDED["rows"][place], dtype=torch.float64)  # (places, 4)
    is_among = torch.isclose(whole.unsqueeze(-1), four[:, None, None], rtol=1e-3).any(-2).all(-1)
    ((seed, row),) = is_among.all(1).nonzero().tolist()
    whole = whole[seed, :, row]
    spreads = whole.std(-1, correction=0)
    assert ((four.mean(-1) - whole.mean(-1)).abs() < 0.02 * spreads).all()
    np.testing.assert_allclose(four.std(-1, correction=0), spreads, rtol=0.02)
    trunk = [total for _, total, _ in RECORDED["spreads"][place]]
    trunk = [trunk[depth - 1] for depth in RECORDED["depths"]]
    np.testing.assert_allclose(spreads, [RECORDED["enters"], *trunk], rtol=0.1)


def test_its_words_have_no_number_that_the_state_lacks_and_no_gradient_unless_it_is_drawn(shown):
    for state, seen in shown:
        known = [*seen["added"], *seen["sum"], seen["end"], 1, state["depth"]]
        known += [*seen["gradient"], *(seen["without"] or [])] if state["back"] else []
        for number in map(float, re.findall(r"\d+(?:\.\d+)?", seen["words"])):
            assert any(value == pytest.approx(number, rel=0.051) for value in known), seen["words"]
        assert ("gradient" in seen["words"]) == state["back"]
        assert ("brings it to 1" in seen["words"]) == seen["hasFinal"]


def test_post_ln_narrows_the_trunk_pre_ln_lets_it_grow_and_a_final_norm_divides_gradients(shown):
    deep = {
        (state["place"], seen["hasFinal"]): seen
        for state, seen in shown
        if (state["depth"], state["own"], state["back"]) == (24, "own", True)
    }
    post, (without, final) = deep["post", False], (deep["pre", on] for on in (False, True))
    assert max(post["leaves"]) < 1.01 < 1.1 < min(post["sum"])
    assert final["end"] == without["end"] > 3
    ratios = np.divide(without["gradient"], final["gradient"])
    np.testing.assert_allclose(ratios, final["end"], rtol=0.1)
    assert deep["none", False]["end"] > 50


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_a_still_image_and_shows_gradients_only_where_they_are_asked_for(preset):
    stream = explore_stream(preset)
    assert_is_still(stream)
    assert ("gradient" in stream.words) == stream.page["back"] == ("post" in preset)
    assert stream.page["depth"] in stream.page["depths"]
    stream.close()


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="preset must be one of"):
        explore_stream("nothing")
