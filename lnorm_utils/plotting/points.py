"""Draw points on lines and in the plane, and what networks predict across the plane."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BLACK,
    DATA,
    GRAY,
    MEAN,
    PINK,
    SKY,
    SPREAD,
    WHITE,
    YELLOW,
    Picture,
    in_style,
    limits,
    listing,
    new_picture,
    to_array,
    to_points,
)
from lnorm_utils.words import counted, number

__all__ = ["number_lines", "points_before_after", "points_by_class", "regions"]

MARKS = ((SKY, "o"), (PINK, "^"), (YELLOW, "s"))
CORNERS = ((1, -1), (-1, 1))  # where layer norm puts points with two features
SHADES = LinearSegmentedColormap.from_list("shades", [SKY, WHITE, PINK])


@in_style
def number_lines(x: ArrayLike) -> Picture:
    """Draw each row of features as dots on a line, with the row's mean ± one standard deviation.

    Args:
        x: (N, D), or (N, L, D) to draw a separate line for each point at each position.

    Raises:
        ValueError: `x` has neither of these shapes.

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
    bars = {"elinewidth": 1.5, "capsize": 5, "capthick": 1.5, "zorder": 1}
    name = "mean ± one standard deviation"
    ax.errorbar(means, heights, xerr=deviations, fmt="none", ecolor=SPREAD, label=name, **bars)
    look = {"color": DATA, "mec": WHITE, "mew": 0.5, "ms": 7}
    ax.plot(points.ravel(), heights.repeat(points.shape[1]), "o", **look, label="feature")
    ax.plot(means, heights, "|", color=MEAN, ms=24, mew=3, label="mean")
    ax.set_yticks(heights, names)
    ax.set(ylim=(len(points) - 0.5, -0.5), xlabel="value")
    ax.set_xlim(limits(np.concatenate([points.ravel(), means - deviations, means + deviations])))
    handles = ax.get_legend_handles_labels()
    picture.legend(*handles, loc="outside upper center", ncols=3, markerscale=0.6)
    each = (
        f"{name} has mean {number(m, largest)}, standard deviation {number(d, largest)}"
        if np.isfinite(m)
        else f"{name} has no finite value"
        for name, m, d, largest in zip(names, means, deviations, np.abs(finite).max(1), strict=True)
    )
    picture.words = (
        f"A line for each of {len(points)} rows, with its features as dots: {listing(each)}."
    )
    return picture


@in_style
def points_before_after(before: ArrayLike, after: ArrayLike) -> Picture:
    """Draw points with two or three features before and after layer normalization.

    Points with two features are drawn as they are. Points with three features are drawn as seen
    along (1, 1, 1), projected onto the plane of all points with mean zero. A point is drawn as
    a circle if, before the norm, its feature 0 is larger than its feature 1, and as a triangle if
    it isn't.

    Args:
        before: the points before layer normalization, (N, 2) or (N, 3).
        after: the same points after layer normalization, of the same shape.

    Raises:
        ValueError: the two shapes differ or aren't (N, 2) or (N, 3), or a number isn't finite.

    >>> points_before_after([[2.0, 1.0]], [[1.0, -1.0]]).words[-79:]
    'After: 1 lie within 0.01 of (1, −1), 0 within 0.01 of (−1, 1), and 0 elsewhere.'
    """
    arrays = [to_array(before), to_array(after)]
    shape = arrays[0].shape
    lost = sum(int((~np.isfinite(array)).sum()) for array in arrays)
    fits = shape == arrays[1].shape and shape in [(len(arrays[0]), 2), (len(arrays[0]), 3)]
    if not fits or lost or not shape[0]:
        raise ValueError(
            "points_before_after needs the same finite points before and after, of shape (N, 2) or "
            f"(N, 3), but got shapes {shape} and {arrays[1].shape}, and {counted(lost, 'number')} "
            "that can't be drawn."
        )
    what = f"{counted(shape[0], 'point')} with {shape[1]} features"
    alt = f"{what} before and after layer normalization"
    picture, axes = new_picture(alt, 1, 2, 3.7, 3.9)
    first_above = arrays[0][:, 0] > arrays[0][:, 1]
    names = (
        ("feature 0", "feature 1") if shape[1] == 2 else ("along (1, −1, 0)", "along (1, 1, −2)")
    )
    for ax, array, title in zip(axes[0], arrays, ("before", "after"), strict=True):
        _scatter(ax, in_plane(array), ~first_above, 2, margin=0.1)
        ax.set(title=title, xlabel=names[0], ylabel=names[1])
        ax.locator_params(nbins=6)
        ax.grid(color=GRAY, lw=0.5)
    what_is_left = _corners if shape[1] == 2 else _circle
    picture.words = (
        f"{what}. Before: {int(first_above.sum())} have a larger feature 0 than feature 1 and are "
        "circles, the others are triangles. "
        f"After: {what_is_left(axes[0, 1], arrays[1])}"
    )
    return picture


