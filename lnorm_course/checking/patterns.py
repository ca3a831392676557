"""Say what wrong numbers alone show: they are cut off, moved, rounded, scaled, or fit one size."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real

import torch
from torch import Tensor

from lnorm_course.checking.comparing import close_numbers, dtypes_agree
from lnorm_utils.words import counted, dtype_name, significant

__all__ = ["only_these_fit", "pattern", "perhaps_only_these_fit", "shapes_in"]

Pair = tuple[Tensor, Tensor]  # what was returned for an input, and what is right
Shapes = list[tuple[int, ...]]
MOST_DECIMALS = 5
FEWEST = 3  # fewer different numbers may be moved, rounded, or scaled by chance
CONSTANT = 1e-3  # how much numbers may differ that are called the same, as a share of what is told
FEWEST_OF_A_DTYPE = 8  # fewer could be exact in a narrower dtype by chance
POWERS = (-1, -0.5, 0.5, 1)  # of a size, which a mean or a root makes a factor of


def pattern(results: Sequence[object], right: Sequence[object], within: float) -> str:
    """Say what was done to numbers that would be right; empty if nothing is known for sure.

    Args:
        results, right: what an attempt returned for the inputs, and what is right.
        within: how far a number may be from another one that is called equal.
    """
    pairs = _pairs(results, right)
    if not pairs:
        return ""
    if all(_is_first_part(*pair, within) for pair in pairs):
        return "You returned only the first part of the right result."
    if swapped := _swapped(pairs, within):
        return swapped
    if any(result.shape != wanted.shape for result, wanted in pairs):
        return ""
    given, exact = (torch.cat([pair[n].double().flatten() for pair in pairs]) for n in (0, 1))
    if min(len(given.unique()), len(exact.unique())) < FEWEST:
        return ""
    return _moved(pairs, within) or _rounded(given, exact) or _off_by_a_number(given, exact)


def _pairs(results: Sequence[object], right: Sequence[object]) -> list[Pair]:
    """Return the results beside the right ones; nothing unless all of them are numbers."""
    pairs: list[Pair] = []
    for result, wanted in zip(results, right, strict=True):
        if _is_number(result) and _is_number(wanted):
            both = torch.tensor([[result], [wanted]], dtype=torch.float64)
            pairs.append((both[0], both[1]))
        elif isinstance(result, Tensor) and isinstance(wanted, Tensor) and wanted.ndim > 0:
            if not dtypes_agree(result, wanted) or wanted.is_complex():
                return []
            pairs.append((result, wanted))
    return pairs if len(pairs) == len(right) else []


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_first_part(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether a result is what a loop, or a loop in a loop, computes on its first pass."""
    part = right
    while part.ndim and part.numel() >= result.numel() > 0:
        part = part[0]
        if part.numel() == result.numel() < right.numel():
            return bool(close_numbers(result.reshape(part.shape), part, within).all())
    return False


def _swapped(pairs: Sequence[Pair], within: float) -> str:
    """Say so if two axes have changed places, and which ones if no others could have."""
    ndim = pairs[0][1].ndim
    if any(each.ndim != ndim for pair in pairs for each in pair):
        return ""
    axes = [
        (one, other)
        for one, other in itertools.combinations(range(ndim), 2)
        if all(_agree(result.transpose(one, other), right, within) for result, right in pairs)
    ]
    if not axes:
        return ""
    which = "axes {} and {}".format(*axes[0]) if len(axes) == 1 else "two axes"
    return f"The numbers are right, but {which} have changed places."


def _moved(pairs: Sequence[Pair], within: float) -> str:
    """Say so if the right numbers stand at other indices."""
    if not all(_agree(_in_order(result), _in_order(right), within) for result, right in pairs):
        return ""
    told = "The numbers are right, but they are in the wrong places."
    if any(right.ndim < 2 for _, right in pairs):
        return told
    return (
        f"{told} If you used `reshape` or `view`: they keep the numbers in reading order and only "
        "cut them into other rows. To swap axes, use `transpose` or `permute`."
    )


