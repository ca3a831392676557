"""Find answers that an author left in a notebook that is to be handed out."""

import ast
import re
from collections.abc import Iterator, Mapping

from IPython.core.inputtransformer2 import TransformerManager

from lnorm_staff.grading.cells import code_cells

__all__ = ["answers_left_in"]

CALL = re.compile(r"\b(\w+)\s*\.\s*(check|solution)\s*\(")


def answers_left_in(notebook: Mapping) -> Iterator[str]:
    """Yield a sentence for each cell of code with an answer in it.

    A cell that checks has three dots for the answer and returns nothing, but in a function that
    isn't checked.
    """
    for number, source in enumerate(code_cells(notebook), start=1):
        try:
            left = dict.fromkeys(_left_in(ast.parse(TransformerManager().transform_cell(source))))
        except SyntaxError:
            left = dict.fromkeys(name for name, _ in CALL.findall(source))
        if left:
            yield f"in code cell {number}, an answer to {', '.join(left)} is filled in or shown."


def _left_in(tree: ast.Module) -> Iterator[str]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            exercise = ast.unparse(call.func.value)
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            is_left = call.func.attr == "check" and not all(_is_empty(one, tree) for one in given)
            if is_left or call.func.attr == "solution":
                yield exercise


def _is_empty(value: ast.expr, tree: ast.Module) -> bool:
    """Tell whether what is checked is `...`, or a name for nothing else in the same cell."""
    if not isinstance(value, ast.Name):
        return ast.unparse(value) == "..."
    made = [node for node in tree.body if _name(node) == value.id]
    stored = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == value.id]
    others = [n for n in stored if not isinstance(n.ctx, ast.Load)]
    is_blank = all(_is_blank(node) for node in made)
    return len(made) == 1 and len(others) == isinstance(made[0], ast.Assign) and is_blank


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return getattr(node, "name", "")


def _is_blank(node: ast.stmt) -> bool:
    """Tell whether all that a statement does is `...`, in a class also to set itself up."""
    if isinstance(node, ast.Assign | ast.Expr):
        return ast.unparse(node.value) in ("...", "super().__init__()")
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.decorator_list:
        return False
    return all(_is_blank(line) for line in node.body[ast.get_docstring(node) is not None :])
