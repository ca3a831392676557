"""The row computes in JavaScript what the course's own functions do, and starts as asked."""

import functools
import itertools
import json
import os
import re
import shutil
import subprocess

import pytest
import torch
import torch.nn.functional as F

from lnorm_course.explorers.row import HERE, SHEETS, explore_row
from lnorm_utils import layer_norm, mean, standardize, variance

# Reads cases, and writes what `derive` makes of all rows, and `stations` of each.
PROGRAM = """
import { PULLS, derive, stations } from "./row_numbers.mjs";
import { readFileSync } from "node:fs";
const { cases, pulls } = JSON.parse(readFileSync(0));
console.log(JSON.stringify([cases.map(([x, options]) => {
    const all = (of) => derive(x, options).steps.map((row) => row.map(of));
    return [all((step) => step.group.mean), all((step) => step.group.variance),
        all((step) => step.y), x.map((row) => stations(row, options).out),
        x.map((row) => stations(row, { ...options, keep: 0 }).y)];
}), pulls.map(([x, act, by, keep]) => {
    const look = { eps: 1e-5, keep };
    const from = stations(x, look);
    const shape = from.centered.map((value) => value / from.spread);
    return PULLS[act]({ x, d: 3, from, shape, side: 1 }, by, { edge: 15, ...look });
})]));
"""
VALUES = (-1e4, -3.5, 0.0, 0.001, 1e4)
ROWS = [
    *map(list, itertools.product(VALUES, repeat=4)),
    [7.1, 7.1, 7.1, 7.1],
    [1e4, 1e4 + 0.25, 1e4 - 0.25, 1e4],
    [1e-9, 2e-9, 3e-9, 4e-9],
    [1e4 + k * 2**-16 for k in (1, -1, 3, -3)],  # their mean is exact, and no square is
]
OVER = {"D": (2,), "LD": (1, 2), "NL": (0, 1), "NLD": (0, 1, 2), "L": (1,), "ND": (0, 2)}
AFFINE = {"gamma": [2.0, 0.5, -1.0, 0.0], "beta": [0.0, 1.0, -1.0, 0.5]}
PRESETS = [(name, sheet) for sheet in SHEETS.values() for name in sheet["states"]]


def ran(tmp_path, cases=(), pulls=()):
    shutil.copy(HERE / "row_numbers.js", tmp_path / "row_numbers.mjs")
    (tmp_path / "run.mjs").write_text(PROGRAM, "utf-8")
    given = json.dumps({"cases": cases, "pulls": pulls})
    command = ["node", str(tmp_path / "run.mjs")]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


needs_node = pytest.mark.skipif(
    not shutil.which("node") and "CI" not in os.environ, reason="no Node.js"
)


@needs_node
def test_every_step_is_the_op_in_float64_on_a_grid_and_at_extremes(tmp_path):
    cases = []
    for start, (over, eps) in enumerate(itertools.product(OVER, (1e-5, 1e-3))):
        for at in range(start, len(ROWS) - 4, 8):
            options = {"over": over, "length": 2, "eps": eps, **(AFFINE if at % 16 else {})}
            cases.append((ROWS[at : at + 4], options))
        cases.append((ROWS[-4:], {"over": over, "length": 2, "eps": eps, **AFFINE}))
    got_of_all, _ = ran(tmp_path, cases=cases)
    for (rows, options), got in zip(cases, got_of_all, strict=True):
        x = torch.tensor(rows, dtype=torch.float64).reshape(2, 2, 4)
        dim, eps = OVER[options["over"]], options["eps"]
        gamma, beta = (
            torch.tensor(options.get(n, [d] * 4)).double()
            for n, d in (("gamma", 1.0), ("beta", 0.0))
        )
        y = standardize(x, dim, eps) * gamma + beta
        own = layer_norm(x, 4, gamma, beta, eps), F.rms_norm(x, (4,), eps=eps)
        wanted = (mean(x, dim).expand_as(x), variance(x, dim).expand_as(x), y, *own)
        for one, other in zip(got, wanted, strict=True):
            one = torch.tensor(one, dtype=torch.float64).reshape(2, 2, 4)
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@needs_node
@pytest.mark.parametrize("norm", [F.layer_norm, F.rms_norm])
def test_a_hand_on_a_result_mean_or_edge_leads_there_and_stops_with_all_at_the_edge(tmp_path, norm):
    start = torch.tensor([-4.0, 2, 4, 10], dtype=torch.float64)
    keep, norm = int(norm is F.layer_norm), functools.partial(norm, normalized_shape=(4,), eps=1e-5)
    pulls = [("result", -1.0), ("result", 9.0), ("mean", 2.5), ("mean", 9.0), ("spread", 2.0)]
    given = [(start.tolist(), *pull) for pull in [*pulls, ("spread", -99.0)]]
    given.append(([0, 0, 0, 12], "result", -0.5))  # its result is the same for any number but 0
    _, got = ran(tmp_path, pulls=[(*each, keep) for each in given])
    pulled, far, moved, stopped, wide, closed, held = torch.tensor(got, dtype=torch.float64)
    assert torch.equal(pulled[:3], start[:3])
    wanted = norm(start)[3] - 1
    torch.testing.assert_close(norm(pulled)[3], wanted, rtol=1e-9, atol=0)
    assert far.tolist() == [-4, 2, 4, 15]
    assert (moved - start).tolist() == [2.5] * 4
    assert (stopped - start).tolist() == [5] * 4
    torch.testing.assert_close(norm(wide), norm(start), rtol=1e-5, atol=0)
    assert wide.std() > 1.2 * start.std()
    assert closed.std() == 0
    assert held.tolist() == [0, 0, 0, 12]


@pytest.mark.parametrize(("preset", "sheet"), PRESETS)
def test_a_preset_opens_its_own_picture_says_what_it_shows_and_has_a_still_image(preset, sheet):
    row = explore_row(preset=preset)
    bundle, metadata = row._repr_mimebundle_()
    assert bundle["text/plain"] == f"{sheet['alt']}. {sheet['states'][preset]['says']}"
    assert re.search('<img alt="[^"]{10,}"', bundle["text/html"])
    assert bundle["image/png"].startswith("iVBOR")
    assert metadata == {"lnorm_utils": {"has_still_image": True}}


def test_a_preset_is_set_from_python_and_an_unknown_one_is_named():
    row = explore_row()
    first = row.png()
    row.preset = "all + 4"
    assert (row.words, row.png() != first) == (row.page["states"]["all + 4"]["says"], True)
    with pytest.raises(ValueError, match="preset must be one of"):
        row.preset = "nothing"
    with pytest.raises(ValueError, match="preset must be one of"):
        explore_row("nothing")
