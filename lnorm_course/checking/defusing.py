"""Turn a student's objects into objects whose methods can be trusted, and name them in words."""

import contextlib
import reprlib
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy
import torch
from torch import Tensor

from lnorm_utils.words import counted

__all__ = ["Unknown", "exact_as_float", "kind_of", "shown", "trusted"]

PLAIN_WORDS: dict[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    complex: "a complex number",
}


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
    if (number := exact_as_float(value)) is not None:
        return number
    if kind in (list, tuple, torch.Size) and len(value) < 100:
        parts = [trusted(part) for part in value]
        return parts if kind is list else tuple(parts)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, Tensor) and value.layout is torch.strided:
        with torch._C.DisableTorchFunctionSubclass():  # a subclass could answer for PyTorch
            return value.detach().cpu().as_subclass(Tensor)
    if kind is numpy.ndarray and value.dtype.kind in "biufc":  # and not of the student's objects
        return value if value.ndim else trusted(value[()])
    if issubclass(kind, numpy.generic):
        item = numpy.generic.item(value)  # a subclass could have an `item` of its own
        item = float(item) if isinstance(item, numpy.floating) else item  # of a long double
        if type(item) in (bool, int, float, complex):
            return item
    return Unknown(kind_of(value), shown(value))


def exact_as_float(value: object) -> float | None:
    """Convert a `Fraction` or a `Decimal` to a float; None for all else, and if it's too large."""
    if type(value) in (Fraction, Decimal):
        with contextlib.suppress(ArithmeticError, ValueError):
            return float(cast(Fraction | Decimal, value))
    return None


def kind_of(value: object) -> str:
    """Name the kind of an object, with its article."""
    if type(value) is Unknown:
        return value.kind
    if type(value) in PLAIN_WORDS:
        return PLAIN_WORDS[type(value)]
    if issubclass(type(value), Tensor):
        with contextlib.suppress(Exception):
            if (layout := cast(Tensor, value).layout) is not torch.strided:
                return f"a tensor with layout {layout}"
    name = {"ndarray": "numpy array"}.get(type(value).__name__, type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shown(value: object) -> str:
    """Write any object in at most 60 characters, even if its own `__repr__` raises.

    A list, a tuple and the like are written whole, or only their kind is told.
    """
    short = reprlib.Repr()
    short.maxstring = short.maxother = 50
    short.maxtuple = short.maxlist = short.maxset = short.maxfrozenset = short.maxdict = 60
    try:
        words = short.repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever a student's object does
        return kind_of(value)
    if len(words) > 60 and type(value) in (list, tuple, set, frozenset, dict):
        return f"{kind_of(value)} with {counted(len(value), 'item')}"  # type: ignore[arg-type]
    return words[:60]
