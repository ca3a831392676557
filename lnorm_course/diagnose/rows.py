"""What rows do to each other, and features: change one, and see what else comes out otherwise."""

from collections.abc import Callable

import torch
from torch import Tensor

from lnorm_course.diagnose.trials import typical
from lnorm_utils.words import counted, spoken

__all__ = ["about_rows"]

Call = Callable[[Tensor], Tensor]


def about_rows(call: Call, x: Tensor, features: int, within: float) -> list[str]:
    """Say in which way rows, or features, aren't as independent as in a norm of each row alone.

    Args:
        call: what a layer makes of x.
        x: of shape (*, features).
        features: how many numbers are a row.
        within: how far a number may be off.
    """
    y = call(x)
    if y.shape != x.shape or x.numel() == features:
        return []
    rows = x.reshape(-1, features)
    other = typical(rows.shape, 71)

    def changes(changed: Tensor) -> Tensor:
        z = call(changed.reshape(x.shape))
        return (_differ(z, y, within) if z.shape == y.shape else ~z.isnan()).reshape(rows.shape)

    if not y.isfinite().any():
        return ["Nothing finite comes out."]
    if not changes(other).any():
        return ["What comes out doesn't depend on what goes in."]
    touched, moved = [], []
    for row in range(len(rows)):
        one = rows.clone()
        one[row] = other[row]
        changed = {*changes(one).any(1).nonzero().flatten().tolist()}
        touched.append(changed - {row})
        moved.append(len(changed) == 1)
    if any(touched) and all(moved):
        return ["Rows come out in another order."]
    if any(touched):
        return [_mixed(touched, x.shape[: -1 if x.shape[-1] == features else 1])]
    found = _features(changes, rows, other)
    if _differ(call(x.flip(0)), y.flip(0), within).any():
        found.append("A row comes out otherwise at another place of the batch.")
    return found


def _differ(one: Tensor, other: Tensor, within: float) -> Tensor:
    return ~torch.isclose(one, other, rtol=within, atol=within, equal_nan=True)


def _mixed(touched: list[set[int]], leading: torch.Size) -> str:
    """Say which rows change which others."""
    count = len(touched)
    every = {*range(count)}
    inner = leading[1:].numel()
    patterns = {
        "A row changes all others, so the rows of a batch share something": (
            lambda row: every - {row}
        ),
        "A row changes the one behind it, so each gets something of the row before": (
            lambda row: {row + 1} if row < count - 1 else touched[row]
        ),
        "A row changes all that come after it, so something is kept from row to row": (
            lambda row: {*range(row + 1, count)}
        ),
        "The last row changes all others": lambda row: every - {row} if row == count - 1 else set(),
        "The first row changes all others": lambda row: every - {row} if not row else set(),
    }
    if inner > 1:
        patterns |= {
            "A row changes the others of its own entry of the batch": (
                lambda row: {n for n in every if n // inner == row // inner} - {row}
            ),
            "A row changes those at its own position in the other entries of the batch": (
                lambda row: {n for n in every if n % inner == row % inner} - {row}
            ),
            "A row changes those after it in its own entry of the batch": (
                lambda row: {n for n in every if n // inner == row // inner and n > row}
            ),
        }
    for words, pattern in patterns.items():
        if touched == [pattern(row) for row in range(count)]:
            return f"{words}."
    first = next(row for row in range(count) if touched[row])
    few = [str(n) for n in sorted(touched[first])[:4]]
    return (
        f"Rows are mixed: of {counted(count, 'row')}, counted from 0 in reading order, row {first} "
        f"changes {'row' if len(few) == 1 else 'rows'} {spoken(few)}"
        f"{' and more' if len(touched[first]) > 4 else ''}, as after a wrong reshape."
    )


def _features(changes: Callable[[Tensor], Tensor], rows: Tensor, other: Tensor) -> list[str]:
    """Say which features don't change others, or aren't changed by them."""
    size = rows.shape[1]
    if size > 32:
        return []
    changed = torch.zeros(size, size, dtype=torch.bool)  # [one that is changed, one that changes]
    for feature in range(size):
        one = rows.clone()
        one[:, feature] = other[:, feature]
        changed[feature] = changes(one).any(0)
    others = changed & ~torch.eye(size, dtype=torch.bool)
    if not others.any():
        return ["No feature changes another one, so nothing is averaged over a row."]
    for block in range(2, size // 2 + 1):
        numbers = torch.arange(size) // block
        if size % block == 0 and torch.equal(changed, numbers[:, None] == numbers):
            groups = counted(size // block, "group")
            return [f"Features change each other only within {groups}, as in group norm."]
    found = []
    for words, silent in (
        ("changes no other, as if it weren't counted", ~others.any(1)),
        ("comes out the same whatever the others are", ~others.any(0)),
    ):
        if numbers := silent.nonzero().flatten().tolist():
            few = [str(n) for n in numbers[:4]]
            more = f" and {len(numbers) - 4} more" if len(numbers) > 4 else ""
            name = "Feature" if len(numbers) == 1 else "Each of the features"
            found.append(f"{name} {spoken(few)}{more}, of {size} and counted from 0, {words}.")
    return found
