"""The explorer of lesson 2 shows how far three variances in float32 are from the true one."""

import re

import numpy as np
import pytest
import torch
from explorer_fixtures import made_by_tests, moved_by_tests

from lnorm_utils.explorers.offset import explore_offset

ROW = [-3.8049, 1.9899, -1.7325, 2.1359]  # the first row of the lesson, as it prints it
OWN = {
    "far from zero": [10_002.0, 10_003.0, 10_005.0],
    "many": torch.linspace(-1, 3, 300),
    "constant": [2.5, 2.5],
    "close together": [1e-3, 2e-3],
    "tiny": [2.5e-30, 2.4e-30],
    "large": torch.tensor([[1e15, -1e15, 3.0]]),
}


explorer = moved_by_tests(explore_offset)
explore = made_by_tests(explore_offset)


def stops(explorer):
    return explorer.stops["offset"]


def by_hand(row, offset):
    """Return the true variance of the float32 numbers, and what E[x²] − E[x]² makes of it."""
    x = np.float32(row).ravel() + np.float32(offset)
    naive = mean_of(x * x) - mean_of(x) * mean_of(x)
    return x.astype(np.float64).var(), float(naive)


def two_passes(row, offset):
    """Return what two passes make of the variance, and two passes over twice centered numbers."""
    x = np.float32(row).ravel() + np.float32(offset)
    once = x - mean_of(x)
    twice = once - mean_of(once)
    return float(mean_of(once * once)), float(mean_of(twice * twice))


def mean_of(x):
    total = np.float32(0)
    for value in x:
        total = total + value
    return total / np.float32(x.size)


def curve(explorer, label):
    lines = {line.get_label(): line for line in explorer.picture.axes[0].lines}
    return (np.array(data, dtype=float) for data in lines[label].get_data())


def floats(text):
    return [float(n.replace("−", "-").replace(",", "")) for n in text.split()]


def check(explorer, row, offset):
    naive, two, twice, head, values, verdict = explorer.moving
    (true, by_naive), (by_two, by_twice) = by_hand(row, offset), two_passes(row, offset)
    assert [*naive.get_xdata(), *two.get_xdata(), *twice.get_xdata()] == [offset] * 5
    low, error, high = naive.get_ydata()
    assert naive.get_markevery() == [1]
    assert (low, high) == explorer.picture.axes[0].get_ylim()
    assert error == pytest.approx(abs(by_naive - true), abs=1e-9 * true)
    assert two.get_ydata()[0] == pytest.approx(abs(by_two - true), abs=1e-9 * true)
    assert twice.get_ydata()[0] == pytest.approx(abs(by_twice - true), abs=1e-9 * true)
    assert twice.get_ydata()[0] <= max(1e-6 * true, 1e-45)
    assert naive.get_marker() == ("v" if by_naive < 0 else "s")
    assert head.get_text() == f"offset {offset:,.10g}"
    for shown in (
        values.get_text(),
        " ".join(re.findall("(?:variance is|gives?|twice) (.*?)[,.](?= |$)", explorer.words)),
    ):
        assert floats(shown) == pytest.approx(
            [true, by_naive, by_two, by_twice], rel=0.05, abs=0.005 * (true > 0.01)
        )
    for text in (explorer.words, verdict.get_text()):
        assert ("root is NaN" in text) == (by_naive < 0)
        assert ("over 100%" in text) == (by_naive > 2 * true)
        assert ("right" in text) == (abs(by_naive - true) <= 1e-5 * true)


def test_at_every_stop_markers_and_numbers_are_those_of_the_row(explorer):
    assert len(stops(explorer)) >= 50
    for offset in stops(explorer):
        explorer.offset = offset
        check(explorer, ROW, offset)


def test_the_curves_are_the_errors_at_every_stop(explorer):
    true, by_one = np.transpose([by_hand(ROW, offset) for offset in stops(explorer)])
    for label, expected in (
        ("E[x²] − E[x]²", abs(by_one - true)),
        ("E[x²] − E[x]² is negative", np.where(by_one < 0, abs(by_one - true), np.nan)),
        ("the variance itself", true),
    ):
        x, y = curve(explorer, label)
        assert x.tolist() == stops(explorer)
        np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-12)
    _, two = curve(explorer, "two passes")
    x, twice = curve(explorer, "two passes, centered twice")
    assert x.tolist() == stops(explorer)
    assert (twice <= 1e-6 * true).all()
    far = x >= 1e5
    assert (twice[far] < 1e-9).all()
    assert (two[far] > 1e-6).all()


def test_the_first_negative_variance_is_marked_and_said(explorer):
    first = next(offset for offset in stops(explorer) if by_hand(ROW, offset)[1] < 0)
    assert first == 17_800
    ax = explorer.picture.axes[0]
    marks = [m for m in ax.lines if m.get_linestyle() == ":" and len(m.get_xdata()) == 2]
    assert [m.get_xdata()[0] for m in marks] == [first]
    assert [t.get_text() for t in ax.texts if t not in explorer.moving] == [
        "first negative: 17,800"
    ]
    assert explorer.presets["the first negative variance"] == {"offset": first}


def test_the_words_say_how_far_apart_float32_numbers_are_until_the_row_itself_is_rounded(explorer):
    rounded = False
    for offset in stops(explorer):
        explorer.offset = offset
        rounded |= abs(by_hand(ROW, offset)[0] / by_hand(ROW, 0)[0] - 1) > 1e-3
        assert rounded == (offset >= 133_000)
        assert rounded == ("has changed its true variance a little." in explorer.words)
        said = re.findall("float32 numbers are (.*?) apart[.]", explorer.words)
        square = np.float32(offset**2)
        apart = float(np.nextafter(square, np.float32(np.inf))) - float(square)
        assert said == [f"{apart:,.10g}"] * (offset >= 1000 and not rounded)


@pytest.mark.parametrize("row", OWN.values(), ids=OWN)
def test_own_data_are_shown_in_place_of_the_row(explore, row):
    explorer = explore(x=row)
    negative = [offset for offset in stops(explorer) if by_hand(row, offset)[1] < 0]
    for offset in stops(explorer):
        explorer.offset = offset
        true, by_one = by_hand(row, offset)
        assert explorer.moving[0].get_ydata()[1] == pytest.approx(abs(by_one - true), rel=1e-6)
    if negative:
        assert explorer.presets["the first negative variance"] == {"offset": negative[0]}
    else:
        assert "the first negative variance" not in explorer.presets
        assert not [t for t in explorer.picture.axes[0].texts if "negative" in t.get_text()]
