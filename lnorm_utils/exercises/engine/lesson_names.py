"""Restore the names that a lesson imports if a student has used one for something else."""

import ast
import sys
from collections.abc import Iterator

__all__ = ["put_back"]


def put_back() -> str:
    """Set the names that the notebook imported back to what they were, and say which had changed.

    Returns:
        A sentence that names them; empty if none had changed, or outside of a notebook.
    """
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return ""
    taken = []
    for name, imported in dict(_imports(shell.user_ns.get("In", []))).items():
        if shell.user_ns.get(name, imported) is not imported:
            shell.user_ns[name] = imported
            taken.append(f"`{name}`")
    if not taken:
        return ""
    names = " and ".join(taken)
    name, it_is = ("name", "It's") if len(taken) == 1 else ("names", "They're")
    return f"You used the {name} {names} for something else. {it_is} set back to the lesson's own."


def _imports(cells: list[str]) -> Iterator[tuple[str, object]]:
    """Yield each name that the cells import, and what it stands for."""
    for cell in cells:
        if "import" not in cell:
            continue
        try:
            statements = ast.parse(cell).body
        except SyntaxError:  # a magic command, or a syntax error of the student's
            continue
        for statement in statements:
            if isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
                module = sys.modules.get(statement.module)  # None if its import has failed
                for alias in statement.names:
                    if hasattr(module, alias.name):
                        yield alias.asname or alias.name, getattr(module, alias.name)
