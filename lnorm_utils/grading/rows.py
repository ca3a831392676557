"""The table that grading writes and the report reads: a row for each exercise of each file."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from lnorm_utils.grading.collect import HandedIn
from lnorm_utils.grading.grade import Grade
from lnorm_utils.grading.plain_text import printable
from lnorm_utils.grading.results import whole_file

__all__ = ["NOT_GRADED", "Row", "RowsError", "read_rows", "rows_of", "write_rows", "write_table"]

NOT_GRADED = "not graded"


class RowsError(ValueError):
    """Why a file isn't a table that grading wrote, in one sentence."""


@dataclass(frozen=True)
class Row:
    """What became of an exercise of a file; without an exercise, why the file isn't graded."""

    student: str
    id: str  # the number by which Moodle or Canvas knows the student
    file: str
    late: str  # "late" or nothing
    feedback: str  # the path under which the student's feedback goes back
    lesson: str = ""
    exercise: str = ""
    state: str = ""
    mistake: str = ""
    belief: str = ""
    message: str = ""


def rows_of(file: HandedIn, grades: Iterable[Grade]) -> list[Row]:
    """Return the rows of a file; without grades, a single one with the reason."""
    who = file.student
    given = (who.name, who.id, file.file, "late" if who.late else "", who.feedback)
    graded = [(g.lesson, g.exercise, g.state, g.mistake, g.belief, g.message) for g in grades] or [
        ("", "", NOT_GRADED, "", "", file.reason)
    ]
    return [Row(*map(printable, (*given, *each))) for each in graded]


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, whole or not at all; to a spreadsheet no cell looks like a formula."""
    with whole_file(path) as file:
        file.write("\ufeff")  # without it some spreadsheets don't read Greek, or an é
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows([_no_formula(str(cell)) for cell in row] for row in rows)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write the table of exercises."""
    write_table(path, COLUMNS, map(astuple, rows))


def read_rows(path: Path) -> Iterator[Row]:
    """Read the table of exercises.

    Raises:
        RowsError: it's another file.
        OSError: it can't be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            if table.fieldnames != COLUMNS:
                raise KeyError
            for row in table:
                yield Row(**{name: re.sub(r"^'(?=[=+@-])", "", row[name]) for name in COLUMNS})
    except (KeyError, TypeError, UnicodeError, csv.Error):
        raise RowsError(f"{path} is not a table of exercises that grading wrote.") from None


COLUMNS = [field.name for field in fields(Row)]


def _no_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
