"""Read and write CSV tables in the forms that spreadsheets and other systems save and expect."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from lnorm_course.lab.lesson_files import whole

__all__ = ["Table", "TableError", "guarded", "read_table", "unguarded", "write_table"]

SEPARATORS = ",;\t"
# FORMULA matches the place before text that a spreadsheet would run as a formula; GUARDED matches
# a guard in that place. A lone sign, such as Moodle's dash, isn't a formula. Quoting a cell doesn't
# help, because a program that expects a different separator strips the quotes. A formula that
# already has a guard gets a second one, so that `unguarded` restores the original text.
_START, _FORMULA = r"(?:^|(?<=[,;\t\r\n]))", r"(?=['\"\s]*[=+@\-＝＋＠－].)"
FORMULA, GUARDED = re.compile(f"{_START}{_FORMULA}"), re.compile(f"{_START}'{_FORMULA}")


class TableError(ValueError):
    """Raised if a table can't be used; says why in one sentence."""


class Table(NamedTuple):
    """A table: its headings and, for each other line, its number and its cells by heading."""

    path: Path
    titles: list[str]
    rows: list[tuple[int, dict[str, str]]]


def read_table(path: Path) -> Table:
    """Read a table separated by commas, semicolons, or tabs, in UTF-8, UTF-16, or Windows-1252.

    The first line contains the column headings and determines the separator. Empty lines are
    skipped.

    Raises:
        TableError: the file isn't a table, or a line has too few or too many cells.
        OSError: the file can't be read.
    """
    text = _decoded(path.read_bytes())
    first = text.lstrip().partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as problem:
        raise TableError(f"{path} can't be read as a table: {problem}.") from None
    (_, titles), *others = [line for line in lines if any(line[1])] or [(1, [])]
    for number, cells in others:
        if len(cells) != len(titles):
            told = f"there are {len(cells)} cells, but the first line has {len(titles)}."
            raise TableError(f"{path}, line {number}: {told}")
    rows = [(number, dict(zip(titles, cells, strict=True))) for number, cells in others]
    return Table(path, titles, rows)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # spreadsheets call this "Unicode text"
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def write_table(path: Path, lines: Iterable[Sequence[object]]) -> None:
    """Write a CSV file completely or not at all; the first line contains the column headings."""
    titles, *rows = lines
    # Without the byte-order mark, some spreadsheets would misread Greek letters and é.
    with whole(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerow(titles)  # Canvas rejects a quote after the byte-order mark
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)


def guarded(cells: Iterable[object]) -> list[str]:
    """Guard cells, so that a spreadsheet doesn't take any of them for a formula.

    The guards also work in a spreadsheet that assumes a different separator.
    """
    return [FORMULA.sub("'", str(cell)) for cell in cells]


def unguarded(cell: str) -> str:
    """Return the content that a cell had before it was guarded."""
    return GUARDED.sub("", cell)
