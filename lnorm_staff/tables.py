"""Read a table that somebody saved from a spreadsheet or another system, as CSV."""

import csv
from pathlib import Path
from typing import NamedTuple

__all__ = ["Table", "read_table"]

SEPARATORS = ",;\t"


class Table(NamedTuple):
    """The lines of a table that aren't empty, each with its number in the file."""

    lines: list[tuple[int, list[str]]]
    separator: str


def read_table(path: Path) -> Table:
    """Read a table with commas, semicolons, or tabs, in UTF-8, UTF-16, or as Windows saves it.

    The first line tells which separator it is.

    Raises:
        OSError: the file can't be read.
        csv.Error: a cell has more than 131,072 characters.
    """
    text = _decoded(path.read_bytes())
    first = text.lstrip().partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    rows = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    lines = [(rows.line_num, [cell.strip() for cell in row]) for row in rows]
    return Table([(number, row) for number, row in lines if any(row)], separator)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # a spreadsheet's "Unicode text"
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")
