"""Find answers that an author left in a notebook that is to be handed out."""

import ast
import re
from collections.abc import Iterator, Mapping

from lnorm_staff.grading.cells import code_cells, parse

__all__ = ["answers_left_in"]

CALL = re.compile(r"\b(\w+)\s*\.\s*(?:check|solution)\s*\(")


def answers_left_in(notebook: Mapping) -> Iterator[str]:
    """Yield a sentence for each answer in the code of a notebook."""
    for number, source in enumerate(code_cells(notebook), start=1):
        found = dict.fromkeys(_in_source(source))
        yield from (f"in code cell {number}, {what}." for what in found)


def _in_source(source: str) -> Iterator[str]:
    try:
        _, tree = parse(source)
    except Exception:
        for name in CALL.findall(source):
            yield f"{name} can't be checked, because the cell is not Python or too long"
        return
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        exercise = ast.unparse(call.func.value)
        if call.func.attr == "solution":
            yield f"the solution of {exercise} is shown"
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if call.func.attr == "check" and not all(_is_empty(value, tree) for value in given):
            yield f"an answer to {exercise} is filled in"


def _is_empty(value: ast.expr, tree: ast.Module) -> bool:
    """Tell whether what is checked is `...`, or a name for nothing else in the same cell."""
    if _is_dots(value):
        return True
    if not isinstance(value, ast.Name):
        return False
    binders = [node for node in ast.walk(tree) if _binds(node, value.id)]
    empty = [node for node in tree.body if _defines_nothing(node, value.id)]
    return len(empty) == len(binders) > 0


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return name in (node.asname, node.name)
    return getattr(node, "name", None) == name


def _defines_nothing(node: ast.stmt, name: str) -> bool:
    """Tell `name = ...`, and a function or class of that name with nothing but dots in it."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(t) for t in node.targets] == [name] and _is_dots(node.value)
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name != name:
        return False
    return not node.decorator_list and all(map(_says_nothing, _body(node)))


def _says_nothing(line: ast.stmt) -> bool:
    """Tell what may stand in an empty attempt; in a class also methods, and `self.name = ...`."""
    if isinstance(line, ast.FunctionDef):
        return not line.decorator_list and all(map(_says_nothing, _body(line)))
    is_given = ast.unparse(line) == "super().__init__()"
    return is_given or (isinstance(line, ast.Expr | ast.Assign) and _is_dots(line.value))


def _body(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    return node.body[ast.get_docstring(node) is not None :]


def _is_dots(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is ...
