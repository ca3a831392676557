"""Draw tables of cells that share a mean, of a matrix's signs and sizes, and of invariances."""

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lnorm_utils.plotting.picture import (
    BLACK,
    GRAY,
    GREEN,
    ORANGE,
    PINK,
    RIGHT,
    SKY,
    VERMILION,
    WHITE,
    YELLOW,
    Picture,
    in_style,
    listing,
    new_picture,
    tint,
    to_array,
)
from lnorm_utils.words import capitalized, number

__all__ = ["invariance_table", "shared_cells", "signed_cells"]

# Neighboring colors differ in lightness. If the colors were stronger, digits would be hard to read
# on a dark page.
COLORS = [tint(c, 0.6) for c in (SKY, VERMILION, YELLOW, GREEN, WHITE, ORANGE, PINK, GRAY)]
STRONGEST = 0.85  # how much color the cell with the largest number gets, from 0 to 1
AXES = {2: "ND", 3: "NLD", 4: "NCHW"}
MOST = 12  # the maximum number of rows, and of columns, that can be drawn


@in_style
def shared_cells(
    x: ArrayLike, dim: int | Sequence[int] = -1, axes: str | None = None, what: str = "mean"
) -> Picture:
    """Draw the cells of a tensor; cells with the same color and the same mark share one mean.

    Args:
        x: (N, D) is drawn as one table, (N, L, D) as a table for each n, and (N, C, H, W) as a
            small table for each n and c.
        dim: the axis, or the axes, that a mean is taken over.
        axes: a letter for each axis of `x`; by default "ND", "NLD", or "NCHW".
        what: what the cells share, if it isn't a mean.

    Raises:
        ValueError: `x` doesn't have 2, 3, or 4 axes, or has no elements; or `axes` doesn't have a
            letter for each axis.
        IndexError: `dim` names an axis that `x` doesn't have, or names an axis twice.

    >>> shared_cells([[1.0, 2.0], [3.0, 4.0]], dim=0).words[:52]
    '4 cells in 2 groups of 2. Each group shares one mean'
    """
    array = to_array(x)
    shape, letters = array.shape, axes or AXES.get(array.ndim, "")
    if array.ndim not in AXES or array.size == 0 or len(letters) != array.ndim:
        raise ValueError(
            "shared_cells needs a tensor with 2, 3 or 4 axes, at least one element, and a letter "
            f"for each axis, but got shape {shape} and axes {axes!r}."
        )
    given = dim if isinstance(dim, list | tuple) else (dim,)
    told = f"dim must name axes of a tensor of shape {shape}, none more than once, but {dim!r} "
    if not all(isinstance(each, int | np.integer) for each in given):
        raise TypeError(f"{told}was given.")
    reduced = {each % array.ndim for each in given if -array.ndim <= each < array.ndim}
    if len(reduced) < len(given):
        raise np.exceptions.AxisError(f"{told}was given.")
    kept = [1 if axis in reduced else size for axis, size in enumerate(shape)]
    groups = np.broadcast_to(np.arange(np.prod(kept)).reshape(kept), shape)
    *outer, height, width = shape
    down, across = (1, *outer)[-2:] if outer else (1, 1)
    alt = f"Table of a tensor of shape {shape}, colored by which cells share one {what}"
    picture, panels = new_picture(alt, down, across, 0.75 * width + 0.7, 0.55 * height + 0.8)
    for ax, place in zip(panels.flat, np.ndindex(*outer), strict=True):
        ax.set_title(", ".join(f"{a.lower()} = {i}" for a, i in zip(letters, place, strict=False)))
        colors = [[COLORS[group % len(COLORS)] for group in row] for row in groups[place]]
        _draw_cells(ax, colors, range(width), range(height))
        ax.set_xlabel(letters[-1])
        ax.set_ylabel(letters[-2], rotation=0, labelpad=12)
        for (row, column), value in np.ndenumerate(array[place]):
            ax.text(column + 0.5, row + 0.42, number(value), ha="center", va="center")
            mark = f"#{groups[place][row, column] + 1}"
            ax.text(column + 0.96, row + 0.94, mark, ha="right", va="bottom", fontsize=10)
    count = int(np.prod(kept))
    picture.words = (
        f"{array.size} cells in {count} groups of {array.size // count}. Each group shares one "
        f"{what}; together they have shape {tuple(kept)}. Group {listing(_named(kept, reduced))}."
    )
    return picture


def _named(kept: Sequence[int], reduced: Collection[int]) -> Iterator[str]:
    """Yield, for each group, its number and the PyTorch index that selects its cells."""
    for group, place in enumerate(np.ndindex(*kept)):
        index = ", ".join(":" if axis in reduced else str(i) for axis, i in enumerate(place))
        yield f"#{group + 1} is `x[{index}]`"


