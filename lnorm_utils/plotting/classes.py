"""Points in the plane, each with the class that it belongs to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BLACK,
    PINK,
    SKY,
    YELLOW,
    Picture,
    in_style,
    limits,
    new_picture,
    to_array,
)
from lnorm_utils.words import counted, number

__all__ = ["points_by_class"]

LOOKS = ((SKY, "o"), (PINK, "^"), (YELLOW, "s"))


@in_style
def points_by_class(x: ArrayLike, classes: ArrayLike, names: Sequence[str]) -> Picture:
    """Draw points in the plane, with a color and a marker for each class.

    Args:
        x: (N, 2).
        classes: (N,), the number of each point's class, from 0.
        names: what each class is called, at most three.

    Returns:
        A Figure with one panel; its `words` give each class's size and distances from the origin.

    Raises:
        ValueError: the shapes don't fit, there are no points or more than three names, a class has
            no name, or a value isn't finite.

    >>> points_by_class([[3.0, 4.0], [0.0, 1.0]], [1, 0], ["near", "far"]).words
    '1 point of class "near", 1.00 from the origin. 1 point of class "far", 5.00 from the origin.'
    """
    points, numbers = to_array(x), to_array(classes)
    if points.ndim != 2 or points.shape[1] != 2 or numbers.shape != points.shape[:1]:
        raise ValueError(
            "points_by_class needs points of shape (N, 2) and classes of shape (N,), but got "
            f"shapes {points.shape} and {numbers.shape}."
        )
    known = np.isin(numbers, range(len(names))).all()
    if not (points.size and np.isfinite(points).all() and known and len(names) <= len(LOOKS)):
        raise ValueError(
            f"points_by_class needs at least one point, finite values, at most {len(LOOKS)} names, "
            f"and a name for each class, but got {counted(len(points), 'point')} and names {names}."
        )
    alt = f"{counted(len(points), 'point')} in the plane, with their classes"
    # Placed by hand: the automatic layout cuts off what stands around a square panel.
    picture, axes = new_picture(alt, 1, 1, 4.6, 4.8, layout=None)
    picture.subplots_adjust(left=0.14, right=0.98, bottom=0.11, top=0.9)
    ax = axes[0, 0]
    told = []
    for number_of, (name, (color, marker)) in enumerate(zip(names, LOOKS, strict=False)):
        own = points[numbers == number_of]
        ax.plot(*own.T, marker, color=color, mec=BLACK, mew=0.5, label=name)
        told.append(f'{counted(len(own), "point")} of class "{name}"{_far(own)}.')
    ax.set(aspect="equal", xlim=limits(points), ylim=limits(points))
    ax.set(xlabel="feature 0", ylabel="feature 1")
    picture.legend(loc="upper center", ncols=len(LOOKS))
    picture.words = " ".join(told)
    return picture


def _far(points: NDArray) -> str:
    """Say how far points lie from the origin."""
    if not len(points):
        return ""
    far = np.hypot(*points.T)
    low, high = number(far.min()), number(far.max())
    return f", {low} from the origin" if low == high else f", {low} to {high} from the origin"
