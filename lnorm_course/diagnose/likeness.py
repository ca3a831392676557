"""What is right about results that no piece explains: a law that holds, or what they look like."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lnorm_course.diagnose.explaining import Result, Search
from lnorm_utils.words import significant, spoken

__all__ = ["law", "likeness"]

LEAST = 5  # rows to judge by: more than a law has numbers of its own
WITHIN = 1e-6  # at least, of the largest number of a row
CLOSE = 1e-4  # to a factor that's usual
MOST_NAMED = 6


class _Rows(NamedTuple):
    """Rows of shape (rows, features): what went in; what came out, and what is right, before γ and
    β; both with γ and β; and of each row which one it was.
    """

    x: Tensor
    own: Tensor
    right: Tensor
    y: Tensor
    z: Tensor
    number: Tensor


def _rows(search: Search, results: Sequence[Result]) -> _Rows | None:
    """Return the finite rows of the trials that are like the last one, those of the last behind."""
    last, found = search.trials[-1], []
    for n, (trial, y) in enumerate(zip(search.trials, results, strict=True)):
        is_like = trial.x.shape == last.x.shape and trial.eps == last.eps
        if not is_like or trial.kind not in ("main", "flat", last.kind):
            continue
        if not isinstance(y, Tensor) or y.shape != trial.x.shape:
            return None
        size = torch.Size(search.norm.shape if trial.kind != "width" else trial.x.shape[-1:])
        x, y, z = (a.double().reshape(-1, size.numel()) for a in (trial.x, y, search.answers[n]))
        g = 1 if trial.weight is None else trial.weight.flatten()
        b = 0 if trial.bias is None else trial.bias.flatten()
        finite, number = y.isfinite().all(-1), torch.arange(len(y))
        found.append([each[finite] for each in (x, (y - b) / g, (z - b) / g, y, z, number)])
    rows = _Rows(*map(torch.cat, zip(*found, strict=True)))
    return rows if len(rows.y) >= LEAST else None


def law(search: Search, results: Sequence[Result]) -> str:
    """Say what explains all results with a few numbers that they determine themselves."""
    rows, within = _rows(search, results), max(WITHIN, 5 * search.tolerances[-1])
    if rows is None or _near(rows.y, rows.z, within).all():
        return ""
    for words in (_scaled(rows, within), _left_out(rows, within), _cut_off(rows, within)):
        if words:
            return words
    return _affine(search, rows, within) or _statistics(search, rows, within)


def _scaled(rows: _Rows, within: float) -> str:
    """Say which factor and which summand make all numbers right."""
    before = "Before β is added, all" if (rows.own - rows.y).abs().max() > within else "All"
    for all_numbers, y, z in (("All", rows.y, rows.z), (before, rows.own, rows.right)):
        away = z - z.mean()
        factor = ((y * away).sum() / away.square().sum()).item()
        added = (y - factor * z).mean().item()
        if _near(y, factor * z + added, within).all() and abs(factor) > within:
            plus = f", plus {significant(added, 4)}" if abs(added) > within else ""
            times = f"{significant(factor, 5)} times " if abs(factor - 1) > within else ""
            return f"{all_numbers} numbers are {times}what's right{plus}."
    return ""


def _left_out(rows: _Rows, within: float) -> str:
    """Say which rows of each input aren't normalized, if all others are right."""
    right, count = _near(rows.y, rows.z, within), int(rows.number.max()) + 1
    for words, value in (("zeros", torch.zeros_like(rows.y)), ("they went in", rows.x)):
        left = _near(rows.y, value, within)
        numbers = rows.number[-count:][(left & ~right)[-count:]]
        is_out = torch.isin(rows.number, numbers)
        if 0 < len(numbers) < count and torch.where(is_out, left, right).all():
            which = f"In reading order and counted from 0, of {count} rows {_listed(numbers)}"
            return f"{which} come{'s' * (len(numbers) == 1)} out as {words}. All others are right."
    return ""


def _cut_off(rows: _Rows, within: float) -> str:
    low, high = rows.y.min(), rows.y.max()
    if low < high and _near(rows.y, rows.z.clamp(low, high), within).all():
        ends = [significant(end.item(), 4) for end in (low, high) if (rows.y == end).sum() > 1]
        return f"Results are right, but cut off at {spoken(ends)}."
    return ""


