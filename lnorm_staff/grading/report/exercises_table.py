"""The table of exercises: a row for each grade, in which a person may change points and comment."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, astuple, fields, replace
from pathlib import Path

from lnorm_course.lab.lesson_files import whole
from lnorm_staff.grading.grade import Grade
from lnorm_staff.tables import TableError, read_table

__all__ = ["add_to", "read_grades", "write_grades", "write_table"]

COLUMNS = [field.name for field in fields(Grade)]
NEEDED = {field.name for field in fields(Grade) if field.default is MISSING}
# What a spreadsheet would run, and how it's written instead; a lone sign is none, such as Moodle's
# dash. Quotes are no guard, for a reader with another separator takes them off. Where a formula is
# guarded already, one more guard keeps it apart.
_START, _FORMULA = r"(?:^|(?<=[,;\t\r\n]))", r"(?=['\"]*[=+@-].)"
FORMULA, GUARDED = re.compile(f"{_START}{_FORMULA}"), re.compile(f"{_START}'{_FORMULA}")


def write_table(path: Path, lines: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, whole or not at all; its first line has the titles."""
    titles, *rows = lines
    # With a mark of its encoding, because some spreadsheets don't read Greek, or an é, without it.
    with whole(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerow(titles)  # Canvas takes no quote behind the mark
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)


def guarded(cells: Iterable[object]) -> list[str]:
    """Return cells of which none looks like a formula to a spreadsheet.

    That also holds for one that takes another separator than the file has.
    """
    return [FORMULA.sub("'", str(cell)) for cell in cells]


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
        given = {name: GUARDED.sub("", cells[name]) for name in COLUMNS if name in cells}
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
