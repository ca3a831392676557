"""For each row or feature, find the number subtracted from it and the number it's divided by."""

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.case import LOOSE, Case
from lnorm_diagnose.diagnosing.trial_inputs import DTYPES
from lnorm_utils.words import dtype_name, significant

__all__ = ["loses_digits", "straight_lines", "told_apart"]

LEAST = 5  # a line fits any two numbers exactly, so a fit must have more numbers than this


def straight_lines(case: Case) -> tuple[str, bool]:
    """Say how the shifts and divisors of rows are off, and whether the cause is still unknown.

    A norm subtracts one number, the shift, from each row and divides by another, the divisor.
    Either may be wrong, or both.
    """
    trial, (x, y, limit, g, b) = case.trial, _rows(case)
    bare = trial.rows(case.norm.result((), trial.x, None, None, trial.eps))
    if x.shape[1] <= LEAST or not (y.isfinite().all() and g.all()):
        return "", False
    own, weight = (y - b) / g, (g / limit).square()

    def is_so(mean: Tensor, root: Tensor) -> bool:
        return bool(((y - g * (x - mean) / root - b).abs() <= limit).all())

    fit, right = _line(x, own, weight), _line(x, bare, torch.ones_like(x))
    if not is_so(*fit):
        mean, root = (each.T for each in _line(x.T, y.T, limit.T**-2.0))
        if len(x) <= LEAST or not ((y - (x - mean) / root).abs() <= limit).all():
            return "", False
        return "a feature gets the same factor and shift in all rows, as in a batch norm", False
    if is_so(*right):
        return "", False
    n = torch.arange(len(x))
    first = n - n % (len(x) // (len(trial.x) if trial.x.ndim > 1 + trial.axes else 1))
    before = [torch.cat([f[:1], r[:-1]]) for f, r in zip(fit, right, strict=True)]
    same = [each.median().expand_as(each) for each in fit]
    by = [significant(each[0].item()) for each in same]
    ways = {
        "each row gets the statistics of the first row of its entry of the batch": [
            each[first] for each in right
        ],
        "each row but the first gets the statistics of the row before it": before,
        f"{by[0]} is subtracted from all rows, and they're divided by {by[1]}": same,
    }
    for dtype in DTYPES[:0:-1]:
        words = f"the statistics of each row are rounded to {dtype_name(dtype)}"
        ways[words] = [each.to(dtype).double() for each in right]
    if known := [words for words, both in ways.items() if is_so(*both)]:
        return known[0], False
    (mean, root), (right_mean, right_root) = fit, right
    off = ((mean - right_mean).abs() + (root - right_root).abs()) / right_root.abs()
    at = int(off.argmax())
    (m, right_m), (s, right_s) = (
        told_apart(one[at], other[at]) for one, other in zip(fit, right, strict=True)
    )
    through = f"divided by {s}, where {right_s} is right"
    away = f"{m} is subtracted from row {at}, where {right_m} is right"
    above = x - right_mean
    if is_so(
        right_mean, (weight * above.square()).sum(1, True) / (weight * above * own).sum(1, True)
    ):
        lost = "digits are lost, as in E[x²] − E[x]² in float32"
        is_lost = _are_coarse(root, x, trial.eps, torch.float32)
        what = lost if is_lost else "each row is right up to a factor"
        return f"{what}: row {at} is {through}", True
    if is_so((weight * (x - own * right_root)).sum(1, True) / weight.sum(1, True), right_root):
        return f"each row is right except for its mean: {away}", True
    return f"each row is right except for its statistics: {away}, and it's {through}", True


def loses_digits(case: Case, dtype: torch.dtype) -> bool:
    """Return whether the divisors of rows show that E[x²] − E[x]² was computed in this dtype."""
    if not case.is_whole:
        return False
    x, y, limit, g, b = _rows(case)
    _, root = _line(x, (y - b) / g, (g / limit).square())
    return x.shape[1] > 2 and _are_coarse(root, x, case.trial.eps, dtype)


def _are_coarse(root: Tensor, x: Tensor, eps: float, dtype: torch.dtype) -> bool:
    """Return whether the squared divisors can be differences of two rounded numbers near E[x]²."""
    # Numbers of that size are multiples of half the spacing there, and so is their difference.
    spacing = torch.finfo(dtype).eps / 2 * 2.0 ** torch.frexp(x.mean(1, True).square()).exponent
    steps = (root.square() - eps) / (spacing / 2)
    steps = steps[steps.isfinite()]
    whole, most = steps.round(), 10_000  # fractions of larger numbers aren't known well enough
    is_near = (steps - whole).abs() < 0.02
    return len(whole.unique()) > 1 and bool((is_near & (whole < most)).all())


def _rows(case: Case) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the rows of x and of y, by how much y may be off, γ, and β."""
    trial = case.trial
    limit = trial.rows(LOOSE * (case.rounding(case.value) + case.stored))
    x, y = map(trial.rows, (trial.x, case.value))
    g = torch.ones(y.shape[1]) if trial.weight is None else trial.weight.flatten()
    b = 0 * g if trial.bias is None else trial.bias.flatten()
    return x, y, limit, g, b


def told_apart(one: Tensor, other: Tensor, digits: int = 4) -> tuple[str, str]:
    """Write two numbers with as many digits as it takes to tell them apart.

    >>> told_apart(torch.tensor(1.1621), torch.tensor(1.1617))
    ('1.1621', '1.1617')
    """
    said = significant(one.item(), digits), significant(other.item(), digits)
    return said if said[0] != said[1] or digits > 16 else told_apart(one, other, digits + 1)


def _line(x: Tensor, y: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """For each row, return the mean and root for which (x − mean) / root is closest to y."""
    weight = weight / weight.sum(1, True)
    x_mean, y_mean = (weight * x).sum(1, True), (weight * y).sum(1, True)
    away = weight * (x - x_mean)
    root = (away * (x - x_mean)).sum(1, True) / (away * (y - y_mean)).sum(1, True)
    return x_mean - root * y_mean, root
