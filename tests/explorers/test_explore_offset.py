"""The explorer of lesson 2 strikes out the digits that float32 gets wrong."""

from fractions import Fraction

import numpy as np
import pytest

from lnorm_course.explorers.offset import CONTROLS, PRESETS, explore_offset, numbers

ROW = np.float32([-3.8049, 1.9899, -1.7325, 2.1359])  # as the lesson prints it
STOPS = list(CONTROLS["offset"].stops())


@pytest.fixture(scope="module")
def explorer():
    return explore_offset()


def mean_of(x):
    total = np.float32(0)
    for value in x:
        total = total + value
    return total / np.float32(x.size)


def by_hand(offset):
    """Return the variance by E[x²] − E[x]², two passes, and centered twice; and the true one."""
    x = ROW + np.float32(offset)
    once = x - mean_of(x)
    twice = once - mean_of(once)
    naive = mean_of(x * x) - mean_of(x) * mean_of(x)
    variances = naive, mean_of(once * once), mean_of(twice * twice), x.astype(np.float64).var()
    return [*map(float, variances)]


def assert_struck_where_wrong(right, wrong, exact):
    """The last digit that stands is off by at most half of it, and the first one struck isn't.

    Or else what stands is what the exact number begins with, and the first one struck isn't.
    """
    exact, whole = Fraction(exact), right + wrong
    value = Fraction(whole.replace("−", "-").replace(",", ""))
    lost = sum(map(str.isdigit, wrong))
    written = f"{float(exact):,.4f}".replace("-", "−")
    is_same = len(written) == len(whole) and written.startswith(right)
    slack = Fraction(1, 10**4)  # for what is written is rounded, too
    if any(map(str.isdigit, right)) and not is_same:
        assert abs(value - exact) <= Fraction(10**lost, 2 * 10**4) + slack
    if lost:
        assert abs(value - exact) >= Fraction(10 ** (lost - 1), 2 * 10**4) - slack
        assert not (is_same and written.startswith(right + wrong[0]))


def written(explorer, offset):
    """Return each number in the picture: what stands, and what is struck out; and the words."""
    words = explorer.show(numbers(offset), offset)
    ((struck, *texts, verdict),) = explorer.panels.values()
    ends = struck.get_ydata()
    assert np.isfinite(ends).sum() == 2 * sum(1 for text in texts[10:] if text.get_text())
    for right, wrong in zip(texts[:10], texts[10:], strict=True):
        assert right.get_position() == wrong.get_position()
        assert right.get_position()[0] == -len(wrong.get_text())
    found = [text.get_text() for text in texts]
    return [*zip(found[:10], found[10:], strict=True)], words, verdict.get_text()


@pytest.mark.parametrize("offset", STOPS)
def test_numbers_are_those_of_the_row_and_wrong_digits_are_struck(explorer, offset):
    shown, words, verdict = written(explorer, offset)
    *variances, true = by_hand(offset)
    x = [Fraction(float(v)) for v in ROW + np.float32(offset)]
    exact = [Fraction(float(v)) + Fraction(offset) for v in ROW]
    exact += [sum(v * v for v in x) / 4, (sum(x) / 4) ** 2, *[true] * 4]
    for (right, wrong), wanted in zip(shown, exact, strict=True):
        assert_struck_where_wrong(right, wrong, wanted)
    found = [float((a + b).replace("−", "-").replace(",", "")) for a, b in shown]
    expected = [*map(float, x), *variances, true]
    assert [*found[:4], *found[6:]] == pytest.approx(expected, abs=0.51e-4)
    assert [value for value, _ in numbers(offset).values()][6:] == pytest.approx(
        [*variances, true], rel=1e-12
    )
    for text in (words, verdict):
        assert ("root is NaN" in text) == (variances[0] < 0)
        assert ("over 100%" in text) == (variances[0] > 2 * true)
        assert ("right" in text) == (abs(variances[0] - true) <= 1e-5 * true)


def test_at_10_000_the_squares_lose_all_digits_of_the_variance(explorer):
    squares, square, naive = written(explorer, 10_000.0)[0][4:7]
    assert (squares, square) == (("99,992,95", "2.0000"), ("99,992,9", "52.0000"))
    assert naive == ("", "0.0000")


def test_the_first_negative_variance_is_a_preset():
    first = next(offset for offset in STOPS if by_hand(offset)[0] < 0)
    assert PRESETS["the first negative variance"] == {"offset": first}
