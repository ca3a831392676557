"""Compare what a student returned with what is right, without trusting the student's objects."""

import contextlib
import math
import re
import reprlib
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy
import torch
from torch import Tensor

from lnorm_utils.numbers import counted, significant

__all__ = [
    "difference",
    "difference_of_values",
    "kind_of",
    "same",
    "shown",
    "side_by_side",
    "trusted",
    "unfinished",
]

IN_FLOAT32 = 1e-5  # how far results of float32 may be from those of float64


def same(attempt: object, expected: object, within: float) -> bool:
    """Tell whether an attempt is the expected value: same kind, same shape, close enough."""
    given, right = plain(attempt), plain(expected)
    if isinstance(right, Tensor):
        return isinstance(given, Tensor) and _same_tensors(given, right, within)
    if isinstance(right, tuple):
        if getattr(given, "ndim", 0) == 1 and len(given) == len(right):
            given = tuple(given.tolist())
        return (
            isinstance(given, tuple)
            and len(given) == len(right)
            and all(same(g, r, within) for g, r in zip(given, right, strict=True))
        )
    if isinstance(right, str):
        return type(given) is str and given.replace(" ", "") == right.replace(" ", "")
    if isinstance(right, bool) or isinstance(given, bool):
        return given is right
    return isinstance(given, Real) and _close(_as_float(given), _as_float(right), within)


class Unknown:
    """Stands for a student's object of an unknown kind, which isn't touched again.

    Args:
        kind: with its article, such as "a Foo".
        words: how it writes itself, at most 60 characters.
    """

    def __init__(self, kind: str, words: str) -> None:
        self.kind, self.words = kind, words

    def __repr__(self) -> str:
        return self.words


def trusted(value: Any) -> Any:
    """Convert a student's result to plain Python and PyTorch objects, whose methods can be trusted.

    Raises:
        Exception: whatever an object raises that doesn't want to be looked at.
    """
    kind = type(value)
    if value is None or value is ... or kind in (bool, int, float, complex):
        return value
    if kind in (list, tuple, torch.Size) and len(value) < 100:
        parts = [trusted(part) for part in value]
        return parts if kind is list else tuple(parts)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, Tensor) and value.layout is torch.strided:
        with torch._C.DisableTorchFunctionSubclass():  # a subclass could answer for PyTorch
            return value.detach().cpu().as_subclass(Tensor)
    if kind is numpy.ndarray:
        return value
    if issubclass(kind, numpy.generic):
        return value.item()
    return Unknown(kind_of(value), shown(value))


def plain(value: Any) -> Any:
    """Convert values that mean the same to one form, and leave other kinds of values alone."""
    if isinstance(value, list | tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, str):
        return " ".join(value.split()).casefold()
    if isinstance(value, Tensor | numpy.ndarray) and value.ndim == 0:
        return value.item()
    return value


