"""Find where an unrecognized mistake is in the student's own source.

The source is changed in one place at a time, and each mutated version runs on the inputs. If all
the mutations that make every result right are in one place, the mistake is there. The student is
told the place, but never the right code.

The mutated versions run under the same limits as the attempt. They are new functions, made from the
student's function and a copy of the objects it reads; the code around that function doesn't run.
"""

import ast
import copy
import functools
import inspect
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy
import torch

from lnorm_course.checking import watching
from lnorm_course.checking.mutations import Function, Mutation, mutations

__all__ = ["locate_fault"]

# These limit the work, not the time, so that the feedback doesn't depend on the machine.
MOST_MUTATIONS = 500
MOST_STEPS = 15_000  # maximum number of steps in all mutated versions together
LONGEST = 80  # maximum number of characters shown for a place
CHANGEABLE = torch.Tensor | torch.nn.Module | numpy.ndarray | list | dict | set
# Parts of a program that tell a student something by themselves, unlike a name or a number.
SHOWN = ast.stmt | ast.BinOp | ast.Call | ast.Compare | ast.Subscript | ast.BoolOp | ast.IfExp


def locate_fault(attempt: object, is_right: Callable[[Callable], bool], inputs: int = 1) -> str:
    """Return the one part of an attempt's source that has to change, or "" if none is known.

    Args:
        attempt: a function written in a cell, or a class whose `forward` was written in one.
        is_right: tells whether a mutated version is right for all inputs; it stops at the first
            input for which the version is wrong.
        inputs: the number of inputs.
    """
    written = watching.written(attempt)
    if not written or not _is_in_cell(written.__code__):
        return ""
    source = watching.code_of(written)
    function = _function_in(source, written.__code__)
    if not function or any(map(_goes_on, ast.walk(function))):
        return ""

    names, kept = written.__globals__, dict(written.__globals__)
    held = {**kept, **inspect.getclosurevars(written).nonlocals}
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    changeable = {n: held[n] for n in read & held.keys() if isinstance(held[n], CHANGEABLE)}

    def is_right_now(trace: Callable) -> bool:
        version = _version(attempt, written, function, held | copy.deepcopy(changeable))
        sys.settrace(trace)
        return is_right(version)

    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            locations = [mutation.location for mutation in _fitting(function, is_right_now, inputs)]
        finally:
            if names.keys() != kept.keys() or any(names[n] is not kept[n] for n in kept):
                names.clear()  # a helper has changed the notebook's names
                names.update(kept)
    parents = {child: each for each in ast.walk(function) for child in ast.iter_child_nodes(each)}
    whole = ast.get_source_segment(source, function) or ""

    def stands_alone(node: ast.AST) -> bool:
        is_one = whole.count(ast.get_source_segment(source, node) or "") == 1
        return isinstance(node, ast.stmt) or (isinstance(node, SHOWN) and is_one)

    for number, location in enumerate(locations):
        while not stands_alone(location) and parents[location] is not function:
            location = parents[location]
        locations[number] = location
    around = [node for node in locations if all(each in ast.walk(node) for each in locations)]
    return _shown(source, around[0]) if around else ""


def _is_in_cell(code: CodeType) -> bool:
    """Tell whether code was written in a cell rather than in a file."""
    entry: Any = linecache.cache.get(code.co_filename, ())
    return len(entry) > 2 and entry[1] is None


def _function_in(source: str, code: CodeType) -> Function | None:
    """Return a function's tree; None if the source doesn't show which function it is.

    Several functions may have its name only if all the others are inside the first one.
    """
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    functions = [node for node in nodes if isinstance(node, Function)]
    found = [each for each in functions if getattr(each, "name", "<lambda>") == code.co_name]
    return found[0] if found and all(each in ast.walk(found[0]) for each in found) else None


def _goes_on(node: ast.AST) -> bool:
    """Tell whether a node could let code exceed its limit or print text that can't be captured."""
    catches_all = isinstance(node, ast.ExceptHandler) and node.type is None
    name = getattr(node, "attr", getattr(node, "id", ""))
    return catches_all or name in ("BaseException", "lstsq")  # `lstsq` may print text


def _shown(source: str, node: ast.AST) -> str:
    """Return the source of a node on one line; for a block statement, only its first line."""
    text = ast.get_source_segment(source, node) or ""
    is_block = isinstance(getattr(node, "body", None), list)
    text = " ".join((text.partition("\n")[0] if is_block else text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _fitting(
    function: Function, is_right_now: Callable[[Callable], bool], inputs: int
) -> Iterator[Mutation]:
    """Yield mutations that correct a function; none if it's right by itself or runs too long."""
    steps = _Steps()
    if steps.count(is_right_now) or steps.made > MOST_STEPS // 3:
        return
    steps.most, steps.made = 3 * inputs * steps.made + 200, 0
    for mutation in list(mutations(function))[:MOST_MUTATIONS]:
        before = getattr(mutation.owner, mutation.field)
        setattr(mutation.owner, mutation.field, mutation.new)
        ast.fix_missing_locations(mutation.owner)
        if steps.made <= MOST_STEPS and steps.count(is_right_now):
            yield mutation
        setattr(mutation.owner, mutation.field, before)


def _version(attempt: Any, own: FunctionType, function: Function, names: dict) -> Callable:
    """Return an attempt whose function is compiled from the tree as it is now, with these globals.

    Raises:
        Exception: the tree isn't a valid program.
    """
    statement = ast.Expr(function) if isinstance(function, ast.Lambda) else function
    module = ast.Module([ast.copy_location(statement, function)], [])
    program = compile(module, own.__code__.co_filename, "exec", dont_inherit=True)
    codes = [each for each in program.co_consts if isinstance(each, CodeType)]
    code = next(each for each in reversed(codes) if each.co_name == own.__code__.co_name)
    new = FunctionType(code, names, argdefs=own.__defaults__)  # without any decorators
    new.__kwdefaults__ = own.__kwdefaults__
    if issubclass(type(attempt), type):
        new = type(attempt)(attempt.__name__, (attempt,), {"forward": new})
    return functools.partial(new)


class _Steps:
    """Counts the lines and calls that code in cells runs, and stops it after `most` steps."""

    made, most, until = 0, MOST_STEPS, 0

    def count(self, is_right_now: Callable[[Callable], bool]) -> bool:
        """Tell whether a mutated version compiles, is right, and stays within the limit."""
        before, self.until = sys.gettrace(), self.made + self.most
        try:
            return is_right_now(self._trace)
        except (Exception, SystemExit, _TooManyError):  # not every mutation is valid code
            return False
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, value: object) -> Callable | None:
        # Only frames of code in cells are traced line by line.
        is_in_cell, caller = event != "call" or _is_in_cell(frame.f_code), frame.f_back
        self.made += is_in_cell or bool(caller and caller.f_trace)
        if is_in_cell and self.made > self.until:
            raise _TooManyError  # raised only in cells, so that no other code is interrupted
        return self._trace if is_in_cell else None


class _TooManyError(BaseException):
    """Raised in a mutated version after too many steps; `except Exception` doesn't catch it."""
