"""Notice which finished functions an attempt calls, by whatever name, and what its source shows.

The grader's kernel runs this file too, so it imports PyTorch and the standard library only.
"""

import ast
import contextlib
import dis
import inspect
import linecache
import sys
import textwrap
from collections.abc import Collection, Iterator
from types import FrameType, FunctionType
from typing import Any

import torch

__all__ = [
    "FINISHED_NORMS",
    "code_of",
    "has_loop_that_ends",
    "is_blank",
    "notebook_tensors",
    "watched",
    "written",
]

# What somebody calls who doesn't write a norm but takes a finished one.
FINISHED_NORMS = (
    *("lnorm_utils.layer_norm", "lnorm_utils.layer_norm_steps"),
    *("torch.layer_norm", "torch.native_layer_norm", "torch.group_norm", "torch.batch_norm"),
    *("torch.instance_norm", "torch.native_batch_norm", "torch.native_group_norm"),
    "torch.rms_norm",
)
LONGEST = 20_000  # characters of a source
DOES_NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}


@contextlib.contextmanager
def watched(names: Collection[str]) -> Iterator[list[str]]:
    """Watch for calls of functions such as "torch.std" and "lnorm_utils.standardize".

    Yields:
        The names that were called, which grow while the block runs. It makes no difference by
        which name they were called, or how deep inside of helpers. If the watching was ended,
        "sys.setprofile" is among them.
    """
    called: list[str] = []
    if not names:
        yield called
        return

    def notice(frame: FrameType, event: str, function: Any) -> None:
        name = ""
        if event == "call":
            module = str(frame.f_globals.get("__name__"))
            name = f"{module.partition('.')[0]}.{frame.f_code.co_qualname}"
        elif event == "c_call":
            name = f"torch.{getattr(function, '__name__', '')}"
        if name in names:
            called.append(name)

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        yield called
    finally:
        if sys.getprofile() is not notice:
            called.append("sys.setprofile")
        sys.setprofile(before)


def written(attempt: object) -> FunctionType | None:
    """Return an attempt that is a function, or the `forward` of one that is a class."""
    if issubclass(type(attempt), type):  # isinstance would ask the attempt, which may lie
        attempt = inspect.getattr_static(attempt, "forward", None)
    return attempt if type(attempt) is FunctionType else None


def code_of(function: FunctionType | None) -> str:
    """Return the source of a function; empty if it isn't known."""
    if function is None:
        return ""
    lines = linecache.getlines(function.__code__.co_filename)
    try:
        block = inspect.getblock(lines[function.__code__.co_firstlineno - 1 :])
    except Exception:  # there are no lines
        return ""
    return textwrap.dedent("".join(block))[:LONGEST]


def is_blank(function: FunctionType | None) -> bool:
    """Tell whether a function does nothing."""
    if function is None:
        return False
    return {each.opname for each in dis.get_instructions(function)} <= DOES_NOTHING


def notebook_tensors(function: FunctionType | None) -> list[str]:
    """Name the tensors of the notebook that a function reads, by the names that it has there."""
    if function is None:
        return []
    names = {i.argval for i in dis.get_instructions(function) if i.opname == "LOAD_GLOBAL"}
    kinds = {name: type(function.__globals__.get(name)) for name in sorted(names)}
    return [name for name, kind in kinds.items() if issubclass(kind, torch.Tensor)]


def has_loop_that_ends(code: str) -> bool:
    """Tell whether the first pass of a loop ends in a `return` and skips none by `continue`."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except Exception:  # a part of a statement
        return False
    loops = [node for node in nodes if isinstance(node, ast.For)]
    ending = [loop for loop in loops if isinstance(loop.body[-1], ast.Return)]
    return any(not any(isinstance(n, ast.Continue) for n in ast.walk(loop)) for loop in ending)