def difference(attempt: object, right: object, within: float) -> str:
    """Say what is right about a wrong result of code, and where it first differs."""
    given, wanted = plain(attempt), plain(right)
    if not isinstance(wanted, Tensor):
        words = kind_of(attempt) if isinstance(attempt, Unknown) else shown(attempt)
        return f"yours is {words}, and it should be {shown(wanted)}."
    if isinstance(attempt, Tensor) and attempt.ndim == 0:
        return f"yours is a single number, and it should be a tensor {tuple(wanted.shape)}."
    if isinstance(attempt, Unknown) and attempt.kind.endswith(("function", "method")):
        return "your function returned a function. Call it, with parentheses after its name."
    if not isinstance(given, Tensor):
        numbers = "the numbers are right, but " if _has_the_numbers(attempt, wanted) else ""
        return f"{numbers}your function returned {kind_of(attempt)}. Return a torch.Tensor."
    if given.shape != wanted.shape:
        return f"your tensor has shape {tuple(given.shape)}. It should be {tuple(wanted.shape)}."
    if not _dtypes_agree(given, wanted):
        return f"your tensor has dtype {given.dtype}. It should be {wanted.dtype}."
    wrong = _differs(given, wanted, within)
    index = tuple(wrong.nonzero()[0].tolist())
    rows = wrong.reshape(-1, wrong.shape[-1]).any(-1)
    right_rows = len(rows) - int(rows.sum())
    agree = f", and {right_rows} of {counted(len(rows), 'row')} {_agree(right_rows)}"
    yours, better = _told_apart(given[index].item(), wanted[index].item())
    return (
        f"shape and dtype are right{agree if right_rows else ''}. The first number that differs "
        f"is at {list(index)}: yours is {yours}, and it should be {better}."
    )


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers with enough digits to show that they differ."""
    for digits in range(6, 18):
        written = significant(one, digits), significant(other, digits)
        if written[0] != written[1]:
            break
    return written


def _agree(count: int) -> str:
    return "agrees" if count == 1 else "agree"


def unfinished(results: Sequence[object], right: Sequence[object], within: float) -> str:
    """Say what a loop or `reshape` did to numbers that are right; empty if neither did anything.

    Args:
        results, right: what an attempt returned for the inputs, and what is right.
    """
    pairs = [
        (r, w)
        for r, w in zip(results, right, strict=True)
        if isinstance(r, Tensor) and isinstance(w, Tensor) and w.ndim > 1
    ]
    if len(pairs) < len(right):
        return ""
    if all(_is_first_part(r, w, within) for r, w in pairs):
        return (
            "You returned only the first part of the right result. Is `return` inside the loop? "
            "There it ends the loop on the first pass."
        )
    if any(r.shape != w.shape or not _dtypes_agree(r, w) for r, w in pairs):
        return ""
    marks = [_close_numbers(r, w, within) for r, w in pairs]
    if all(m.any() and not r[~m].any() for m, (r, w) in zip(marks, pairs, strict=True)):
        return (
            "Some numbers are right, and all others are 0, as if they were never computed. Does "
            "your loop end too early, or skip something?"
        )
    if all(_close_numbers(_in_order(r), _in_order(w), within).all() for r, w in pairs):
        return (
            "The numbers are right, but they are in the wrong places. `reshape` keeps the numbers "
            "in reading order and only cuts them into other rows. To swap axes, use `transpose` or "
            "`permute`."
        )
    return _off_by_a_number([r - w for r, w in pairs], [r / w for r, w in pairs], within)


def _off_by_a_number(differences: Sequence[Tensor], ratios: Sequence[Tensor], within: float) -> str:
    """Say so if all numbers are off by the same amount or by the same factor."""
    for numbers, words in (
        (ratios, "Each of your numbers is {} times the right one."),
        (differences, "Each of your numbers is the right one plus {}."),
    ):
        everything = torch.cat([number.flatten() for number in numbers]).double()
        first = everything[0]
        near = 100 * within  # dividing small numbers makes their rounding larger
        told = significant(first.item())
        if (
            told not in ("0", "1")
            and first.isfinite()
            and torch.allclose(everything, first, rtol=near, atol=near)
        ):
            return words.format(told)
    return ""


def _is_first_part(result: Tensor, right: Tensor, within: float) -> bool:
    """Tell whether a result is what a loop, or a loop in a loop, computes on its first pass."""
    part = right
    while part.ndim and part.numel() >= result.numel() > 0:
        part = part[0]
        if part.numel() == result.numel() < right.numel():
            return bool(_close_numbers(result.reshape(part.shape), part, within).all())
    return False


def _in_order(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def side_by_side(attempt: object, right: object, within: float) -> str:
    """Return HTML with a part of the student's tensor beside the right one; empty if it can't be.

    What is shown are the last two axes around the first difference, at most six rows of eight. The
    student's numbers that differ are bold and carry the sign ≠.
    """
    given, wanted = plain(attempt), plain(right)
    if not (isinstance(given, Tensor) and isinstance(wanted, Tensor)) or wanted.ndim < 1:
        return ""
    if given.shape != wanted.shape or wanted.is_complex() or given.is_complex():
        return ""
    if not _dtypes_agree(given, wanted):
        return ""
    wrong = _differs(given, wanted, within)
    outer = tuple(wrong.nonzero()[0].tolist()[:-2])
    first = max(0, wrong.nonzero()[0].tolist()[-2] - 2) if wanted.ndim > 1 else 0
    part = (*outer, slice(first, first + 6), slice(8)) if wanted.ndim > 1 else (None, slice(8))
    cells = [
        _cells(given[part], wrong[part]),
        _cells(wanted[part], torch.zeros_like(wrong[part])),
    ]
    place = f" at {list(outer)}" if outer else ""
    heads = "".join(
        f"<th scope='col' style='text-align: center'>{name}{place}</th>"
        for name in ("yours", "right")
    )
    return f"<table><tr>{heads}</tr><tr>{''.join(f'<td>{c}</td>' for c in cells)}</tr></table>"


def _cells(numbers: Tensor, wrong: Tensor) -> str:
    rows = []
    for values, marks in zip(numbers.tolist(), wrong.tolist(), strict=True):
        shown = (
            f"<td><strong>≠ {significant(value)}</strong></td>"
            if mark
            else f"<td>{significant(value)}</td>"
            for value, mark in zip(values, marks, strict=True)
        )
        rows.append(f"<tr>{''.join(shown)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _has_the_numbers(attempt: object, right: Tensor) -> bool:
    """Tell whether an attempt that is no tensor, such as a list, has the right numbers."""
    with contextlib.suppress(Exception):
        return same(torch.as_tensor(attempt, dtype=right.dtype), right, 1e-6)
    return False


def difference_of_values(attempt: object, right: object, words: Sequence[str]) -> str:
    """Say that a prediction is not right, without giving the answer away.

    Args:
        attempt: what was given.
        right: the answer.
        words: if the answer is a word, all words that there are to choose from.
    """
    given, wanted = plain(attempt), plain(right)
    if isinstance(wanted, str):
        return f"choose one of the words {', '.join(map(repr, words))}. You gave {shown(attempt)}."
    kinds = {bool: "True or False", tuple: "a tuple of numbers such as (2, 3)"}
    expected = kinds.get(type(wanted), "a number")
    known = type(wanted) if type(wanted) in kinds else Real
    if isinstance(given, known) and isinstance(given, bool) == isinstance(wanted, bool):
        number = isinstance(given, Real) and not isinstance(given, bool)
        value = shown(attempt).replace("-", "−") if number else shown(attempt)
        return f"it's not {value}. `.hint()` may help."
    if isinstance(given, str) and re.fullmatch(r"-?\d*\.?\d+|\(.*\)", given):
        return f"the answer is {expected}, and in quotes it's text. Take the quotes off."
    return f"the answer is {expected}, but you gave {kind_of(attempt)}."


def shown(value: object) -> str:
    """Write any object in at most 60 characters, even if its own `__repr__` raises."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 50
    try:
        return short.repr(value)[:60]
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever a student's object does
        return kind_of(value)


