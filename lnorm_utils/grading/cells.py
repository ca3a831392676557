"""Find the exercises in the cells of a notebook, without running anything."""

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Check", "Piece", "checks_of", "code_cells", "parse", "pieces"]

MOST_LINES, MOST_LETTERS = 200, 20_000  # IPython needs a minute for 10 000 lines of magic


@dataclass(frozen=True)
class Check:
    """A call of `.check`: the exercise, the source of what is checked, and whether it is alone."""

    exercise: str
    attempt: str
    alone: bool


@dataclass(frozen=True)
class Piece:
    """Statements of a cell that run in one go, up to a check or with one."""

    source: str
    checks: tuple[Check, ...] = ()


def code_cells(notebook: Mapping) -> list[str]:
    """Return the sources of the code cells."""
    return [str(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def parse(source: str) -> tuple[str, ast.Module]:
    """Return a cell as Python, without IPython's own syntax, and its tree.

    Raises:
        SyntaxError, ValueError: it is not Python, or too long for an exercise; a cell made to
            break parsers may raise others.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    if source.count("\n") >= MOST_LINES or len(source) > MOST_LETTERS:
        raise ValueError(f"longer than {MOST_LINES} lines or {MOST_LETTERS} letters")
    code = TransformerManager().transform_cell(source)
    with warnings.catch_warnings(action="ignore"):  # about a student's escape sequences
        return code, ast.parse(code, "the cell")


def pieces(source: str, exercises: Collection[str]) -> Iterator[Piece]:
    """Cut a cell before and after each statement that checks one of the exercises.

    Empty comments stand for what was cut off, so that line numbers stay those of the cell.

    Raises:
        SyntaxError, ValueError: as `parse`.
    """
    if "check" not in source:
        yield Piece(source)
        return
    code, tree = parse(source)
    text = code.encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def piece(begin: int, end: int, checks: tuple[Check, ...] = ()) -> Piece:
        above = "#\n" * text[:begin].count(b"\n")  # IPython would drop blank lines
        return Piece(above + text[begin:end].lstrip(b" \t;").decode(), checks)

    done = 0
    for node in tree.body:
        if checks := tuple(checks_of(node, exercises)):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            yield piece(done, begin)
            yield piece(begin, end, checks)
            done = end
    yield piece(done, len(text))


def checks_of(statement: ast.stmt, exercises: Collection[str]) -> Iterator[Check]:
    """Yield the checks of exercises in a statement, in their order; none inside a definition."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.end_lineno, node.end_col_offset)):
        name = _exercise(call.func)
        if name in exercises:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            attempt = ast.unparse(given[0]) if given else "..."
            yield Check(name, attempt, getattr(statement, "value", None) is call)


def _exercise(function: ast.expr) -> str:
    """Name the exercise in `exercise.check` or `lesson.exercise.check`; empty for other calls."""
    if not isinstance(function, ast.Attribute) or function.attr != "check":
        return ""
    owner = function.value
    return getattr(owner, "id", "") or getattr(owner, "attr", "")
