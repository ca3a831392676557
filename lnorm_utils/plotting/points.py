"""Points on lines and in the plane."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BLACK,
    GRAY,
    PINK,
    SKY,
    Picture,
    in_style,
    limits,
    new_picture,
    phrase,
    to_array,
    to_points,
)
from lnorm_utils.words import number

__all__ = ["number_lines", "points_before_after"]


@in_style
def number_lines(x: ArrayLike, spread: bool = True) -> Picture:
    """Draw each row of features as dots on a line, with its mean and one standard deviation.

    Args:
        x: (N, D), or (N, L, D) for one line for each position.
        spread: whether the standard deviation is drawn too.

    Returns:
        A Figure with one line for each row; its `words` give the means and deviations.

    Raises:
        ValueError: the array has another number of axes, or no elements.

    >>> number_lines([[1.0, 2.0, 6.0]]).words[-47:]
    'point 0 has mean 3.00, standard deviation 2.16.'
    """
    points, names = to_points(x)
    alt = f"The features of {len(points)} rows as dots on number lines, with their means"
    picture, axes = new_picture(alt, 1, 1, 5.8, 0.5 * len(points) + 1.2)
    ax = axes[0, 0]
    finite = np.ma.masked_invalid(points)
    means, deviations = finite.mean(1).filled(np.nan), finite.std(1).filled(np.nan)
    heights = np.arange(len(points))
    ends = np.stack([means - deviations, means + deviations]) if spread else np.stack([means] * 2)
    if spread:
        bars: dict[str, Any] = {"color": BLACK, "lw": 1.5, "zorder": 1}
        ax.hlines(heights, *ends, label="mean ± one standard deviation", **bars)
        for end in ends:
            ax.vlines(end, heights - 0.15, heights + 0.15, **bars)
    look = {"color": SKY, "mec": BLACK, "mew": 0.5, "ms": 7}
    ax.plot(points.ravel(), heights.repeat(points.shape[1]), "o", **look, label="feature")
    ax.plot(means, heights, "|", color=BLACK, ms=24, mew=3, label="mean")
    ax.set_yticks(heights, names)
    ax.set(ylim=(len(points) - 0.5, -0.5), xlabel="value")
    ax.set_xlim(limits(np.concatenate([points.ravel(), *ends])))
    handles = ax.get_legend_handles_labels()
    picture.legend(*handles, loc="outside upper center", ncols=3, markerscale=0.6)
    each = (
        f"{name} has mean {number(m, largest)}"
        + f", standard deviation {number(d, largest)}" * spread
        if np.isfinite(m)
        else f"{name} has no finite value"
        for name, m, d, largest in zip(names, means, deviations, np.abs(finite).max(1), strict=True)
    )
    picture.words = (
        f"A line for each of {len(points)} rows, with its features as dots: {phrase(each)}."
    )
    return picture


@in_style
def points_before_after(before: ArrayLike, after: ArrayLike) -> Picture:
    """Draw points with two or three features before and after layer normalization.

    Two features are drawn as they are. Three are drawn as seen along (1, 1, 1), in the plane of all
    points with mean zero. A point is a circle if its feature 0 is larger than its feature 1, and a
    triangle if it isn't.

    Args:
        before: (N, 2) or (N, 3).
        after: the same points after, of the same shape.

    Returns:
        A Figure with two panels; its `words` say what they show.

    Raises:
        ValueError: the two are not arrays of one shape (N, 2) or (N, 3).

    >>> points_before_after([[2.0, 1.0]], [[1.0, -1.0]]).words[-79:]
    'After: 1 lie within 0.01 of (1, −1), 0 within 0.01 of (−1, 1), and 0 elsewhere.'
    """
    arrays = [to_array(before), to_array(after)]
    shape = arrays[0].shape
    if shape != arrays[1].shape or len(shape) != 2 or shape[1] not in (2, 3) or shape[0] == 0:
        raise ValueError(
            "points_before_after needs the same points before and after, of shape (N, 2) or "
            f"(N, 3), but got shapes {arrays[0].shape} and {arrays[1].shape}."
        )
    alt = f"{shape[0]} points with {shape[1]} features before and after layer normalization"
    # Two square panels, placed by hand: the automatic layout cuts off what stands around them.
    picture, axes = new_picture(alt, 1, 2, 3.7, 3.9, layout=None)
    picture.subplots_adjust(left=0.1, right=0.99, bottom=0.15, top=0.92, wspace=0.25)
    finite = np.isfinite(np.stack(arrays)).all((0, 2))
    arrays = [array[finite] for array in arrays]
    first_above = arrays[0][:, 0] > arrays[0][:, 1]
    labels = (
        ("feature 0", "feature 1") if shape[1] == 2 else ("along (1, −1, 0)", "along (1, 1, −2)")
    )
    for ax, array, title in zip(axes[0], arrays, ("before", "after"), strict=True):
        _scatter(ax, in_plane(array), first_above)
        ax.set(title=title, xlabel=labels[0], ylabel=labels[1])
    lost = f"{(~finite).sum()} that are not finite are left out. " if not finite.all() else ""
    what_is_left = _corners if shape[1] == 2 else _circle
    picture.words = (
        f"{shape[0]} points with {shape[1]} features. {lost}Before: {int(first_above.sum())} have "
        "a larger feature 0 than feature 1 and are circles, the others are triangles. "
        f"After: {what_is_left(axes[0, 1], arrays[1])}"
    )
    return picture


def _corners(ax: Axes, after: NDArray) -> str:
    """Write into the panel, and return in words, how many points lie at each of the two corners."""
    counts = {}
    for corner in ((1, -1), (-1, 1)):
        counts[corner] = int((np.abs(after - corner).max(1) < 0.01).sum())
        ax.annotate(
            f"{counts[corner]} points here",
            corner,
            (-14 * corner[0], 0),
            textcoords="offset points",
            ha="right" if corner[0] > 0 else "left",
            va="center",
        )
    return (
        f"{counts[1, -1]} lie within 0.01 of (1, −1), {counts[-1, 1]} within 0.01 of (−1, 1), and "
        f"{len(after) - sum(counts.values())} elsewhere."
    )


def _circle(ax: Axes, after: NDArray) -> str:
    """Return in words how far from the center the points lie."""
    radii = np.hypot(*in_plane(after).T)
    if radii.size == 0:
        return "no points are left to draw."
    low, high = number(radii.min()), number(radii.max())
    if low == high:
        return f"all lie on a circle of radius {low}."
    return f"they lie between {low} and {high} from the center."


def in_plane(array: NDArray) -> NDArray:
    """Return the two coordinates at which points with one to four features are drawn.

    One and two features are drawn as they are. Of three and four, what is drawn is how far they
    reach along (1, −1, 0, …) and (1, 1, −2, …), two directions without a mean.

    Args:
        array: (N, D) with D from 1 to 4.

    Returns:
        (N, 2).

    >>> in_plane(np.array([[5.0]]))
    array([[5., 0.]])
    """
    features = array.shape[1]
    if features <= 2:
        return np.pad(array, ((0, 0), (0, 2 - features)))
    return array[:, :3] @ (np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6]))


def _scatter(ax: Axes, points: NDArray, first_above: NDArray) -> None:
    for mask, color, marker in ((first_above, SKY, "o"), (~first_above, PINK, "^")):
        ax.plot(*points[mask].T, marker, color=color, mec=BLACK, mew=0.5)
    ax.set(aspect="equal", xlim=limits(points, 0.1), ylim=limits(points, 0.1))
    ax.locator_params(nbins=6)
    ax.grid(color=GRAY, lw=0.5)