def _affine(search: Search, rows: _Rows, within: float) -> str:
    """Say which other γ and β make all numbers right."""
    away, trial = rows.right - rows.right.mean(0), search.trials[-1]
    g = (away * rows.y).sum(0) / away.square().sum(0)
    b = (rows.y - g * rows.right).mean(0)
    if not _near(g * rows.right + b, rows.y, within).all() or g.abs().max() <= within:
        return ""
    found, here = [], []
    for letter, p, given, usual in (("γ", g, trial.weight, 1.0), ("β", b, trial.bias, 0.0)):
        expected = torch.full_like(p, usual) if given is None else given.flatten()
        if torch.allclose(p, expected, 10 * within, 10 * within):
            continue
        if torch.allclose(p.sort().values, expected.sort().values, 10 * within, 10 * within):
            return f"The numbers of {letter} are at other features, in another order."
        other = trial.bias if letter == "γ" else trial.weight
        if other is not None and torch.allclose(p, other.flatten(), 10 * within, 10 * within):
            return f"In place of {letter} there's {'β' if letter == 'γ' else 'γ'}."
        found.append(f"{letter} = {_numbers(p)}")
        here += [f"{letter} = {_numbers(expected)}"] * (given is not None)
    what = f"there's {spoken(here)}" if here else "there is no such γ or β"
    return f"It has {spoken(found)}. Here {what}."


def _statistics(search: Search, rows: _Rows, within: float) -> str:
    """Say which share of the mean is subtracted, and what each row is divided by the root of."""
    is_rms = search.norm.name == "RMSNorm"
    var, mean = rows.x.var(-1, correction=0), rows.x.mean(-1)
    known = var > 0
    if known.sum() < LEAST:
        return ""
    x, own, var, mean = (each[known] for each in (rows.x, rows.own, var, mean))
    by = (own * (x - mean[:, None])).mean(-1) / var  # what each row is multiplied by
    less = mean - own.mean(-1) / by  # and what is subtracted before
    share = ((less * mean).sum() / mean.square().sum()).item()
    expected = (x - share * mean[:, None]) * by[:, None]
    if not (by > 0).all() or not _near(expected, own, within).all():
        return ""
    ones, square = torch.ones_like(var), mean.square()
    ways = [[ones, var], [ones, var, square]]
    for columns in ([[ones, var + square]] if is_rms else []) + ways:
        terms = torch.stack(columns, -1) * by.square()[:, None]  # add up to 1, with factors
        scale = terms.abs().amax(0)
        fit = torch.linalg.lstsq(terms / scale, ones[:, None], driver="gelsd").solution[:, 0]
        fit = torch.where(fit.abs() > within, fit, 0) / scale
        if ((terms @ fit - 1).abs() < 2 * within).all():
            break
    else:
        return ""
    eps, k, of_mean = [*fit.tolist(), 0.0][:3]
    if columns[1] is not var:
        of_mean = k
    return _formula(search, x.shape[-1], (share, k, of_mean), eps) if k > 0 else ""


def _formula(search: Search, size: int, found: tuple[float, float, float], eps: float) -> str:
    """Put into words what share of the mean is subtracted, and of which variance the root is taken.

    Args:
        found: by what the mean is multiplied, and in what stands below the root the variance and
            the squared mean.
    """
    share, k, of_mean = found
    own, here = search.norm.name, search.trials[-1].eps
    own_eps = f"Your ε is {significant(eps, 3)}." if abs(eps - here) > 0.01 * here else ""
    for name, usual in (("Layer norm", (1, 1, 0)), ("RMSNorm", (0, 1, 1))):
        if max(abs(a - b) for a, b in zip(found, usual, strict=True)) < CLOSE:
            if name == own:
                return f"{own_eps} {own} has another ε here." if own_eps else ""
            return f"That's {name.replace('L', 'l')}, with ε = {significant(eps, 3)}."
    if abs(k - share) + abs(of_mean - k * (1 - k) ** 2) < CLOSE:
        words = f"Your sums are divided by {significant(size / k)}, where a row has {size} numbers."
        return f"{words} {own_eps}".strip()
    is_square = abs(k - of_mean) < CLOSE
    terms = [f"{_times(k)}the mean square" if is_square else f"{_times(k)}the variance"]
    terms += [f"{_times(of_mean)}the squared mean"] * (of_mean != 0 and not is_square)
    terms += [significant(eps, 3)] * (eps != 0)
    root = f"divide by the root of {' + '.join(terms)}{'' if eps else ', without ε'}."
    less = f"{_times(share)}the mean" if share > CLOSE else "nothing"
    is_usual = abs(share - (own != "RMSNorm")) < CLOSE
    return f"You {root}" if is_usual else f"You subtract {less}, and {root}"


def _times(factor: float) -> str:
    return "" if abs(factor - 1) < CLOSE else f"{significant(factor, 4)} times "


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


def likeness(search: Search, results: Sequence[Result]) -> str:
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
        factor = (rows.own * rows.right).sum(-1, True) / rows.right.square().sum(-1, True)
        moved = rows.own - rows.own.mean(-1, True)
        if _near(rows.own, (factor * rows.right).nan_to_num(), within).all():
            ends = " to ".join(significant(f.item(), 4) for f in factor[~factor.isnan()].aminmax())
            found.append(
                f"Each row is right up to a factor, from {ends}, so it's divided otherwise."
            )
        elif _near(moved, rows.right - rows.right.mean(-1, True), within).all():
            found.append("Each row is right up to a number that is added to all of it.")
    return " ".join(found)
