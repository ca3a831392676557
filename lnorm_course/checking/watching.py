"""Notice which finished functions an attempt calls, by whatever name, and on which names it rests.

The grader's kernel runs this file too, so it imports PyTorch and the standard library only.
"""

import contextlib
import dis
import functools
import inspect
import sys
from collections.abc import Collection, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

__all__ = [
    "FINISHED_NORMS",
    "handed_in",
    "is_blank",
    "loops_that_end_at_once",
    "never_used",
    "notebook_tensors",
    "watched",
]

# What somebody calls who doesn't write a norm but takes a finished one.
FINISHED_NORMS = (
    *("lnorm_utils.layer_norm", "lnorm_utils.layer_norm_steps"),
    *("torch.layer_norm", "torch.native_layer_norm", "torch.group_norm", "torch.batch_norm"),
    *("torch.instance_norm", "torch.native_batch_norm", "torch.native_group_norm"),
    "torch.rms_norm",
)
NOT_WATCHED = "sys.setprofile"
LONGEST = 6  # bytes of EXTENDED_ARG
OURS = ("lnorm_utils.", "lnorm_course.lessons.")  # and not answers, mistakes, and examples


@contextlib.contextmanager
def watched(names: Collection[str]) -> Iterator[list[str]]:
    """Watch for calls of functions such as "torch.std" and "lnorm_utils.standardize".

    Yields:
        The names that were called, which grow while the block runs. It makes no difference by
        which name they were called, or how deep inside of helpers. If the watching is
        ended, "sys.setprofile" is among them.
    """
    called: list[str] = []
    if not names:
        yield called
        return

    def notice(frame: FrameType, event: str, function: Any) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__")
            name = f"{str(module).partition('.')[0]}.{frame.f_code.co_qualname}"
        elif event == "c_call":
            name = f"torch.{getattr(function, '__name__', '')}"
            if function is sys.setprofile and not is_over:
                called.append(NOT_WATCHED)
        else:
            return
        if name in names and name not in called:
            called.append(name)

    before, is_over = sys.getprofile(), False
    sys.setprofile(notice)
    try:
        yield called
    finally:
        is_over = True
        if sys.getprofile() is not notice:
            called.append(NOT_WATCHED)
        sys.setprofile(before)


def handed_in(attempt: object) -> str:
    """Return the name of an attempt that is a function of the course itself; empty if it isn't."""
    while type(attempt) is functools.partial:
        attempt = attempt.func
    if type(attempt) is not FunctionType:
        return ""
    module = str(attempt.__module__)
    package = module.partition(".")[0]
    return f"{package}.{attempt.__name__}" if module.startswith(OURS) else ""


def is_blank(attempt: object) -> bool:
    """Tell whether the body of a function, or of a class's `forward`, is empty."""
    code = _code(attempt)
    if code is None:
        return False
    names = {instruction.opname for instruction in dis.get_instructions(code)}
    return names <= {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"}


def never_used(attempt: object) -> list[str]:
    """Name the arguments of a function that it never reads, if it has no `*arguments`."""
    code = _code(attempt)
    if code is None or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return []
    arguments = code.co_varnames[: code.co_argcount]
    return [name for name in arguments if name not in _read(code, "LOAD_FAST", "LOAD_DEREF")]


def loops_that_end_at_once(attempt: object) -> bool:
    """Tell whether a loop of a function can't reach a second pass, as one that ends in `return`."""
    code = _code(attempt)
    if code is None:
        return False
    steps = list(dis.get_instructions(code))
    jumps = [(s.argval, s.offset) for s in steps if "JUMP" in s.opname]
    return any(
        # With a long body, a jump back goes to the EXTENDED_ARG in front of the loop.
        not any(loop.offset - LONGEST <= to <= loop.offset < start for to, start in jumps)
        for loop in steps
        if loop.opname == "FOR_ITER"
    )


def notebook_tensors(attempt: object) -> list[str]:
    """Name the tensors of the notebook that a function reads."""
    code = _code(attempt)
    if code is None:
        return []
    around = attempt.__globals__ if type(attempt) is FunctionType else {}
    names = _read(code, "LOAD_GLOBAL", "LOAD_NAME")
    return [name for name in names if isinstance(around.get(name), torch.Tensor)]


def _code(attempt: object) -> CodeType | None:
    if issubclass(type(attempt), type):  # isinstance would ask the attempt, which may lie
        attempt = vars(attempt).get("forward")
    return attempt.__code__ if type(attempt) is FunctionType else None


def _read(code: CodeType, *ways: str) -> list[str]:
    """Name what a function, and the functions inside of it, read in these ways."""
    inside = [each for each in code.co_consts if isinstance(each, CodeType)]
    found: list[str] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith((*ways, "STORE_FAST_LOAD_FAST")):
            names = instruction.argval  # from Python 3.13 on, one instruction may read two
            found += names if isinstance(names, tuple) else [names]
    for each in inside:
        found += _read(each, *ways)
    return list(dict.fromkeys(found))
