"""The table of exercises: a row for each grade, in which a person may change points and comment."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, astuple, fields, replace
from pathlib import Path

from lnorm_staff.grading.grade import Grade
from lnorm_staff.tables import TableError, guarded, read_table, unguarded, write_table

__all__ = ["add_to", "read_grades", "write_grades"]

COLUMNS = [field.name for field in fields(Grade)]
NEEDED = {field.name for field in fields(Grade) if field.default is MISSING}


def write_grades(path: Path, grades: Iterable[Grade]) -> None:
    """Write the table of exercises."""
    write_table(path, [COLUMNS, *(guarded(astuple(grade)) for grade in grades)])


def read_grades(path: Path) -> Iterator[Grade]:
    """Read the table of exercises, as grading or a spreadsheet has written it.

    Raises:
        TableError: it's another file, or what a person wrote isn't a number of points.
        OSError: it can't be read.
    """
    _, columns, rows = read_table(path)
    if not set(columns) >= NEEDED:
        raise TableError(f"{path} is not a table of exercises that grading wrote.")
    for number, cells in rows:
        given = {name: unguarded(cells[name]) for name in COLUMNS if name in cells}
        given["points"] = given.get("points", "").replace(",", ".")
        grade = Grade(**given)
        if grade.points and not re.fullmatch(r"\d{1,4}(\.\d+)?", grade.points):
            told = f"the points are {grade.points!r}, and not a number such as 0.5."
            raise TableError(f"{path}, line {number}: {told}")
        if grade.points and not grade.exercise:
            told = "there are points for a whole file, and they belong into grades.csv."
            raise TableError(f"{path}, line {number}: {told}")
        yield grade


def add_to(earlier: Sequence[Grade], grades: Sequence[Grade]) -> list[Grade]:
    """Add grades to those of an earlier call, of which files that are graded again are replaced.

    The points and comments that a person wrote to these stay. A file of another lesson is another
    file, because two weeks may have the same names.
    """
    given = {(_file(grade), grade.exercise): grade for grade in earlier}
    again = {_file(each) for grade in grades for each in (grade, replace(grade, lesson=""))}
    added = [grade for grade in earlier if _file(grade) not in again]
    for grade in grades:
        person = given.get((_file(grade), grade.exercise), grade)
        added.append(replace(grade, points=person.points, comment=person.comment))
    return added


def _file(grade: Grade) -> tuple[str, ...]:
    return (*grade.who, grade.file, grade.lesson)
