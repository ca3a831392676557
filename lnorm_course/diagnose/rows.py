"""What rows do to each other, and features: change one, and see what else comes out otherwise."""

from collections.abc import Callable

import torch
from torch import Tensor

from lnorm_course.diagnose.trials import typical
from lnorm_utils.words import counted, spoken

__all__ = ["about_rows"]

MOST = 32  # features that are changed one by one


def about_rows(
    call: Callable[[Tensor], Tensor],
    reordered: Callable[[Tensor], Tensor],
    x: Tensor,
    size: int,
    within: float,
) -> tuple[list[str], list[str]]:
    """Say in which way rows, or features, aren't as independent as in a norm of each row alone.

    Args:
        call: what a layer makes of x.
        reordered: what it makes of the features in another order, which is then undone.
        size: how many numbers are a row.
        within: how far a number may be off.

    Returns:
        What is wrong; and what can be seen besides, if that doesn't say what is wrong.
    """
    y = call(x)
    if y.shape != x.shape or x.numel() == size:
        return [], []
    rows = x.reshape(-1, size)
    other = typical(rows.shape, 71)

    def changed(where: Tensor) -> Tensor:
        """Tell which numbers come out otherwise if those at these places are others."""
        z = call(torch.where(where, other, rows).reshape(x.shape))
        return _differ(z, y, within).reshape(rows.shape)

    def each(count: int, axis: int) -> Tensor:
        """Return (changed one, one that comes out otherwise) for rows or features."""
        ones = torch.eye(count, dtype=torch.bool).unsqueeze(2 - axis)
        return torch.stack([changed(one).any(1 - axis) for one in ones])

    if not y.isfinite().any():
        return ["Nothing finite comes out."], []
    if not changed(torch.ones_like(rows, dtype=torch.bool)).any():
        return ["What comes out doesn't depend on what goes in."], []
    touched = each(len(rows), 0)
    itself = torch.eye(len(rows), dtype=torch.bool)
    if (touched & ~itself).any():
        return [_mixed(touched, itself, len(rows) // len(x))], []
    found, hints = _features(each(size, 1)) if size <= MOST else [], []
    if _differ(call(x.flip(0)), y.flip(0), within).any():
        hints.append("A row comes out otherwise at another place of the batch.")
    if not found and size <= MOST:
        hints += _order(reordered, y, size, within)
    return found, hints


def _order(reordered: Callable[[Tensor], Tensor], y: Tensor, size: int, within: float) -> list[str]:
    """Say which features count otherwise than their neighbors, γ and β aside."""
    numbers, found = torch.arange(size), []
    for n in range(size - 1):
        order = numbers.clone()
        order[[n, n + 1]] = order[[n + 1, n]]
        if _differ(reordered(order), y, within).any():
            found.append(f"{n} and {n + 1}")
    if not found:
        return []
    if len(found) > 2:
        return ["A row comes out otherwise if its features are in another order."]
    return [
        f"A row comes out otherwise if its features {spoken(found)}, counted from 0, change "
        "places, but not if others beside each other do."
    ]


def _differ(one: Tensor, other: Tensor, within: float) -> Tensor:
    return ~torch.isclose(one, other, rtol=within, atol=within, equal_nan=True)


def _mixed(touched: Tensor, itself: Tensor, entry: int) -> str:
    """Say which rows change which others; `entry` rows are an entry of the batch."""
    n = torch.arange(len(itself))
    after, own = n[:, None] < n, n[:, None] // entry == n // entry
    others, every = touched & ~itself, torch.ones_like(itself)
    patterns = {
        "A row changes all others, so the rows of a batch share something.": every,
        "A row changes all that come after it, so something is kept from row to row.": after,
        "A row changes the others of its own entry of the batch.": own,
        "A row changes those after it in its own entry of the batch.": own & after,
        "A row changes those at its position in the other entries.": n[:, None] % entry
        == n % entry,
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
    first = int(others.any(1).nonzero()[0])
    numbers = [str(each) for each in others[first].nonzero().flatten().tolist()]
    return (
        f"Rows are mixed: of {counted(len(n), 'row')}, counted from 0 in reading order, row "
        f"{first} changes {spoken(numbers[:4])}{' and more' * (len(numbers) > 4)}, as a wrong "
        "reshape does it."
    )


def _features(changed: Tensor) -> list[str]:
    """Say which features don't change others, or aren't changed by them."""
    size = len(changed)
    others = changed & ~torch.eye(size, dtype=torch.bool)
    if not others.any():
        return ["No feature changes another one, so nothing is averaged over a row."]
    numbers = torch.arange(size)
    for count in (n for n in range(2, size) if size % n == 0):
        block = numbers // (size // count)
        if torch.equal(changed, block[:, None] == block):
            return [f"Features change each other only within {count} groups, as in group norm."]
    found = []
    for words, silent in (
        ("changes no other, as if it weren't counted", ~others.any(1)),
        ("comes out the same whatever the others are", ~others.any(0)),
    ):
        if few := [str(n) for n in numbers[silent].tolist()]:
            name = "Feature" if len(few) == 1 else "Each of the features"
            found.append(f"{name} {spoken(few)}, of {size} and counted from 0, {words}.")
    return found
