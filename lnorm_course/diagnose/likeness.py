"""What is right in results that no piece explains: a law that holds, or where they differ first."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lnorm_course.checking.search import Raised
from lnorm_course.diagnose.explaining import Explained
from lnorm_course.diagnose.findings import Run
from lnorm_course.diagnose.trials import Trial
from lnorm_utils.words import significant, spoken

__all__ = ["law", "likeness"]

LEAST = 4  # rows to judge by


class _Rows(NamedTuple):
    """The rows of several trials, each of shape (rows, features).

    Args:
        x: what went in, without its mean if the norm subtracts it.
        own, right: what came out, and what is right, both before γ and β.
        y, z: the same with γ and β.
    """

    x: Tensor
    own: Tensor
    right: Tensor
    y: Tensor
    z: Tensor


def law(run: Run, trials: Sequence[Trial]) -> str:
    """Say what explains all main trials with one or two numbers that they determine themselves.

    What's divided by may be the root of k · variance + ε, with another k and ε; or all numbers may
    be off by one factor.
    """
    some = [t for t in trials if t.x.shape == run.main.x.shape and not t.at_gradient]
    some = [t for t in some if t.eps == run.norm.eps]
    rows = _rows(run, some)
    if rows is None or len(rows.y) < LEAST:
        return ""
    within = 1e-6 if run.unit < 2.0**-30 else 1e-3
    if found := _at_the_end(rows.y, rows.z, within):
        return found
    factor = ((rows.own * rows.right).sum() / rows.right.square().sum()).item()
    if _close(rows.own, factor * rows.right, within) and abs(factor - 1) > within < abs(factor):
        return f"Before β is added, all numbers are {significant(factor, 5)} times what's right."
    square = rows.x.square().mean(-1)
    by = (rows.own * rows.x).mean(-1) / square  # what each row is multiplied by
    known = square > 0
    if not (by[known] > 0).all() or known.sum() < LEAST:
        return ""
    if not _close(rows.own[known], (by[:, None] * rows.x)[known], within):
        return ""
    v, inverse = square[known], by[known] ** -2
    least, most = v.argmin(), v.argmax()
    k = (inverse[most] - inverse[least]) / (v[most] - v[least])
    eps = inverse[least] - k * v[least]
    if k <= 0 or not torch.allclose(k * v + eps, inverse, rtol=within, atol=0):
        return ""
    what = "the mean square" if run.norm.name == "RMSNorm" else "the variance"
    k, eps = k.item(), eps.item()
    if abs(k - 1) < within:
        return f"Your ε is {significant(eps, 3)}. Here it's another one."
    also = f" + {significant(eps, 3)}" if eps > within * v.min().item() else ", without ε"
    return f"You divide by the root of {significant(k, 5)} times {what}{also}."


def _at_the_end(y: Tensor, z: Tensor, within: float) -> str:
    """Say what was done to right numbers z: multiplied and added to, cut off, or rounded."""
    if _close(y, z, within):
        return ""
    away = z - z.mean()
    factor = ((y * away).sum() / away.square().sum()).item()
    added = (y - factor * z).mean().item()
    if _close(y, factor * z + added, within) and abs(factor) > within:
        plus = f", plus {significant(added, 4)}" if abs(added) > within else ""
        times = f"{significant(factor, 5)} times " if abs(factor - 1) > within else ""
        return f"All numbers are {times}what's right{plus}."
    low, high = y.min(), y.max()
    if low < high and _close(y, z.clamp(low, high), within):
        ends = [significant(end.item(), 4) for end in (low, high) if (y == end).sum() > 1]
        return f"Results are right, but cut off at {spoken(ends)}."
    for digits in range(6):
        is_rounded = torch.allclose(y.mul(10**digits).round().div(10**digits), y, 0, 1e-9)
        if is_rounded and ((y - z).abs() <= 0.51 * 10.0**-digits).all():
            return f"Results are rounded to {digits} digits behind the point."
    return ""


def _close(one: Tensor, other: Tensor, within: float) -> bool:
    """Compare rows, each with its own largest number."""
    scale = other.abs().amax(-1, keepdim=True).clamp(min=1e-30)
    return bool(((one - other).abs() <= within * scale).all())


def _rows(run: Run, trials: Sequence[Trial]) -> _Rows | None:
    """Return the rows of trials as the norm sees them, if they come out in their shape."""
    size = torch.Size(run.norm.shape).numel()
    found = []
    for trial in trials:
        y, z = run.result(trial), run.expected(trial.x)
        if run.norm.split or isinstance(y, Raised) or y.shape != z.shape:
            return None
        x, y, z = (each.double().reshape(-1, size) for each in (trial.x, y, z))
        gamma = torch.ones(size) if trial.weight is None else trial.weight.flatten()
        beta = torch.zeros(size) if trial.bias is None else trial.bias.flatten()
        mean = 0 if run.norm.name == "RMSNorm" else x.mean(-1, keepdim=True)
        each = (x - mean, (y - beta) / gamma, (z - beta) / gamma, y, z)
        finite = y.isfinite().all(-1)
        found.append([rows[finite] for rows in each])
    return _Rows(*map(torch.cat, zip(*found, strict=True))) if found else None


def likeness(run: Run, trials: Sequence[Trial], explained: Explained) -> str:
    """Say where results differ first, and what is right about them."""
    main = run.main
    value, right = run.result(main), run.expected(main.x)
    if isinstance(value, Raised):
        return f"It raises {value.kind}: {value.message}"
    if value.shape != right.shape:
        return (
            f"For an input of shape {tuple(main.x.shape)} it returns {tuple(value.shape)}; "
            f"{run.norm.in_words} returns {tuple(right.shape)}."
        )
    within = 1e-7 if run.unit < 2.0**-30 else 1e-4
    wrong = ~torch.isclose(value.double(), right, rtol=within, atol=within, equal_nan=True)
    if not wrong.any():
        words = spoken([trials[n].words for n in explained.wrong])
        return f"It differs on {words}, and on nothing else that was tried."
    index = tuple(wrong.nonzero()[0].tolist())
    first = (
        f"On {main.words}, at {index}: {significant(value[index].item(), 5)}, where "
        f"{significant(right[index].item(), 5)} is right."
    )
    return " ".join([first, *_some(wrong), *_alike(_rows(run, [main]), within)])


def _some(wrong: Tensor) -> list[str]:
    """Say which features, or which rows, are wrong, if only some of them are."""
    by_row = wrong.reshape(-1, wrong.shape[-1])
    for name, some in (("feature", by_row.any(0)), ("row", by_row.any(1))):
        numbers = some.nonzero().flatten().tolist()
        if 0 < len(numbers) <= len(some) // 2:
            few = spoken([str(n) for n in numbers[:4]])
            more = " and others" if len(numbers) > 4 else ""
            return [f"Only {name} {few}{more} of {len(some)} is wrong, counted from 0."]
    return []


def _alike(rows: _Rows | None, within: float) -> list[str]:
    """Say in what way each row, or each feature, is nearly right."""
    if rows is None or len(rows.y) < LEAST:
        return []
    own, right, many = rows.own, rows.right, 100 * within
    factor = (own * right).sum(-1, True) / right.square().sum(-1, True)
    if _close(own, factor * right, many):
        return ["Each row is right up to a factor, so it's divided by another number."]
    if _close(own - own.mean(-1, True), right - right.mean(-1, True), many):
        return ["Each row is right up to a number that is added to all of it."]
    centered = right - right.mean(0)
    g = (centered * rows.y).sum(0) / centered.square().sum(0)
    b = (rows.y - g * right).mean(0)
    if _close(g * right + b, rows.y, many):
        return ["What is normalized is right; each feature is multiplied, or added to, otherwise."]
    return []
