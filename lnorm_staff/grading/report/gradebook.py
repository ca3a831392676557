"""Points for the gradebook: in the file that Moodle or Canvas itself exports, or a plain table."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lnorm_staff.grading.report.summary import StudentWork, maximum_of
from lnorm_staff.tables import Table, TableError, guarded, read_table

__all__ = ["filled", "plain_table", "read_gradebook"]

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
Cells = Mapping[str, str]


def read_gradebook(path: Path) -> Table:
    """Read Moodle's grading worksheet, or Canvas's gradebook.

    Raises:
        TableError: it's something else, or a line has too few or too many cells.
        OSError: it can't be read.
    """
    table = read_table(path)
    titles = {*table.titles}
    if not ({ID, POINTS, CHANGED} <= titles or {"ID", "Section"} <= titles & OF_STUDENT):
        raise TableError(
            f"{path} is neither Moodle's grading worksheet, with the columns {ID}, {POINTS}, and "
            f"{CHANGED}, nor Canvas's gradebook, with Student, ID, and Section."
        )
    return table


def filled(table: Table, students: Sequence[StudentWork]) -> tuple[list[list[str]], list[str]]:
    """Return the lines of the gradebook with points in them, and what a lecturer should know.

    A cell without points for it stays as it was.
    """
    rows, maximum = [row for _, row in table.rows], maximum_of(students)
    by_student = [(student, _row_of(student, rows)) for student in students]
    others = [student.name for student, at in by_student if at is None]
    with_points = {at for student, at in by_student if student.points} - {None}
    told = [f"Students in {table.path.name} with points: {len(with_points)}."]
    if others:
        told.append(f"Not in {table.path.name}: {', '.join(others)}.")
    is_moodle = ID in table.titles
    columns = {} if is_moodle else _columns(table.titles, maximum)
    titles = [title for title in table.titles if is_moodle or title in OF_STUDENT]
    titles += columns.values()
    lines = [titles]
    for at, row in enumerate(rows):
        works = [student for student, place in by_student if place == at]
        new = _new_cells(works, columns)
        if not is_moodle and POSSIBLE in row[titles[0]]:
            new = {title: row.get(title, str(maximum[lesson])) for lesson, title in columns.items()}
        lines.append([{**row, **new}.get(title, "") for title in titles])
    most = sum(maximum.values())
    for given in {row.get(MAXIMUM, "").replace(",", ".") for row in rows}:
        if re.fullmatch(r"[\d.]+", given) and float(given) < most:
            told.append(
                f"Moodle leaves out grades above the assignment's maximum, which is {given}. "
                f"Set it to {most}."
            )
    return lines, told


def _columns(titles: Sequence[str], lessons: Iterable[str]) -> dict[str, str]:
    """Return Canvas's title for each lesson, such as "01_mean (1234)", or the one it will get.

    All other assignments may be out of date.
    """
    known = {re.sub(r" \(\d+\)$", "", title): title for title in titles}
    return {lesson: known.get(lesson, lesson) for lesson in lessons}


def _new_cells(works: Sequence[StudentWork], columns: Mapping[str, str]) -> Cells:
    """Return what a row gets: for Canvas in a column for each lesson, otherwise in Moodle's two."""
    points: dict[str, float] = {}
    for lesson, earned in (pair for work in works for pair in work.points.items()):
        points[lesson] = max(earned, points.get(lesson, 0))  # handed in under two names
    if columns:
        return {columns[lesson]: f"{earned:g}" for lesson, earned in points.items()}
    said = " ".join(work.comment for work in works if work.comment)
    # PHP takes a quote for a letter where a backslash stands in front of it.
    comment = {COMMENT: re.sub(r'\\(?="|$)', r"\\ ", said)} if said else {}
    return {POINTS: f"{sum(points.values()):g}", **comment} if points else comment


def _row_of(student: StudentWork, rows: Sequence[Cells]) -> int | None:
    """Return which row alone has the student's number, or else the name or an account."""
    name = student.name.casefold()
    numbers = [re.sub(r"\D", "", row.get(ID) or row.get("ID", "")) for row in rows]
    by_number = [at for at, number in enumerate(numbers) if number and number == student.id]
    names = [{row.get(title, "").casefold() for title in NAMES} - {""} for row in rows]
    accounts = [{name.partition("@")[0] for name in each} for each in names]
    by_name = [at for at in range(len(rows)) if name in names[at] | accounts[at]]
    found = by_number if len(by_number) == 1 else by_name
    return found[0] if len(found) == 1 else None


def plain_table(students: Sequence[StudentWork]) -> Iterator[list[str]]:
    """Yield the lines of a table with a row for each student, where there's no gradebook."""
    maximum = maximum_of(students)
    last = ["points", "maximum", "remarks", "comments"]
    yield ["student", "id", *maximum, *last]
    most = sum(maximum.values())
    for each in students:
        cells = [f"{each.points[lesson]:g}" if lesson in each.points else "" for lesson in maximum]
        total = f"{sum(each.points.values()):g}" if each.points else ""
        rest = [total, most, each.remarks, each.comment]
        yield guarded([each.name, each.id, *cells, *rest])
