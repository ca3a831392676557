"""Draw lines over a shared x axis."""

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BATCH_NORM,
    BLACK,
    BLUE,
    LAYER_NORM,
    NO_NORM,
    ORANGE,
    Picture,
    in_style,
    new_picture,
    to_array,
)
from lnorm_utils.words import power_of_ten, significant

__all__ = ["curves"]

# Each name in `NAMED_LOOKS` has the same look in all pictures of lines. Other names take the looks
# that are left, in this order.
LINE_LOOKS = (
    (LAYER_NORM, "-", "o"),
    (NO_NORM, ":", "s"),
    (BLUE, "-.", "^"),
    (ORANGE, (0, (5, 1, 1, 1, 1, 1)), "D"),
    (BATCH_NORM, "--", "v"),
)
NAMED_LOOKS = {
    "layer norm": LINE_LOOKS[0],
    "post-LN": LINE_LOOKS[0],
    "no norm": LINE_LOOKS[1],
    "pre-LN": LINE_LOOKS[2],
    "batch norm": LINE_LOOKS[4],
}
VARIANT = ((0, (1, 1)), "D")  # "post-LN, warm-up" has the color of post-LN, but its own dash
MOST_LINES = 4
_short, _one_digit = partial(significant, digits=3), partial(significant, digits=1)


