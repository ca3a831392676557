"""Recognize wrong results that are cut off, rearranged, scaled, or right for only one size."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lnorm_course.checking.comparing import dtypes_agree, same
from lnorm_course.checking.running import tensors
from lnorm_utils.words import significant

__all__ = ["A_FIXED_SIZE", "only_these_fit", "pattern"]

Pair = tuple[Tensor, Tensor]  # the returned and the right result for an input
# If numbers are wrong but no call fails, this replaces the text of `only_these_fit`, because the
# sizes may fit by chance.
A_FIXED_SIZE = "The sizes are different there, too. Is a size a fixed number in your code?"
FEWEST = 3  # fewer distinct numbers could look moved or scaled by chance
# Factors count as the same if they differ by at most this fraction of their distance from 1.
SAME = 1e-3
LEAST = 1e-6  # a smaller factor comes from rounding errors in zeros


def pattern(results: Sequence[Any], right: Sequence[Any], tol: float) -> str:
    """Say what went wrong with numbers that are otherwise right; return "" if it isn't certain.

    Args:
        results, right: an attempt's results for the inputs, and the right ones.
        tol: the absolute and relative tolerance within which two numbers count as equal.
    """
    pairs = [*zip(results, right, strict=True)]
    if not all(map(_are_numbers, pairs)):
        return ""
    if all(_is_first_part(*pair, tol) for pair in pairs):
        return "You returned the right result only for the first index. Does a loop end too soon?"
    if any(result.numel() != wanted.numel() for result, wanted in pairs):
        return ""
    given, exact = (torch.cat([pair[n].double().flatten() for pair in pairs]) for n in (0, 1))
    if min(len(given.unique()), len(exact.unique())) < FEWEST:
        return ""
    is_alike = all(result.shape == wanted.shape for result, wanted in pairs)
    return _moved(pairs, tol, is_alike) or (_scaled(given, exact) if is_alike else "")


def _are_numbers(pair: Pair) -> bool:
    is_tensors = all(isinstance(each, Tensor) for each in pair)
    return is_tensors and dtypes_agree(*pair) and not pair[1].is_complex()


def _is_first_part(result: Tensor, right: Tensor, tol: float) -> bool:
    """Tell whether a result is what a loop, or a nested loop, computes in its first iteration."""
    part = right
    while part.ndim and part.numel() > result.numel():
        part = part[0]
    is_part = part.numel() == result.numel() < right.numel()
    return is_part and same(result.flatten(), part.flatten(), tol)


def _moved(pairs: Sequence[Pair], tol: float, is_alike: bool) -> str:
    """Report that right numbers are misplaced, for example by swapped axes; otherwise return ""."""
    in_order = ([each.flatten().sort().values for each in pair] for pair in pairs)
    if not all(same(result, right, tol) for result, right in in_order):
        return ""
    ndim = pairs[0][1].ndim
    axes = [
        axes
        for axes in itertools.combinations(range(ndim), 2)
        if all(r.ndim == ndim and same(r.transpose(*axes), right, tol) for r, right in pairs)
    ]
    if axes:
        which = "axes {} and {}".format(*axes[0]) if len(axes) == 1 else "two axes"
        return f"The numbers are right, but {which} are swapped."
    if not is_alike:
        return ""
    return (
        "The numbers are right, but they are in the wrong places. `reshape` and `view` keep "
        "the numbers in reading order and only cut them into different rows. To swap axes, use "
        "`transpose` or `permute`."
    )


def _scaled(given: Tensor, exact: Tensor) -> str:
    """Report that all numbers are off by the same factor; return "" if they aren't."""
    ratios = (given / exact)[(given != 0) | (exact != 0)]  # 0 / 0 says nothing
    factor = ratios[0].item() if len(ratios) >= FEWEST else 0.0
    if abs(factor) < LEAST or not (ratios - factor).abs().max() <= SAME * abs(factor - 1):
        return ""
    return f"Each of your numbers is {significant(factor)} times the right one."


def only_these_fit(inputs: Sequence[tuple], wrong: Sequence[int]) -> str:
    """Say which sizes an attempt is limited to; return "" unless one axis explains the errors.

    Args:
        inputs: the arguments of all calls that were made.
        wrong: the indices of the calls whose results are wrong, or that fail.
    """
    shapes = [[tuple(tensor.shape) for tensor in tensors(each)] for each in inputs]
    if 0 in wrong or any([*map(len, each)] != [*map(len, shapes[0])] for each in shapes):
        return ""
    sizes = [
        {(n, *size) for n, shape in enumerate(each) for size in enumerate(shape)} for each in shapes
    ]
    shared = set.intersection(*(each for n, each in enumerate(sizes) if n not in wrong))
    if not shared.difference(*(sizes[n] for n in wrong)):
        return ""
    both = zip(shapes[0], shapes[wrong[0]], strict=True)
    ours, theirs = next(pair for pair in both if pair[0] != pair[1])
    return f"your answer fits only sizes such as {ours}, not {theirs}."
