"""Write what a lecturer gets from grading: two tables, the report, and feedback to give back."""

import zipfile
from collections.abc import Collection, Iterable
from pathlib import Path

from lnorm_course.lab.lesson_files import whole
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.report.exercises_table import write_grades
from lnorm_staff.grading.report.gradebook import filled, plain_table
from lnorm_staff.grading.report.page import feedback_page, report_page
from lnorm_staff.grading.report.summary import StudentWork, summarize
from lnorm_staff.tables import Table, write_table

__all__ = ["EXERCISES", "FEEDBACK", "GRADES", "REPORT", "write_results"]

EXERCISES, GRADES = "exercises.csv", "grades.csv"
REPORT, FEEDBACK = "report.html", "feedback.zip"


def write_results(
    grades: Collection[Grade], out: Path, gradebook: Table | None = None
) -> list[str]:
    """Write all files of a class into a folder; those of an earlier call are replaced.

    Args:
        grades: one for each exercise of each file.
        out: the folder, which has to be there.
        gradebook: the table into which points are filled.

    Returns:
        What the lecturer should know, in sentences.

    Raises:
        OSError: the folder can't be written to.
    """
    grades = sorted(grades, key=lambda grade: (*grade.who, grade.file))
    students = summarize(grades)
    write_grades(out / EXERCISES, grades)  # first, because all else can be made from it
    table, told = filled(gradebook, students) if gradebook else (plain_table(students), [])
    write_table(out / GRADES, table)
    with whole(out / REPORT) as draft:
        draft.write_text(report_page(students), "utf-8")
    write_feedback(students, out / FEEDBACK)
    return told


def write_feedback(students: Iterable[StudentWork], archive: Path) -> None:
    """Write a page for each student, under the path at which Moodle or Canvas expects it."""
    with whole(archive) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
        taken: set[str] = set()
        for student in students:
            path = student.grades[0].feedback
            # Some systems take "Ada" and "ada" for one name.
            while path.casefold() in taken:
                path = f"{len(taken)}_{path}"
            taken.add(path.casefold())
            file.writestr(path, feedback_page(student))
