"""An instructor's own data, checked before an explorer draws them."""

import math

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import to_array
from lnorm_utils.words import counted, significant


def rows_of(
    x: ArrayLike,
    least: tuple[int, int] = (2, 2),
    most: tuple[float, float] = (math.inf, math.inf),
) -> Tensor:
    """Return rows (N, D), float64, of an array (N, D) or (N, L, D).

    Args:
        x: a tensor on any device, or anything that numpy makes an array of.
        least: the smallest N · L and D that can be explored.
        most: the largest.

    Raises:
        ValueError: x has another number of axes, is too small or too large, or holds a value that
            is not finite.
    """
    x = torch.from_numpy(to_array(x))
    shape = tuple(x.shape)
    if x.ndim not in (2, 3) or x.numel() == 0:
        raise ValueError(
            "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but "
            f"got shape {shape}."
        )
    rows = x.reshape(-1, shape[-1])
    for size, low, high, what in zip(rows.shape, least, most, ("row", "feature"), strict=True):
        if not low <= size <= high:
            limit = f"at least {counted(low, what)}"
            if size > high:
                limit = f"at most {counted(int(high), what)}"
            raise ValueError(f"This explorer needs data with {limit}, but got shape {shape}.")
    return finite(rows)


def row_of(x: ArrayLike, largest: float = math.inf) -> Tensor:
    """Return one row (D,), float64, of an array (D,) or (1, D) with at least two features.

    Raises:
        ValueError: x has another shape, or holds a value that is not finite or above `largest`.
    """
    x = torch.from_numpy(to_array(x))
    if x.ndim not in (1, 2) or x.numel() < 2 or x.numel() != x.shape[-1]:
        raise ValueError(
            "This explorer needs one row of shape (D,) or (1, D) with at least 2 features, but got "
            f"shape {tuple(x.shape)}."
        )
    row = finite(x.reshape(-1))
    if row.abs().max() > largest:
        raise ValueError(
            f"This explorer needs numbers from {significant(-largest)} to {significant(largest)}, "
            f"but got {significant(row[row.abs().argmax()])}."
        )
    return row


def standard_row(x: ArrayLike) -> Tensor:
    """Return one row (D,), float64, as `row_of`, with mean 0 and standard deviation 1.

    Raises:
        ValueError: as `row_of`, or all values are the same.
    """
    row = row_of(x)
    if row.min() == row.max():
        raise ValueError(
            f"row must hold numbers that differ, but all {row.numel()} are {significant(row[0])}."
        )
    return standardize(row / row.abs().max(), eps=0.0)


def finite(x: Tensor, who: str = "An explorer") -> Tensor:
    """Return x, or raise a ValueError that says who needs it to be finite."""
    bad = int((~x.isfinite()).sum())
    if bad:
        raise ValueError(
            f"{who} needs finite numbers, but {bad} of {x.numel()} are NaN or infinite."
        )
    return x
