"""Fill in points in a gradebook that Moodle or Canvas exported, or write a plain table."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lnorm_staff.grading.report.summary import StudentWork, alike, maximum_of
from lnorm_staff.tables import Table, TableError, guarded, read_table

__all__ = ["filled", "plain_table", "read_gradebook"]

# Columns of Moodle's grading worksheet. Moodle's importer requires the first three.
ID, POINTS, CHANGED = "Identifier", "Grade", "Last modified (grade)"
MAXIMUM, COMMENT, REMARKS = "Maximum grade", "Feedback comments", "Remarks"
# These columns of Canvas's gradebook identify a student. All others are assignments and totals.
OF_STUDENT = {
    *("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID"),
    *("Integration ID", "Root Account", "Section"),
}
POSSIBLE = "Points Possible"
NAMES = ("Full name", "Student", "Email address", "Username", "ID number", "SIS Login ID")
NOWHERE, SEVERAL = -1, -2
Cells = Mapping[str, str]


def read_gradebook(path: Path) -> Table:
    """Read Moodle's grading worksheet, or Canvas's gradebook.

    Raises:
        TableError: the table is neither of them, or a line has too few or too many cells.
        OSError: the file can't be read.
    """
    table = read_table(path)
    titles = {*table.titles}
    if not ({ID, POINTS, CHANGED} <= titles or {"ID", "Section"} <= titles & OF_STUDENT):
        moodle = f"Moodle's grading worksheet, with the columns {ID}, {POINTS}, and {CHANGED},"
        canvas = "Canvas's gradebook, with Student, ID, and Section."
        raise TableError(f"{path} is neither {moodle} nor {canvas}")
    return table


def filled(table: Table, students: Sequence[StudentWork]) -> tuple[list[list[str]], list[str]]:
    """Return the gradebook's lines with the points filled in, and messages for the lecturer.

    A cell for which there are no points isn't changed.
    """
    rows, maximum = [row for _, row in table.rows], maximum_of(students)
    found = [_row_of(student, rows) for student in students]
    taken = Counter(at for at, _ in found)
    places = [SEVERAL if is_loose and taken[at] > 1 else at for at, is_loose in found]
    by_student = [*zip(students, places, strict=True)]
    with_points = {at for student, at in by_student if student.points and at >= 0}
    told = [f"Students in {table.path.name} with points: {len(with_points)}."]
    for place, where in {NOWHERE: "Not in", SEVERAL: "No unique match in"}.items():
        if names := [f"\n  {student.name}" for student, at in by_student if at == place]:
            told.append(f"{where} {table.path.name}:{''.join(names)}")
    is_moodle = ID in table.titles
    columns = {} if is_moodle else _columns(table.titles, maximum)
    titles = [title for title in table.titles if is_moodle or title in OF_STUDENT]
    titles += [REMARKS] if is_moodle else columns.values()
    lines = [titles]
    for at, row in enumerate(rows):
        works = [student for student, place in by_student if place == at]
        new = _new_cells(works, columns)
        if not is_moodle and POSSIBLE in row[titles[0]]:
            new = {title: row.get(title, str(maximum[lesson])) for lesson, title in columns.items()}
        lines.append([{**row, **new}.get(title, "") for title in titles])
    return lines, [*told, *_differing(rows, maximum, columns)]


def _differing(rows: Sequence[Cells], maximum: Mapping[str, int], columns: Cells) -> Iterator[str]:
    """Yield a warning for each maximum in the gradebook that differs from the points available."""
    given = {("all lessons", row.get(MAXIMUM, "")): sum(maximum.values()) for row in rows}
    if columns:
        possible = [row for row in rows if POSSIBLE in next(iter(row.values()))]
        given = {(of, row.get(columns[of], "")): maximum[of] for of in columns for row in possible}
    for (of, text), points in given.items():
        if points and (number := _number(text)) not in (None, points):
            told = f"The gradebook's maximum for {of} is {number:g}, but there are {points} points."
            yield f"{told} Set it to {points}."


def _number(text: str) -> float | None:
    """Read a number in any common format; its last comma or period may be the decimal mark."""
    found = re.fullmatch(r"(\d[\d.,'\s]*?)(?:[.,](\d{1,2}))?", text.strip())
    return float(re.sub(r"\D", "", found[1]) + f".{found[2] or 0}") if found else None


def _columns(titles: Sequence[str], lessons: Iterable[str]) -> dict[str, str]:
    """Return the title of each lesson's existing or new column in Canvas, keyed by lesson.

    An existing title may end in a number, as in "01_mean (1234)". Other assignments
    are left out, because their points may be out of date.
    """
    known = {re.sub(r" \(\d+\)$", "", title): title for title in titles}
    return {lesson: known.get(lesson, lesson) for lesson in lessons}


def _new_cells(works: Sequence[StudentWork], columns: Mapping[str, str]) -> Cells:
    """Return a row's new cells: Canvas has one per lesson, Moodle a grade, comment, and remarks."""
    points: dict[str, float] = {}
    for lesson, earned in (pair for work in works for pair in work.points.items()):
        points[lesson] = max(earned, points.get(lesson, 0))  # of a student's, the best counts
    if columns:
        return {columns[lesson]: f"{earned:g}" for lesson, earned in points.items()}
    told = {COMMENT: [work.comment for work in works], REMARKS: guarded(w.remarks for w in works)}
    in_a_line = {title: " ".join(" ".join(said).split()) for title, said in told.items()}
    # After a backslash, PHP reads a quote as text, not as the end of a cell.
    safe = {title: re.sub(r'\\(?="|$)', r"\\ ", said) for title, said in in_a_line.items() if said}
    is_judged = points and all(work.total is not None for work in works if work.lessons)
    return {**safe, **({POINTS: f"{sum(points.values()):g}"} if is_judged else {})}


def _row_of(student: StudentWork, rows: Sequence[Cells]) -> tuple[int, bool]:
    """Return the index of a student's row, and whether only a normalized name matched it.

    The student's number is compared first, then the name or account, and last the name without
    regard to accents, case, and word order. The index is NOWHERE if no row fits, and SEVERAL if
    more than one does.
    """
    names = [{row.get(title, "").casefold() for title in NAMES} - {""} for row in rows]
    numbers = [{re.sub(r"\D", "", row.get(ID) or row.get("ID", ""))} - {""} for row in rows]
    known = [{part for name in each for part in (name, name.partition("@")[0])} for each in names]
    plain = [{*map(alike, each)} - {""} for each in names]
    name = student.name.casefold()
    for wanted, those in ((student.id, numbers), (name, known), (alike(name), plain)):
        if found := [at for at, each in enumerate(those) if wanted in each]:
            return (found[0] if len(found) == 1 else SEVERAL), those is plain
    return NOWHERE, False


def plain_table(students: Sequence[StudentWork]) -> Iterator[list[str]]:
    """Yield the lines of a table with a row for each student, for use without a gradebook."""
    maximum = maximum_of(students)
    yield ["student", "id", *maximum, "points", "maximum", "remarks", "comments"]
    for each in students:
        cells = [f"{each.points[lesson]:g}" if lesson in each.points else "" for lesson in maximum]
        total = "" if each.total is None else f"{each.total:g}"
        rest = [total, sum(maximum.values()), each.remarks, each.comment]
        yield guarded([each.name, each.id, *cells, *rest])
