"""Find out how rows or features affect each other: change one, and see what else changes."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.trial_inputs import typical
from lnorm_utils.words import counted, spoken

__all__ = ["how_mixed", "listed"]

MOST = 1_000  # at most this many rows or features are changed one by one
MOST_NAMED = 6
FAR = 100.0


def how_mixed(call: Callable[[Tensor], Tensor], x: Tensor, size: int, tol: float) -> list[str]:
    """Say how rows or features affect each other in ways that a row-by-row norm rules out.

    Args:
        call: a function that returns the layer's output for x.
        size: how many numbers a row has.
        tol: the absolute and the relative tolerance for each number.
    """
    y = call(x)
    rows = x.reshape(-1, size)
    if y.shape != x.shape or max(rows.shape) > MOST:
        return []
    other = typical(rows.shape, 71)

    def changes(axis: int, other: Tensor) -> Tensor:
        """Return a mask: the first index is what was changed, the second is what it affected."""
        found = []
        for number in torch.arange(rows.shape[axis])[:, None]:
            changed = rows.index_copy(axis, number, other.index_select(axis, number))
            z = call(changed.reshape(x.shape))
            same = torch.isclose(z, y, rtol=tol, atol=tol, equal_nan=True)
            found.append(~same.reshape(rows.shape).all(1 - axis))
        return torch.stack(found)

    rows_change = changes(0, other)
    mixed = rows_change & ~torch.eye(len(rows), dtype=torch.bool)
    said = [_mixed(rows_change, len(rows) // len(x))] if mixed.any() else []
    # Large numbers also reveal it if only the largest feature of a row has an effect.
    return [*said, *_features(changes(1, FAR * other))]


def _mixed(changed: Tensor, entry: int) -> str:
    """Say which rows change which other rows; each entry of the batch has `entry` rows."""
    n = torch.arange(len(changed))
    itself = n[:, None] == n
    others = changed & ~itself
    if torch.equal(others[:-1], (n[:, None] + 1 == n)[:-1]):
        return "A row changes the next one, so each row gets something from the row before it"
    if (others.sum(1) == 1).all():
        return "A row changes one other row, so each row gets something from another one"
    own, later = n[:, None] // entry == n // entry, n[:, None] < n
    for whom, pattern in {
        "all others": torch.ones_like(changed),
        "all that come after it": later,
        "all others in its own entry of the batch": own,
        "those after it in its own entry of the batch": own & later,
        "those at the same position in the other entries": (n[:, None] - n) % entry == 0,
    }.items():
        if torch.equal(others, pattern & ~itself):
            return f"A row changes {whom}"
    first = int(others.any(1).nonzero()[0])
    return (
        f"Rows are mixed: of {counted(len(n), 'row')}, counted from 0 in reading order, row "
        f"{first} changes {listed(others[first])}"
    )


def _features(changed: Tensor) -> Iterator[str]:
    """Say which features don't change others, or aren't changed by them."""
    numbers = torch.arange(len(changed))
    others = changed & (numbers[:, None] != numbers)
    if not others.any():
        yield "No feature changes another one, so nothing is averaged over a row"
        return
    for count in (n for n in range(2, len(changed)) if len(changed) % n == 0):
        for group in (numbers // (len(changed) // count), numbers % count):
            if torch.equal(changed, group[:, None] == group):
                words = f"Features change each other only within {count} groups"
                yield f"{words}, of which the first is {listed(group == 0)}"
                return
    for silent, words in (
        (~others.any(1), "changes no other, as if it weren't counted"),
        (~others.any(0), "comes out the same, whatever the others are"),
    ):
        if silent.any():
            name = "Feature" if silent.sum() == 1 else "Each of the features"
            yield f"{name} {listed(silent)} (of {len(changed)}, counted from 0) {words}"


def listed(which: Tensor) -> str:
    """Say which entries of a mask are set, such as "0, 2, and 3", or "0 to 15".

    >>> listed(torch.tensor([True, False, True])), listed(torch.ones(16).bool())
    ('0 and 2', '0 to 15')
    """
    numbers = which.nonzero().flatten().tolist()
    if len(numbers) > MOST_NAMED and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    few = [str(number) for number in numbers[:MOST_NAMED]]
    return spoken(few) if len(numbers) <= MOST_NAMED else f"{', '.join(few)} and others"
