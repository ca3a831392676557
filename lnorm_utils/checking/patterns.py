"""Say what was done to numbers that would be right: they are cut off, moved, rounded, or scaled."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lnorm_utils.checking.comparing import close_numbers, dtypes_agree
from lnorm_utils.numbers import counted, significant

__all__ = ["unfinished"]

MOST_DECIMALS = 6
MOST_BY_CHANCE = 3  # so few different numbers may be whole, or zeros, for another reason
CONSTANT = 1e-3  # how much numbers may differ that are called the same, as a share of what is told


def unfinished(results: Sequence[object], right: Sequence[object], within: float) -> str:
    """Say what was done to numbers that would be right; empty if nothing is known for sure.

    Args:
        results, right: what an attempt returned for the inputs, and what is right.
        within: how far a number may be from another one that is called equal.
    """
    pairs = [
        (r, w)
        for r, w in zip(results, right, strict=True)
        if isinstance(r, Tensor) and isinstance(w, Tensor) and w.ndim > 0
    ]
    if len(pairs) < len(right):
        return ""
    if all(_is_first_part(r, w, within) for r, w in pairs):
        return "You returned only the first part of the right result."
    if any(r.shape != w.shape or not dtypes_agree(r, w) for r, w in pairs):
        return ""
    if not all(r.is_floating_point() and w.is_floating_point() for r, w in pairs):
        return ""
    gaps = [_has_gaps(r, w, within) for r, w in pairs]
    whole = (bool(close_numbers(r, w, within).all()) for r, w in pairs)
    if gaps[0] and all(gap or right for gap, right in zip(gaps, whole, strict=True)):
        return (
            "Some numbers are right, and all others are 0, as if they were never computed. Does "
            "your loop end too early, or skip something?"
        )
    if all(w.ndim > 1 for _, w in pairs) and all(
        close_numbers(_in_order(r), _in_order(w), within).all() for r, w in pairs
    ):
        return (
            "The numbers are right, but they are in the wrong places. `reshape` and `view` keep "
            "the numbers in reading order and only cut them into other rows. To swap axes, use "
            "`transpose` or `permute`."
        )
    return _rounded(pairs) or _off_by_a_number(pairs)


def _is_first_part(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether a result is what a loop, or a loop in a loop, computes on its first pass."""
    part = right
    while part.ndim and part.numel() >= result.numel() > 0:
        part = part[0]
        if part.numel() == result.numel() < right.numel():
            return bool(close_numbers(result.reshape(part.shape), part, within).all())
    return False


def _has_gaps(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether whole slices along an axis are 0 in place of right, and all else is right."""
    is_right = close_numbers(result, right, within)
    if not is_right.any() or is_right.all() or result[~is_right].any():
        return False
    slices = (is_right.movedim(axis, 0).flatten(1) for axis in range(right.ndim))
    return any(bool((marks == marks[:, :1]).all()) for marks in slices)


def _in_order(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def _rounded(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Say so if the right numbers were rounded, to decimals or to a narrower dtype."""
    result = torch.cat([r.flatten() for r, _ in pairs]).double()
    right = torch.cat([w.flatten() for _, w in pairs]).double()
    for decimals in range(MOST_DECIMALS + 1):
        exact = 10**decimals * result
        near = (result - right).abs() <= (0.5 + 1e-3) / 10**decimals
        if (
            len(result.unique()) > MOST_BY_CHANCE
            and near.all()
            and ((exact - exact.round()).abs() <= 1e-9 + 1e-6 * exact.abs()).all()
        ):
            kept = counted(decimals, "decimal") if decimals else "whole numbers"
            return f"Your numbers are rounded to {kept}. Return them as they are."
    for dtype in (torch.float16, torch.bfloat16):
        is_near = torch.allclose(result, right, rtol=0.01, atol=0.01)
        if (
            is_near
            and len(result.unique()) > MOST_BY_CHANCE
            and _fits(result, dtype)
            and not _fits(right, dtype)
        ):
            name = str(dtype).removeprefix("torch.")
            return f"Your numbers are rounded to {name}. Compute them in the dtype of the input."
    return ""


def _fits(numbers: Tensor, dtype: torch.dtype) -> bool:
    return bool((numbers.to(dtype).double() == numbers).all())


def _off_by_a_number(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Say so if all numbers are off by the same amount or by the same factor."""
    ratios = torch.cat([(r.double() / w.double()).flatten() for r, w in pairs])
    differences = torch.cat([(r.double() - w.double()).flatten() for r, w in pairs])
    ratios = ratios[~ratios.isnan()]  # where 0 became 0
    for numbers, neutral, words in (
        (ratios, 1.0, "Each of your numbers is {} times the right one."),
        (differences, 0.0, "Each of your numbers is the right one plus {}."),
    ):
        if not len(numbers) or not numbers.isfinite().all():
            continue
        first = numbers[0].item()
        is_constant = (numbers - first).abs().max() <= CONSTANT * abs(first - neutral)
        if is_constant and (told := significant(first)) not in ("0", "1"):
            return words.format(told)
    return ""
