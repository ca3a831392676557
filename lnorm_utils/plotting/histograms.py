"""Histograms of points, before and after layer normalization."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BLACK,
    BLUE,
    GRAY,
    Picture,
    in_style,
    limits,
    new_picture,
    phrase,
    to_points,
)
from lnorm_utils.words import counted, number

__all__ = ["hist_encoding", "hist_layer_normed"]

MOST_COLUMNS = 4
# Blue is what layer norm returns, in every picture of the course.
BEFORE, AFTER = {"facecolor": GRAY}, {"facecolor": BLUE, "hatch": "///"}


@in_style
def hist_encoding(encoding: ArrayLike) -> Picture:
    """Draw a histogram of each point's features, titled with that point's own mean and variance.

    All panels share bins and axes, and all finite values are inside.

    Args:
        encoding: (N, D), or (N, L, D) for one panel a position; a tensor on any device, with or
            without grad, or anything that numpy understands.

    Returns:
        A Figure with a panel for each point; its `words` say what it shows.

    Raises:
        ValueError: the array has another number of axes, or no elements.

    >>> hist_encoding([[1.0, 2.0, 6.0]]).axes[0].get_title()
    'point 0\\nmean 3.00\\nvariance 4.67'
    """
    points, names = to_points(encoding)
    columns = min(len(points), MOST_COLUMNS)
    rows = -(-len(points) // columns)
    alt = f"Histograms of the features of {len(points)} points"
    picture, axes = new_picture(alt, rows, columns, 2.6, 2.7, sharex=True, sharey=True)
    _row_of_panels(axes.ravel(), points, names, BEFORE)
    for ax in axes[:, 0]:
        ax.set_ylabel("how many features")
    for ax in axes[-1]:
        ax.set_xlabel("value")
    picture.words = f"{counted(len(points), 'histogram')}: {_summary(points, names)}"
    return picture


@in_style
def hist_layer_normed(encoding: ArrayLike, normed: ArrayLike) -> Picture:
    """Draw each point's histogram before and, under it, after layer normalization.

    The panels before share one axis and the panels after another. A dashed frame in each panel
    before marks how much of its axis the panel after covers, unless it covers all of it.

    Args:
        encoding: the points before, (N, D) or (N, L, D), as for `hist_encoding`.
        normed: the points after, of the same shape.

    Returns:
        A Figure with two panels for each point; its `words` say what it shows.

    Raises:
        ValueError: the two have different shapes, another number of axes, or no elements.

    >>> picture = hist_layer_normed([[1.0, 2.0, 6.0]], [[-0.93, -0.46, 1.39]])
    >>> [ax.get_title() for ax in picture.axes]
    ['point 0\\nmean 3.00\\nvariance 4.67', 'mean 0.00\\nvariance 1.00']
    """
    before, names = to_points(encoding)
    after, _ = to_points(normed)
    if np.shape(encoding) != np.shape(normed):
        raise ValueError(
            "hist_layer_normed needs the same points before and after, but got shapes "
            f"{tuple(np.shape(encoding))} and {tuple(np.shape(normed))}."
        )
    columns = min(len(before), MOST_COLUMNS)
    blocks = -(-len(before) // columns)
    alt = f"Histograms of {len(before)} points before and after layer normalization"
    picture, axes = new_picture(alt, 2 * blocks, columns, 2.6, 2.5)
    above, below = axes[0::2].ravel(), axes[1::2].ravel()
    low, *_, high = _row_of_panels(above, before, names, BEFORE)
    edges = _row_of_panels(below, after, [""] * len(names), AFTER)
    below_is_wider = edges[0] <= low and high <= edges[-1]
    for ax in [] if below_is_wider else above[: len(before)]:
        ax.axvspan(edges[0], edges[-1], facecolor="none", edgecolor=BLACK, lw=1.5, ls="--")
    for upper, lower in zip(axes[0::2, 0], axes[1::2, 0], strict=True):
        upper.set_ylabel("features, before")
        lower.set_ylabel("features, after")
    for ax in axes[-1]:
        ax.set_xlabel("value")
    covered = f"{number(edges[0])} to {number(edges[-1])}"
    axes_compared = (
        f"The axis below is wider than the one above: {covered}."
        if below_is_wider
        else f"The dashed frame above marks what the axis below covers: {covered}."
    )
    picture.words = (
        f"Above, before: {_summary(before, names)} Below, after: {_summary(after, names)} "
        f"{axes_compared}"
    )
    return picture


def _row_of_panels(
    panels: NDArray, points: NDArray, names: list[str], look: Mapping[str, Any]
) -> NDArray:
    """Draw one histogram a point with shared bins and limits, and return the edges of the bins."""
    bins = int(np.clip(2 * np.sqrt(points.shape[1]), 8, 40))
    edges = np.linspace(*limits(points, margin=0.02), bins + 1)
    counts = [np.histogram(p[np.isfinite(p)], edges)[0] for p in points]
    top = 1.1 * max(1, max(int(c.max()) for c in counts))
    for ax, point, count, name in zip(panels, points, counts, names, strict=False):
        ax.stairs(count, edges, fill=True, lw=1, edgecolor=BLACK, **look)
        ax.set_xlim(edges[0], edges[-1])
        ax.set_ylim(0, top)
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set_title("\n".join(filter(None, [name, _moments(point, "\n")])))
    for ax in panels[len(points) :]:
        ax.set_axis_off()
    return edges


def _moments(point: NDArray, between: str) -> str:
    finite = point[np.isfinite(point)]
    if finite.size == 0:
        return "no finite value"
    lost = point.size - finite.size
    note = f" ({lost} not finite)" if lost else ""
    largest = np.abs(finite).max()
    # A float32 is off by up to 6e-8 of its size, which leaves a variance of the square of that.
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
    return f"{phrase(each)}. {inside}"
