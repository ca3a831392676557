"""Lesson 2: how many digits three formulas for the variance lose to an offset."""

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_utils.examples import encoded_points
from lnorm_utils.explorers.engine.controls import Slider, powers_of_ten
from lnorm_utils.explorers.engine.explorer import Explorer, Presets
from lnorm_utils.explorers.engine.figures import fixed_panels, in_style, line
from lnorm_utils.explorers.engine.own_data import row_of
from lnorm_utils.functional import variance
from lnorm_utils.numbers import number, power_of_ten, significant
from lnorm_utils.plotting.picture import BLACK, BLUE, GRAY, GREEN, VERMILION

__all__ = ["explore_offset"]

STOPS = [0.0, *powers_of_ten(0, 6, each=8)]
LARGEST = 1e15  # float32 has room for the sum of many such squares
FROM_HERE = 1e3  # float32 numbers near the square of such an offset are far apart
ROUNDED = 1e-3  # a relative change of the true variance that shows in its digits
NAIVE = "E[x²] − E[x]²"
FIRST_NEGATIVE = "the first negative variance"
PRESETS: Presets = {
    "no offset": {"offset": 0.0},
    "offset 1,000": {"offset": 1e3},
    "offset 10,000": {"offset": 1e4},
    "offset 1,000,000": {"offset": 1e6},
}


