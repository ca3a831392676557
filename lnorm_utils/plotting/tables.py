"""A tensor as a table of cells, colored by which cells share one mean."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import (
    BLACK,
    GRAY,
    GREEN,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
    WHITE,
    YELLOW,
    Picture,
    in_style,
    new_picture,
    phrase,
    tint,
    to_array,
)
from lnorm_utils.words import number

__all__ = ["shared_cells"]

# Neighbors differ in lightness. With more color, digits would be hard to read on a dark page.
COLORS = (SKY, VERMILION, YELLOW, GREEN, WHITE, ORANGE, PINK, GRAY)
FULL = 0.6
AXES = {2: "ND", 3: "NLD", 4: "NCHW"}


@in_style
def shared_cells(
    x: ArrayLike, dim: int | Sequence[int] = -1, axes: str | None = None, what: str = "mean"
) -> Picture:
    """Draw the cells of a tensor; cells with the same color and the same mark share one mean.

    Args:
        x: (N, D) is drawn as one table, (N, L, D) as a table for each n, (N, C, H, W) as a small
            table for each n and c.
        dim: the axis, or the axes, that a mean is taken over.
        axes: a letter for each axis of `x`; by default "ND", "NLD" or "NCHW".
        what: what the cells share, if it isn't a mean.

    Returns:
        A Figure of the tables; its `words` name the cells of each group. The marks are #1, #2, ….

    Raises:
        TypeError: `dim` is not made of integers.
        ValueError: `x` has another number of axes or no elements, `dim` names an axis that `x`
            doesn't have, or `axes` has another number of letters.

    >>> shared_cells([[1.0, 2.0], [3.0, 4.0]], dim=0).words[:52]
    '4 cells in 2 groups of 2. Each group shares one mean'
    """
    array = to_array(x)
    letters = axes or AXES.get(array.ndim, "")
    if array.ndim not in AXES or array.size == 0 or len(letters) != array.ndim:
        raise ValueError(
            "shared_cells needs a tensor with 2, 3 or 4 axes, at least one element, and a letter "
            f"for each axis, but got shape {array.shape} and axes {axes!r}."
        )
    reduced = _reduced(dim, array)
    kept = [1 if a in reduced else s for a, s in enumerate(array.shape)]
    groups = np.broadcast_to(np.arange(np.prod(kept)).reshape(kept), array.shape)
    alt = f"Table of a tensor of shape {array.shape}, colored by which cells share one {what}"
    picture, panels = _tables(alt, array.shape, letters)
    tables = (-1, *array.shape[-2:])
    for ax, values, group in zip(
        panels.ravel(), array.reshape(tables), groups.reshape(tables), strict=True
    ):
        _draw_cells(ax, values, group)
    picture.words = _words(kept, groups, reduced, what)
    return picture


def _reduced(dim: int | Sequence[int], array: NDArray) -> set[int]:
    named = dim if isinstance(dim, tuple | list) else (dim,)
    if not all(isinstance(d, Integral) for d in named):
        raise TypeError(f"dim must be an integer or a tuple of integers, but {dim!r} was given.")
    reduced = {d % array.ndim for d in named if -array.ndim <= d < array.ndim}
    if not named or len(reduced) < len(named):
        raise ValueError(
            f"dim must name axes of a tensor of shape {array.shape}, each once, but {dim!r} was "
            "given."
        )
    return reduced


def _tables(alt: str, shape: tuple[int, ...], letters: str) -> tuple[Picture, NDArray]:
    """Lay out a panel for each table, with the names of the axes around it."""
    *outer, rows, columns = shape
    down, across = {0: (1, 1), 1: (1, *outer), 2: tuple(outer)}[len(outer)]
    picture, panels = new_picture(alt, down, across, 0.75 * columns + 0.7, 0.55 * rows + 0.8)
    for index, ax in enumerate(panels.ravel()):
        place = np.unravel_index(index, outer) if outer else ()
        ax.set_title(", ".join(f"{a.lower()} = {i}" for a, i in zip(letters, place, strict=False)))
        ax.set(xlim=(0, columns), ylim=(rows, 0), aspect="auto")
        ax.set_xticks(np.arange(columns) + 0.5, range(columns))
        ax.set_yticks(np.arange(rows) + 0.5, range(rows))
        ax.tick_params(length=0)
        ax.set_xlabel(letters[-1])
        ax.set_ylabel(letters[-2], rotation=0, labelpad=12)
        ax.spines[:].set_visible(False)
    return picture, panels


def _draw_cells(ax: Axes, values: NDArray, groups: NDArray) -> None:
    for (row, column), value in np.ndenumerate(values):
        group = int(groups[row, column])
        color = tint(COLORS[group % len(COLORS)], FULL)
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=color, edgecolor=BLACK, lw=1))
        ax.text(column + 0.5, row + 0.42, number(value), ha="center", va="center")
        ax.text(column + 0.96, row + 0.94, _mark(group), ha="right", va="bottom", fontsize=10)


def _mark(group: int) -> str:
    return f"#{group + 1}"


def _words(kept: list[int], groups: NDArray, reduced: set[int], what: str) -> str:
    count = int(np.prod(kept))
    each = []
    for group in range(count):
        first = np.argwhere(groups == group)[0]
        index = ", ".join(":" if a in reduced else str(i) for a, i in enumerate(first))
        each.append(f"{_mark(group)} is `x[{index}]`")
    return (
        f"{groups.size} cells in {count} groups of {groups.size // count}. Each group shares one "
        f"{what}; together they have shape {tuple(kept)}. Group {phrase(each)}."
    )
