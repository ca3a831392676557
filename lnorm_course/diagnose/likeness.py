"""What is right about results that no piece explains: a law that holds, or what they look like."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lnorm_course.diagnose.explaining import SINGLE, Result, Search
from lnorm_utils.words import significant, spoken

__all__ = ["law", "likeness"]

LEAST = 4  # rows to judge by


class _Rows(NamedTuple):
    """Rows of shape (rows, features): what went in, centered; what came out, and what is right,
    before γ and β; both with γ and β.
    """

    x: Tensor
    own: Tensor
    right: Tensor
    y: Tensor
    z: Tensor


def _rows(search: Search, results: Sequence[Result]) -> _Rows | None:
    """Return the finite rows of the trials that are like the last one."""
    norm, last, found = search.norm, search.trials[-1], []
    for n, (trial, y) in enumerate(zip(search.trials, results, strict=True)):
        is_like = trial.x.shape == last.x.shape and trial.eps == last.eps
        if not is_like or trial.kind not in ("main", "flat"):
            continue
        if not isinstance(y, Tensor) or y.shape != trial.x.shape:
            return None
        x, z = norm.centered(trial.x), search.answers[n]
        y, z = (each.double().reshape(x.shape) for each in (y, z))
        g = 1 if trial.weight is None else trial.weight.flatten()
        b = 0 if trial.bias is None else trial.bias.flatten()
        finite = y.isfinite().all(-1)
        found.append([each[finite] for each in (x, (y - b) / g, (z - b) / g, y, z)])
    rows = _Rows(*map(torch.cat, zip(*found, strict=True)))
    return rows if len(rows.y) >= LEAST else None


def law(search: Search, results: Sequence[Result]) -> str:
    """Say what explains all results with one or two numbers that they determine themselves."""
    rows = _rows(search, results)
    within = 1e-3 if search.unit == SINGLE else 1e-6
    if rows is None or _close(rows.y, rows.z, within):
        return ""
    before = "Before β is added, all" if (rows.own - rows.y).abs().max() > within else "All"
    for all_numbers, y, z in (("All", rows.y, rows.z), (before, rows.own, rows.right)):
        away = z - z.mean()
        factor = ((y * away).sum() / away.square().sum()).item()
        added = (y - factor * z).mean().item()
        if _close(y, factor * z + added, within) and abs(factor) > within:
            plus = f", plus {significant(added, 4)}" if abs(added) > within else ""
            times = f"{significant(factor, 5)} times " if abs(factor - 1) > within else ""
            return f"{all_numbers} numbers are {times}what's right{plus}."
    low, high = rows.y.min(), rows.y.max()
    if low < high and _close(rows.y, rows.z.clamp(low, high), within):
        ends = [significant(end.item(), 4) for end in (low, high) if (rows.y == end).sum() > 1]
        return f"Results are right, but cut off at {spoken(ends)}."
    if search.trials[-1].weight is None and len(rows.y) > LEAST:  # two rows decide γ and β
        away = rows.z - rows.z.mean(0)
        g = (away * rows.y).sum(0) / away.square().sum(0)
        b = (rows.y - g * rows.z).mean(0)
        if _close(g * rows.z + b, rows.y, within) and g.abs().max() > within:
            changed = [
                (letter, p)
                for letter, p, usual in (("γ", g, 1), ("β", b, 0))
                if (p - usual).abs().max() > 10 * within
            ]
            named = [f"{letter} = {_numbers(p)}" for letter, p in changed]
            return f"It has {spoken(named)}. Here there is no such γ or β."
    square = rows.x.square().mean(-1)
    by = (rows.own * rows.x).mean(-1) / square  # what each row is multiplied by
    known = square > 0
    v, inverse = square[known], by[known] ** -2
    if not _close(rows.own[known], (by[:, None] * rows.x)[known], within) or len(v) < LEAST:
        return ""
    least, most = v.argmin(), v.argmax()
    k = (inverse[most] - inverse[least]) / (v[most] - v[least])
    eps = inverse[least] - k * v[least]
    if not ((by[known] > 0).all() and torch.allclose(k * v + eps, inverse, within, 0.0)):
        return ""
    if abs(k - 1) < within:
        return f"Your ε is {significant(eps.item(), 3)}. {search.norm.name} has another ε here."
    plus = f" + {significant(eps.item(), 3)}" if eps > within * v.min() else ", without ε"
    what = "the mean square" if search.norm.name == "RMSNorm" else "the variance"
    return f"You divide by the root of {significant(k.item(), 5)} times {what}{plus}."


def _numbers(p: Tensor) -> str:
    """Return a tensor in words, the first four numbers.

    >>> _numbers(torch.tensor([1.5, 2.0, -1e-12, 0.0, 1.0]))
    '(1.5, 2, 0, 0, …)'
    """
    few = ", ".join(f"{round(number, 9) + 0.0:.4g}" for number in p[:4].tolist())
    return f"({few}{', …' * (len(p) > 4)})"


def _close(one: Tensor, other: Tensor, within: float) -> bool:
    """Compare rows, each with its own largest number."""
    scale = other.abs().amax(-1, keepdim=True).clamp(min=1e-7)
    return bool(((one - other).abs() <= within * scale).all())


def likeness(search: Search, results: Sequence[Result]) -> str:
    """Say where the results of the last trial differ first, and what is right about them."""
    main, y, z = search.trials[-1], results[-1], search.answers[-1]
    if not isinstance(y, Tensor) or y.shape != z.shape:
        shape = f"For an input of shape {tuple(main.x.shape)}"
        return f"{shape} it returns {tuple(getattr(y, 'shape', ()))}."
    within = 1e-4 if search.unit == SINGLE else 1e-9
    wrong = ~torch.isclose(y.double(), z, rtol=within, atol=within, equal_nan=True)
    index = tuple(wrong.nonzero()[0].tolist())
    numbers = [significant(each[index].item(), 5) for each in (y, z)]
    found = [f"On {main.words}, at {index}: {numbers[0]}, where {numbers[1]} is right."]
    features = wrong.reshape(-1, wrong.shape[-1]).any(0).nonzero().flatten().tolist()
    if len(features) <= wrong.shape[-1] // 2:
        few = spoken([str(n) for n in features[:4]])
        found.append(f"Of {wrong.shape[-1]} features, counted from 0, only {few} differ.")
    rows, within = _rows(search, results), max(within, 1e-5)
    if rows is not None:
        factor = (rows.own * rows.right).sum(-1, True) / rows.right.square().sum(-1, True)
        moved = rows.own - rows.own.mean(-1, True)
        if _close(rows.own, (factor * rows.right).nan_to_num(), within):
            found.append("Each row is right up to a factor, so it's divided by another number.")
        elif _close(moved, rows.right - rows.right.mean(-1, True), within):
            found.append("Each row is right up to a number that is added to all of it.")
    return " ".join(found)
