"""What became of an attempt as JSON, so that it can leave a kernel that nobody trusts.

Plain numbers, words and tensors of the kinds on two lists come through, and a `Fraction` or a
`Decimal` as a float. Of anything else only the name of its kind does.
"""

import base64
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from lnorm_course.checking.defusing import exact_as_float
from lnorm_course.checking.errors import Error
from lnorm_course.checking.running import Outcome
from lnorm_staff.grading.plain_text import MOST_OF_A_REMARK, one_line
from lnorm_utils.words import dtype_name

__all__ = ["NUMBERS", "decode", "encode", "read_outcome", "write_outcome"]

MOST_NUMBERS, MOST_ITEMS, MOST_AXES, DEEPEST = 10_000, 100, 32, 5
MOST_LETTERS, MOST_BITS = 1000, 4000  # of a text, and of a whole number
PLAIN = (bool, int, float, str)  # which JSON knows
# What all of PyTorch and numpy can compute with. Other dtypes can end a process that looks at them.
NUMBERS: dict[str, Any] = {
    str(dtype): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.complex64, torch.complex128),
    )
} | {np.dtype(name).str: np.dtype(name) for name in "?bBhHiIqQefdFD"}


def write_outcome(outcome: Outcome) -> dict:
    """Write what became of an attempt as what JSON knows."""
    error = outcome.error
    return {
        "values": [encode(value) for value in outcome.values],
        "error": error._asdict() if isinstance(error, Error) else error,
        "notices": list(outcome.notices),
        "code": outcome.code,
    }


def read_outcome(data: Any) -> Outcome:
    """Read what `write_outcome` wrote.

    Raises:
        ValueError: it's something else, which somebody sent instead.
    """
    try:
        values = [decode(value) for value in data["values"]]
        error = data["error"]
        if isinstance(error, dict):
            error = Error(**{name: _line(text) for name, text in error.items()})
        elif error is not None:
            error = _line(error)
        return Outcome(values, error, [*map(_line, data["notices"])], str.__str__(data["code"]))
    except Exception as problem:
        raise ValueError(f"{type(problem).__name__}: {problem}") from problem


def _line(text: Any) -> str:
    return one_line(str.__str__(text), MOST_OF_A_REMARK)


def encode(value: Any) -> list:
    """Write a value as [kind, ...]; of an unknown or too large one only the kind."""
    try:
        return _encoded(value, 0)
    except Exception:  # of an object that isn't what it says
        return ["other", _name_of(type(value))]


def _encoded(value: Any, depth: int) -> list:
    kind = type(value)
    if value is None or value is ...:
        return ["nothing" if value is None else "dots"]
    if (number := exact_as_float(value)) is not None:
        return ["plain", number]
    if issubclass(kind, str):
        return ["plain", str.__str__(value)[:MOST_LETTERS]]
    if kind in PLAIN and _is_short(value):
        return ["plain", value]
    if kind in (list, tuple, torch.Size) and len(value) <= MOST_ITEMS and depth < DEEPEST:
        return ["list" if kind is list else "tuple", *(_encoded(v, depth + 1) for v in value)]
    if issubclass(kind, torch.Tensor):
        return _encoded_tensor(value)
    if (kind is np.ndarray or issubclass(kind, np.generic)) and value.dtype.str in NUMBERS:
        return _numbers(kind.__name__, value.dtype.str, value.shape, value.tobytes)
    return ["other", _name_of(kind)]


def _encoded_tensor(value: torch.Tensor) -> list:
    with torch._C.DisableTorchFunctionSubclass():  # a subclass could answer for PyTorch
        tensor = torch.Tensor.detach(value)
        if type(tensor) is not torch.Tensor:
            tensor = torch.Tensor.as_subclass(tensor, torch.Tensor)
    if oddity := _oddity(tensor):
        return ["other", f"{oddity} tensor"]

    def data() -> bytes:
        flat = tensor.cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
        return flat.view(torch.uint8).numpy().tobytes()

    return _numbers("Tensor", str(tensor.dtype), tensor.shape, data)


def _oddity(tensor: torch.Tensor) -> str:
    """Say what sets a tensor apart from those that come through; empty if nothing does."""
    if tensor.is_nested:
        return "nested"
    if tensor.is_quantized:
        return "quantized"
    if tensor.layout is not torch.strided:
        return dtype_name(tensor.layout)
    if tensor.is_meta:
        return "meta"
    return "" if str(tensor.dtype) in NUMBERS else dtype_name(tensor.dtype)


def _numbers(name: str, dtype: str, shape: Sequence[int], data: Callable[[], bytes]) -> list:
    if not _is_small(shape):
        return ["other", f"{name} with too many numbers"]
    return ["numbers", dtype, list(shape), base64.b64encode(data()).decode()]


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_LETTERS
    return not isinstance(value, int) or value.bit_length() <= MOST_BITS


def _is_small(shape: Sequence[int]) -> bool:
    """Tell whether a shape is small along each axis too, because an axis of 0 hides the others."""
    return len(shape) <= MOST_AXES and max(math.prod(shape), *shape, 0) <= MOST_NUMBERS


def _name_of(kind: type) -> str:
    return type.__dict__["__name__"].__get__(kind)[:60]  # a metaclass could answer for the class


def decode(data: Any, depth: int = 0) -> object:
    """Read what `encode` wrote, or what somebody sent instead.

    Raises:
        ValueError: `encode` writes nothing like this; data made to break this may raise others.
    """
    kind, *rest = data
    if kind == "dots":
        return ...
    if kind == "nothing":
        return None
    if kind in ("list", "tuple"):
        if len(rest) > MOST_ITEMS or depth >= DEEPEST:
            raise ValueError("too many items")
        return (list if kind == "list" else tuple)(decode(item, depth + 1) for item in rest)
    if kind == "numbers":
        return _decoded_numbers(*rest)
    (value,) = rest
    if kind == "plain" and type(value) in PLAIN and _is_short(value):
        return value
    if kind != "other" or type(value) is not str or not _is_short(value):
        raise ValueError(f"{kind} with {json.dumps(value)[:60]}")
    # An object whose class has that name, and nothing else of it.
    return type(value.replace("\0", ""), (), {})()


def _decoded_numbers(name: str, shape: list[int], text: str) -> object:
    dtype = NUMBERS[name]
    if not all(type(size) is int and size >= 0 for size in shape) or not _is_small(shape):
        raise ValueError("a shape that no small tensor has")
    data = np.frombuffer(bytearray(base64.b64decode(text, validate=True)), np.uint8)
    if dtype in (torch.bool, np.dtype(bool)) and data.max(initial=0) > 1:
        raise ValueError("a bool that is neither True nor False")
    # Other numbers of bytes than the shape needs raise.
    if isinstance(dtype, torch.dtype):
        return torch.from_numpy(data).view(dtype).reshape(shape)
    return data.view(dtype).reshape(shape)
