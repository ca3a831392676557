"""The bars end where the differences are, and the words say which mistakes are caught."""

import re

import numpy as np
import pytest
import torch
from explorer_fixtures import every_state, moved_by_tests
from torch import nn

from lnorm_course.explorers import explore_broken
from lnorm_course.explorers.broken import CEILING, EQUAL, FLOOR, OFF, TOLERANCE, VARIANTS
from lnorm_utils.data import normal

MISTAKES = VARIANTS[1:]

explorer = moved_by_tests(explore_broken)


def drawn(explorer):
    """Return {variant: (place, kind)} from the dots, and check that the bars end there."""
    bars, *dots = explorer.moving
    seen = {}
    for line, kind in zip(dots, ("missed", "caught", "NaN"), strict=True):
        for place, row in zip(*line.get_data(), strict=True):
            seen[VARIANTS[int(row)]] = (place, kind)
            assert (place == OFF) == (kind == "NaN")
    begins, ends, gaps = np.array(bars.get_xdata()).reshape(-1, 3).T
    assert (begins == FLOOR).all()
    assert np.isnan(gaps).all()
    is_nan = [seen[name][1] == "NaN" for name in VARIANTS]
    assert list(np.where(is_nan, OFF, ends)) == [seen[name][0] for name in VARIANTS]
    assert list(np.isnan(ends)) == is_nan
    return seen


def expected(points, features, offset, spread, eps, trained):
    """Compute the differences with numpy and PyTorch alone: {variant: float}."""
    x = offset + spread * normal(16, 64, seed=91)[:points, :features]
    layer = nn.LayerNorm(features, eps=eps).double()
    if trained:
        with torch.no_grad():
            layer.weight.copy_(1 + 0.5 * normal(64, seed=92)[:features])
            layer.bias.copy_(normal(64, seed=93)[:features])
    exact = layer(x.double()).detach().numpy()
    weight, bias = (p.detach().numpy() for p in layer.parameters())
    wide = x.double().numpy()
    centered = wide - wide.mean(1, keepdims=True)
    var = wide.var(1, keepdims=True)
    squares = (x * x).mean(1, keepdim=True) - x.mean(1, keepdim=True) ** 2  # in float32, as drawn
    with np.errstate(invalid="ignore"):
        raw_squares = centered / np.sqrt(squares.double().numpy() + eps)
    outputs = {
        "ε outside the root": weight * centered / (np.sqrt(var) + eps) + bias,
        "E[x²] − E[x]²": weight * raw_squares + bias,
        "γ and β left out": centered / np.sqrt(var + eps),
        "mean over the batch too": weight * (wide - wide.mean()) / np.sqrt(wide.var() + eps) + bias,
        "unbiased variance": weight * centered / np.sqrt(wide.var(1, ddof=1, keepdims=True) + eps)
        + bias,
    }
    return {name: np.abs(y - exact).max() for name, y in outputs.items()}


def assert_as_expected(explorer):
    seen, distances = drawn(explorer), expected(**explorer.values)
    assert seen["the right one"] == (FLOOR, "missed")
    caught = re.search("catches (all )?([0-9]+)", explorer.words)
    assert int(caught[2]) == sum(seen[name][1] != "missed" for name in MISTAKES)
    _, _, passing = explorer.words.partition("These get away: ")
    for name in MISTAKES:
        place, kind = seen[name]
        assert (name in passing) == (kind == "missed")
        if name == "E[x²] − E[x]²" and explorer.values["offset"] > 1:
            continue  # what rounding makes of it is another number on another machine
        distance = distances[name]
        assert kind == ("caught" if distance > TOLERANCE else "missed")
        if distance > 10 * EQUAL:
            assert place == pytest.approx(min(distance, CEILING), rel=0.05)
        elif distance < EQUAL / 2:
            assert place == FLOOR


def test_in_every_state_the_bars_are_the_differences(explorer):
    for _ in every_state(explorer):
        assert_as_expected(explorer)


def test_every_preset_shows_the_differences_that_it_names(explorer):
    kinds = {}
    for name in explorer.presets:
        explorer.preset = name
        kinds[name] = {n for n, (_, kind) in drawn(explorer).items() if kind != "missed"}
    assert kinds == {
        "randn(4, 8)": {"mean over the batch too", "unbiased variance"},
        "ε = 0.1": {"ε outside the root", "mean over the batch too", "unbiased variance"},
        "an offset of 10,000": {*MISTAKES} - {"ε outside the root", "γ and β left out"},
        "tiny spread": {"ε outside the root", "mean over the batch too", "unbiased variance"},
        "one point": {"unbiased variance"},
        "a good test": {*MISTAKES},
    }
