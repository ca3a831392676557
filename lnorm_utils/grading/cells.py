"""Find the exercises in the cells of a notebook, without running anything."""

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["CellPart", "Check", "checks_of", "code_cells", "parse", "split_at_checks"]

MOST_LINES, MOST_CHARACTERS = 200, 20_000  # IPython needs a minute for 10 000 lines of magic


@dataclass(frozen=True)
class Check:
    """A call of `.check`: exercise, source of the attempt, and whether it stands alone."""

    exercise: str
    attempt: str
    alone: bool


@dataclass(frozen=True)
class CellPart:
    """Statements of a cell that run in one go: those around the checks, or a single check."""

    source: str
    checks: tuple[Check, ...] = ()


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


def split_at_checks(source: str, exercises: Collection[str]) -> Iterator[CellPart]:
    """Cut a cell before and after each statement that checks one of the exercises.

    A part begins with an empty comment for each line of the cell above it, so that its errors name
    the right line.

    Raises:
        SyntaxError, ValueError: as `parse`.
    """
    if "check" not in source:
        yield CellPart(source)
        return
    code, tree = parse(source)
    text = code.encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def part(begin: int, end: int, checks: tuple[Check, ...] = ()) -> CellPart:
        above = "#\n" * text[:begin].count(b"\n")  # IPython would drop blank lines
        return CellPart(above + text[begin:end].lstrip(b" \t;").decode(), checks)

    done = 0
    for node in tree.body:
        if checks := tuple(checks_of(node, exercises)):
            begin = starts[node.lineno - 1] + node.col_offset
            last_line, column = _end(node)
            end = starts[last_line - 1] + column
            yield part(done, begin)
            yield part(begin, end, checks)
            done = end
    yield part(done, len(text))


def checks_of(statement: ast.stmt, exercises: Collection[str]) -> Iterator[Check]:
    """Yield the checks of exercises in a statement, in their order; none inside a definition."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=_end):
        name = _exercise(call.func)
        if name in exercises:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            attempt = ast.unparse(given[0]) if given else "..."
            yield Check(name, attempt, getattr(statement, "value", None) is call)


def _end(node: ast.stmt | ast.expr) -> tuple[int, int]:
    """Return the line and the column behind a node, which every parsed node has."""
    return node.end_lineno or 0, node.end_col_offset or 0


def _exercise(function: ast.expr) -> str:
    """Name the exercise in `exercise.check` or `lesson.exercise.check`; empty for other calls."""
    if not isinstance(function, ast.Attribute) or function.attr != "check":
        return ""
    owner = function.value
    return getattr(owner, "id", "") or getattr(owner, "attr", "")
