"""A matrix as a table of cells, colored by sign and size."""

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lnorm_utils.plotting.picture import (
    BLACK,
    ORANGE,
    SKY,
    WHITE,
    Picture,
    in_style,
    new_picture,
    phrase,
    tint,
    to_array,
)
from lnorm_utils.words import capitalized, number

__all__ = ["signed_cells"]

MOST = 12
FULL = 0.85  # with more color, white digits on it would be hard to read on a dark page


@in_style
def signed_cells(matrix: ArrayLike, *, title: str, xlabel: str, ylabel: str) -> Picture:
    """Draw a matrix as cells with their numbers: above zero in orange, below zero in blue.

    The larger a number is against the largest one, the stronger is its color.

    Args:
        matrix: (rows, columns), at most twelve of each.
        title: what the matrix is.
        xlabel, ylabel: what is counted along the columns, and down the rows.

    Returns:
        A Figure with one panel; its `words` give the numbers row by row.

    Raises:
        ValueError: `matrix` has another shape.

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
    largest = np.abs(array, where=np.isfinite(array), out=np.zeros_like(array)).max()
    texts = [[number(value, largest) for value in row] for row in array]
    picture, axes = new_picture(title, 1, 1, 0.85 * columns + 2.2, 0.55 * rows + 1.2)
    ax = axes[0, 0]
    for (row, column), value in np.ndenumerate(array):
        color = _color(value / largest if largest else 0.0)
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=color, edgecolor=BLACK, lw=1))
        ax.text(column + 0.5, row + 0.5, texts[row][column], ha="center", va="center")
    ax.set(xlim=(0, columns), ylim=(rows, 0), title=title, xlabel=xlabel, ylabel=ylabel)
    ax.set_xticks(np.arange(columns) + 0.5, range(columns))
    ax.set_yticks(np.arange(rows) + 0.5, range(rows))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    label = capitalized(ylabel)
    each = (f"{label} {row}: {', '.join(cells)}" for row, cells in enumerate(texts))
    picture.words = f"{title}. {phrase(each, MOST)}."
    return picture


def _color(share: float) -> tuple[float, ...]:
    """Mix white with the color of a sign, as much of it as the share, from −1 to 1, says."""
    if not np.isfinite(share):
        return tint(WHITE, 0)
    return tint(ORANGE if share > 0 else SKY, FULL * abs(share))
