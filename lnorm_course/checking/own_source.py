"""Read a function's source from the cell it was written in, and compile it once it is edited."""

import ast
import linecache
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import cast

from lnorm_course.checking.edits import Function

__all__ = ["cell", "compiled", "parsed"]


def cell(code: CodeType) -> list[str]:
    """Return the lines of the cell that a function was written in; none if it's from a file."""
    entry = cast(tuple, linecache.cache.get(code.co_filename, ()))
    return entry[2] if len(entry) > 2 and entry[1] is None else []


def parsed(written: FunctionType) -> tuple[ast.Module, Function] | None:
    """Return the function's tree, alone in a module; None if it isn't the one that was run."""
    code, fits = written.__code__, []
    try:
        nodes = list(ast.walk(ast.parse("".join(cell(code)))))
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in nodes:
        if isinstance(node, Function) and getattr(node, "name", "<lambda>") == code.co_name:
            first = min(n.lineno for n in (node, *getattr(node, "decorator_list", ())))
            if first == code.co_firstlineno:
                module = _alone(node, code.co_freevars)
                if not _is_left_alone(node) and _alike(compiled(module, code), code):
                    fits.append((module, node))
    return fits[0] if len(fits) == 1 else None


def _is_left_alone(function: Function) -> bool:
    """Tell whether a function could go on when it has to end, or print what can't be caught."""
    for node in ast.walk(function):
        kind = node.type if isinstance(node, ast.ExceptHandler) else node
        if kind is None or (isinstance(kind, ast.Name) and kind.id == "BaseException"):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "lstsq":  # its library prints
            return True
    return False


def _alone(node: Function, free: Sequence[str]) -> ast.Module:
    """Return a module with the function, and around it a function that has its free names."""
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
    stands: ast.stmt = node if isinstance(node, ast.stmt) else ast.Return(node)
    around = ast.parse("def around():\n    " + "".join(f"{name} = " for name in free) + "None")
    cast(ast.FunctionDef, around.body[0]).body.append(stands)
    return ast.fix_missing_locations(around)


def compiled(module: ast.Module, code: CodeType) -> CodeType:
    """Compile the function in a module that `_alone` made, and run nothing."""
    whole = compile(module, code.co_filename, "exec", dont_inherit=True)
    around = next(each for each in whole.co_consts if isinstance(each, CodeType))
    inside = (each for each in around.co_consts if isinstance(each, CodeType))
    return next(each for each in inside if each.co_name == code.co_name)


def _alike(one: CodeType, other: CodeType) -> bool:
    """Tell whether two functions do the same, wherever they stand."""
    parts = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (one, other)]
    return (
        (one.co_code, one.co_names, one.co_varnames, one.co_freevars)
        == (other.co_code, other.co_names, other.co_varnames, other.co_freevars)
        and len(parts[0]) == len(parts[1])
        and all(map(_alike, *parts))
        and [repr(c) for c in one.co_consts if not isinstance(c, CodeType)]
        == [repr(c) for c in other.co_consts if not isinstance(c, CodeType)]
    )
