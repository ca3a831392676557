"""The table of exercises, which grading writes and the report reads: a row for each grade."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, astuple, fields
from pathlib import Path

from lnorm_staff.grading.files import whole_file
from lnorm_staff.grading.grade import Grade
from lnorm_staff.tables import read_table

__all__ = ["TableError", "read_grades", "write_grades", "write_table"]


class TableError(ValueError):
    """Why a file isn't a table that grading wrote, in one sentence."""


def write_table(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ","
) -> None:
    """Write a CSV file, whole or not at all; to a spreadsheet no cell looks like a formula.

    That also holds for one that takes another separator than the file has.
    """
    with whole_file(path) as file:
        file.write("\ufeff")  # without it some spreadsheets don't read Greek, or an é
        csv.writer(file, delimiter=separator).writerow(columns)  # Canvas takes no quote after it
        table = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL)
        table.writerows([FORMULA.sub("'", str(cell)) for cell in row] for row in rows)


def write_grades(path: Path, grades: Iterable[Grade], separator: str = ",") -> None:
    """Write the table of exercises."""
    write_table(path, COLUMNS, map(astuple, grades), separator)


def read_grades(path: Path) -> Iterator[Grade]:
    """Read the table of exercises, also one without the columns that aren't always needed.

    Raises:
        TableError: it's another file.
        OSError: it can't be read.
    """
    try:
        (_, columns), *lines = read_table(path).lines
        if not NEEDED <= set(columns) <= set(COLUMNS):
            raise ValueError
        for _, cells in lines:
            given = zip(columns, cells, strict=True)
            yield Grade(**{name: GUARDED.sub("", cell) for name, cell in given})
    except (ValueError, csv.Error):
        raise TableError(f"{path} is not a table of exercises that grading wrote.") from None


COLUMNS = [field.name for field in fields(Grade)]
NEEDED = {field.name for field in fields(Grade) if field.default is MISSING}


# What a spreadsheet would run, and how it's written instead; a lone sign is none, such as Moodle's
# dash. Where a formula is guarded already, one more guard keeps it apart.
_START, _FORMULA = r"(?:^|(?<=[,;\t\r\n]))", r"(?='*[=+@-].)"
FORMULA, GUARDED = re.compile(f"{_START}{_FORMULA}"), re.compile(f"{_START}'{_FORMULA}")
