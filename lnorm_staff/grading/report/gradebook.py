"""Points for the gradebook: in the file that Moodle or Canvas itself exports, or a plain table."""

import csv
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lnorm_staff.grading.report.exercises_table import TableError, guarded
from lnorm_staff.grading.report.summary import StudentWork, Summary
from lnorm_staff.tables import read_table

__all__ = ["Gradebook", "filled", "plain_table", "read_gradebook"]

# Moodle's grading worksheet: what its importer looks for, and where it takes a comment.
ID, POINTS, CHANGED = "Identifier", "Grade", "Last modified (grade)"
MAXIMUM, COMMENT = "Maximum grade", "Feedback comments"
# Canvas's gradebook: what says who a student is. All other columns are assignments and totals.
OF_STUDENT = {
    *("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID"),
    *("Integration ID", "Root Account", "Section"),
}
POSSIBLE = "Points Possible"
NAMES = ("Full name", "Student", "Email address", "Username", "ID number", "SIS Login ID")
Row = Mapping[str, str]


class Gradebook(NamedTuple):
    """A table that Moodle or Canvas exported: its titles, and its rows by title."""

    path: Path
    titles: Sequence[str]
    rows: Sequence[dict[str, str]]

    @property
    def is_canvas(self) -> bool:
        """Return whether it's Canvas's."""
        return ID not in self.titles


def read_gradebook(path: Path) -> Gradebook:
    """Read Moodle's grading worksheet, or Canvas's gradebook.

    Raises:
        TableError: it's something else, or a line has too few or too many cells.
        OSError: it can't be read.
    """
    try:
        (_, titles), *lines = read_table(path).lines or [(1, [])]
    except csv.Error as problem:
        raise TableError(f"{path} can't be read as a table: {problem}.") from None
    if not ({ID, POINTS, CHANGED} <= {*titles} or {"ID", "Section"} <= {*titles} & OF_STUDENT):
        raise TableError(
            f"{path} is neither Moodle's grading worksheet, with the columns {ID}, {POINTS}, and "
            f"{CHANGED}, nor Canvas's gradebook, with Student, ID, and Section."
        )
    for number, cells in lines:
        if len(cells) != len(titles):
            told = f"there are {len(cells)} cells, and the first line has {len(titles)}."
            raise TableError(f"{path}, line {number}: {told}")
    return Gradebook(path, titles, [dict(zip(titles, cells, strict=True)) for _, cells in lines])


def filled(gradebook: Gradebook, summary: Summary) -> tuple[list[list[str]], list[str]]:
    """Return the lines of the gradebook with points in them, and what a lecturer should know.

    A cell without points for it stays as it was.
    """
    found: list[list[StudentWork]] = [[] for _ in gradebook.rows]
    told, others = [], []
    for student in summary.students:
        at = _row_of(student, gradebook.rows)
        if at is None:
            others.append(student.name)
        else:
            found[at].append(student)
    with_points = sum(any(student.points for student in students) for students in found)
    told.append(f"{with_points} students in {gradebook.path.name} have points.")
    if others:
        told.append(f"Not in {gradebook.path.name}: {', '.join(others)}.")
    if not gradebook.is_canvas:
        told += _too_small(gradebook, sum(summary.maximum.values()))
    fill = _canvas if gradebook.is_canvas else _moodle
    return list(fill(gradebook, found, summary.maximum)), told


def _moodle(
    gradebook: Gradebook, found: Sequence[Sequence[StudentWork]], maximum: Mapping[str, int]
) -> Iterator[list[str]]:
    yield [*gradebook.titles]
    for row, students in zip(gradebook.rows, found, strict=True):
        points, comments = _best(students), [each.comment for each in students if each.comment]
        new = {POINTS: f"{sum(points.values()):g}"} if points else {}
        new |= {COMMENT: " ".join(comments)} if comments else {}
        yield [({**row, **new})[title] for title in gradebook.titles]


def _too_small(gradebook: Gradebook, most: int) -> Iterator[str]:
    for maximum in {row.get(MAXIMUM, "").replace(",", ".") for row in gradebook.rows}:
        if re.fullmatch(r"[\d.]+", maximum) and float(maximum) < most:
            yield (
                f"Moodle leaves out grades above the assignment's maximum, which is {maximum}. "
                f"Set it to {most}."
            )


def _canvas(
    gradebook: Gradebook, found: Sequence[Sequence[StudentWork]], maximum: Mapping[str, int]
) -> Iterator[list[str]]:
    """Yield the columns of students and lessons: another assignment's may be out of date."""
    who = [title for title in gradebook.titles if title in OF_STUDENT]
    columns = {lesson: _assignment(lesson, gradebook.titles) for lesson in maximum}
    yield [*who, *columns.values()]
    for row, students in zip(gradebook.rows, found, strict=True):
        points = {lesson: f"{each:g}" for lesson, each in _best(students).items()}
        if POSSIBLE in row[gradebook.titles[0]]:
            points = {lesson: str(most) for lesson, most in maximum.items()}
            points |= {lesson: row[c] for lesson, c in columns.items() if c in row}
        cells = [points.get(lesson, row.get(column, "")) for lesson, column in columns.items()]
        yield [*(row[title] for title in who), *cells]


def _assignment(lesson: str, titles: Sequence[str]) -> str:
    """Return the title of the assignment that a lesson is, such as "01_mean (1234)"."""
    named = [title for title in titles if re.fullmatch(rf"{lesson}( \(\d+\))?", title)]
    return named[0] if named else lesson


def _best(students: Sequence[StudentWork]) -> dict[str, float]:
    """Return the points in each lesson of a student who may have handed in under two names."""
    best: dict[str, float] = {}
    for student in students:
        for lesson, points in student.points.items():
            best[lesson] = max(points, best.get(lesson, 0))
    return best


def _row_of(student: StudentWork, rows: Sequence[Row]) -> int | None:
    """Return which row has the student's number, or else alone has the name or an account."""
    ids = [re.search(r"\d*$", row.get(ID) or row.get("ID", "")) for row in rows]
    by_id = [at for at, found in enumerate(ids) if student.id and found and found[0] == student.id]
    by_name = [at for at, row in enumerate(rows) if _plain(student.name) in _names(row)]
    found = by_id if len(by_id) == 1 else by_name
    return found[0] if len(found) == 1 else None


def _names(row: Row) -> set[str]:
    """Return all by which an archive may call a student, such as "lovelaceada"."""
    given = [row[title] for title in NAMES if title in row]
    given.append(f"{row.get('FirstName', '')} {row.get('LastName', '')}")
    known = {each.partition("@")[0] for each in given} | {*given}
    for words in (each.replace(",", " ").split() for each in given):
        known |= {" ".join(words[n:] + words[:n]) for n in range(len(words))}
    return {_plain(each) for each in known} - {""}


def _plain(name: str) -> str:
    """Return a name in small letters and digits, without accents and spaces."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def plain_table(summary: Summary) -> Iterator[list[str]]:
    """Yield the lines of a table with a row for each student, where there's no gradebook."""
    maximum = summary.maximum
    last = ["points", "maximum", "late files", "remarks", "comments"]
    yield ["student", "id", *maximum, *last]
    most = sum(maximum.values())
    for each in summary.students:
        cells = [f"{each.points[lesson]:g}" if lesson in each.points else "" for lesson in maximum]
        total = f"{sum(each.points.values()):g}" if each.points else ""
        rest = [total, most, each.late, each.remarks, each.comment]
        yield guarded([each.name, each.id, *cells, *rest])
