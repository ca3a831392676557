"""Lesson 2: which digits three formulas for the variance lose to an offset."""

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D, ScaledTranslation, Transform
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Slider, powers_of_ten
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import row_of
from lnorm_utils.data import encoded_points
from lnorm_utils.functional import variance
from lnorm_utils.plotting.picture import BLACK, in_style
from lnorm_utils.words import fixed, number, significant

__all__ = ["explore_offset"]

STOPS = [0.0, *powers_of_ten(0, 6, each=8)]
LARGEST = 1e15  # float32 has room for the sum of many such squares
FROM_HERE = 1e3  # float32 numbers near the square of such an offset are far apart
ROUNDED = 1e-3  # a relative change of the true variance that shows in its digits
NAIVE = "E[x²] − E[x]²"
ONE_PASS = ["E[x²]", "E[x]²", NAIVE]
OTHERS = ["two passes", "centered twice", "true variance"]
FIRST_NEGATIVE = "the first negative variance"
PRESETS: Presets = {
    "no offset": {"offset": 0.0},
    "offset 1,000": {"offset": 1e3},
    "offset 10,000": {"offset": 1e4},
    "offset 1,000,000": {"offset": 1e6},
}
SHOWN, DIGITS, MOST_DECIMALS = 4, 5, 12  # numbers of the row; digits of its variance
# Inches: a character of 12 points, as wide in nearly all fonts for code, and a line.
CHARACTER, LINE = 0.1003, 0.235
LEAST_WIDTH, LABELS = 5.0, 1.8  # inches
LOST, BAND = "#5E5E5E", "#F8E3B4"


