"""The explorer of lesson 2 strikes out the digits that float32 gets wrong."""

from fractions import Fraction

import numpy as np
import pytest

from lnorm_course.explorers.offset import CONTROLS, PRESETS, explore_offset
from lnorm_utils.words import fixed

ROW = np.float32([-3.8049, 1.9899, -1.7325, 2.1359])  # as the lesson prints it
STOPS = [*CONTROLS["offset"].options]


@pytest.fixture(scope="module")
def explorer():
    return explore_offset()


def mean_of(x):
    total = np.float32(0)
    for value in x:
        total = total + value
    return total / np.float32(x.size)


def by_hand(offset):
    """Return the row, E[x²], E[x]², and the variance by E[x²] − E[x]², by two passes, and centered
    twice; and the true one."""
    x = ROW + np.float32(offset)
    squares, square, once = mean_of(x * x), mean_of(x) * mean_of(x), x - mean_of(x)
    twice = once - mean_of(once)
    variances = squares - square, mean_of(once * once), mean_of(twice * twice)
    return [*map(float, (*x, squares, square, *variances)), float(x.astype(np.float64).var())]


def right_digits(text, value, exact):
    """Return the beginning of a number that is off by at most half of its last digit, or is alike.

    exact: what the number should be, of which the text may begin in the same way.
    """
    error, wanted = abs(Fraction(value) - exact), fixed(exact, 4)
    after, end = sum(map(str.isdigit, text)), 0
    for place, letter in enumerate(text, 1):
        if letter.isdigit():
            after -= 1
            is_alike = len(text) == len(wanted) and text[:place] == wanted[:place]
            if is_alike or error <= Fraction(10) ** (after - 4) / 2:
                end = place
    return text[:end]


@pytest.mark.parametrize("offset", STOPS)
def test_numbers_are_those_of_the_row_and_wrong_digits_are_struck(explorer, offset):
    words = explorer.move_to([STOPS.index(offset)])
    ((struck, *texts, verdict),) = explorer.panels.values()
    found, (*_, naive, _, _, true) = by_hand(offset), by_hand(offset)
    x = [*map(Fraction, found[:4])]
    exact = [Fraction(float(value)) + Fraction(offset) for value in ROW]
    exact += [sum(v * v for v in x) / 4, (sum(x) / 4) ** 2, *[Fraction(true)] * 4]
    for right, wrong, value, wanted in zip(texts[:10], texts[10:], found, exact, strict=True):
        text = right.get_text() + wrong.get_text()
        assert text == fixed(value, 4)
        assert right.get_text().rstrip(",.−") == right_digits(text, value, wanted)
        assert right.get_position() == wrong.get_position()
        assert right.get_position()[0] == -len(wrong.get_text())
    lines = np.isfinite(struck.get_ydata()).sum() / 2
    assert lines == sum(1 for wrong in texts[10:] if wrong.get_text())
    for text in (words, verdict.get_text()):
        assert ("root is NaN" in text) == (naive < 0)
        assert ("over 100%" in text) == (naive > 2 * true)
        assert ("right" in text) == (abs(naive - true) <= 1e-5 * true)


def test_the_first_negative_variance_is_a_preset():
    first = next(offset for offset in STOPS if by_hand(offset)[6] < 0)
    assert PRESETS["the first negative variance"] == {"offset": first}