def _corners(ax: Axes, after: NDArray) -> str:
    """Write into the panel, and return in words, how many points lie at each of the two corners."""
    counts = [int((np.abs(after - corner).max(1) < 0.01).sum()) for corner in CORNERS]
    for count, corner, side in zip(counts, CORNERS, ("right", "left"), strict=True):
        beside: dict[str, Any] = {"textcoords": "offset points", "ha": side, "va": "center"}
        ax.annotate(f"{counted(count, 'point')} here", corner, (-14 * corner[0], 0), **beside)
    return (
        f"{counts[0]} lie within 0.01 of (1, −1), {counts[1]} within 0.01 of (−1, 1), and "
        f"{len(after) - sum(counts)} elsewhere."
    )


def _circle(ax: Axes, after: NDArray) -> str:
    """Return in words how far from the center the points lie."""
    low, high = _ends(in_plane(after))
    if low == high:
        return f"all lie on a circle of radius {low}."
    return f"they lie between {low} and {high} from the center."


def in_plane(array: NDArray) -> NDArray:
    """Return where points (N, D), with D from 1 to 4, are drawn: their coordinates (N, 2).

    Points with one or two features are drawn as they are. With three or four, the coordinates are
    the point's components along the directions (1, −1, 0, …) and (1, 1, −2, …), both of which have
    mean 0.

    >>> in_plane(np.array([[5.0]]))
    array([[5., 0.]])
    """
    features = array.shape[1]
    if features <= 2:
        return np.pad(array, ((0, 0), (0, 2 - features)))
    return array[:, :3] @ (np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6]))


@in_style
def points_by_class(x: ArrayLike, classes: ArrayLike, names: Sequence[str]) -> Picture:
    """Draw points in the plane, with a color and a marker for each class.

    Args:
        x: (N, 2), finite.
        classes: (N,), the class of each point, numbered from 0.
        names: the names of the classes, at most three.

    Raises:
        ValueError: the shapes don't fit, a number isn't finite, or a class has no name.

    >>> points_by_class([[3.0, 4.0], [0.0, 1.0]], [1, 0], ["near", "far"]).words
    '1 point of class "near", 1.00 from the origin. 1 point of class "far", 5.00 from the origin.'
    """
    points, numbers = _in_classes(x, classes, names)
    alt = f"{counted(len(points), 'point')} in the plane, with their classes"
    picture, axes = new_picture(alt, 1, 1, 4.6, 4.8)
    ax = axes[0, 0]
    _scatter(ax, points, numbers, len(names))
    ax.set(xlabel="feature 0", ylabel="feature 1")
    picture.legend(ax.lines, names, loc="outside upper center", ncols=len(MARKS))
    told = []
    for kind, name in enumerate(names):
        own = points[numbers == kind]
        each = dict.fromkeys(_ends(own)) if len(own) else []
        far = f", {' to '.join(each)} from the origin" if each else ""
        told.append(f'{counted(len(own), "point")} of class "{name}"{far}.')
    picture.words = " ".join(told)
    return picture


