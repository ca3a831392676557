"""Convert a student's objects into ones whose methods can be trusted.

Where that isn't possible, the result only names the kind of object.
"""

import contextlib
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import torch
from torch import Tensor

from lnorm_utils.words import counted

__all__ = ["Unknown", "kind_of", "sanitized", "shown"]

LONGEST = 60  # maximum number of characters shown for a value
PLAIN_WORDS: dict[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    complex: "a complex number",
}


@dataclass(frozen=True)
class Unknown:
    """Replaces a student's object, and names its kind; the object's methods never run again."""

    kind: str

    def __repr__(self) -> str:
        return self.kind


def sanitized(value: Any) -> Any:
    """Convert a student's result to plain Python and PyTorch objects, whose methods can be trusted.

    Raises:
        Exception: whatever an object raises when it's inspected.
    """
    kind = type(value)
    if value is None or value is ... or kind in (bool, int, float, complex):
        return value
    if kind in (Fraction, Decimal, numpy.longdouble):
        with contextlib.suppress(ArithmeticError, ValueError):  # it may be too large, or NaN
            return float(value)
    if kind in (list, tuple, torch.Size) and len(value) < 100:
        return (list if kind is list else tuple)(map(sanitized, value))
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, Tensor):
        with torch._C.DisableTorchFunctionSubclass():  # a subclass could override what PyTorch does
            if value.layout is torch.strided:
                return value.detach().cpu().as_subclass(Tensor)
            return Unknown(f"a tensor with layout {value.layout}")
    is_numpy = kind is numpy.ndarray or kind in numpy.sctypeDict.values()
    if is_numpy and value.dtype.kind in "biufc":  # numbers, not arbitrary objects
        return value if value.ndim else value.item()
    return Unknown(kind_of(value))


def kind_of(value: object) -> str:
    """Name an object's kind with an article, such as "a numpy array"."""
    if type(value) is Unknown:
        return value.kind
    name = {"ndarray": "numpy array"}.get(type(value).__name__, type(value).__name__)
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return PLAIN_WORDS.get(type(value), f"{article} {name}")


def shown(value: object) -> str:
    """Write a trusted value in at most 60 characters; for a long list, only its kind and length."""
    try:
        words = repr(value)
    except ValueError:  # Python refuses to print integers with thousands of digits
        return kind_of(value)
    if len(words) > LONGEST and isinstance(value, list | tuple):
        return f"{kind_of(value)} with {counted(len(value), 'item')}"
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