def _in_order(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def _agree(one: Tensor, other: Tensor, within: float) -> bool:
    return one.shape == other.shape and bool(close_numbers(one, other, within).all())


def _rounded(given: Tensor, right: Tensor) -> str:
    """Say so if the right numbers were rounded, to decimals or to a narrower dtype."""
    for decimals in range(MOST_DECIMALS + 1):
        if _agree(given, right.round(decimals=decimals), 1e-6):
            kept = counted(decimals, "decimal") if decimals else "whole numbers"
            return f"Your numbers are rounded to {kept}. Return them as they are."
    is_near = torch.allclose(given, right, rtol=0.01, atol=0.01)
    if is_near and len(given.unique()) >= FEWEST_OF_A_DTYPE:
        for dtype in (torch.bfloat16, torch.float16):
            if _fits(given, dtype) and not _fits(right, dtype):
                kept = f"rounded to {dtype_name(dtype)}"
                return f"Your numbers are {kept}. Compute them in the dtype of the input."
    return ""


def _fits(numbers: Tensor, dtype: torch.dtype) -> bool:
    return bool((numbers.to(dtype).double() == numbers).all())


def _off_by_a_number(given: Tensor, right: Tensor) -> str:
    """Say so if all numbers are off by the same factor, or by the same amount."""
    ratios = given / right
    factor = _constant(ratios[~ratios.isnan()], 1.0)  # 0 / 0 tells nothing
    amount = _constant(given - right, 0.0)
    told = [f"{factor} times the right one"] if factor else []
    told += [f"the right one plus {amount}"] if amount else []
    return f"Each of your numbers is {' or '.join(told)}." if told else ""


def _constant(numbers: Tensor, neutral: float) -> str:
    """Return the number that all numbers are; empty if they differ, or if it changes nothing."""
    if len(numbers) < FEWEST or not numbers.isfinite().all():
        return ""
    first = numbers[0].item()
    is_constant = (numbers - first).abs().max() <= CONSTANT * abs(first - neutral)
    told = significant(first)
    return told if is_constant and told not in ("0", "1") else ""


def only_these_fit(
    inputs: Sequence[tuple],
    wrong: Sequence[int],
    results: Sequence[object],
    right: Sequence[object],
    failed: bool = False,
) -> str:
    """Say that an attempt fits only the sizes of the first input; empty if that isn't sure.

    Args:
        inputs: of all calls that were made.
        wrong: the numbers of those for which the attempt is wrong, or failed.
        results, right: what the attempt returned for the inputs, and what is right.
        failed: whether it failed on the last of these inputs.
    """
    if not _is_right_for_one_size(inputs, wrong):
        return ""
    ours, theirs = shapes_in(inputs[0]), shapes_in(inputs[wrong[0]])
    first, other = next(p for p in zip(ours, theirs, strict=True) if p[0] != p[1])
    told = f"your answer fits only sizes such as {first}, not {other}."
    if failed:
        return told
    pairs = _pairs([results[n] for n in wrong], [right[n] for n in wrong])
    sizes = [list(_changed_sizes(ours, shapes_in(inputs[n]))) for n in wrong]
    if pairs and all(map(_has_old_sizes, pairs, sizes)):
        return f"{told} Take sizes from the input, such as `x.shape[-1]`."
    return ""


def _changed_sizes(ours: Shapes, theirs: Shapes) -> Iterator[tuple[int, int]]:
    """Yield the size of each axis in the lesson, and in another input, where they differ."""
    for one, other in zip(ours, theirs, strict=False):
        yield from ((a, b) for a, b in zip(one, other, strict=False) if a != b)


def _has_old_sizes(pair: Pair, changed: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a result has sizes of the lesson, or is off by what a size of it makes."""
    result, right = pair
    if result.shape != right.shape:
        sizes = zip(result.shape, right.shape, strict=False)
        return result.ndim == right.ndim and all(p in changed for p in sizes if p[0] != p[1])
    ratios = (result.double() / right.double()).flatten()
    ratios = ratios[~ratios.isnan()]
    quotients = [(after / before) ** power for before, after in changed for power in POWERS]
    return len(ratios) > 0 and any(
        torch.allclose(ratios, ratios.new_tensor(q), rtol=1e-4, atol=0) for q in quotients
    )


def perhaps_only_these_fit(inputs: Sequence[tuple], wrong: Sequence[int]) -> str:
    """Ask whether an attempt fits only the sizes of the first input, if it may be so."""
    if not _is_right_for_one_size(inputs, wrong):
        return ""
    return "The sizes are different there, too. Is a size a fixed number in your code?"


def _is_right_for_one_size(inputs: Sequence[tuple], wrong: Sequence[int]) -> bool:
    """Tell whether inputs that have the same axes are told right or wrong by the size of one."""
    shapes = [shapes_in(each) for each in inputs]
    if 0 in wrong or any([*map(len, each)] != [*map(len, shapes[0])] for each in shapes):
        return False
    sizes = [
        {(n, *size) for n, shape in enumerate(each) for size in enumerate(shape)} for each in shapes
    ]
    shared = set.intersection(*(each for n, each in enumerate(sizes) if n not in wrong))
    return bool(shared.difference(*(sizes[n] for n in wrong)))


def shapes_in(value: object) -> Shapes:
    """Return the shapes of all tensors in an input."""
    if isinstance(value, Tensor):
        return [tuple(value.shape)]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [shape for each in value for shape in shapes_in(each)]
    return []