@in_style
def explore_offset(
    offset: float = 0.0,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how far an offset takes the variance in float32 from the true one.

    Of three formulas: E[x²] − E[x]²; two passes, first the mean and then Σ (x − mean)² / D; and two
    passes over numbers that are centered twice, as `variance` does it. The true variance is that of
    the same float32 numbers, computed in float64.

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
    found = _variances(row, sorted({*STOPS, *filter(_is_inside, starts)}))
    negative = {FIRST_NEGATIVE: {"offset": found.first}} if found.first is not None else {}
    picture, (left, right) = fixed_panels(
        "Error of the variance in float32 against the offset",
        *(2, 5.0, 4.8),
        {"left": 0.1, "right": 0.99, "bottom": 0.12, "top": 0.78, "wspace": 0.07},
        gridspec_kw={"width_ratios": [2, 1]},
    )
    _draw_curves(left, found)
    naive, two, twice = _markers(left)
    low, high = left.get_ylim()
    picture.legend(*left.get_legend_handles_labels(), loc="upper center", ncols=3, fontsize=10)
    head, values, verdict = _texts(right)
    place = {at: i for i, at in enumerate(found.offsets)}

    def move(offset: float) -> str:
        i = place[offset]
        true, *got = (float(v[i]) for v in (found.true, found.naive, found.two, found.twice))
        for marker, value in ((two, got[1]), (twice, got[2])):
            marker.set_data([offset], [abs(value - true)])
        naive.set_data([offset] * 3, [low, abs(got[0] - true), high])
        naive.set_marker("v" if got[0] < 0 else "s")
        head.set_text(f"offset {_offset(offset)}")
        values.set_text("\n".join(number(v, true) for v in (true, *got)))
        verdict.set_text(_judged(got[0], true).replace("its ", ""))
        why = _rounded(found.true[: i + 1]) or _spacing(offset, row)
        return _words(offset, true, got, why)

    controls = {"offset": Slider("offset", offset, STOPS)}
    moving = [naive, two, twice, head, values, verdict]
    return Explorer(picture, moving, move, controls, {**PRESETS, **negative}, preset, presets)


class Variances(NamedTuple):
    """At each offset the true variance, and what each formula makes of it, float64."""

    offsets: list[float]
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


def _variances(row: Tensor, offsets: list[float]) -> Variances:
    x = row + torch.tensor(offsets)[:, None]  # (offsets, D), float32
    centered = x - _mean(x)
    found = (
        variance(x.double()),
        _mean(x * x) - _mean(x) * _mean(x),
        _mean(centered * centered),
        _mean((centered - _mean(centered)) * (centered - _mean(centered))),
    )
    return Variances(offsets, *(v.double().flatten().numpy() for v in found))


def _mean(x: Tensor) -> Tensor:
    """Compute the mean of each row of (offsets, D), added up from left to right: (offsets, 1)."""
    total = torch.zeros(len(x))
    for column in x.T:  # A sum by the library may take another order on another machine.
        total = total + column
    return (total / x.shape[1])[:, None]


def _draw_curves(ax: Axes, found: Variances) -> None:
    """Draw what stands still: all errors, where one is negative, the variance itself."""
    naive, two, twice = (abs(v - found.true) for v in (found.naive, found.two, found.twice))
    below = np.where(found.naive < 0, naive, np.nan)
    look: dict[str, Any] = {"ms": 5, "lw": 1.5}
    ax.plot(found.offsets, naive, "--s", color=VERMILION, label=NAIVE, **look)
    ax.plot(found.offsets, below, "v", c=VERMILION, ms=10, mec=BLACK, label=f"{NAIVE} is negative")
    ax.plot(found.offsets, two, "-.^", color=GREEN, label="two passes", **look)
    ax.plot(found.offsets, twice, "-o", color=BLUE, label="two passes, centered twice", **look)
    ax.plot(found.offsets, found.true, ":", color=BLACK, lw=1.5, label="the variance itself")
    ax.set(xlabel="offset", ylabel="error", label="errors")
    _scale(ax, np.concatenate([naive, two, twice, found.true]))
    if found.first is not None:
        side = "right" if found.first > 1e3 else "left"
        ax.axvline(found.first, color=VERMILION, ls=":")
        text = f"first negative: {_offset(found.first)}"
        ax.text(found.first, 1.02, text, ha=side, transform=ax.get_xaxis_transform())


def _scale(ax: Axes, values: NDArray) -> None:
    """Make both axes logarithmic, but linear near 0, so that 0 has a place."""
    logs = np.log10(values[values > 0]) if (values > 0).any() else np.array([-8.0, 0.0])
    low, high = math.floor(logs.min()), math.ceil(logs.max())
    exponents = range(low, high + 1, math.ceil((high - low) / 7) or 1)
    ax.set_xscale("symlog", linthresh=1, linscale=0.6)
    ax.set_yscale("symlog", linthresh=10.0**low, linscale=0.8)
    ax.set(xlim=(-0.15, 2 * STOPS[-1]), ylim=(-(10.0**low) / 4, 3 * 10.0**high))
    ticks = [0, *(10**e for e in range(7))]
    ax.set_xticks(ticks, [significant(tick) for tick in ticks])
    ax.set_yticks(
        [0, *(10.0**e for e in exponents)],
        ["exact: 0", *map(power_of_ten, exponents)],
    )
    ax.minorticks_off()
    ax.grid(color=GRAY, lw=0.5)


def _markers(ax: Axes) -> list[Line2D]:
    """Return the marker of E[x²] − E[x]², with an upright line through it, and the others."""
    look: dict[str, Any] = {"mew": 1.5, "clip_on": False}
    upright: dict[str, Any] = {"color": GRAY, "lw": 1.5, "markevery": [1]}
    naive = line(ax, "-", mfc=VERMILION, ms=15, **upright, **look)
    two = line(ax, "^", color=GREEN, ms=13, **look)
    return [naive, two, line(ax, "o", color=BLUE, ms=8, **look)]


def _texts(ax: Axes) -> list[Text]:
    """Write the names of the numbers, and return the texts that move beside them."""
    ax.set_axis_off()
    ax.set_label("numbers")
    look: dict[str, Any] = {"fontsize": 15, "va": "top"}
    ax.text(0.03, 0.83, f"true variance\n{NAIVE}\ntwo passes\ncentered twice", **look)
    return [
        ax.text(0.03, 0.98, "", weight="bold", **look),
        ax.text(0.95, 0.83, "", ha="right", **look),
        ax.text(0.03, 0.47, "", weight="bold", **look),
    ]


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
