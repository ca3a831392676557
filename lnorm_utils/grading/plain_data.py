"""Carry attempts out of a kernel that nobody trusts: as JSON, and judged elsewhere.

The kernel runs this file by itself, so that it finds none of what a student has changed. The grader
imports it to read the answer, and takes from it plain numbers, words and tensors, nothing else.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

__all__ = ["answer", "decode", "encode"]

MOST_NUMBERS, MOST_ITEMS, DEEPEST = 100_000, 100, 5
DTYPES = {str(d): d for d in vars(torch).values() if isinstance(d, torch.dtype)}


def answer(attempt_of: Callable, inputs: list | None, seconds: float, trial: str = "") -> "Answer":
    """Look at an attempt, or call it for each input, as `Exercise.check` does.

    Args:
        attempt_of: a function without arguments that returns the attempt.
        inputs: encoded arguments for each call; None for a prediction.
        seconds: how long a call may take.
        trial: the name of what is done with a class, in `trials.py`.

    Returns:
        What the kernel answers: the encoded values, as far as there are any, and a remark.
    """
    from runpy import run_path

    attempt = attempt_of()
    if attempt is None or attempt is ...:
        return Answer([encode(None)] * len(inputs or [0]), "")
    engine = Path(__file__).parents[1] / "exercises" / "engine"
    results = run_path(str(engine / "running.py"))["results"]
    results.__globals__["SECONDS"] = seconds
    calls = inputs and [tuple(map(decode, arguments)) for arguments in inputs]
    use = run_path(str(engine / "class_attempts.py"))[trial] if trial else None
    values, remark = results(attempt, calls, use)
    return Answer([encode(value) for value in values], remark)


class Answer:
    """What IPython sends as JSON."""

    def __init__(self, values: list, remark: str) -> None:
        self.json = {"values": values, "remark": remark}

    def _repr_json_(self) -> dict:
        return self.json


def encode(value: object, depth: int = 0) -> list:
    """Write a value as [kind, ...], which JSON can carry; of what is too much only the kind."""
    kind = type(value)
    if value is None or value is ...:
        return ["nothing"]
    if kind in (bool, str):
        return [kind.__name__, value[:1000] if kind is str else value]
    if kind in (int, float):
        return [kind.__name__, repr(value) if kind is float else hex(value)[:1000]]
    if kind in (list, tuple, torch.Size) and len(value) <= MOST_ITEMS and depth < DEEPEST:
        return ["list" if kind is list else "tuple", *(encode(v, depth + 1) for v in value)]
    if issubclass(kind, torch.Tensor) and value.layout is torch.strided:
        return _numbers_of("tensor", value, value.numel())
    if issubclass(kind, np.ndarray | np.generic) and value.dtype.kind in "biufc":
        return _numbers_of("array", value, value.size)
    return ["other", kind.__name__]


def _numbers_of(kind: str, value: torch.Tensor | np.ndarray, number: int) -> list:
    if number > MOST_NUMBERS:
        return ["other", f"{type(value).__name__} with too many numbers"]
    dtype = value.dtype.str if kind == "array" else str(value.dtype)
    flat = value
    if kind == "tensor":
        flat = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
        flat = flat.view(torch.uint8).numpy()
    return [kind, dtype, list(value.shape), base64.b64encode(flat.tobytes()).decode()]


def decode(data: list) -> object:
    """Read what `encode` wrote, or somebody who pretends to.

    Raises:
        ValueError: it is nothing that `encode` writes; what is made to break it may raise others.
    """
    kind, *rest = data
    if kind == "nothing":
        return None
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(decode(item) for item in rest)
    if kind in ("tensor", "array"):
        return _numbers(kind, *rest)
    (value,) = rest
    if kind == "bool" and isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{kind} with {json.dumps(value)[:60]} instead of text")
    if kind == "other":  # an object of a class with that name, and with nothing else of it
        return type(value[:60].replace("\0", ""), (), {})()
    return {"str": str, "int": lambda text: int(text, 16), "float": float}[kind](value)


def _numbers(kind: str, dtype: str, shape: list[int], text: str) -> object:
    if not all(type(size) is int and 0 <= size < 2**31 for size in shape) or len(shape) > 32:
        raise ValueError("a shape that no tensor has")
    data = bytearray(base64.b64decode(text, validate=True))
    if kind == "tensor":
        flat = torch.frombuffer(data, dtype=DTYPES[dtype]) if data else torch.empty(0)
        return flat.to(DTYPES[dtype]).reshape(shape)
    if np.dtype(dtype).kind not in "biufc":
        raise ValueError("an array of something else than numbers")
    return np.frombuffer(bytes(data), dtype=dtype).reshape(shape)
