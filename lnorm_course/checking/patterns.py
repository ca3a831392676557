"""Say what wrong numbers alone show: they are cut off, moved, scaled, or fit one size only."""

import itertools
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import cast

import torch
from torch import Tensor

from lnorm_course.checking.comparing import as_float, close_numbers, dtypes_agree
from lnorm_utils.words import significant

__all__ = ["only_these_fit", "pattern", "perhaps_only_these_fit", "shapes_in"]

Pair = tuple[Tensor, Tensor]  # what was returned for an input, and what is right
Shapes = list[tuple[int, ...]]
FEWEST = 3  # fewer different numbers may be moved or scaled by chance
SAME = 1e-3  # how much factors may differ that are called the same, as a share of what is told
LEAST = 1e-6  # a smaller factor would be rounding of zeros
POWERS = (-1, -0.5, 0.5, 1)  # of a size, which a mean or a root makes a factor of


def pattern(results: Sequence[object], right: Sequence[object], within: float) -> str:
    """Say what was done to numbers that would be right; empty if nothing is known for sure.

    Args:
        results, right: what an attempt returned for the inputs, and what is right.
        within: how far a number may be from another one that is called equal.
    """
    pairs = _pairs(results, right)
    if pairs and all(_is_first_part(*pair, within) for pair in pairs):
        return "You returned only the first part of the right result. Is `return` inside a loop?"
    if not pairs or any(result.numel() != wanted.numel() for result, wanted in pairs):
        return ""
    given, exact = (torch.cat([pair[n].double().flatten() for pair in pairs]) for n in (0, 1))
    if min(len(given.unique()), len(exact.unique())) < FEWEST:
        return ""
    is_alike = all(result.shape == wanted.shape for result, wanted in pairs)
    return _moved(pairs, within, is_alike) or (_scaled(given, exact) if is_alike else "")


def _pairs(results: Sequence[object], right: Sequence[object]) -> list[Pair]:
    """Return the results beside the right ones; nothing unless all of them are numbers."""
    if [isinstance(each, Tensor) for each in results] != [isinstance(w, Tensor) for w in right]:
        return []
    pairs = [(_numbers(r), _numbers(w)) for r, w in zip(results, right, strict=True)]
    are_all = all(r is not None and w is not None and dtypes_agree(r, w) for r, w in pairs)
    return cast(list[Pair], pairs) if are_all else []


def _numbers(value: object) -> Tensor | None:
    if isinstance(value, Real) and not isinstance(value, bool):
        return torch.tensor([as_float(value)], dtype=torch.float64)
    is_real = isinstance(value, Tensor) and value.ndim > 0 and not value.is_complex()
    return cast(Tensor, value) if is_real else None


def _is_first_part(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether a result is what a loop, or a loop in a loop, computes on its first pass."""
    part = right
    while part.ndim and part.numel() > result.numel():
        part = part[0]
    is_part = part.numel() == result.numel() < right.numel()
    return is_part and _agree(result.reshape(part.shape), part, within)


def _moved(pairs: Sequence[Pair], within: float, is_alike: bool) -> str:
    """Say so if the right numbers stand at other indices, and which axes have changed places."""
    in_order = ([each.flatten().sort().values for each in pair] for pair in pairs)
    if not all(_agree(result, right, within) for result, right in in_order):
        return ""
    ndim = pairs[0][1].ndim
    axes = [
        axes
        for axes in itertools.combinations(range(ndim), 2)
        if all(r.ndim == ndim and _agree(r.transpose(*axes), right, within) for r, right in pairs)
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


def _agree(one: Tensor, other: Tensor, within: float) -> bool:
    return one.shape == other.shape and bool(close_numbers(one, other, within).all())


def _scaled(given: Tensor, exact: Tensor) -> str:
    """Say so if all numbers are off by the same factor."""
    ratios = (given / exact)[(given != 0) | (exact != 0)]  # 0 / 0 tells nothing
    factor = ratios[0].item() if len(ratios) >= FEWEST else 0.0
    if abs(factor) < LEAST or not (ratios - factor).abs().max() <= SAME * abs(factor - 1):
        return ""
    return f"Each of your numbers is {significant(factor)} times the right one."


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
    if not _are_told_by_a_size(inputs, wrong):
        return ""
    ours, theirs = shapes_in(inputs[0]), shapes_in(inputs[wrong[0]])
    first, other = next(p for p in zip(ours, theirs, strict=True) if p[0] != p[1])
    told = f"your answer fits only sizes such as {first}, not {other}."
    if failed:
        return told
    pairs = _pairs([results[n] for n in wrong], [right[n] for n in wrong])
    sizes = [shapes_in(inputs[n]) for n in wrong]
    if pairs and all(map(_has_old_sizes, pairs, [ours] * len(pairs), sizes)):
        return f"{told} Take sizes from the input, such as `x.shape[-1]`."
    return ""


def _has_old_sizes(pair: Pair, ours: Shapes, theirs: Shapes) -> bool:
    """Tell whether a result has sizes of the lesson, or is off by what a size of it makes."""
    changed = {p for shapes in zip(ours, theirs, strict=True) for p in zip(*shapes, strict=True)}
    result, right = pair
    if result.shape != right.shape:
        sizes = zip(result.shape, right.shape, strict=False)
        return result.ndim == right.ndim and all(p in changed for p in sizes if p[0] != p[1])
    ratios = (result.double() / right.double()).flatten()
    ratios = ratios[~ratios.isnan()]
    quotients = [(b / a) ** power for a, b in changed if a != b for power in POWERS]
    close = (torch.allclose(ratios, ratios.new_full((), q), rtol=1e-4) for q in quotients)
    return len(ratios) > 0 and any(close)


def perhaps_only_these_fit(inputs: Sequence[tuple], wrong: Sequence[int]) -> str:
    """Ask whether an attempt fits only the sizes of the first input, if it may be so."""
    if not _are_told_by_a_size(inputs, wrong):
        return ""
    return "The sizes are different there, too. Is a size a fixed number in your code?"


def _are_told_by_a_size(inputs: Sequence[tuple], wrong: Sequence[int]) -> bool:
    """Tell whether the size of an axis alone tells which inputs are wrong."""
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
