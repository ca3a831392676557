"""Read a table that somebody saved from a spreadsheet or another system, as CSV."""

import csv
from pathlib import Path
from typing import NamedTuple

__all__ = ["Table", "TableError", "read_table"]

SEPARATORS = ",;\t"


class TableError(ValueError):
    """Why a table can't be used, in one sentence."""


class Table(NamedTuple):
    """The titles of a table, and its other lines by title, each with its number in the file."""

    path: Path
    titles: list[str]
    rows: list[tuple[int, dict[str, str]]]


def read_table(path: Path) -> Table:
    """Read a table with commas, semicolons, or tabs, in UTF-8, UTF-16, or as Windows saves it.

    The first line has the titles, and tells which separator it is. Empty lines are left out.

    Raises:
        TableError: it isn't a table, or a line has too few or too many cells.
        OSError: it can't be read.
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
            told = f"there are {len(cells)} cells, and the first line has {len(titles)}."
            raise TableError(f"{path}, line {number}: {told}")
    rows = [(number, dict(zip(titles, cells, strict=True))) for number, cells in others]
    return Table(path, titles, rows)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # a spreadsheet's "Unicode text"
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")
