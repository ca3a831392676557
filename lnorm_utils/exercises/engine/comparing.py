"""Compare what a student returned with what is right, without trusting it in any way."""

import contextlib
import math
import reprlib
from numbers import Real

import torch
from torch import Tensor

__all__ = ["difference", "kind_of", "same", "shown"]


def same(attempt: object, expected: object, within: float) -> bool:
    """Tell whether an attempt is the expected value: same kind, same shape, close enough."""
    attempt, expected = plain(attempt), plain(expected)
    if isinstance(expected, Tensor):
        return isinstance(attempt, Tensor) and _same_tensors(attempt, expected, within)
    if isinstance(expected, tuple):
        if getattr(attempt, "ndim", 0) == 1 and len(attempt) == len(expected):
            attempt = tuple(attempt.tolist())
        return (
            isinstance(attempt, tuple)
            and len(attempt) == len(expected)
            and all(same(a, e, within) for a, e in zip(attempt, expected, strict=True))
        )
    if isinstance(expected, str):
        return type(attempt) is str and attempt == expected
    if isinstance(expected, bool) or isinstance(attempt, bool):
        return attempt is expected
    return isinstance(attempt, Real) and _close(float(attempt), float(expected), within)


def plain(value: object) -> object:
    """Bring what means the same into one form; what is none of the known kinds stays as it is."""
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


def difference(attempt: object, expected: object, within: float, reveal: bool) -> str:
    """Say what differs first where `same` is False: kind, shape, dtype, or the first element."""
    given, right = plain(attempt), plain(expected)
    if not isinstance(right, Tensor):
        return _of_values(attempt, given, right, reveal)
    if isinstance(attempt, Tensor) and attempt.ndim == 0:
        return f"your tensor is a single number, and the right one has shape {tuple(right.shape)}."
    if not isinstance(given, Tensor):
        return f"{_as_tensor(attempt, right)} your function returned {kind_of(attempt)}."
    if given.shape != right.shape:
        return (
            f"your tensor has shape {tuple(given.shape)}, and the right one {tuple(right.shape)}."
        )
    if given.dtype != right.dtype:
        return f"your tensor has dtype {given.dtype}, and the right one {right.dtype}."
    wrong = (~torch.isclose(given, right, rtol=within, atol=within, equal_nan=True)).nonzero()
    index = tuple(wrong[0].tolist())
    mine, right_one = given[index].item(), right[index].item()
    return (
        f"how you came to this is not known here. The first difference is at {list(index)}: "
        f"you have {mine:.7g}, and {right_one:.7g} is right."
    )


def _as_tensor(attempt: object, right: Tensor) -> str:
    """Begin the sentence about an attempt that is no tensor by whether its numbers are right."""
    with contextlib.suppress(Exception):
        if same(torch.as_tensor(attempt, dtype=right.dtype), right, 1e-6):
            return "the numbers are right, but a torch.Tensor is expected, and"
    return "a torch.Tensor is expected, but"


def _of_values(attempt: object, given: object, right: object, reveal: bool) -> str:
    kinds = {bool: "True or False", str: "a word", tuple: "a tuple of numbers such as (2, 3)"}
    wanted = kinds.get(type(right), "a number")
    known = type(right) if type(right) in kinds else Real
    if not isinstance(given, known) or isinstance(given, bool) != isinstance(right, bool):
        return f"{wanted} is expected, but you gave {kind_of(attempt)}."
    if isinstance(right, tuple) and len(given) != len(right):
        return f"a tuple of length {len(right)} is expected, and yours has length {len(given)}."
    known_answer = f" {shown(right)} is right." if reveal else " `.hint()` may help."
    return f"it is not {shown(attempt)}, and how you came to it is not known here.{known_answer}"


def shown(value: object) -> str:
    """Write any object, also one that cannot be written, in at most 60 characters."""
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
