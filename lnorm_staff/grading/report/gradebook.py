"""Points for the gradebook: in the file that Moodle or Canvas itself exports, or a plain table."""

import re
from collections.abc import Iterator, Mapping, Sequence
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
Row = Mapping[str, str]


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
    rows = [row for _, row in table.rows]
    points: list[dict[str, float]] = [{} for _ in rows]
    comments: list[list[str]] = [[] for _ in rows]
    others = []
    for student in students:
        if (at := _row_of(student, rows)) is None:
            others.append(student.name)
            continue
        for lesson, earned in student.points.items():  # who has handed in under two names
            points[at][lesson] = max(earned, points[at].get(lesson, 0))
        comments[at] += [student.comment] if student.comment else []
    told = [f"Students in {table.path.name} with points: {sum(map(bool, points))}."]
    if others:
        told.append(f"Not in {table.path.name}: {', '.join(others)}.")
    maximum = maximum_of(students)
    if ID not in table.titles:
        return _canvas(table.titles, rows, points, maximum), told
    lines = [[*table.titles]]
    for row, earned_in, said in zip(rows, points, comments, strict=True):
        new = {POINTS: f"{sum(earned_in.values()):g}"} if earned_in else {}
        # PHP takes a quote for a letter where a backslash stands in front of it.
        new |= {COMMENT: re.sub(r'\\(?="|$)', r"\\ ", " ".join(said))} if said else {}
        lines.append([({**row, **new})[title] for title in table.titles])
    most = sum(maximum.values())
    for given in {row.get(MAXIMUM, "").replace(",", ".") for row in rows}:
        if re.fullmatch(r"[\d.]+", given) and float(given) < most:
            told.append(
                f"Moodle leaves out grades above the assignment's maximum, which is {given}. "
                f"Set it to {most}."
            )
    return lines, told


def _canvas(
    titles: Sequence[str],
    rows: Sequence[Row],
    points: Sequence[Mapping[str, float]],
    maximum: Mapping[str, int],
) -> list[list[str]]:
    """Return the columns of students and lessons: another assignment's may be out of date."""
    who = [title for title in titles if title in OF_STUDENT]
    columns = {lesson: lesson for lesson in maximum}
    for title in titles:  # such as "01_mean (1234)"
        lesson, _, number = title.partition(" (")
        if lesson in maximum and re.fullmatch(r"(\d+\))?", number):
            columns[lesson] = title
    lines = [[*who, *columns.values()]]
    for row, earned in zip(rows, points, strict=True):
        new = {columns[lesson]: f"{each:g}" for lesson, each in earned.items()}
        if POSSIBLE in row[titles[0]]:
            new = {columns[lesson]: str(most) for lesson, most in maximum.items()}
            new |= {title: row[title] for title in new if title in row}
        cells = {**row, **new}
        lines.append([cells.get(title, "") for title in lines[0]])
    return lines


def _row_of(student: StudentWork, rows: Sequence[Row]) -> int | None:
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
