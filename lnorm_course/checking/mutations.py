"""Make single changes to a function's syntax tree that could turn a mistake into right code.

A mutation removes or moves something, or replaces an operator, number, name, or method with a
different one, whether or not that is the right one. It never inserts a name that the function
doesn't already read, because that could be a finished function or the right answer.
"""

import ast
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Function", "Mutation", "mutations"]

NUMBERS = (0, 1, -1, 2, 0.5, math.inf)
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
# Methods that people confuse with each other.
OVER_AN_AXIS = ("mean", "sum", "amax", "max", "norm", "cumsum", "std", "var")
LOAD = ast.Load()
Function = ast.FunctionDef | ast.Lambda


class Mutation(NamedTuple):
    """One change, made by `setattr(owner, field, new)`.

    Args:
        location: the part of the tree that is changed.
        owner, field: the node that contains this part, and the name of the field that holds it.
        new: the field's new value.
    """

    location: ast.AST
    owner: ast.AST
    field: str
    new: Any


def mutations(function: Function) -> Iterator[Mutation]:
    """Yield the mutations of a function's body, beginning with those that concern loops."""
    inside = list(ast.walk(function))
    for node in inside:
        if isinstance(node, ast.stmt):
            yield from _of_loops(node, getattr(node, "body", []))
    held = [slot for node in inside for slot in _slots(node) if slot[1] != "func"]
    read = Counter(old.id for *_, old in held if isinstance(old, ast.Name))
    for owner, field, index, old in held:
        for new in _instead(old, read):
            now = getattr(owner, field)
            put = new if index is None else [*now[:index], new, *now[index + 1 :]]
            yield Mutation(old, owner, field, put)


def _of_loops(node: ast.stmt, body: list[ast.stmt]) -> Iterator[Mutation]:
    """Yield mutations that turn `=` into `+=` in a loop, or move a loop's last statement out."""
    for number, each in enumerate(body):
        before, after = body[:number], body[number + 1 :]
        if isinstance(each, ast.For):
            *rest, last = each.body
            shorter = _changed(each, body=rest or [ast.Pass()])
            yield Mutation(last, node, "body", [*before, shorter, last, *after])
        if isinstance(node, ast.For) and isinstance(each, ast.Assign):
            more = ast.AugAssign(each.targets[0], ast.Add(), each.value)  # type: ignore[arg-type]
            yield Mutation(each, node, "body", [*before, more, *after])


def _slots(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """Yield each expression that a node reads, with its owner, field, and index in the field."""
    for field, value in ast.iter_fields(node):
        for index, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(each, ast.expr) and isinstance(getattr(each, "ctx", LOAD), ast.Load):
                yield node, field, index, each


def _instead(old: ast.expr, read: Counter[str]) -> Iterator[ast.expr]:
    """Yield possible replacements for an expression.

    Args:
        read: how often each name is read. A name that is read only once isn't replaced.
    """
    match old:
        case ast.Constant(value=int() | float() as value):
            for number in dict.fromkeys((-value, value + 1, value - 1, *NUMBERS)):
                size = ast.Constant(abs(number))
                yield ast.UnaryOp(ast.USub(), size) if number < 0 else size
        case ast.Name() if read[old.id] > 1:
            yield from (ast.Name(other, LOAD) for other in read if other != old.id)
        case ast.BinOp():
            yield _changed(old, left=old.right, right=old.left)
            powers = (ast.Pow,) if isinstance(old.right, ast.Constant) else ()  # others can be huge
            yield from (_changed(old, op=op()) for op in OPERATORS + powers)
            if isinstance(left := old.left, ast.BinOp):  # move the parentheses
                yield _changed(left, right=_changed(old, left=left.right))
            if isinstance(right := old.right, ast.BinOp):
                yield _changed(right, left=_changed(old, right=right.left))
        case ast.Call():
            yield from _calls(old)
    yield from (part for *_, part in _slots(old))


def _calls(old: ast.Call) -> Iterator[ast.expr]:
    """Yield variants of a call: fewer or reversed arguments, a different method, or no call."""
    for kind, held in (("args", old.args), ("keywords", old.keywords)):
        yield from (_changed(old, **{kind: [*held[:n], *held[n + 1 :]]}) for n in range(len(held)))
    yield _changed(old, args=old.args[::-1])
    if isinstance(old.func, ast.Attribute):
        yield old.func.value
        if old.func.attr in OVER_AN_AXIS:
            yield from (_changed(old, func=_changed(old.func, attr=m)) for m in OVER_AN_AXIS)


def _changed(node: Any, **changes: Any) -> Any:
    """Copy a node of a syntax tree, with new values in some of its fields."""
    return type(node)(**{**vars(node), **changes})