@in_style
def signed_cells(matrix: ArrayLike, *, title: str, xlabel: str, ylabel: str) -> Picture:
    """Draw a matrix as cells with their numbers: positive ones in orange, negative ones in blue.

    The closer a number's absolute value is to the largest one, the stronger its color is.

    Args:
        matrix: (rows, columns), at most twelve of each.
        title: what the matrix is.
        xlabel, ylabel: what is counted from left to right, and from top to bottom.

    Raises:
        ValueError: `matrix` doesn't have two axes, is empty, or has more than twelve rows or
            columns.

    >>> words = signed_cells([[1, -1]], title="One row", xlabel="input", ylabel="output").words
    >>> words
    'One row. Output 0: 1.00, −1.00.'
    """
    array = to_array(matrix)
    if array.ndim != 2 or array.size == 0 or max(array.shape) > MOST:
        raise ValueError(
            f"signed_cells needs a matrix of at most {MOST} × {MOST} numbers, but got shape "
            f"{array.shape}."
        )
    rows, columns = array.shape
    known = np.nan_to_num(array, posinf=0.0, neginf=0.0)
    largest = np.abs(known).max()
    shares = STRONGEST * known / (largest or 1.0)
    colors = [[tint(ORANGE if share > 0 else SKY, abs(share)) for share in row] for row in shares]
    texts = [[number(value, largest) for value in row] for row in array]
    picture, panels = new_picture(title, 1, 1, 0.85 * columns + 2.2, 0.55 * rows + 1.2)
    ax = panels[0, 0]
    _draw_cells(ax, colors, range(columns), range(rows), texts)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    each = (f"{capitalized(ylabel)} {row}: {', '.join(r)}" for row, r in enumerate(texts))
    picture.words = f"{title}. {listing(each, MOST)}."
    return picture


@in_style
def invariance_table(table: Mapping[str, Mapping[str, bool]], title: str) -> Picture:
    """Draw a table whose cells say "same" or "changes" for each subject and each change.

    Args:
        table: `table[subject][change]` says whether the subject stays the same under the change.
            All subjects have the same changes, in the same order.
        title: the text above the table.

    Raises:
        ValueError: there are no changes, or they aren't the same for all subjects.

    >>> invariance_table({"a sum": {"sorted": True, "doubled": False}}, "Sums").words
    'Sums. a sum: the same for sorted; changes for doubled.'
    """
    changes = list(next(iter(table.values()), {}))
    if not changes or any(list(row) != changes for row in table.values()):
        given = {name: list(row) for name, row in table.items()}
        raise ValueError(f"invariance_table needs the same changes in each row, but got {given}.")
    size = 1.25 * len(changes) + 2.2, 0.42 * len(table) + 1.1
    picture, panels = new_picture(title, 1, 1, *size)
    ax = panels[0, 0]
    colors = [
        [tint(RIGHT, 0.3) if is_same else WHITE for is_same in row.values()]
        for row in table.values()
    ]
    texts = [
        ["same" if is_same else "changes" for is_same in row.values()] for row in table.values()
    ]
    _draw_cells(ax, colors, [textwrap.fill(change, 13) for change in changes], list(table), texts)
    ax.xaxis.tick_top()
    ax.tick_params(labelsize=12)
    ax.set_title(title, pad=12)
    each = []
    for name, row in table.items():
        same, others = ([c for c in changes if row[c] is is_same] for is_same in (True, False))
        parts = [("the same for", same), ("changes for", others)]
        said = "; ".join(f"{how} {', '.join(those)}" for how, those in parts if those)
        each.append(f"{name}: {said}.")
    picture.words = " ".join([f"{title}.", *each])
    return picture


def _draw_cells(
    ax: Axes,
    colors: Sequence[Sequence[Any]],
    across: Sequence[object],
    down: Sequence[object],
    texts: Sequence[Sequence[str]] = (),
) -> None:
    """Draw a cell for each color, with its text, and label the columns and the rows."""
    for row, column in np.ndindex(len(down), len(across)):
        look = {"facecolor": colors[row][column], "edgecolor": BLACK, "lw": 1, "clip_on": False}
        ax.add_patch(Rectangle((column, row), 1, 1, **look))
        if texts:
            ax.text(column + 0.5, row + 0.5, texts[row][column], ha="center", va="center")
    ax.set(xlim=(0, len(across)), ylim=(len(down), 0))
    ax.set_xticks(np.arange(len(across)) + 0.5, [*map(str, across)])
    ax.set_yticks(np.arange(len(down)) + 0.5, [*map(str, down)])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
