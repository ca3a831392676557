"""Restore the names that a lesson imports, and say where one comes from that's missing.

The grader's kernel runs this file too, so it imports the standard library only.
"""

import ast
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

__all__ = ["explain_missing_names", "put_back", "where_from"]

OURS = ("lnorm_utils", "lnorm_course.exercises", "lnorm_course.explorers", "lnorm_course.lessons")
OTHERS = {"F", "copy", "math", "nn", "torch"}


def where_from(error: BaseException) -> str:
    """Say of a name that isn't defined that a lesson's first cell imports it, if one does."""
    if type(error) is not NameError or not _is_imported_by_lessons(error.name):
        return ""
    return f"`{error.name}` comes from the first cell, which is missing: run it again."


def _is_imported_by_lessons(name: str | None) -> bool:
    """Tell whether a name is an exercise, or something else that first cells import."""
    ours = [m for path, m in sys.modules.items() if path.startswith(OURS)]
    return name in OTHERS or any(
        name in getattr(module, "__all__", ()) or hasattr(vars(module).get(str(name)), "hint")
        for module in ours
        if type(module) is ModuleType
    )


def explain_missing_names() -> None:
    """Let a notebook say below a NameError where the name comes from."""
    from IPython import get_ipython

    def explain(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        if told := where_from(error):
            print(told)

    shell = get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((NameError,), explain)


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
