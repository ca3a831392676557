"""The explorer of lesson 2 strikes out the digits that float32 gets wrong."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from explorer_fixtures import moved_by_tests

from lnorm_course.explorers.offset import explore_offset

ROW = [-3.8049, 1.9899, -1.7325, 2.1359]  # the first row of the lesson, as it prints it


explorer = moved_by_tests(explore_offset)


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


def floats(text):
    return [float(n.replace("−", "-").replace(",", "")) for n in text.split()]


def written(explorer):
    """Return each number in the picture: what is written, and how much of it is struck out."""
    struck, *texts, _, _ = explorer.moving
    count = len(texts) // 2
    ends = dict(zip(*struck.get_data()[::-1], strict=True))
    for right, wrong in zip(texts[:count], texts[count:], strict=True):
        assert right.get_position() == wrong.get_position()
        assert right.get_position()[0] == -len(wrong.get_text())
    assert sum(not math.isnan(y) for y in ends) == sum(1 for t in texts[count:] if t.get_text())
    return [(a.get_text(), b.get_text()) for a, b in zip(texts[:count], texts[count:], strict=True)]


def assert_struck_where_wrong(right, wrong, exact):
    """The last digit that stands is off by at most half of it, and the first one struck isn't."""
    exact, whole = Fraction(exact), right + wrong
    decimals = len(whole.partition(".")[2])
    value = Fraction(whole.replace("−", "-").replace(",", ""))
    lost = sum(map(str.isdigit, wrong))
    slack = Fraction(1, 10**decimals)  # for what is written is rounded, too
    if any(map(str.isdigit, right)):
        assert abs(value - exact) <= Fraction(10**lost, 2 * 10**decimals) + slack
    if lost:
        assert abs(value - exact) >= Fraction(10 ** (lost - 1), 2 * 10**decimals) - slack


def check(explorer, row, offset):
    (true, by_naive), (by_two, by_twice) = by_hand(row, offset), two_passes(row, offset)
    *_, head, verdict = explorer.moving
    x = [Fraction(float(v)) for v in np.float32(row).ravel() + np.float32(offset)]
    mean = sum(x) / len(x)
    wanted = [Fraction(float(v)) + Fraction(offset) for v in np.float32(row).ravel()[:4]]
    wanted += [sum(v * v for v in x) / len(x), mean * mean, true, true, true, true]
    assert head.get_text() == f"offset {offset:,.10g}"
    shown = written(explorer)
    for (right, wrong), exact in zip(shown, wanted, strict=True):
        assert_struck_where_wrong(right, wrong, exact)
    numbers = [floats(right + wrong)[0] for right, wrong in shown]
    stored = [*map(float, x[:4]), by_naive, by_two, by_twice, true]
    digits = len((shown[-1][0]).partition(".")[2])
    assert [*numbers[:-6], *numbers[-4:]] == pytest.approx(stored, abs=0.51 * 10**-digits)
    assert not shown[-1][1]
    said = " ".join(re.findall("(?:variance is|gives?|twice) (.*?)[,.](?= |$)", explorer.words))
    assert floats(said) == pytest.approx(
        [true, by_naive, by_two, by_twice], rel=0.05, abs=0.005 * (true > 0.01)
    )
    for text in (explorer.words, verdict.get_text()):
        assert ("root is NaN" in text) == (by_naive < 0)
        assert ("over 100%" in text) == (by_naive > 2 * true)
        assert ("right" in text) == (abs(by_naive - true) <= 1e-5 * true)


def test_at_every_stop_numbers_are_those_of_the_row_and_wrong_digits_are_struck(explorer):
    assert len(stops(explorer)) >= 50
    for offset in stops(explorer):
        explorer.offset = offset
        check(explorer, ROW, offset)


def test_at_10_000_the_squares_lose_all_digits_of_the_variance(explorer):
    explorer.offset = 10_000.0
    squares, square, naive = written(explorer)[4:7]
    assert (squares, square) == (("99,992,95", "2.0000"), ("99,992,9", "52.0000"))
    assert naive == ("", "0.0000")


def test_the_first_negative_variance_is_a_preset(explorer):
    first = next(offset for offset in stops(explorer) if by_hand(ROW, offset)[1] < 0)
    assert first == 17_800
    assert explorer.presets["the first negative variance"] == {"offset": first}
