"""Notice which finished functions an attempt calls, by whatever name, and what its source shows.

The grader's kernel runs this file too, so it imports PyTorch and the standard library only.
"""

import ast
import contextlib
import functools
import inspect
import linecache
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import FrameType, FunctionType
from typing import Any

import torch

__all__ = [
    "FINISHED_NORMS",
    "code_of",
    "handed_in",
    "is_blank",
    "loops_that_end_at_once",
    "never_used",
    "notebook_tensors",
    "source_of",
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
LONGEST = 20_000  # characters of a source
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


def code_of(attempt: object) -> str:
    """Return the source of a function, or of a class's `forward`; empty if it isn't known."""
    if issubclass(type(attempt), type):  # isinstance would ask the attempt, which may lie
        attempt = vars(attempt).get("forward")
    if type(attempt) is not FunctionType:
        return ""
    lines = linecache.getlines(attempt.__code__.co_filename)
    try:
        block = inspect.getblock(lines[attempt.__code__.co_firstlineno - 1 :])
    except Exception:  # there are no lines
        return ""
    return textwrap.dedent("".join(block))[:LONGEST]


def source_of(attempt: object) -> ast.FunctionDef | None:
    """Return the syntax tree of a `def`, or of a class's `forward`; None if it isn't known."""
    try:
        (function,) = ast.parse(code_of(attempt)).body
    except Exception:  # nothing, or a part of a statement
        return None
    return function if isinstance(function, ast.FunctionDef) else None


def is_blank(source: ast.FunctionDef) -> bool:
    """Tell whether the body of a function is empty, or returns a constant."""
    is_short = all(isinstance(line, ast.Pass | ast.Expr | ast.Return) for line in source.body)
    values = (getattr(line, "value", None) for line in source.body)
    return is_short and all(isinstance(value, ast.Constant | None) for value in values)


def never_used(source: ast.FunctionDef) -> list[str]:
    """Name the arguments of a function that it never reads, if it has no `*arguments`."""
    if source.args.vararg or source.args.kwarg:
        return []
    names = [each.arg for each in (*source.args.posonlyargs, *source.args.args)]
    return [name for name in names if name not in _names(source, ast.Load)]


def loops_that_end_at_once(source: ast.FunctionDef) -> bool:
    """Tell whether the first pass of a loop always ends in a `return`."""
    return any(
        _returns(loop.body) and not any(isinstance(n, ast.Continue) for n in ast.walk(loop))
        for loop in ast.walk(source)
        if isinstance(loop, ast.For)
    )


def _returns(body: Sequence[ast.stmt]) -> bool:
    """Tell whether statements always end in a `return`."""
    return any(
        isinstance(each, ast.Return)
        or (isinstance(each, ast.If) and _returns(each.body) and _returns(each.orelse))
        for each in body
    )


def notebook_tensors(source: ast.FunctionDef, around: Mapping[str, object]) -> list[str]:
    """Name the tensors of the notebook, `around` it, that a function reads."""
    own = {node.arg for node in ast.walk(source) if isinstance(node, ast.arg)}
    names = [n for n in _names(source, ast.Load) if n not in own | {*_names(source, ast.Store)}]
    return [n for n in dict.fromkeys(names) if isinstance(around.get(n), torch.Tensor)]


def _names(source: ast.FunctionDef, context: type[ast.expr_context]) -> list[str]:
    """Return the names that a function reads, or those that it gives values."""
    names = (node for node in ast.walk(source) if isinstance(node, ast.Name))
    return [node.id for node in names if isinstance(node.ctx, context)]
