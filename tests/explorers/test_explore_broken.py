"""The bars of lesson 8 end where the differences are, and the words say which ones are caught."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from lnorm_utils.examples import normal
from lnorm_utils.explorers import explore_broken
from lnorm_utils.explorers.broken import CEILING, EQUAL, FLOOR, TOLERANCE, VARIANTS

MISTAKES = VARIANTS[1:]
PLAIN = {"points": 4, "features": 8, "offset": 0.0, "spread": 1.0, "eps": 1e-5, "trained": False}


@pytest.fixture
def explorer():
    explorer = explore_broken()
    yield explorer
    explorer.close()


def stops(widget):
    return [value for _, value in widget.options] if hasattr(widget, "options") else [False, True]


def drawn(explorer):
    """Return {variant: (place, kind)} from the dots, and check that the bars end there."""
    bars, *dots = explorer.moving
    seen = {}
    for line, kind in zip(dots, ("missed", "caught", "NaN"), strict=True):
        for place, row in zip(*line.get_data(), strict=True):
            seen[VARIANTS[int(row)]] = (place, kind)
    begins, ends, gaps = np.array(bars.get_xdata()).reshape(-1, 3).T
    assert (begins == FLOOR).all()
    assert np.isnan(gaps).all()
    assert list(ends) == [seen[name][0] for name in VARIANTS]
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
        one_pass = centered / np.sqrt(squares.double().numpy() + eps)
    outputs = {
        "ε outside the root": weight * centered / (np.sqrt(var) + eps) + bias,
        "variance in one pass": weight * one_pass + bias,
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
    _, _, passing = explorer.words.partition("It lets pass: ")
    for name in MISTAKES:
        place, kind = seen[name]
        assert (name in passing) == (kind == "missed")
        if name == "variance in one pass" and explorer.values["offset"] > 1:
            continue  # what rounding makes of it is another number on another machine
        distance = distances[name]
        assert kind == ("caught" if distance > TOLERANCE else "missed")
        if distance > 10 * EQUAL:
            assert place == pytest.approx(min(distance, CEILING), rel=0.05)
        elif distance < EQUAL / 2:
            assert place == FLOOR


def test_at_both_ends_of_every_control_the_bars_are_the_differences(explorer):
    for widget in explorer.controls.values():
        start = widget.value
        for value in (stops(widget)[0], stops(widget)[-1]):
            widget.value = value
            assert_as_expected(explorer)
        widget.value = start


def test_every_preset_shows_the_differences_that_it_names(explorer):
    kinds = {}
    for name in explorer.presets:
        explorer.chooser.value = name
        assert_as_expected(explorer)
        kinds[name] = {n for n, (_, kind) in drawn(explorer).items() if kind != "missed"}
    assert kinds == {
        "randn(4, 8): most slip through": {"mean over the batch too", "unbiased variance"},
        "ε = 0.1": {"ε outside the root", "mean over the batch too", "unbiased variance"},
        "an offset of 10,000": {*MISTAKES} - {"ε outside the root", "γ and β left out"},
        "tiny spread": {"ε outside the root", "mean over the batch too", "unbiased variance"},
        "one point": {"unbiased variance"},
        "a good test: all are caught": {*MISTAKES},
    }


def test_the_right_one_is_equal_wherever_the_controls_stand(explorer):
    for offset in (0.0, 1e4, 1e6):
        for spread in (1e-4, 1.0, 10.0):
            for eps in (1e-8, 0.1):
                values = {"offset": offset, "spread": spread, "eps": eps}
                for name, value in values.items():
                    explorer.controls[name].value = value
                assert drawn(explorer)["the right one"] == (FLOOR, "missed")
                assert "right one" not in explorer.words


def test_a_far_offset_makes_the_variance_in_one_pass_negative(explorer):
    explorer.chooser.value = "an offset of 10,000"
    assert drawn(explorer)["variance in one pass"] == (CEILING, "NaN")
    assert "variance in one pass (NaN)" in explorer.words


def test_it_starts_where_it_is_told_and_says_so():
    explorer = explore_broken(points=1, features=3, offset=10.0, trained=True)
    assert explorer.values == {**PLAIN, "points": 1, "features": 3, "offset": 10.0, "trained": True}
    assert explorer.words.startswith("1 point with 3 features, offset 10, spread 1, ε = 1e−5, tr")
    explorer.close()
    explorer = explore_broken(preset="ε = 0.1")
    assert explorer.values == {**PLAIN, "eps": 0.1}
    explorer.close()
    explorer = explore_broken(points=2, offset=10_000.0)
    assert explorer.words.startswith("2 points with 8 features, offset 10,000, spread 1, ε = 1e−5,")
    explorer.close()


def test_what_moves_is_small(explorer):
    for name in explorer.presets:
        explorer.chooser.value = name
        assert len(explorer.foreground.value) < 20_000


@pytest.mark.parametrize(
    ("offset", "spread", "tells"),
    [
        (1e6, 1e-4, "no longer tells"),
        (1e6, 0.0562, "hardly tells"),  # float32 numbers at 1e6 are 0.0625 apart
        (1e6, 0.1, None),
        (1e3, 1e-4, None),
        (0.0, 1e-4, None),
    ],
)
def test_it_says_where_float32_does_not_tell_the_numbers_apart(explorer, offset, spread, tells):
    explorer.controls["offset"].value, explorer.controls["spread"].value = offset, spread
    sentence = f" At this offset float32 {tells} these numbers apart."
    assert explorer.words.endswith(sentence) == (tells is not None)
    assert ("At this offset" in explorer.words) == (tells is not None)


def test_the_first_tick_says_what_counts_as_equal(explorer):
    first = explorer.picture.axes[0].get_xticklabels()[0].get_text()
    assert first == f"< {EQUAL:.0e}".replace("e-0", "e−")
