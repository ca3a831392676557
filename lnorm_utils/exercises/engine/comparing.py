"""Compare what a student returned with what is right, without trusting the student's objects."""

import contextlib
import math
import reprlib
from numbers import Real
from typing import Any

import torch
from torch import Tensor

__all__ = ["difference", "kind_of", "same", "shown"]


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
        return type(given) is str and given == right
    if isinstance(right, bool) or isinstance(given, bool):
        return given is right
    return isinstance(given, Real) and _close(float(given), float(right), within)


def plain(value: Any) -> Any:
    """Convert values of the same meaning to one form; those of an unknown kind stay as they are."""
    kind = type(value)
    if kind in (list, tuple, torch.Size):
        return tuple(plain(v) for v in value) if len(value) < 100 else value
    if issubclass(kind, str):
        return " ".join(str.split(value)).casefold()
    if issubclass(kind, Tensor):
        with torch._C.DisableTorchFunctionSubclass():  # a subclass could answer for PyTorch
            value = value.detach().cpu().as_subclass(Tensor)
        return value.item() if value.ndim == 0 else value
    if kind.__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def difference(attempt: object, expected: object, within: float, tell_answer: bool) -> str:
    """Say what differs first where `same` is False: kind, shape, dtype, or the first element."""
    given, right = plain(attempt), plain(expected)
    if not isinstance(right, Tensor):
        return _difference_of_values(attempt, given, right, tell_answer)
    if isinstance(attempt, Tensor) and attempt.ndim == 0:
        return f"your tensor is a single number, and the right one has shape {tuple(right.shape)}."
    if not isinstance(given, Tensor):
        return f"{_tensor_expected(attempt, right)} your function returned {kind_of(attempt)}."
    if given.shape != right.shape:
        return (
            f"your tensor has shape {tuple(given.shape)}, and the right one {tuple(right.shape)}."
        )
    if given.dtype != right.dtype:
        return f"your tensor has dtype {given.dtype}, and the right one {right.dtype}."
    wrong = (~torch.isclose(given, right, rtol=within, atol=within, equal_nan=True)).nonzero()
    index = tuple(wrong[0].tolist())
    return (
        f"how you came to this is not known here. The first difference is at {list(index)}: "
        f"you have {given[index].item():.7g}, and {right[index].item():.7g} is right."
    )


def _tensor_expected(attempt: object, right: Tensor) -> str:
    """Begin the sentence about an attempt that is no tensor, but may have the right numbers."""
    with contextlib.suppress(Exception):
        if same(torch.as_tensor(attempt, dtype=right.dtype), right, 1e-6):
            return "the numbers are right, but a torch.Tensor is expected, and"
    return "a torch.Tensor is expected, but"


def _difference_of_values(attempt: object, given: Any, right: Any, tell_answer: bool) -> str:
    kinds = {bool: "True or False", str: "a word", tuple: "a tuple of numbers such as (2, 3)"}
    wanted = kinds.get(type(right), "a number")
    known = type(right) if type(right) in kinds else Real
    if not isinstance(given, known) or isinstance(given, bool) != isinstance(right, bool):
        return f"{wanted} is expected, but you gave {kind_of(attempt)}."
    if isinstance(given, tuple) and len(given) != len(right):
        return f"a tuple of length {len(right)} is expected, and yours has length {len(given)}."
    known_answer = f" {shown(right)} is right." if tell_answer else " `.hint()` may help."
    return f"it is not {shown(attempt)}, and how you came to it is not known here.{known_answer}"


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
    name = {"ndarray": "numpy array"}.get(type(value).__name__, type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _same_tensors(attempt: Tensor, expected: Tensor, within: float) -> bool:
    return (
        attempt.shape == expected.shape
        and attempt.dtype == expected.dtype
        and torch.allclose(attempt, expected, rtol=within, atol=within, equal_nan=True)
    )


def _close(attempt: float, expected: float, within: float) -> bool:
    return (math.isnan(attempt) and math.isnan(expected)) or abs(attempt - expected) <= within
