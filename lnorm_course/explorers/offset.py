"""Lesson 2: which digits three formulas for the variance lose to an offset."""

import math
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from matplotlib.patches import Rectangle
from torch import Tensor

from lnorm_course.explorers.engine import WIDTH, Explorer, Slider, line, panel, powers_of_ten
from lnorm_utils.data import encoded_points
from lnorm_utils.functional import variance
from lnorm_utils.plotting.picture import BLACK, in_style
from lnorm_utils.words import fixed, number, significant

__all__ = ["explore_offset"]

NAIVE, TRUE = "E[x²] − E[x]²", "true variance"
# Each number in the picture, and how many lines below the top it is written.
LINES = {"x[0]": 2.0, "x[1]": 3.0, "x[2]": 4.0, "x[3]": 5.0, "E[x²]": 6.5, "E[x]²": 7.5, NAIVE: 8.5}
LINES |= {"two passes": 11.0, "centered twice": 12.0, TRUE: 13.0}
DECIMALS = 4
CHARACTER = 12 * 0.602 / 72  # inches: a character's width in nearly all monospaced 12 pt fonts
LOST, BAND = "#5E5E5E", "#F8E3B4"
CONTROLS = {"offset": Slider("offset", 0.0, [0.0, *powers_of_ten(0, 6, each=8)])}
PRESETS: dict[str, dict[str, Any]] = {
    "no offset": {},
    "offset 1,000": {"offset": 1e3},
    "offset 10,000": {"offset": 1e4},
    "the first negative variance": {"offset": 17_800.0},
    "offset 1,000,000": {"offset": 1e6},
}


def _row() -> Tensor:
    """Return the lesson's first row (4,), in float32."""
    # Rounded, because the last digit of an encoding may differ between machines.
    return encoded_points()[0, 0].double().round(decimals=4).float()


def _numbers(offset: float) -> dict[str, tuple[float, float]]:
    """Compute the numbers in `LINES` for the row plus an offset, both in float32 and exactly.

    The true variance is that of the same float32 numbers, computed in float64.
    """
    x = _row() + torch.tensor(offset)
    squares, square, once = _mean(x * x), _mean(x) * _mean(x), x - _mean(x)
    twice = once - _mean(once)
    variances = [squares - square, _mean(once * once), _mean(twice * twice)]
    wide = x.double()
    true, mean = variance(wide).item(), math.fsum(wide) / len(wide)
    found = [*x.tolist(), *map(float, (squares, square, *variances)), true]
    # The squares of float32 numbers are exact in float64.
    of_x = [math.fsum(wide * wide) / len(wide), mean * mean]
    exact = [*(_row().double() + offset).tolist(), *of_x, *[true] * 4]
    return dict(zip(LINES, zip(found, exact, strict=True), strict=True))


def _mean(x: Tensor) -> Tensor:
    """Compute the mean of a row (D,) as a tensor (), adding its numbers from left to right."""
    total = torch.tensor(0.0)
    for value in x:  # torch.sum may use a different order on a different machine
        total = total + value
    return total / len(x)


@in_style
def explore_offset(preset: str | None = None, **start: Any) -> Explorer:
    """Explore which digits of a row and of its variance are lost to an offset in float32.

    There are three formulas for the variance: E[x²] − E[x]²; two passes, first the mean and then
    Σ (x − mean)² / D; and two passes over numbers that are centered twice, as in `variance`.

    Source: Chan, Golub & LeVeque 1983, The American Statistician 37(3).

    >>> explore_offset(preset="the first negative variance").words[-38:]
    'r E[x²], float32 numbers are 32 apart.'
    """
    first, *_, last = LINES.values()
    picture, ax = panel("the digits of a row and of its variance", height=3.4)
    picture.set_layout_engine("none")  # so that one unit is one character
    ax.set_position((0, 0, 1, 1))
    ax.set(xlim=(1 - WIDTH / CHARACTER, 1), ylim=(last + 2, 0.3))
    ax.set_axis_off()
    left = 2 - WIDTH / CHARACTER
    band, widest = (len(fixed(at, DECIMALS)) for at in (_numbers(0.0)[TRUE][0], 1e12))
    ax.add_patch(Rectangle((-band, first - 0.8), band, last + 1.2 - first, fc=BAND, zorder=0))
    ax.text(0, first - 0.9, "digits of the variance", ha="right", fontsize=10)
    ax.plot([-widest, 0], [LINES[NAIVE] - 0.8] * 2, color=BLACK, lw=0.8)
    ax.text(left, last + 1.4, "Gray, struck out: digits that are wrong", fontsize=10)
    for name, at in LINES.items():
        ax.text(left, at, name)
    struck = line(ax, "-", color=LOST, lw=1.2, zorder=3)
    digits: dict[str, Any] = {"family": "monospace"}
    right = [ax.text(0, at, "", ha="right", **digits) for at in LINES.values()]
    wrong = [ax.text(0, at, "", color=LOST, **digits) for at in LINES.values()]
    verdict = ax.text(left, LINES[NAIVE] + 1, "", weight="bold")

    def show(found: dict[str, tuple[float, float]], offset: float) -> str:
        ends: list[tuple[float, float]] = []
        each = zip(LINES.values(), right, wrong, found.values(), strict=True)
        for at, stands, falls, (value, exact) in each:
            text = fixed(value, DECIMALS)
            place = _cut(text, fixed(exact, DECIMALS), DECIMALS, abs(value - exact))
            stands.set(text=text[:place], x=place - len(text))
            falls.set(text=text[place:], x=place - len(text))
            if place < len(text):
                ends += [(place - len(text), at - 0.27), (0, at - 0.27), (math.nan, math.nan)]
        struck.set_data(np.reshape(ends, (-1, 2)).T)
        true = found[TRUE][0]
        judged = _judged(found[NAIVE][0], true)
        verdict.set_text(judged.replace("its ", ""))
        naive, two, twice, best = (number(v, true) for v, _ in [*found.values()][-4:])
        apart = significant(np.spacing(np.float32(found["E[x²]"][0])), 3)
        return (
            f"At offset {significant(offset, 10)} the variance is {best}, and {NAIVE} gives "
            f"{naive}, {judged}. Two passes give {two}, centered twice {twice}; near E[x²], "
            f"float32 numbers are {apart} apart."
        )

    panels = {picture: [struck, *right, *wrong, verdict]}
    return Explorer(panels, _numbers, show, CONTROLS, PRESETS, preset, start)


def _cut(text: str, exact: str, decimals: int, error: float) -> int:
    """Return the index of a number's first wrong digit, or the text's length if all are right.

    A digit is right if the error is at most half a unit in its place, or if it and all digits
    before it agree with the exact number.
    """
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    lost = math.ceil(math.log10(2 * error)) + decimals if error else 0
    if lost <= 0:
        return len(text)
    pairs = zip(text, exact, strict=True) if len(text) == len(exact) else ()
    alike = len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])
    return max(alike, digits[-lost] if lost < len(digits) else 0)


def _judged(got: float, true: float) -> str:
    """Describe the error of E[x²] − E[x]² relative to the true variance."""
    error = abs(got - true)
    if got < 0:
        return "negative: its square root is NaN"
    if error <= 1e-5 * true:
        return "right to five digits" if error else "exactly right"
    if error < true:
        return f"wrong by {number(100 * error / true)}%"
    return f"wrong by {'100%' if error == true else 'over 100%'}"
