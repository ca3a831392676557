"""Write the outcome of an attempt as JSON, so that it can leave an untrusted kernel.

A value from `sanitized` is sent if its type is in `PLAIN`, or if it's a small tensor or array with
a dtype in `NUMBERS`. So is `...`, and so are lists and tuples, part by part. For anything else,
only a description of its kind is sent.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lnorm_course.checking.running import Outcome
from lnorm_course.checking.sanitizing import Unknown, kind_of, sanitized
from lnorm_diagnose.fewest_slips import Raised
from lnorm_staff.grading.plain_text import MOST_OF_A_REMARK, one_line

__all__ = ["LONGEST", "NUMBERS", "ForgedError", "decode", "encode", "read_outcome", "write_outcome"]

LONGEST = 2**19  # the maximum length of an attempt, in characters
MOST_NUMBERS, MOST_AXES, MOST_BITS = 10_000, 32, 4000
PLAIN = (type(None), bool, int, float, str)  # the types that JSON has
# PyTorch and NumPy fully support these dtypes. Others can crash a process that inspects them.
TENSORS = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
NUMBERS: dict[str, Any] = {f"torch.{name}": getattr(torch, name) for name in TENSORS.split()}
NUMBERS |= {np.dtype(name).str: np.dtype(name) for name in "?bBhHiIqQefdFD"}


class ForgedError(ValueError):
    """Raised if `write_outcome` can't have written what a kernel sent; says why."""


def write_outcome(outcome: Outcome) -> str:
    """Write the outcome of an attempt as JSON, or an error if the outcome is too large.

    The outcome stays text until it's judged, because a few characters can decode to huge data.
    """
    error = outcome.error
    told = {
        "values": [encode(value) for value in outcome.values],
        "error": error._asdict() if isinstance(error, Raised) else error,
        "notices": list(outcome.notices),
        "code": outcome.code,
    }
    if len(written := json.dumps(told)) > LONGEST:
        return write_outcome(Outcome([], "your answer is too large to be judged."))
    return written


def read_outcome(written: Any) -> Outcome:
    """Read what `write_outcome` wrote.

    Raises:
        ForgedError: a student's code sent something else instead.
    """
    try:
        if len(written) > LONGEST:
            raise ValueError("it's too large")
        data = json.loads(written)
        values = [decode(value) for value in data["values"]]
        error = data["error"]
        if isinstance(error, dict):
            error = Raised(**{name: _line(text) for name, text in error.items()})
        elif error is not None:
            error = _line(error)
        return Outcome(values, error, [*map(_line, data["notices"])], str.__str__(data["code"]))
    except Exception as problem:
        raise ForgedError(f"{type(problem).__name__}: {problem}") from problem


def _line(text: Any) -> str:
    return one_line(str.__str__(text), MOST_OF_A_REMARK)


def encode(value: Any) -> Any:
    """Return a value as is, or as {kind: content}; for an unknown kind, only describe the value."""
    try:
        return _encoded(sanitized(value))
    except Exception:  # raised by an object that can't be inspected
        return {"other": f"{kind_of(value)} that can't be inspected"}


def _encoded(value: Any) -> Any:
    """Encode a value whose methods can be trusted."""
    kind = type(value)
    if value is ...:
        return {"dots": None}
    if kind in PLAIN and not (kind is int and value.bit_length() > MOST_BITS):
        return value
    if kind in (list, tuple):
        return {kind.__name__: [*map(_encoded, value)]}
    if kind not in (torch.Tensor, np.ndarray):
        return {"other": kind_of(value)}
    dtype = str(value.dtype) if kind is torch.Tensor else value.dtype.str
    if dtype not in NUMBERS:
        return {"other": f"{kind_of(value)} of {dtype}"}
    if not _is_small(value.shape):
        return {"other": f"{kind_of(value)} with too many numbers"}
    flat = value.flatten().tolist()
    numbers = [[n.real, n.imag] if isinstance(n, complex) else n for n in flat]
    return {"numbers": [dtype, list(value.shape), numbers]}


def _is_small(shape: Sequence[int]) -> bool:
    """Return whether a shape's size and axes are small; an axis of size 0 could hide large axes."""
    return len(shape) <= MOST_AXES and max(math.prod(shape), *shape, 0) <= MOST_NUMBERS


def decode(data: Any) -> object:
    """Read what `encode` wrote, or what a student's code sent instead.

    Raises:
        ValueError: `encode` can't have written the data. Malicious data may raise other errors.
    """
    if isinstance(data, PLAIN):
        return data
    ((kind, inside),) = data.items()
    if kind == "dots":
        return ...
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(map(decode, inside))
    if kind == "numbers":
        return _decoded_numbers(*inside)
    if kind == "other":
        return Unknown(str.__str__(inside))
    raise ValueError(f"{kind!r} isn't a known kind of value")


def _decoded_numbers(name: str, shape: list[int], numbers: list) -> object:
    dtype = NUMBERS[name]
    if not all(type(size) is int and size >= 0 for size in shape) or not _is_small(shape):
        raise ValueError("the shape isn't that of a small tensor")
    flat = [complex(*each) if isinstance(each, list) else each for each in numbers]
    make = torch.tensor if isinstance(dtype, torch.dtype) else np.array
    return make(flat, dtype=dtype).reshape(shape)