@in_style
def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    log: str = "",
    levels: Mapping[str, float] | None = None,
    joined: bool = True,
    rounding: bool = False,
) -> Picture:
    """Draw named lines over x, each with its own color, dash, and marker.

    The names "layer norm", "post-LN", "no norm", "pre-LN", and "batch norm" have looks of
    their own, the same in every picture. "layer norm" and "post-LN" share one look; if a picture
    has both, the one listed first gets that look. In a picture that has both "post-LN" and a
    variant, such as "post-LN, warm-up", the two have the same color, but the variant has its own
    dash and marker.

    Args:
        x: (n,), shared by all lines.
        lines: maps each name to values (n,); at most four lines. A value that isn't finite leaves a
            gap.
        title, xlabel, ylabel: the texts around the picture, with units.
        log: which axes are logarithmic: "", "x", "y" or "xy". On a logarithmic y axis, a
            value that isn't above zero leaves a gap.
        levels: maps names to the heights of thin horizontal lines, which mark limits that are
            known beforehand.
        joined: whether lines join neighboring points, which makes sense only if the points are
            related.
        rounding: whether the values are rounding errors, whose digits differ between machines. If
            so, the picture's `words` give only powers of ten, and the y axis must be logarithmic.

    Raises:
        ValueError: `log` isn't one of these values, `x` isn't of shape (n,), a line has a different
            shape, or there are no lines or more than four.

    >>> curves([1, 2], {"double": [2, 4]}, title="Twice", xlabel="x", ylabel="2x").words
    'Twice. The line "double" goes from 2 at x = 1 to 4 at x = 2.'
    """
    x = to_array(x)
    arrays = {name: to_array(y) for name, y in lines.items()}
    allowed = ("y", "xy") if rounding else ("", "x", "y", "xy")
    if log not in allowed:
        raise ValueError(f"log must be one of {allowed}, but {log!r} was given.")
    if x.ndim != 1 or x.size == 0 or not 1 <= len(arrays) <= MOST_LINES:
        raise ValueError(
            f"curves needs x of shape (n,) and one to {MOST_LINES} lines, but got x of shape "
            f"{x.shape} and {len(arrays)} lines."
        )
    for name, y in arrays.items():
        if y.shape != x.shape:
            raise ValueError(f'The line "{name}" has shape {y.shape}, but x has shape {x.shape}.')
    picture, axes = new_picture(title, 1, 1, 5.2, 3.5)
    ax = axes[0, 0]
    for (name, y), (color, dash, marker) in zip(arrays.items(), _looks(arrays), strict=True):
        every = max(1, x.size // 12) if joined else 1
        style = dash if joined else "none"
        ax.plot(x, y, linestyle=style, color=color, marker=marker, markevery=every, label=name)
    for name, height in (levels or {}).items():
        ax.axhline(height, color=BLACK, lw=1, zorder=0)
        place = {"transform": ax.get_yaxis_transform(), "ha": "left", "va": "center"}
        ax.text(1.01, height, f"{name} = {_short(height)}", **place)
    ax.set(title=textwrap.fill(title, 48), xlabel=xlabel, ylabel=ylabel)
    # A logarithmic axis has no limits if nothing can be drawn on it, and wrong ones if it
    # has a tick below zero.
    known = np.isfinite(x) & ((x > 0) | ("x" not in log))
    drawable = any((np.isfinite(y[known]) & (y[known] > 0)).any() for y in arrays.values())
    ax.set_xscale("log" if "x" in log and known.any() else "linear")
    ax.set_yscale("log" if "y" in log and drawable else "linear")
    if "x" in log and x.size <= 10:
        ax.set_xticks(x[known], [significant(v, 6) for v in x[known]])
        ax.xaxis.minorticks_off()
    if (x == x.round()).all() and not log:
        ax.xaxis.get_major_locator().set_params(integer=True)
    picture.legend(loc="outside upper center", ncols=4 if len("".join(arrays)) < 30 else 2)
    say = _one_digit if "y" in log else _short
    tell = _powers if rounding else _from_to if joined else _range
    each = []
    for name, y in arrays.items():
        seen = known & np.isfinite(y) & ((y > 0) | ("y" not in log))
        if "y" not in log:  # values far below the line's largest are only rounding errors
            y = np.where(np.abs(y) < 1e-4 * np.abs(y[seen]).max(initial=0.0), 0.0, y)
        told = tell(x[seen], y[seen], xlabel, say) if seen.any() else "cannot be drawn"
        each.append(f'The {"line" if joined else "dots"} "{name}" {told}.')
    marks = [f'A thin line marks "{n}" at {_short(h)}.' for n, h in (levels or {}).items()]
    picture.words = " ".join([f"{title}.", *each, *marks])
    return picture


def _looks(names: Iterable[str]) -> list[tuple]:
    names = list(names)
    found: dict[str, tuple] = {}
    for name in sorted(names, key=lambda name: "," in name):  # variants last
        usual = NAMED_LOOKS.get(name.partition(",")[0])
        # "layer norm" and "post-LN" would have the same look, so the first one plotted gets it.
        for look in (usual, (usual[0], *VARIANT)) if usual and "," in name else (usual,):
            if look and look not in found.values():
                found.setdefault(name, look)
    left = iter(look for look in LINE_LOOKS if look not in found.values())
    return [found.get(name) or next(left) for name in names]


def _from_to(x: NDArray, y: NDArray, xlabel: str, say: Callable[[float], str]) -> str:
    first, last = (f"{say(y[i])} at {xlabel} = {_short(x[i])}" for i in (0, -1))
    low, high = say(y.min()), say(y.max())
    turns = not {low, high} <= {say(y[0]), say(y[-1])}
    on_the_way = f", and between {low} and {high} on the way" if turns else ""
    return f"goes from {first} to {last}{on_the_way}"


def _range(x: NDArray, y: NDArray, xlabel: str, say: Callable[[float], str]) -> str:
    low, high = say(y.min()), say(y.max())
    return f"are all at {low}" if low == high else f"lie between {low} and {high}"


def _powers(x: NDArray, y: NDArray, xlabel: str, say: Callable[[float], str]) -> str:
    """Describe a line by the powers of ten that enclose it, or by those nearest to its ends."""
    if y.max() < 10 * y.min():
        low, high = math.floor(math.log10(y.min())), math.ceil(math.log10(y.max()))
        return f"stays between {power_of_ten(low)} and {power_of_ten(high)}"
    ends = x[[0, -1]], y[[0, -1]]
    return _from_to(*ends, xlabel, lambda y: f"about {power_of_ten(round(math.log10(y)))}")
