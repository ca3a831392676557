"""Say what wrong numbers alone show: they are cut off, moved, scaled, or fit one size only."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lnorm_course.checking.comparing import dtypes_agree, same
from lnorm_course.checking.running import tensors
from lnorm_utils.words import significant

__all__ = ["A_FIXED_SIZE", "only_these_fit", "pattern"]

Pair = tuple[Tensor, Tensor]  # what was returned for an input, and what is right
# What may be so where `only_these_fit` says something of numbers, for those could also be chance.
A_FIXED_SIZE = "The sizes are different there, too. Is a size a fixed number in your code?"
FEWEST = 3  # fewer different numbers may be moved or scaled by chance
SAME = 1e-3  # how much factors may differ that are called the same, as a share of what is told
LEAST = 1e-6  # a smaller factor would be rounding of zeros


def pattern(results: Sequence[Any], right: Sequence[Any], within: float) -> str:
    """Say what was done to numbers that would be right; empty if nothing is known for sure.

    Args:
        results, right: what an attempt returned for the inputs, and what is right.
        within: how far a number may be from another one that is called equal.
    """
    pairs = [*zip(results, right, strict=True)]
    if not all(map(_are_numbers, pairs)):
        return ""
    if all(_is_first_part(*pair, within) for pair in pairs):
        return "You returned the right result for the first index only. Does a loop end too soon?"
    if any(result.numel() != wanted.numel() for result, wanted in pairs):
        return ""
    given, exact = (torch.cat([pair[n].double().flatten() for pair in pairs]) for n in (0, 1))
    if min(len(given.unique()), len(exact.unique())) < FEWEST:
        return ""
    is_alike = all(result.shape == wanted.shape for result, wanted in pairs)
    return _moved(pairs, within, is_alike) or (_scaled(given, exact) if is_alike else "")


def _are_numbers(pair: Pair) -> bool:
    is_tensors = all(isinstance(each, Tensor) for each in pair)
    return is_tensors and dtypes_agree(*pair) and not pair[1].is_complex()


def _is_first_part(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether a result is what a loop, or a loop in a loop, computes on its first pass."""
    part = right
    while part.ndim and part.numel() > result.numel():
        part = part[0]
    is_part = part.numel() == result.numel() < right.numel()
    return is_part and same(result.flatten(), part.flatten(), within)


def _moved(pairs: Sequence[Pair], within: float, is_alike: bool) -> str:
    """Say so if the right numbers stand at other indices, and which axes have changed places."""
    in_order = ([each.flatten().sort().values for each in pair] for pair in pairs)
    if not all(same(result, right, within) for result, right in in_order):
        return ""
    ndim = pairs[0][1].ndim
    axes = [
        axes
        for axes in itertools.combinations(range(ndim), 2)
        if all(r.ndim == ndim and same(r.transpose(*axes), right, within) for r, right in pairs)
    ]
    if axes:
        which = "axes {} and {}".format(*axes[0]) if len(axes) == 1 else "two axes"
        return f"The numbers are right, but {which} have changed places."
    if not is_alike:
        return ""
    return (
        "The numbers are right, but they are in the wrong places. If you used `reshape` or "
        "`view`: they keep the numbers in reading order and only cut them into other rows. To "
        "swap axes, use `transpose` or `permute`."
    )


def _scaled(given: Tensor, exact: Tensor) -> str:
    """Say so if all numbers are off by the same factor."""
    ratios = (given / exact)[(given != 0) | (exact != 0)]  # 0 / 0 tells nothing
    factor = ratios[0].item() if len(ratios) >= FEWEST else 0.0
    if abs(factor) < LEAST or not (ratios - factor).abs().max() <= SAME * abs(factor - 1):
        return ""
    return f"Each of your numbers is {significant(factor)} times the right one."


def only_these_fit(inputs: Sequence[tuple], wrong: Sequence[int]) -> str:
    """Say which sizes an attempt fits alone; empty unless the size of an axis tells what is wrong.

    Args:
        inputs: of all calls that were made.
        wrong: the numbers of those for which the attempt is wrong, or fails.
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
