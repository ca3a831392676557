"""Write what a lecturer gets from grading: tables, the report, and feedback to give back."""

import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from lnorm_staff.grading.files import whole_file
from lnorm_staff.grading.grade import STATES, Grade
from lnorm_staff.grading.report.class_list import ClassList
from lnorm_staff.grading.report.exercises_table import write_grades, write_table
from lnorm_staff.grading.report.gradebook import canvas_table, grades_table, student_points
from lnorm_staff.grading.report.page import feedback_page, report_page
from lnorm_staff.grading.report.summary import Summary, summarize

__all__ = ["EXERCISES", "write_results"]

EXERCISES, LESSONS, SUMMARY = "exercises.csv", "lessons.csv", "summary.csv"
GRADES, CANVAS = "grades.csv", "canvas.csv"
MISCONCEPTIONS, REPORT, FEEDBACK = "misconceptions.csv", "report.html", "feedback.zip"


def write_results(
    grades: Iterable[Grade], out: Path, class_list: ClassList | None = None, separator: str = ","
) -> Summary:
    """Write all files of a class into a folder; those of an earlier call are replaced.

    Args:
        grades: one for each exercise of each file.
        out: the folder.
        class_list: who is in the class.
        separator: what stands between the cells of a table.

    Raises:
        OSError: the folder can't be written to.
    """
    grades = list(grades)
    out.mkdir(parents=True, exist_ok=True)
    write_grades(out / EXERCISES, grades, separator)  # first, because all else can be made from it
    summary = summarize(grades)
    students = student_points(summary, class_list)

    def write(name: str, table: Iterable[Sequence[object]]) -> None:
        columns, *lines = table
        write_table(out / name, [str(each) for each in columns], lines, separator)

    write(GRADES, grades_table(students, summary.maximum))
    (out / CANVAS).unlink(missing_ok=True)
    if (class_list and class_list.is_canvas) or any(each.from_canvas for each in students):
        write(CANVAS, canvas_table(students, summary.maximum))
    write(LESSONS, _lessons(summary))
    write(SUMMARY, _exercises(summary))
    write(MISCONCEPTIONS, _misconceptions(summary))
    with whole_file(out / REPORT) as file:
        file.write(report_page(summary))
    write_feedback(summary, out / FEEDBACK)
    return summary


def _lessons(summary: Summary) -> Iterator[Sequence[object]]:
    yield ("student", "lesson", "points", "maximum", "late files", "remarks", "id")
    for p in summary.lessons:
        yield (p.student, p.lesson, p.points, p.maximum, p.late_files, p.remarks, p.id)


def _exercises(summary: Summary) -> Iterator[Sequence[object]]:
    yield ("lesson", "exercise", "students", *STATES, "most frequent mistake", "made by", "further")
    for c in summary.exercises:
        counts = map(c.number, STATES)
        yield (c.lesson, c.exercise, c.students, *counts, c.mistake, c.mistakes, c.further)


def _misconceptions(summary: Summary) -> Iterator[Sequence[object]]:
    yield ("belief or mistake", "kind", "students", "of", "exercises", "message", "show")
    for m in summary.misconceptions:
        yield (m.what, m.kind, m.students, m.of, ", ".join(m.exercises), m.message, m.show)


def write_feedback(summary: Summary, archive: Path) -> None:
    """Write a page for each student, under the path at which Moodle or Canvas expects it."""
    draft = archive.with_name(f".{archive.name}.draft")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
            for who, graded in summary.graded.items():
                not_graded = [each for each in summary.not_graded if each.who == who]
                path = _unused([*graded, *not_graded][0].feedback, file.namelist())
                file.writestr(path, feedback_page(who[0], graded, not_graded))
        draft.replace(archive)
    finally:
        draft.unlink(missing_ok=True)


def _unused(path: str, used: Collection[str]) -> str:
    """Number a path, for students whose names differ in what the name of a file can't have.

    Some systems take "Ada" and "ada" for one name.
    """
    taken = {each.casefold() for each in used}
    tried, number = path, 1
    while tried.casefold() in taken:
        number += 1
        # The names of Moodle's folders, which end with "_", and of Canvas's files have to stay.
        tried = re.sub(r"(?<!_)(?=/)|(?=\.html$)", f"_{number}", path, count=1)
    return tried