def kind_of(value: object) -> str:
    """Name the kind of an object, with its article."""
    if type(value) is Unknown:
        return value.kind
    plain_words = {"str": "text", "int": "a whole number", "float": "a number"}
    if type(value).__name__ in plain_words:
        return plain_words[type(value).__name__]
    name = {"ndarray": "numpy array"}.get(type(value).__name__, type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _same_tensors(attempt: Tensor, expected: Tensor, within: float) -> bool:
    return (
        attempt.shape == expected.shape
        and _dtypes_agree(attempt, expected)
        and bool(_close_numbers(attempt, expected, within).all())
    )


def _dtypes_agree(attempt: Tensor, expected: Tensor) -> bool:
    """Accept float32 for float64, because the exercises don't ask about precision."""
    pair = {attempt.dtype, expected.dtype}
    return len(pair) == 1 or pair == {torch.float32, torch.float64}


def _differs(attempt: Tensor, expected: Tensor, within: float) -> Tensor:
    """Mark the numbers that differ, each compared with the largest number of its row."""
    scale = expected.double().abs().nan_to_num().amax(-1, keepdim=True).clamp(1e-30, 1.0)
    strictly = ~_close_numbers(attempt.double() / scale, expected.double() / scale, within)
    return strictly if strictly.any() else ~_close_numbers(attempt, expected, within)


def _close_numbers(attempt: Tensor, expected: Tensor, within: float) -> Tensor:
    if attempt.dtype != expected.dtype:
        within = max(within, IN_FLOAT32)
    attempt, expected = attempt.double(), expected.double()
    return torch.isclose(attempt, expected, rtol=within, atol=within, equal_nan=True)


def _as_float(number: Real) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _close(attempt: float, expected: float, within: float) -> bool:
    return (math.isnan(attempt) and math.isnan(expected)) or abs(attempt - expected) <= within
