"""Take the code out of a notebook, and read a cell of it without running anything."""

import ast
import warnings
from collections.abc import Mapping

__all__ = ["MOST_CHARACTERS", "code_cells", "parse"]

MOST_LINES, MOST_CHARACTERS = 200, 20_000  # IPython needs a minute for 10 000 lines of magic


def code_cells(notebook: Mapping) -> list[str]:
    """Return the sources of the code cells."""
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def parse(source: str) -> tuple[str, ast.Module]:
    """Return a cell as Python, without IPython's own syntax, and its tree.

    Raises:
        SyntaxError, ValueError: it is not Python, or too long for an exercise; a cell made to
            break parsers may raise others.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    if source.count("\n") >= MOST_LINES or len(source) > MOST_CHARACTERS:
        raise ValueError(f"longer than {MOST_LINES} lines or {MOST_CHARACTERS} characters")
    code = TransformerManager().transform_cell(source)
    with warnings.catch_warnings(action="ignore"):  # about a student's escape sequences
        return code, ast.parse(code, "the cell")
