"""The row computes in JavaScript what the course's own functions do, and starts as asked."""

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

# Reads cases, a line each, and writes what `derive` makes of them.
PROGRAM = """
import { derive } from "./row_core.mjs";
import { readFileSync } from "node:fs";
console.log(JSON.stringify(JSON.parse(readFileSync(0)).map(([x, options]) => {
    const all = (of) => derive(x, options).steps.map((row) => row.map(of));
    return [all((step) => step.group.mean), all((step) => step.group.variance),
        all((step) => step.y), all((step) => step.rms)];
})));
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


@pytest.mark.skipif(not shutil.which("node") and "CI" not in os.environ, reason="no Node.js")
def test_every_step_is_the_op_in_float64_on_a_grid_and_at_extremes(tmp_path):
    cases = []
    for start, (over, eps) in enumerate(itertools.product(OVER, (1e-5, 1e-3))):
        for at in range(start, len(ROWS) - 4, 8):
            options = {"over": over, "length": 2, "eps": eps, **(AFFINE if at % 16 else {})}
            cases.append((ROWS[at : at + 4], options))
        cases.append((ROWS[-4:], {"over": over, "length": 2, "eps": eps, **AFFINE}))
    shutil.copy(HERE / "row_core.js", tmp_path / "row_core.mjs")
    (tmp_path / "run.mjs").write_text(PROGRAM, "utf-8")
    command = ["node", str(tmp_path / "run.mjs")]
    ran = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    for (rows, options), got in zip(cases, json.loads(ran.stdout), strict=True):
        x = torch.tensor(rows, dtype=torch.float64).reshape(2, 2, 4)
        dim, eps = OVER[options["over"]], options["eps"]
        gamma, beta = (
            torch.tensor(options.get(n, [d] * 4)).double()
            for n, d in (("gamma", 1.0), ("beta", 0.0))
        )
        y = standardize(x, dim, eps) * gamma + beta
        if dim == (2,):
            y = layer_norm(x, 4, gamma, beta, eps)
        square = mean(x.square(), dim)
        rms = x / (square + eps).sqrt()
        if dim == (2,):
            torch.testing.assert_close(rms, F.rms_norm(x, (4,), eps=eps), rtol=1e-12, atol=1e-12)
        wanted = (mean(x, dim).expand_as(x), variance(x, dim).expand_as(x), y, rms)
        for one, other in zip(got, wanted, strict=True):
            one = torch.tensor(one, dtype=torch.float64).reshape(2, 2, 4)
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("preset", "sheet"), PRESETS)
def test_a_preset_opens_its_own_picture_says_what_it_shows_and_has_a_still_image(preset, sheet):
    row = explore_row(preset=preset)
    bundle, metadata = row._repr_mimebundle_()
    assert bundle["text/plain"] == f"{sheet['alt']}. {sheet['states'][preset]['says']}"
    assert re.search('<img alt="[^"]{10,}"', bundle["text/html"])
    assert bundle["image/png"].startswith("iVBOR")
    assert metadata == {"lnorm_utils": {"has_still_image": True}}


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="preset must be one of"):
        explore_row("nothing")
