"""An instructor's own data, checked before an explorer draws them."""

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lnorm_utils.plotting.picture import to_array


def rows_of(x: ArrayLike, least: tuple[int, int] = (2, 2)) -> Tensor:
    """Return rows (N, D), float64, of an array (N, D) or (N, L, D).

    Args:
        x: a tensor on any device, or anything that numpy makes an array of.
        least: the smallest N · L and D that can be explored.

    Raises:
        ValueError: x has another number of axes, is too small, or holds a value that is not finite.
    """
    x = torch.from_numpy(to_array(x))
    shape = tuple(x.shape)
    if x.ndim not in (2, 3) or x.numel() == 0:
        raise ValueError(
            "An explorer needs data of shape (N, D) or (N, L, D) with at least one element, but "
            f"got shape {shape}."
        )
    rows = x.reshape(-1, shape[-1])
    for count, needed, what in zip(rows.shape, least, ("row", "feature"), strict=True):
        if count < needed:
            raise ValueError(
                f"This explorer needs data with at least {needed} {what}{'s' * (needed > 1)}, but "
                f"got shape {shape}."
            )
    return finite(rows)


def finite(x: Tensor, who: str = "An explorer") -> Tensor:
    """Return x, or raise a ValueError that says who needs it to be finite."""
    bad = int((~x.isfinite()).sum())
    if bad:
        raise ValueError(
            f"{who} needs finite numbers, but {bad} of {x.numel()} are NaN or infinite."
        )
    return x
