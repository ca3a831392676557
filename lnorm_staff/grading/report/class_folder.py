"""Write the results of grading: two tables, the report, and feedback for the students.

All files can be recreated from the table of exercises, which has a row for each grade. Points and
comments in that table may be edited by hand.
"""

import contextlib
import csv
import io
import re
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import MISSING, astuple, fields, replace
from pathlib import Path
from unicodedata import normalize

from lnorm_course.lab.lesson_files import whole
from lnorm_staff.grading.grade import NOT_GRADED, NOT_JUDGED, STATES, Grade
from lnorm_staff.grading.report.gradebook import filled, plain_table
from lnorm_staff.grading.report.page import feedback_page, report_page
from lnorm_staff.grading.report.summary import StudentWork, summarize
from lnorm_staff.tables import Table, TableError, guarded, read_table, unguarded, write_table

__all__ = ["EXERCISES", "add_to", "earlier", "kept", "read_grades", "write_grades", "write_results"]

EXERCISES, GRADES = "exercises.csv", "grades.csv"
REPORT, FEEDBACK = "report.html", "feedback.zip"
COLUMNS = [field.name for field in fields(Grade)]
NOT_YET = "Not judged because this machine failed. Grade these again, or assign points yourself:\n"
KEPT = "Not judged this time. These keep their earlier grades; if they changed, grade them again:"
NEEDED = {field.name for field in fields(Grade) if field.default is MISSING}


def write_results(
    grades: Collection[Grade], out: Path, gradebook: Table | None = None, site: str = ""
) -> list[str]:
    """Write all files about a class to a folder, replacing those from an earlier call.

    Args:
        grades: a grade for each exercise in each file.
        out: the folder, which must exist.
        gradebook: the table in which to fill in points; None for a plain table.
        site: the address of a web edition, if the report should link to it.

    Returns:
        What the lecturer should know, as sentences.

    Raises:
        OSError: the folder can't be written to.
    """
    grades = sorted(grades, key=lambda grade: (*grade.who, grade.file))
    students = summarize(grades)
    table, told = filled(gradebook, students) if gradebook else (plain_table(students), [])
    names = [(each.name, ", ".join(g.exercise for g in each.pending)) for each in students]
    if pending := "\n".join(f"  {name}: {those}" for name, those in names if those):
        told.insert(0, NOT_YET + pending)
    try:
        write_grades(out / EXERCISES, grades)  # first, because the rest can be recreated from it
        write_table(out / GRADES, table)
        with whole(out / REPORT) as draft:
            draft.write_text(report_page(students, site), "utf-8")
        _write_feedback(out / FEEDBACK, students)
    except OSError as problem:  # such as a full disk, or a table that a spreadsheet has locked
        problem.add_note(_kept(grades))
        raise
    return [*told, f"The report is {out / REPORT}; the points are in {out / GRADES}."]


def _kept(grades: Iterable[Grade]) -> str:
    """Save the grades somewhere else and say where; if all disks are full, return them as text."""
    for folder in (None, Path.home(), Path.cwd(), "/dev/shm"):
        with contextlib.suppress(OSError):
            kept = Path(tempfile.mkdtemp(dir=folder)) / EXERCISES
            write_grades(kept, grades)
            return f"The grades were saved in {kept}. To write the other files, grade that table."
    rows = io.StringIO()
    csv.writer(rows).writerows(_lines(grades))
    return f"No disk has room for the grades. Save these lines as {EXERCISES}:\n{rows.getvalue()}"


def _write_feedback(archive: Path, students: Iterable[StudentWork]) -> None:
    """Write a page for each student, at the path where Moodle or Canvas expects it."""
    taken: set[str] = set()
    with whole(archive) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
        for student in students:
            path = student.grades[0].feedback
            # To some systems, "Ada" and "ada" are the same name, and so are the two encodings of é.
            while (plain := normalize("NFC", path.casefold())) in taken:
                path = f"{len(taken)}_{path}"
            taken.add(plain)
            file.writestr(path, feedback_page(student))


def earlier(out: Path) -> list[Grade]:
    """Return the grades that an earlier call wrote to a folder; create the folder if it's missing.

    Raises:
        TableError: the folder's exercises.csv isn't a table of exercises.
        OSError: the folder can't be written to.
    """
    out.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=out).close()
    return list(read_grades(out / EXERCISES)) if (out / EXERCISES).exists() else []


def write_grades(path: Path, grades: Iterable[Grade]) -> None:
    """Write the table of exercises."""
    write_table(path, _lines(grades))


def _lines(grades: Iterable[Grade]) -> list[list[str]]:
    return [COLUMNS, *(guarded(astuple(grade)) for grade in grades)]


def read_grades(path: Path) -> Iterator[Grade]:
    """Read the table of exercises, as written by the grader or by a spreadsheet.

    Raises:
        TableError: the file isn't a table of exercises, or the points in a line aren't a number.
        OSError: the file can't be read.
    """
    _, columns, rows = read_table(path)
    if not set(columns) >= NEEDED:
        raise TableError(f"{path} is not a table of exercises written by the grader.")
    for number, cells in rows:
        given = {name: unguarded(cells[name]) for name in COLUMNS if name in cells}
        given["points"] = given.get("points", "").replace(",", ".")
        grade = Grade(**given)
        if grade.points and not (grade.exercise and re.fullmatch(r"\d{1,4}(\.\d+)?", grade.points)):
            told = f"the points are {grade.points!r}, but an exercise needs a number, such as 0.5."
            raise TableError(f"{path}, line {number}: {told}")
        yield grade


def add_to(earlier: Sequence[Grade], grades: Sequence[Grade]) -> list[Grade]:
    """Add grades to earlier ones, and replace the earlier grades of files that are graded again.

    The points and comments that a person gave are kept, and so is an earlier grade if the new one
    isn't judged. Files with the same name from different lessons are treated as separate files,
    because names may recur from week to week.
    """
    given = {(_file(grade), grade.exercise): grade for grade in earlier}
    again = {_file(each) for grade in grades for each in (grade, replace(grade, lesson=""))}
    added = [grade for grade in earlier if _file(grade) not in again]
    for grade in grades:
        former = given.get((_file(grade), grade.exercise), grade)
        last = former if grade.state == NOT_JUDGED else grade
        added.append(replace(last, points=former.points, comment=former.comment))
    return added


def kept(grades: Iterable[Grade], added: Iterable[Grade]) -> list[str]:
    """List exercises and files that weren't judged this time and so keep an earlier grade."""
    judged = [each for each in added if each.state in STATES and each.state != NOT_JUDGED]
    known = {(*g.who, g.file, name) for g in judged for name in (g.exercise, "")}
    failed = [grade for grade in grades if grade.state in (NOT_JUDGED, NOT_GRADED)]
    lost = [grade for grade in failed if (*grade.who, grade.file, grade.exercise) in known]
    return [KEPT, *(f"  {each.file}: {each.exercise or 'all'}" for each in lost)] if lost else []


def _file(grade: Grade) -> tuple[str, ...]:
    return (*grade.who, grade.file, grade.lesson)
