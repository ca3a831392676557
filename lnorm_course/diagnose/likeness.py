"""What is right about results that no piece explains."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lnorm_course.diagnose.explaining import Search
from lnorm_utils.words import significant, spoken

__all__ = ["law", "likeness"]

LEAST = 5  # rows to judge by
WITHIN = 1e-6  # at least, of the largest number of a row
MOST_NAMED = 6


def _rows(search: Search, results: Sequence[Any]) -> tuple[Tensor, ...] | None:
    """Return rows of x, of results, and of right ones before and after γ and β, with numbers."""
    last, found = search.trials[-1], []
    for trial, y, z in zip(search.trials, results, search.answers, strict=True):
        is_like = trial.x.shape == last.x.shape and trial.eps == last.eps
        if not is_like or trial.kind not in ("main", "flat"):
            continue
        if not isinstance(y, Tensor) or y.shape != trial.x.shape:
            return None
        size = torch.Size(search.norm.shape).numel()
        bare = search.norm.result((), trial.x, None, None, trial.eps)
        x, y, bare, z = (each.double().reshape(-1, size) for each in (trial.x, y, bare, z))
        finite = y.isfinite().all(-1)
        found.append([each[finite] for each in (x, y, bare, z, torch.arange(len(y)))])
    rows = tuple(torch.cat(each) for each in zip(*found, strict=True))
    return rows if rows and len(rows[0]) >= LEAST else None


def law(search: Search, results: Sequence[Any]) -> str:
    """Say which rows are left out, or which γ and β make all numbers right."""
    rows, within = _rows(search, results), max(WITHIN, 5 * search.tolerances[-1])
    if rows is None or _near(rows[1], rows[3], within).all():
        return ""
    return _left_out(rows, within) or _reordered(rows, within) or _affine(search, rows, within)


def _reordered(rows: tuple[Tensor, ...], within: float) -> str:
    """Say from which features the right numbers come, if each is one of another feature."""
    _, y, _, z, _ = rows
    near = (y.T[:, None] - z.T).abs().amax(-1) <= within * z.abs().max()
    if not near.any(1).all() or near.diagonal().all():
        return ""
    few = ", ".join(str(n) for n in near.int().argmax(1)[: MOST_NAMED + 2].tolist())
    more = ", …" * (len(near) > MOST_NAMED + 2)
    return f"In place of features 0, 1, 2, … come the right numbers of features {few}{more}."


def _left_out(rows: tuple[Tensor, ...], within: float) -> str:
    """Say which rows of each input aren't normalized, if all others are right."""
    x, y, _, z, number = rows
    right, count = _near(y, z, within), int(number.max()) + 1
    for words, value in (("zeros", torch.zeros_like(y)), ("they went in", x)):
        left = _near(y, value, within)
        numbers = number[-count:][(left & ~right)[-count:]]
        is_out = torch.isin(number, numbers)
        if 0 < len(numbers) < count and torch.where(is_out, left, right).all():
            which = f"In reading order and counted from 0, of {count} rows {_listed(numbers)}"
            return f"{which} come{'s' * (len(numbers) == 1)} out as {words}. All others are right."
    return ""


def _affine(search: Search, rows: tuple[Tensor, ...], within: float) -> str:
    """Say which other γ and β make all numbers right."""
    _, y, bare, *_ = rows
    away, trial = bare - bare.mean(0), search.trials[-1]
    g = (away * y).sum(0) / away.square().sum(0)
    b = (y - g * bare).mean(0)
    if not _near(g * bare + b, y, within).all() or g.abs().max() <= within:
        return ""
    found, here = [], []
    for letter, p, given, usual in (("γ", g, trial.weight, 1.0), ("β", b, trial.bias, 0.0)):
        expected = torch.full_like(p, usual) if given is None else given.flatten()
        other = trial.bias if letter == "γ" else trial.weight
        if torch.allclose(p, expected, 10 * within, 10 * within):
            continue
        if torch.allclose(p.sort().values, expected.sort().values, 10 * within, 10 * within):
            return f"The numbers of {letter} are at other features, in another order."
        if other is not None and torch.allclose(p, other.flatten(), 10 * within, 10 * within):
            return f"In place of {letter} there's {'β' if letter == 'γ' else 'γ'}."
        found.append(f"{letter} = {_numbers(p)}")
        here += [f"{letter} = {_numbers(expected)}"] * (given is not None)
    what = f"there's {spoken(here)}" if here else "there is no such γ or β"
    return f"It has {spoken(found)}. Here {what}." if found else ""


def _numbers(p: Tensor) -> str:
    """Return a tensor in words, the first four numbers.

    >>> _numbers(torch.tensor([1.5, 2.0, -1e-12, 0.0, 1.0]))
    '(1.5, 2, 0, 0, …)'
    """
    few = ", ".join(f"{round(number, 9) + 0.0:.4g}" for number in p[:4].tolist())
    return f"({few}{', …' * (len(p) > 4)})"


def _listed(numbers: Tensor) -> str:
    few = [str(n) for n in numbers[:MOST_NAMED].tolist()]
    return spoken(few) if len(numbers) <= MOST_NAMED else f"{', '.join(few)} and others"


def _near(one: Tensor, other: Tensor, within: float) -> Tensor:
    """Tell which rows are the same, each by its own largest number."""
    scale = other.abs().amax(-1, keepdim=True).clamp(min=1e-7)
    return ((one - other).abs() <= within * scale).all(-1)


def likeness(search: Search, results: Sequence[Any]) -> str:
    """Say where the results of the last trial differ first, and what is right about them."""
    main, y, z = search.trials[-1], results[-1], search.answers[-1]
    if not isinstance(y, Tensor) or y.shape != z.shape:
        shape = f"For an input of shape {tuple(main.x.shape)}"
        return f"{shape} it returns {tuple(getattr(y, 'shape', ()))}."
    within = search.tolerances[-1]
    wrong = ~torch.isclose(y.double(), z, rtol=within, atol=within, equal_nan=True)
    index = tuple(wrong.nonzero()[0].tolist())
    numbers = [significant(each[index].item(), 5) for each in (y, z)]
    found = [f"On {main.words}, at {index}: {numbers[0]}, where {numbers[1]} is right."]
    table = wrong.reshape(-1, torch.Size(search.norm.shape).numel())
    for what, bad in (("features", table.any(0)), ("rows", table.any(1))):
        if bad.sum() <= len(bad) // 2:
            which = _listed(bad.nonzero().flatten())
            found.append(f"Of {len(bad)} {what}, counted from 0, only {which} differ.")
    rows, within = _rows(search, results), max(10 * within, 1e-5)
    if rows is not None:
        own = rows[1] if main.bias is None else rows[1] - main.bias.flatten()
        own, right = own if main.weight is None else own / main.weight.flatten(), rows[2]
        factor = (own * right).sum(-1, True) / right.square().sum(-1, True)
        moved = own - own.mean(-1, True) - right + right.mean(-1, True)
        if _near(own, (factor * right).nan_to_num(), within).all():
            ends = " to ".join(significant(f.item(), 4) for f in factor[~factor.isnan()].aminmax())
            found.append(
                f"Each row is right up to a factor, from {ends}, so it's divided otherwise."
            )
        elif (moved.abs() <= within * right.abs().amax()).all():
            found.append("Each row is right up to a number that is added to all of it.")
    return " ".join(found)
