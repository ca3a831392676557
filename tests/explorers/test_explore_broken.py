"""The differences are those from PyTorch, and the words say which mistakes are caught."""

import numpy as np
import pytest
import torch
from torch import nn

from lnorm_course.explorers.broken import (
    EQUAL,
    FLOOR,
    OFF,
    SLIPPED,
    TOLERANCE,
    compared,
    explore_broken,
)
from lnorm_utils.data import normal


def expected(points, features, offset, spread, eps, trained):
    """Compute the differences with numpy and PyTorch alone: {mistake: float}."""
    x = offset + spread * normal(16, 64, seed=91)[:points, :features]
    layer = nn.LayerNorm(features, eps=eps).double()
    if trained:
        with torch.no_grad():
            layer.weight.copy_(1 + 0.5 * normal(64, seed=92)[:features])
            layer.bias.copy_(normal(64, seed=93)[:features])
    exact = layer(x.double()).detach().numpy()
    weight, bias = (p.detach().numpy() for p in layer.parameters())
    wide = x.double().numpy()
    centered, var = wide - wide.mean(1, keepdims=True), wide.var(1, keepdims=True)
    unbiased = wide.var(1, ddof=1, keepdims=True)
    over_all = (wide - wide.mean()) / np.sqrt(wide.var() + eps)
    outputs = {
        "ε outside the root": weight * centered / (np.sqrt(var) + eps) + bias,
        "γ and β left out": centered / np.sqrt(var + eps),
        "mean over the batch too": weight * over_all + bias,
        "unbiased variance": weight * centered / np.sqrt(unbiased + eps) + bias,
    }
    return {name: np.abs(y - exact).max() for name, y in outputs.items()}


def test_in_every_state_the_differences_are_those_from_pytorch_and_the_right_one_has_none():
    explorer = explore_broken()
    for state in explorer.states()[::7]:
        values = explorer.values_of(state)
        right, *distances = compared(**values)
        assert right < EQUAL
        told = dict(zip(SLIPPED, distances, strict=True))
        for name, distance in expected(**values).items():
            if distance > 10 * EQUAL:
                assert told[name] == pytest.approx(distance, rel=0.05), (name, values)
            elif distance < EQUAL / 2:
                assert told[name] < EQUAL, (name, values)


def test_every_preset_shows_the_mistakes_that_it_catches():
    explorer, caught = explore_broken(), {}
    ((bars, *dots),) = explorer.panels.values()
    for preset in explorer.presets:
        explorer.preset = preset
        words = explorer.words
        seen = {}
        for those, kind in zip(dots, ("missed", "caught", "NaN"), strict=True):
            for place, row in zip(*those.get_data(), strict=True):
                assert (place == OFF) == (kind == "NaN")
                seen[int(row)] = kind
        assert seen.pop(0) == "missed"
        caught[preset] = {n for row, n in enumerate(SLIPPED, 1) if seen[row] != "missed"}
        _, _, passing = words.partition("It misses ")
        assert {n for n in SLIPPED if n in passing} == {*SLIPPED} - caught[preset]
        begins, ends, _ = np.array(bars.get_xdata()).reshape(-1, 3).T
        assert (begins == FLOOR).all()
        shown = compared(**explorer.values)
        assert ((ends > TOLERANCE) | np.isnan(ends)).sum() == (~(shown <= TOLERANCE)).sum()
    assert caught == {
        "randn(4, 8)": {"mean over the batch too", "unbiased variance"},
        "ε = 0.1": {"ε outside the root", "mean over the batch too", "unbiased variance"},
        "an offset of 10,000": {*SLIPPED} - {"ε outside the root", "γ and β left out"},
        "tiny spread": {"ε outside the root", "mean over the batch too", "unbiased variance"},
        "one point": {"unbiased variance"},
        "a good test": {*SLIPPED},
    }
