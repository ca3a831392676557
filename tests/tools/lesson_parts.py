"""Load what a lesson defines, to try seeds and initializations that it doesn't show."""

import ast
from types import ModuleType

import nbformat
from project import NOTEBOOKS

ALWAYS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def parts_of(lesson, *variables):
    """Return a module with what a lesson imports and defines, and the variables asked for."""
    module = ModuleType(lesson)
    for cell in nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4).cells:
        for part in ast.parse(cell.source).body if cell.cell_type == "code" else ():
            named = {ast.unparse(target) for target in getattr(part, "targets", ())}
            if isinstance(part, ALWAYS) or named & {*variables}:
                exec(compile(ast.Module([part], []), f"<{lesson}>", "exec"), vars(module))
    return module
