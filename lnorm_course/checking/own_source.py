"""Read a function's syntax tree from the cell it was written in, to run it alone."""

import ast
import linecache
from types import CodeType, FunctionType
from typing import cast

from lnorm_course.checking.edits import Function

__all__ = ["alone", "cell", "parsed"]


def cell(code: CodeType) -> list[str]:
    """Return the lines of the cell that a function was written in; none if it's from a file."""
    entry = cast(tuple, linecache.cache.get(code.co_filename, ()))
    return entry[2] if len(entry) > 2 and entry[1] is None else []


def parsed(written: FunctionType) -> Function | None:
    """Return a function's tree; None if it has no cell, or if a line has two that look like it."""
    code = written.__code__
    try:
        nodes = list(ast.walk(ast.parse("".join(cell(code)))))
    except (SyntaxError, ValueError, RecursionError):
        return None
    looks = (code.co_name, code.co_firstlineno, [*code.co_varnames[: code.co_argcount]])
    found = [node for node in nodes if isinstance(node, Function) and _looks_of(node) == looks]
    return found[0] if len(found) == 1 else None


def _looks_of(node: Function) -> tuple[str, int, list[str]]:
    """Return a function's name, its first line, and its arguments."""
    first = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    return getattr(node, "name", "<lambda>"), first, arguments


def alone(function: Function) -> ast.Module:
    """Return a module that defines a function, and nothing that stands around it in its cell."""
    arguments = function.args
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg):
            each.annotation = None
    if isinstance(function, ast.FunctionDef):
        function.decorator_list, function.returns = [], None
        return ast.Module([function], [])
    named = ast.Assign([ast.Name("<lambda>", ast.Store())], function)
    return ast.fix_missing_locations(ast.Module([named], []))
