"""Restore the names that a lesson imports from the course.

The grader's kernel runs this file too, so it imports nothing that contains the answers.
"""

import ast
import contextlib
from collections.abc import Sequence

from lnorm_utils.words import spoken

__all__ = ["put_back"]


def put_back() -> str:
    """Restore names that were imported from the course and then reassigned, and say which.

    Returns:
        A sentence that lists the restored names; empty if there are none, or outside a notebook.
    """
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return ""
    imported = _imported(shell.user_ns.get("In", []))
    taken = [n for n, value in imported.items() if shell.user_ns.get(n, value) is not value]
    if not taken:
        return ""
    shell.user_ns.update({name: imported[name] for name in taken})
    names = spoken([f"`{name}`" for name in taken])
    return f"You used {names} for something else, so this check restored what you had imported."


def _imported(cells: Sequence[str]) -> dict[str, object]:
    """Return the names that the cells import from the course, and their values."""
    names: dict[str, object] = {}
    for cell in cells:
        with contextlib.suppress(Exception):  # a cell that isn't valid Python, or a missing name
            for line in ast.parse(cell).body:
                if isinstance(line, ast.ImportFrom) and str(line.module).startswith("lnorm_"):
                    exec(ast.unparse(line), {}, names)
    return names
