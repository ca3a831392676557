"""Numbers are written for people, in one way."""

import math
import re

import pytest

from lnorm_utils.words import counted, fixed, number, power_of_ten, significant

SIZES = [digits * 10.0**power for digits in (1, 3.1623, 9.9996) for power in range(-12, 13)]


@pytest.mark.parametrize("write", [significant, fixed, number])
def test_a_number_reads_the_same_with_a_true_minus_sign_in_front(write):
    for value in (0.0, *SIZES):
        text, negative = write(value), write(-value)
        is_zero = not re.search("[1-9]", text)
        assert negative == (text if is_zero else f"−{text}")
        assert "-" not in negative
        assert not re.search(r"e[+−]?0|e\+", text)


@pytest.mark.parametrize("digits", [2, 4, 10])
def test_significant_digits_are_the_number_again(digits):
    for value in SIZES:
        text = significant(value, digits).replace(",", "").replace("−", "-")
        assert float(text) == pytest.approx(value, rel=10 ** (1 - digits))
        assert len(re.sub(r"e.*|^[0.]*|\.", "", text)) <= max(digits, 9)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (-0.5, "−0.5"), (0.00316, "0.00316"), (1e-4, "0.0001"), (9.996e-5, "9.996e−5")),
        *((999.94, "999.9"), (999.96, "1,000"), (1000, "1,000"), (-1e6, "−1,000,000")),
        *((999_900_000, "999,900,000"), (1e9, "1e9"), (1 / 3, "0.3333"), (100, "100")),
        *((math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "nan"), (True, "1")),
    ],
)
def test_four_digits_are_shown_unless_another_count_is_asked_for(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "beside", "text"),
    [
        *((6.375, 1, "6.38"), (0.0, 1, "0.00"), (0.0, 0, "0.00"), (-1e-9, 1, "0.00")),
        *((0.01, 1, "0.01"), (0.0094, 1, "0.0094"), (-2e-9, 1e-3, "−2e−9"), (3e-9, 1e-2, "0.00")),
        *((99_999.99, 1, "99,999.99"), (-1e5, 1, "−100,000"), (math.nan, 1, "nan")),
    ],
)
def test_two_decimals_are_shown_unless_they_would_say_too_little(value, beside, text):
    assert number(value, beside) == text


def test_powers_and_counts_are_written_as_people_say_them():
    assert [power_of_ten(e) for e in (-12, 0, 1)] == ["1e−12", "1", "1e1"]
    assert [counted(n, "cell") for n in (0, 1, 2, 1000)] == [
        *("0 cells", "1 cell", "2 cells", "1,000 cells")
    ]
