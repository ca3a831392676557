"""Notice which finished functions an attempt calls, under any name, and inspect its code.

The grader's kernel runs this file too, so it imports only PyTorch and the standard library.
"""

import contextlib
import dis
import functools
import inspect
import linecache
import sys
import textwrap
import threading
from _thread import start_new_thread
from collections.abc import Collection, Iterator
from types import FrameType, FunctionType
from typing import Any

import torch

__all__ = ["FINISHED_NORMS", "code_of", "is_blank", "notebook_tensors", "watched", "written"]

# Functions that an attempt calls if it uses a finished norm instead of writing its own.
FINISHED_NORMS = (
    *("lnorm_utils.layer_norm", "lnorm_utils.layer_norm_steps"),
    *("torch.layer_norm", "torch.native_layer_norm", "torch.group_norm", "torch.batch_norm"),
    *("torch.instance_norm", "torch.native_batch_norm", "torch.native_group_norm"),
    "torch.rms_norm",
)
# Calls that end the watching, or run code unwatched, named as in Python's audit events.
AROUND = "sys.setprofile", "_thread.start_new_thread", "os.fork", "subprocess.Popen"
LONGEST = 20_000  # maximum number of characters of a source that are kept
_here = threading.local()  # holds the `called` list of the block that this thread is watching
DOES_NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}


@contextlib.contextmanager
def watched(names: Collection[str]) -> Iterator[list[str]]:
    """Watch for calls to functions such as "torch.std" and "lnorm_utils.standardize".

    Yields:
        The names of those functions that have been called, in a list that grows while the block
        runs. It includes functions that were called under a different name or deep inside helpers,
        and also calls that could evade the watching, such as "sys.setprofile".
    """
    called: list[str] = []
    packages = {name.partition(".")[0] for name in names}

    def notice(frame: FrameType, event: str, function: Any) -> None:
        name = f"torch.{getattr(function, '__name__', '')}" if event == "c_call" else ""
        if event == "call":
            package = str(frame.f_globals.get("__name__")).partition(".")[0]
            name = f"{package}.{frame.f_code.co_qualname}" if package in packages else ""
        if name in names:
            called.append(name)
        if function is start_new_thread:  # this is an audit event only since Python 3.12
            called.append(AROUND[1])

    before = sys.getprofile()
    resume = getattr(before, "enable", lambda: sys.setprofile(before))  # a profiler, as in `%%prun`
    outer, _here.called = getattr(_here, "called", None), None
    if names:
        _listen()
        sys.setprofile(notice)
    try:
        _here.called = called if names else None
        yield called
    finally:
        _here.called = None
        resume()
        _here.called = outer


@functools.cache
def _listen() -> None:
    """Add an audit hook, which can't be removed, to report calls that could evade the watching."""

    def hear(event: str, details: object) -> None:
        if event in AROUND and (called := getattr(_here, "called", None)) is not None:
            called.append(event)

    sys.addaudithook(hear)


def written(attempt: object) -> FunctionType | None:
    """Return the attempt if it's a function, its `forward` if it's a class, and None otherwise."""
    if issubclass(type(attempt), type):  # isinstance may run the attempt's code, which can lie
        attempt = inspect.getattr_static(attempt, "forward", None)
    return attempt if type(attempt) is FunctionType else None


def code_of(function: FunctionType) -> str:
    """Return the source of a function, or an empty string if it isn't known."""
    lines = linecache.getlines(function.__code__.co_filename)
    try:
        block = inspect.getblock(lines[function.__code__.co_firstlineno - 1 :])
    except Exception:  # no source lines are available
        return ""
    return textwrap.dedent("".join(block))[:LONGEST]


def is_blank(function: FunctionType) -> bool:
    """Tell whether a function does nothing."""
    return {each.opname for each in dis.get_instructions(function)} <= DOES_NOTHING


def notebook_tensors(function: FunctionType) -> list[str]:
    """Return the names of the notebook's tensors that a function reads as globals."""
    around, instructions = function.__globals__, dis.get_instructions(function)
    names = {each.argval for each in instructions if each.opname == "LOAD_GLOBAL"}
    return sorted(n for n in names if issubclass(type(around.get(n)), torch.Tensor))