@in_style
def regions(
    shares: Mapping[str, ArrayLike],
    x: ArrayLike,
    classes: ArrayLike,
    names: Sequence[str],
    *,
    most: float,
    columns: int,
) -> Picture:
    """Draw the probability of class 1 over the plane, in a panel for each network or step.

    A panel is white where the probability is one half. Elsewhere, it has the color of the likelier
    class, in ten shades.

    Args:
        shares: maps each panel's title to the probability of class 1 at S × S points, (S, S). The
            points form a square grid from -most to most, with feature 0 along the first axis and
            feature 1 along the second.
        x: (N, 2), the points that are drawn on top, all finite.
        classes: (N,), the class of each of these points, 0 or 1.
        names: the names of the two classes.
        most: half the side of the square.
        columns: how many panels are drawn side by side.

    Raises:
        ValueError: the shapes don't fit, or a probability is below 0 or above 1.

    >>> shares = {"before": [[0.5, 0.5], [0.5, 0.5]], "after": [[0.0, 1.0], [0.0, 1.0]]}
    >>> regions(shares, [[0.0, 0.5]], [1], ["in", "out"], most=1, columns=2).words
    'The probability of "out" in the plane is 50% (before); 0% to 100% (after).'
    """
    points, numbers = _in_classes(x, classes, names)
    panels = {name: to_array(values) for name, values in shares.items()}
    for name, values in panels.items():
        square = values.ndim == 2 and values.shape[0] == values.shape[1] > 1
        if not (square and ((values >= 0) & (values <= 1)).all()):
            raise ValueError(
                "regions needs probabilities of shape (S, S), from 0 to 1, but those of "
                f"{name!r} have shape {values.shape} or are outside that range."
            )
    alt = f"probabilities in the plane, {counted(len(panels), 'panel')}"
    rows = -(-len(panels) // columns)
    picture, axes = new_picture(alt, rows, columns, 2.15, 2.35)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    told = []
    for ax, (name, values) in zip(axes.flat, panels.items(), strict=False):
        grid = np.linspace(-most, most, len(values))
        ax.contourf(grid, grid, values.T, np.linspace(0, 1, 11), cmap=SHADES, vmin=0, vmax=1)
        _scatter(ax, points, numbers, len(names), ms=4)
        ax.set(title=name, xticks=[], yticks=[], xlim=(-most, most), ylim=(-most, most))
        ax.spines[:].set_visible(True)
        low, high = f"{values.min():.0%}", f"{values.max():.0%}"
        told.append(f"{low if low == high else f'{low} to {high}'} ({name})".replace("\n", ", "))
    picture.legend(axes[0, 0].lines, names, loc="outside upper center", ncols=2)
    picture.words = f'The probability of "{names[1]}" in the plane is {"; ".join(told)}.'
    return picture


def _in_classes(x: ArrayLike, classes: ArrayLike, names: Sequence[str]) -> tuple[NDArray, NDArray]:
    """Return points (N, 2) and the class of each, (N,), or raise a ValueError."""
    points, numbers = to_array(x), to_array(classes)
    if points.ndim != 2 or points.shape[1] != 2 or numbers.shape != points.shape[:1]:
        raise ValueError(
            "A picture of classes needs points of shape (N, 2) and classes of shape (N,), but got "
            f"shapes {points.shape} and {numbers.shape}."
        )
    known = np.isin(numbers, range(len(names))).all()
    if not (points.size and np.isfinite(points).all() and known and len(names) <= len(MARKS)):
        raise ValueError(
            f"A picture of classes needs at least one point, finite values, at most {len(MARKS)} "
            f"names, and a name for each class, but got {counted(len(points), 'point')} and names "
            f"{list(names)}."
        )
    return points, numbers


def _scatter(
    ax: Axes, points: NDArray, classes: NDArray, count: int, margin: float = 0.05, **look: Any
) -> None:
    """Draw points (N, 2) in a square panel, each with the color and the marker of its class."""
    for kind, (color, marker) in enumerate(MARKS[:count]):
        ax.plot(*points[classes == kind].T, marker, color=color, mec=BLACK, mew=0.5, **look)
    ax.set(aspect="equal", xlim=limits(points, margin), ylim=limits(points, margin))


def _ends(points: NDArray) -> tuple[str, str]:
    """Return, as text, the smallest and largest distances of the points from the origin."""
    far = np.hypot(*points.T)
    return number(far.min()), number(far.max())
