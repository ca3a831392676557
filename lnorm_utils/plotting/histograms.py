"""Draw histograms of points, before and after layer normalization."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BLACK,
    GRAY,
    LAYER_NORM,
    Picture,
    in_style,
    limits,
    listing,
    new_picture,
    to_array,
    to_points,
)
from lnorm_utils.words import counted, number

__all__ = ["hist_encoding", "hist_layer_normed"]

MOST_COLUMNS = 4
BEFORE, AFTER = {"facecolor": GRAY}, {"facecolor": LAYER_NORM, "hatch": "///"}


@in_style
def hist_encoding(encoding: ArrayLike) -> Picture:
    """Draw a histogram of each row's features, titled with that row's own mean and variance.

    All panels share the same bins and axes, which cover all finite values.

    Args:
        encoding: (N, D); or (N, L, D), to draw a panel for each point at each position.

    Raises:
        ValueError: `encoding` has neither of these shapes.

    >>> hist_encoding([[1.0, 2.0, 6.0]]).axes[0].get_title()
    'point 0\\nmean 3.00\\nvariance 4.67'
    """
    points, names = to_points(encoding)
    picture, (axes,) = _panels(f"Histograms of the features of {len(points)} rows", len(points))
    _draw(axes, points, names, "how many features", BEFORE)
    picture.words = f"{counted(len(points), 'histogram')}: {_summary(points, names)}"
    return picture


@in_style
def hist_layer_normed(encoding: ArrayLike, normed: ArrayLike) -> Picture:
    """Draw each point's histogram before layer normalization and, under it, the one after.

    The upper panels share one x axis, and the lower panels share another. A dashed frame in each
    upper panel marks the part of its x axis that the lower panel covers, unless that's all of it.

    Args:
        encoding: the points before the norm, (N, D) or (N, L, D), as for `hist_encoding`.
        normed: the points after the norm, in the same shape.

    Raises:
        ValueError: the two have different shapes, or a shape that is neither of these.

    >>> picture = hist_layer_normed([[1.0, 2.0, 6.0]], [[-0.93, -0.46, 1.39]])
    >>> [ax.get_title() for ax in picture.axes]
    ['point 0\\nmean 3.00\\nvariance 4.67', 'mean 0.00\\nvariance 1.00']
    """
    (before, names), (after, _) = to_points(encoding), to_points(normed)
    shapes = to_array(encoding).shape, to_array(normed).shape
    if shapes[0] != shapes[1]:
        raise ValueError(
            "hist_layer_normed needs the same points before and after, but got shapes "
            f"{shapes[0]} and {shapes[1]}."
        )
    alt = f"Histograms of {len(before)} rows before and after layer normalization"
    picture, (above, below) = _panels(alt, len(before), 2)
    low, high = _draw(above, before, names, "features, before", BEFORE)
    left, right = _draw(below, after, [""] * len(names), "features, after", AFTER)
    covered = f"{number(left)} to {number(right)}"
    how = "The axis below is wider than the one above"
    if low < left or right < high:
        how = "The dashed frame above marks what the axis below covers"
        for ax in above[: len(before)]:
            ax.axvspan(left, right, facecolor="none", edgecolor=BLACK, lw=1.5, ls="--")
    picture.words = (
        f"Above, before: {_summary(before, names)} Below, after: {_summary(after, names)} "
        f"{how}: {covered}."
    )
    return picture


def _panels(alt: str, count: int, kinds: int = 1) -> tuple[Picture, list[NDArray]]:
    """Make `count` panels of each kind, at most four side by side, each kind in its own rows."""
    columns = min(count, MOST_COLUMNS)
    rows = kinds * -(-count // columns)
    picture, axes = new_picture(alt, rows, columns, 2.6, 2.6, sharex="row", sharey="row")
    for ax in axes[-1]:
        ax.set_xlabel("value")
    of_kinds = [axes[kind::kinds].ravel() for kind in range(kinds)]
    for panels in of_kinds:
        for ax in panels[count:]:
            ax.set_axis_off()
    return picture, of_kinds


def _draw(
    panels: NDArray, points: NDArray, names: list[str], ylabel: str, look: Mapping[str, Any]
) -> tuple[float, float]:
    """Draw a histogram per point with shared bins and limits; return the ends of the bins."""
    bins = int(np.clip(2 * np.sqrt(points.shape[1]), 8, 40))
    edges = np.linspace(*limits(points, margin=0.02), bins + 1)
    counts = [np.histogram(p[np.isfinite(p)], edges)[0] for p in points]
    for ax, point, count, name in zip(panels, points, counts, names, strict=False):
        ax.stairs(count, edges, fill=True, lw=1, edgecolor=BLACK, **look)
        ax.set(xlim=(edges[0], edges[-1]), ylim=(0, 1.1 * max(1, np.max(counts))))
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.tick_params(labelleft=True)  # a page may move the panel to another row
        ax.set_title("\n".join(filter(None, [name, _moments(point, "\n")])))
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel(ylabel)
    return edges[0], edges[-1]


def _moments(point: NDArray, between: str) -> str:
    finite = point[np.isfinite(point)]
    if finite.size == 0:
        return "no finite value"
    lost = point.size - finite.size
    note = f" ({lost} not finite)" if lost else ""
    largest = np.abs(finite).max()
    # A float32 number is off by up to 6e-8 of its size, so rounding alone causes a variance up to
    # about (6e-8 · largest)². `number` writes anything below a millionth of its second argument as
    # 0: here, that is a variance below (1e-7 · largest)².
    mean, variance = number(finite.mean(), largest), number(finite.var(), (1e-4 * largest) ** 2)
    return f"mean {mean}{between}variance {variance}{note}"


def _summary(points: NDArray, names: list[str]) -> str:
    moments = [_moments(p, ", ") for p in points]
    each = [f"{name} has {m}" for m, name in zip(moments, names, strict=True)]
    if len(set(moments)) == 1 < len(moments):
        each = [f"each has {moments[0]}"]
    finite = points[np.isfinite(points)]
    inside = (
        f"All values lie between {number(finite.min())} and {number(finite.max())}."
        if finite.size
        else "There is no finite value."
    )
    return f"{listing(each)}. {inside}"
