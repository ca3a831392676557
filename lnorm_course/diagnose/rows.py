"""What rows do to each other, and features: change one, and see what else comes out otherwise."""

from collections.abc import Callable

import torch
from torch import Tensor

from lnorm_course.diagnose.trials import typical
from lnorm_utils.words import counted, spoken

__all__ = ["NOTHING_AVERAGED", "about_rows"]

NOTHING_AVERAGED = "No feature changes another one, so nothing is averaged over a row."
MOST = 32  # features that are changed one by one


def about_rows(call: Callable[[Tensor], Tensor], x: Tensor, size: int, within: float) -> list[str]:
    """Say in which way rows, or features, aren't as independent as in a norm of each row alone.

    Args:
        call: what a layer makes of x.
        size: how many numbers are a row.
        within: how far a number may be off.
    """
    y = call(x)
    if y.shape != x.shape or x.numel() == size:
        return []
    rows = x.reshape(-1, size)
    other = typical(rows.shape, 71)

    def changed(where: Tensor) -> Tensor:
        """Tell which numbers come out otherwise if those at these places are others."""
        z = call(torch.where(where, other, rows).reshape(x.shape))
        return ~torch.isclose(z, y, rtol=within, atol=within, equal_nan=True).reshape(rows.shape)

    def each(count: int, axis: int) -> Tensor:
        """Return (changed one, one that comes out otherwise) for rows or features."""
        ones = torch.eye(count, dtype=torch.bool).unsqueeze(2 - axis)
        return torch.stack([changed(one).any(1 - axis) for one in ones])

    touched = each(len(rows), 0)
    if (touched & ~torch.eye(len(rows), dtype=torch.bool)).any():
        return [_mixed(touched, len(rows) // len(x))]
    return _features(each(size, 1)) if size <= MOST else []


def _mixed(touched: Tensor, entry: int) -> str:
    """Say which rows change which others; `entry` rows are an entry of the batch."""
    n = torch.arange(len(touched))
    itself, every = n[:, None] == n, torch.ones_like(touched)
    after, own = n[:, None] < n, n[:, None] // entry == n // entry
    others = touched & ~itself
    patterns = {
        "A row changes all others, so the rows of a batch share something.": every,
        "A row changes all that come after it, so something is kept from row to row.": after,
        "A row changes the others of its own entry of the batch.": own,
        "A row changes those after it in its own entry of the batch.": own & after,
        "A row changes those at its position in the other entries.": (n[:, None] - n) % entry == 0,
        "The last row changes all others.": every & (n[:, None] == len(n) - 1),
        "The first row changes all others.": every & (n[:, None] == 0),
    }
    if not touched.diagonal().any() and (touched.sum(1) == 1).all():
        return "Rows come out in another order."
    for words, pattern in patterns.items():
        if torch.equal(others, pattern & ~itself):
            return words
    if torch.equal(others[:-1], (n[:, None] + 1 == n)[:-1]):
        return "A row changes the one behind it, so each gets something of the row before."
    if (others.sum(1) == 1).all():
        return "A row changes one other row, so each gets something of another one."
    first = int(others.any(1).nonzero()[0])
    numbers = [str(each) for each in others[first].nonzero().flatten().tolist()]
    return (
        f"Rows are mixed: of {counted(len(n), 'row')}, counted from 0 in reading order, row "
        f"{first} changes {spoken(numbers[:4])}{' and more' * (len(numbers) > 4)}, as a wrong "
        "reshape does it."
    )


def _features(changed: Tensor) -> list[str]:
    """Say which features don't change others, or aren't changed by them."""
    numbers = torch.arange(len(changed))
    others = changed & (numbers[:, None] != numbers)
    if not others.any():
        return [NOTHING_AVERAGED]
    for count in (n for n in range(2, len(changed)) if len(changed) % n == 0):
        block = numbers // (len(changed) // count)
        if torch.equal(changed, block[:, None] == block):
            return [f"Features change each other only within {count} groups, as in group norm."]
    found = []
    for words, silent in (
        ("changes no other, as if it weren't counted", ~others.any(1)),
        ("comes out the same whatever the others are", ~others.any(0)),
    ):
        if few := [str(n) for n in numbers[silent].tolist()]:
            name = "Feature" if len(few) == 1 else "Each of the features"
            found.append(f"{name} {spoken(few)}, of {len(changed)} and counted from 0, {words}.")
    return found
