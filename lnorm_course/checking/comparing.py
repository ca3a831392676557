"""Compare a student's result with the right one, by kind, shape, and value."""

import math
import re
from numbers import Real
from typing import Any

import numpy
import torch
from torch import Tensor

__all__ = ["are_far", "as_float", "differing", "dtypes_agree", "first_number", "plain", "same"]

IN_FLOAT32 = 1e-5  # tolerance for comparing a float32 result with a float64 one
SAME_WORDS = {"epsilon": "eps", "ε": "eps", "inf": "infinity", "∞": "infinity"}


def same(attempt: object, expected: object, tol: float) -> bool:
    """Tell whether an attempt has the expected kind and shape, and is close enough in value.

    For a plain number, `tol` is the absolute tolerance. For each number in a tensor, it's both the
    absolute and the relative tolerance.
    """
    given, right = plain(attempt), plain(expected)
    if isinstance(right, Tensor):
        if not isinstance(given, Tensor) or given.shape != right.shape:
            return False
        if are_far(first_number(given), first_number(right), tol):
            return False  # most tensors that differ do so in their first number
        return dtypes_agree(given, right) and bool(_close_numbers(given, right, tol).all())
    if isinstance(right, tuple):
        if getattr(given, "ndim", 0) == 1 and len(given) == len(right):
            given = tuple(given.tolist())
        if not isinstance(given, tuple) or len(given) != len(right):
            return False
        return all(same(g, r, tol) for g, r in zip(given, right, strict=True))
    if isinstance(right, str) or type(given) is str:
        return _word(given) == _word(right) is not None
    if isinstance(right, bool) or isinstance(given, bool):
        return given is right
    if not (isinstance(given, Real) and isinstance(right, Real)):
        return False
    one, other = as_float(given), as_float(right)
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= tol


def plain(value: Any) -> Any:
    """Convert equivalent values to the same form, and leave all others unchanged."""
    if isinstance(value, list | tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, Tensor | numpy.ndarray) and value.ndim == 0:
        return value.item()
    return value


def as_float(number: Real) -> float:
    """Convert a number to a float, or to infinity if it's too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def dtypes_agree(attempt: Tensor, expected: Tensor) -> bool:
    """Tell whether dtypes agree; float32 and float64 do, because precision isn't asked for."""
    pair = {attempt.dtype, expected.dtype}
    return len(pair) == 1 or pair == {torch.float32, torch.float64}


def _close_numbers(attempt: Tensor, expected: Tensor, tol: float) -> Tensor:
    if attempt.dtype != expected.dtype:
        tol = max(tol, IN_FLOAT32)
    attempt, expected = attempt.double(), expected.double()
    return torch.isclose(attempt, expected, rtol=tol, atol=tol, equal_nan=True)


def first_number(value: object) -> complex:
    """Return the first number of a tensor, 0 if it's empty, or NaN if the value isn't a tensor."""
    return sum(value.flatten()[:1].tolist()) if isinstance(value, Tensor) else math.nan


def are_far(one: complex, other: complex, tol: float) -> bool:
    """Tell whether tensors that begin with these numbers can't be close; False for NaN.

    They can't be close if the numbers differ by more than twice `tol` (or 1e-5 if that's larger),
    which is both an absolute and a relative tolerance.
    """
    return abs(one - other) > 2 * max(tol, IN_FLOAT32) * (1 + abs(other))


def differing(attempt: Tensor, expected: Tensor, tol: float) -> Tensor:
    """Mark numbers that are off by more than `tol`, relative to their row's largest if below 1."""
    scale = expected.double().abs().nan_to_num().amax(-1, keepdim=True).clamp(1e-30, 1.0)
    strictly = ~_close_numbers(attempt.double() / scale, expected.double() / scale, tol)
    return strictly if strictly.any() else ~_close_numbers(attempt, expected, tol)


def _word(value: object) -> str | None:
    """Return a word in normalized spelling; None if the value is neither a word, NaN, nor infinite.

    >>> _word("Post_LN") == _word("post-LN"), _word("one point * 3") == _word("one point × 3")
    (True, True)
    >>> _word("ε"), _word(math.inf), _word(3.0)
    ('eps', 'infinity', None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)  # "nan" or "inf"
    if not isinstance(value, str):
        return None
    word = re.sub(r"[-×*−_()\s]|\bx\b(?=\s*\d)", "", value.casefold())
    return SAME_WORDS.get(word, word)