@in_style
def explore_offset(
    offset: float = 0.0,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore which digits of a row and of its variance an offset takes away in float32.

    The variance by three formulas: E[x²] − E[x]²; two passes, first the mean and then
    Σ (x − mean)² / D; and two passes over numbers that are centered twice, as `variance` does it.
    The true variance is that of the same float32 numbers, computed in float64.

    Args:
        offset: what is added to each number, from 0 to 1,000,000, in the unit of the numbers.
        x: (D,) or (1, D), at least two features from −1e15 to 1e15, in place of −3.80, 1.99, −1.73
            and 2.14.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Chan, Golub & LeVeque 1983, The American Statistician 37(3).

    >>> explore_offset(preset="the first negative variance").words[-40:]
    'he offset, float32 numbers are 32 apart.'
    """
    row = _first_row() if x is None else row_of(x, LARGEST).float()
    starts: list[Any] = [offset, *(own.get("offset") for own in (presets or {}).values())]
    found = _found(row, sorted({*STOPS, *filter(_is_inside, starts)}))
    negative = {FIRST_NEGATIVE: {"offset": found.first}} if found.first is not None else {}
    decimals = _decimals(found.true[0])
    widest = max(len(fixed(value, decimals)) for value in found.squares)
    groups = [[f"x[{d}]" for d in range(min(len(row), SHOWN))], ONE_PASS, OTHERS]
    picture, (ax,) = fixed_panels(
        "The digits of a row and of its variance in float32",
        *(1, max(LEAST_WIDTH, LABELS + CHARACTER * widest), LINE * (sum(map(len, groups)) + 5)),
        {"left": 0.03, "right": 0.97, "bottom": 0.02, "top": 0.98},
    )
    page = Page(ax, groups, decimals, found.true[0], widest)
    place = {at: i for i, at in enumerate(found.offsets)}

    def move(offset: float) -> str:
        i = place[offset]
        true, *got = (float(v[i]) for v in (found.true, found.naive, found.two, found.twice))
        means = float(found.squares[i]), float(found.square[i])
        page.show(
            [*found.x[i, :SHOWN].tolist(), *means, *got, true],
            [*_exact(row, found.x[i], offset), *[true] * 4],
        )
        page.head.set_text(f"offset {_offset(offset)}")
        page.verdict.set_text(_judged(got[0], true).replace("its ", ""))
        why = _rounded(found.true[: i + 1]) or _spacing(offset, row)
        return _words(offset, true, got, why)

    controls = {"offset": Slider("offset", offset, STOPS)}
    # Numbers as long as an instructor's may be have no room in a narrow picture.
    narrow: Any = "views" if x is None else "fixed"
    presets_here = {**PRESETS, **negative}
    return Explorer(
        picture, page.moving, move, controls, presets_here, preset, presets, narrow=narrow
    )


class Found(NamedTuple):
    """At each offset the row in float32, (offsets, D), and what is computed from it, float64."""

    offsets: list[float]
    x: NDArray
    squares: NDArray  # E[x²]
    square: NDArray  # E[x]²
    true: NDArray
    naive: NDArray
    two: NDArray
    twice: NDArray

    @property
    def first(self) -> float | None:
        """The first offset at which E[x²] − E[x]² is negative, if there is any."""
        pairs = zip(self.offsets, self.naive, strict=True)
        return next((at for at, naive in pairs if naive < 0), None)


def _first_row() -> Tensor:
    # Rounded, for the last digit of an encoding may differ between machines.
    return encoded_points()[0, 0].double().round(decimals=4).float()


def _is_inside(offset: Any) -> bool:
    return isinstance(offset, Real) and 0 <= float(offset) <= STOPS[-1]


def _found(row: Tensor, offsets: list[float]) -> Found:
    x = row + torch.tensor(offsets)[:, None]  # (offsets, D), float32
    squares, square, centered = _mean(x * x), _mean(x) * _mean(x), x - _mean(x)
    found = (
        squares,
        square,
        variance(x.double()),
        squares - square,
        _mean(centered * centered),
        _mean((centered - _mean(centered)) * (centered - _mean(centered))),
    )
    return Found(offsets, x.double().numpy(), *(v.double().flatten().numpy() for v in found))


def _exact(row: Tensor, x: NDArray, offset: float) -> list[float]:
    """Return what rounding to float32 has changed: the shown x, E[x²] and E[x]² of all x."""
    mean = math.fsum(x) / len(x)
    return [
        *(value + offset for value in row[:SHOWN].tolist()),
        math.fsum(x * x) / len(x),  # the squares of float32 numbers are exact in float64
        mean * mean,
    ]


def _mean(x: Tensor) -> Tensor:
    """Compute the mean of each row of (offsets, D), added up from left to right: (offsets, 1)."""
    total = torch.zeros(len(x))
    for column in x.T:  # A sum by the library may take another order on another machine.
        total = total + column
    return (total / x.shape[1])[:, None]


def _decimals(true: float) -> int:
    """Tell how many decimals a variance needs."""
    power = math.floor(math.log10(true)) if true > 0 else 0
    return min(max(DIGITS - 1 - power, 0), MOST_DECIMALS)


def cut(text: str, decimals: int, error: float) -> int:
    """Find where in a number the digits begin that are wrong, if it's off by so much.

    A digit is right if the number is off by at most half a unit of it.
    """
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    lost = math.ceil(math.log10(2 * error)) + decimals if error else 0
    if lost <= 0:
        return len(text)
    return digits[-lost] if lost < len(digits) else 0


class Page:
    """A column of numbers, one below the other, whose wrong digits are struck out.

    Args:
        ax: axes that hold nothing else.
        groups: the names of the numbers.
        decimals: how many decimals each number has.
        true: a variance, whose digits have a colored band behind them.
        widest: how many characters the longest number has.
    """

    def __init__(
        self, ax: Axes, groups: list[list[str]], decimals: int, true: float, widest: int
    ) -> None:
        self.decimals = decimals
        self.places: list[float] = []  # lines below the top
        band = len(fixed(true, decimals))
        left, right = _in_lines(ax, 0), _in_lines(ax, 1)
        small: dict[str, Any] = {"fontsize": 10}
        at = 0.8
        ax.set_axis_off()
        for names in groups:
            for name in names:
                at += 1
                self.places.append(at)
                ax.text(0, at, name, transform=left)
            at += 0.5 if names is not groups[1] else 1.4
        ax.set(label="digits", xlim=(-100, 0), ylim=(at + 2, 0))
        look: dict[str, Any] = {"fc": BAND, "ec": "none", "zorder": 0, "transform": right}
        ax.add_patch(Rectangle((-band, 0.95), band, self.places[-1] - 0.55, **look))
        ax.text(0, 0.75, "digits of the variance", ha="right", transform=right, **small)
        rule = self.places[len(groups[0]) + 2] - 0.76
        ax.plot([-widest, 0], [rule, rule], color=BLACK, lw=0.8, transform=right)
        ax.text(0, at + 0.8, "Gray, struck out: digits that are wrong", transform=left, **small)
        self.struck = line(ax, "-", color=LOST, lw=1.2, transform=right, zorder=3)
        digits: dict[str, Any] = {"family": "monospace", "transform": right}
        self.right = [ax.text(0, y, "", ha="right", **digits) for y in self.places]
        self.wrong = [ax.text(0, y, "", color=LOST, **digits) for y in self.places]
        self.head = ax.text(0, 0.75, "", weight="bold", transform=left)
        below = self.places[len(groups[0]) + 2] + 1.05
        self.verdict = ax.text(0, below, "", weight="bold", transform=left)

    @property
    def moving(self) -> list[Artist]:
        """All that moves."""
        return [self.struck, *self.right, *self.wrong, self.head, self.verdict]

    def show(self, values: list[float], exact: list[float]) -> None:
        """Write numbers, and strike out the digits that differ from those of the exact ones."""
        struck: list[tuple[float, float]] = []
        rows = zip(self.places, self.right, self.wrong, values, exact, strict=True)
        for y, right, wrong, value, wanted in rows:
            text = fixed(value, self.decimals)
            place = cut(text, self.decimals, abs(value - wanted))
            right.set(text=text[:place], x=place - len(text))
            wrong.set(text=text[place:], x=place - len(text))
            if place < len(text):
                struck += [(place - len(text), y - 0.27), (0, y - 0.27), (math.nan, math.nan)]
        self.struck.set_data(np.reshape(struck, (-1, 2)).T)


def _in_lines(ax: Axes, side: float) -> Transform:
    """Measure in characters from the left or right side of the axes, and in lines from the top."""
    corner: Any = ax.transAxes
    size = Affine2D().scale(CHARACTER, -LINE) + ax.figure.dpi_scale_trans
    return size + ScaledTranslation(side, 1, corner)


def _offset(offset: float) -> str:
    return significant(offset, 10)


def _judged(got: float, true: float) -> str:
    """Say in words how far a variance is from the true one."""
    if got < 0:
        return "negative: its root is NaN"
    error = abs(got - true)
    if error == 0:
        return "exactly right"
    if error <= 1e-5 * true:
        return "right to five digits"
    if error < true:
        return f"wrong by {number(100 * error / true)}%"
    return f"wrong by {'100%' if error == true else 'over 100%'}"


def _spacing(offset: float, row: Tensor) -> str:
    """Say how far apart float32 numbers are where E[x²] lies, if the offset takes it there."""
    if offset < max(FROM_HERE, row.abs().max().item()):
        return ""
    apart = np.spacing(np.float32(offset**2))
    return f" Near the square of the offset, float32 numbers are {significant(apart, 10)} apart."


def _rounded(true: NDArray) -> str:
    """Say from where on the true variance, at all offsets so far, shows that the row is rounded."""
    change = abs(true - true[0])
    if change.max() <= ROUNDED * true[0]:
        return ""
    much = "little" if change[-1] < 0.1 * true[0] else "lot"
    return f" Rounding the row to float32 has changed its true variance a {much}."


def _words(offset: float, true: float, got: list[float], why: str) -> str:
    naive, two, twice = (number(v, true) for v in got)
    return (
        f"At offset {_offset(offset)} the variance is {number(true, true)}. {NAIVE} gives {naive}, "
        f"{_judged(got[0], true)}. Two passes give {two}, centered twice {twice}.{why}"
    )
