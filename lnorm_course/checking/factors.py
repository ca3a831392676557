"""Say by what numbers are off that would be right: a factor, an amount, or one for each row."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from lnorm_course.checking.comparing import close_numbers
from lnorm_utils.words import significant

__all__ = ["off_by_a_number", "off_by_a_size", "off_in_slices", "sizes_of"]

Pairs = Sequence[tuple[Tensor, Tensor]]  # (what was returned, what is right), for each input
CONSTANT = 1e-3  # how much numbers may differ that are called the same, as a share of what is told
FEWEST = 3  # numbers that can show that they have one factor
POWERS: dict[float, str] = {
    1: "times {}",
    -1: "divided by {}",
    0.5: "times the root of {}",
    -2: "divided by {}²",
    -0.5: "divided by the root of {}",
    2: "times {}²",
}
SHARES: dict[float, str] = {
    1: "n / (n − 1)",
    -1: "(n − 1) / n",
    0.5: "the root of n / (n − 1)",
    -0.5: "the root of (n − 1) / n",
}


def sizes_of(names: Sequence[str], arguments: Sequence[object]) -> dict[str, int]:
    """Return the sizes of an input, by the code that gives them; the last axes come first.

    >>> sizes_of(["x", "fs"], [torch.zeros(5, 3), (abs, abs)])
    {'x.shape[-1]': 3, 'x.shape[0]': 5, 'len(fs)': 2}
    """
    sizes: dict[str, int] = {}
    for name, argument in zip(names, arguments, strict=False):
        if isinstance(argument, Tensor):
            axes = [-1, *range(argument.ndim - 1)] if argument.ndim else []
            sizes |= {f"{name}.shape[{axis}]": argument.shape[axis] for axis in axes}
        elif isinstance(argument, tuple | list):
            sizes[f"len({name})"] = len(argument)
    return sizes


def off_by_a_number(pairs: Pairs) -> str:
    """Say so if all numbers are off by the same amount or by the same factor."""
    ratios, differences = (_together(numbers) for numbers in zip(*map(_off, pairs), strict=True))
    for numbers, neutral, words in (
        (ratios, 1.0, "Each of your numbers is {} times the right one."),
        (differences, 0.0, "Each of your numbers is the right one plus {}."),
    ):
        first = _constant(numbers, neutral)
        if len(numbers) < FEWEST or first is None:
            continue
        if (told := significant(first)) not in ("0", "1"):
            return words.format(told)
    return ""


def off_by_a_size(pairs: Pairs, sizes: Sequence[Mapping[str, int]]) -> str:
    """Say so if all numbers of an input are off by a factor that a size of the input gives.

    Args:
        pairs: for each input.
        sizes: for each input, as `sizes_of` returns them.
    """
    factors = [_factor(*pair) for pair in pairs]
    if not sizes or not all(factors) or max(abs(f - 1) for f in factors if f) < CONSTANT:
        return ""
    for names, values in _products(sizes):
        for words, powers in _forms(values):
            for sign in (1, -1):
                off = zip(factors, powers, strict=True)
                if all(abs(f - sign * p) <= CONSTANT * p / 10 for f, p in off if f):
                    minus = "minus " * (sign < 0)
                    told = words.format(f"`{names}`")
                    return f"Each of your numbers is {minus}the right one {told}."
    return ""


def _products(sizes: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, list[float]]]:
    """Yield each size with its values for all inputs, and then two: their product, or quotient."""
    names = [name for name in sizes[0] if all(name in each for each in sizes)]
    for name in names:
        yield name, [each[name] for each in sizes]
    for one, other in itertools.combinations(names, 2):
        if one.partition(".")[0] == other.partition(".")[0]:
            yield f"({other} * {one})", [each[one] * each[other] for each in sizes]
            if all(each[other] for each in sizes):
                yield f"({one} / {other})", [each[one] / each[other] for each in sizes]


def _forms(values: Sequence[float]) -> Iterator[tuple[str, list[float]]]:
    """Yield the words and the values of what a size can make of a number."""
    for power, words in POWERS.items():
        yield words, [value**power for value in values]
    if min(values) > 1:
        for power, words in SHARES.items():
            share = [(value / (value - 1)) ** power for value in values]
            yield f"times {words}, where n is {{}}", share


def off_in_slices(pairs: Pairs) -> str:
    """Say so if all numbers are right in some slices, or each slice has a factor of its own."""
    ndim = pairs[0][1].ndim
    if ndim < 2 or any(right.ndim != ndim for _, right in pairs):
        return ""
    axes = [-1, *range(ndim - 1)]
    for kind, neutral in (("times", 1.0), ("plus", 0.0)):
        for axis in [*axes, None] if ndim > 2 else axes:
            slices = [_in_slices(*pair, axis, kind == "plus", neutral) for pair in pairs]
            if all(each is not None for each in slices):
                return _of_slices([each for each in slices if each is not None], axis, kind, ndim)
    return ""


def _of_slices(slices: Sequence[Tensor], axis: int | None, kind: str, ndim: int) -> str:
    """Put into words what `_in_slices` found for each input."""
    neutral = kind == "times"
    off = [each[each != neutral] for each in slices]
    told = {significant(number, 3) for each in off for number in each.tolist()}
    if axis is not None and len(told) == 1:
        where = [(each != neutral).nonzero().flatten().tolist() for each in slices]
        if all(each == where[0] for each in where) and len(where[0]) == 1:
            number = f"{told.pop()} times the right one" if neutral else f"off by {told.pop()}"
            return (
                f"Where the index of {_axis(axis)} is {where[0][0]}, each of your numbers is "
                f"{number}. All others are right."
            )
    is_row = axis is None or (axis == 0 and ndim == 2)
    each = "In each row" if is_row else f"At each index of {_axis(axis or 0)}"
    first = next(number for numbers in off for number in numbers.tolist())
    example = significant(first, 3)
    what = "by a factor" if neutral else "by an amount"
    return f"{each}, all of your numbers are off {what} that they share, such as {example}."


def _in_slices(
    result: Tensor, right: Tensor, axis: int | None, is_sum: bool, neutral: float
) -> Tensor | None:
    """Return by what each slice along an axis, or each row, is off; None if not by one number."""
    off = _off((result, right))[is_sum]
    flat, is_right = (
        each.flatten(0, -2) if axis is None else each.movedim(axis, 0).flatten(1)
        for each in (off, close_numbers(result, right, 1e-6))
    )
    if len(flat) < 2:
        return None
    told = []
    for numbers, whole in zip(flat, is_right.all(1).tolist(), strict=True):
        known = numbers[~numbers.isnan()]
        one = neutral if whole else _constant(known, neutral)
        if one is None or (not whole and len(known) < FEWEST):
            return None
        told.append(one)
    return torch.tensor(told, dtype=torch.float64)


def _axis(axis: int) -> str:
    return "the last axis" if axis == -1 else f"axis {axis}"


def _factor(result: Tensor, right: Tensor) -> float | None:
    if bool(close_numbers(result, right, 1e-6).all()):
        return 1.0
    return _constant(_together([_off((result, right))[0]]), 1.0)


def _off(pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Return quotients, which are NaN where 0 became 0, and differences."""
    result, right = pair[0].double(), pair[1].double()
    return result / right, result - right


def _together(tensors: Sequence[Tensor]) -> Tensor:
    numbers = torch.cat([each.flatten() for each in tensors])
    return numbers[~numbers.isnan()]


def _constant(numbers: Tensor, neutral: float) -> float | None:
    """Return the number that all numbers are; None if they differ."""
    if not len(numbers) or not numbers.isfinite().all():
        return None
    first = numbers[0].item()
    is_constant = (numbers - first).abs().max() <= CONSTANT * abs(first - neutral)
    return first if is_constant else None
