"""The differences are those from PyTorch, and the words say which mistakes are caught."""

import numpy as np
import pytest
import torch
from torch import nn

from lnorm_course.explorers.broken import (
    CEILING,
    EQUAL,
    FLOOR,
    OFF,
    SLIPPED,
    TOLERANCE,
    explore_broken,
)
from lnorm_utils.data import normal

CAUGHT = {  # by each preset
    "randn(4, 8)": {"mean over the batch too", "unbiased variance"},
    "ε = 0.1": {"ε outside the root", "mean over the batch too", "unbiased variance"},
    "an offset of 10,000": {*SLIPPED} - {"ε outside the root", "γ and β left out"},
    "tiny spread": {"ε outside the root", "mean over the batch too", "unbiased variance"},
    "one point": {"unbiased variance"},
    "a good test": {*SLIPPED},
}


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


def test_in_every_state_the_differences_are_those_from_pytorch_and_it_is_said_what_is_caught():
    explorer = explore_broken()
    ((bars, missed, caught, nan),) = explorer.panels.values()
    for state in (*explorer.states()[::7], *explorer.presets.values()):
        words, values = explorer.move_to(state), explorer.values_of(state)
        marks = {}
        for kind in (missed, caught, nan):
            marks |= {int(row): (place, kind) for place, row in zip(*kind.get_data(), strict=True)}
        right, *places = (marks[row][0] for row in range(len(SLIPPED) + 1))
        assert right == FLOOR
        for place, kind in marks.values():
            assert kind is (nan if place == OFF else caught if place > TOLERANCE else missed)
        begins, ends, _ = np.array(bars.get_xdata()).reshape(-1, 3).T
        assert (begins == FLOOR).all()
        assert np.nan_to_num(ends, nan=OFF).tolist() == [right, *places]
        told = dict(zip(SLIPPED, places, strict=True))
        for name, distance in expected(**values).items():
            if distance > 10 * EQUAL:
                assert told[name] == pytest.approx(min(distance, CEILING), rel=0.05), (name, values)
            elif distance < EQUAL / 2:
                assert told[name] == FLOOR, (name, values)
        found = {name for name, place in told.items() if place > TOLERANCE}
        assert {name for name in SLIPPED if name in words.partition("It misses ")[2]} == {
            *SLIPPED
        } - found
        for preset in (name for name, at in explorer.presets.items() if at == state):
            assert found == CAUGHT[preset]
