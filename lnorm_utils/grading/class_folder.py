"""Write what a lecturer gets from grading: tables, the report, and feedback to give back."""

import zipfile
from collections.abc import Collection, Iterable
from dataclasses import astuple
from pathlib import Path

from lnorm_utils.grading.page import feedback_page, report_page
from lnorm_utils.grading.results import whole_file
from lnorm_utils.grading.rows import Row, write_rows, write_table
from lnorm_utils.grading.summary import STATES, Summary, summarize

__all__ = ["EXERCISES", "write_results"]

EXERCISES, GRADES, SUMMARY = "exercises.csv", "grades.csv", "summary.csv"
MISCONCEPTIONS, REPORT, FEEDBACK = "misconceptions.csv", "report.html", "feedback.zip"


def write_results(rows: Iterable[Row], out: Path) -> Summary:
    """Write all files of a class into a folder; those of an earlier call are replaced.

    Raises:
        OSError: the folder can't be written to.
    """
    rows = list(rows)
    out.mkdir(parents=True, exist_ok=True)
    write_rows(out / EXERCISES, rows)  # first, because all else can be made from it
    summary = summarize(rows)
    columns = ("student", "lesson", "points", "maximum", "late files", "remarks", "id")
    write_table(out / GRADES, columns, map(astuple, summary.grades))
    write_table(
        out / SUMMARY,
        ("lesson", "exercise", "students", *STATES, "most frequent mistake", "made by"),
        (
            [c.lesson, c.exercise, c.students, *map(c.number, STATES), c.mistake, c.mistakes]
            for c in summary.exercises
        ),
    )
    write_table(
        out / MISCONCEPTIONS,
        ("belief or mistake", "kind", "students", "of", "exercises", "message"),
        (
            [m.what, m.kind, m.students, m.of, ", ".join(m.exercises), m.message]
            for m in summary.misconceptions
        ),
    )
    with whole_file(out / REPORT) as file:
        file.write(report_page(summary))
    write_feedback(summary, out / FEEDBACK)
    return summary


def write_feedback(summary: Summary, archive: Path) -> None:
    """Write a page for each student, under the path at which Moodle or Canvas expects it."""
    draft = archive.with_name(f".{archive.name}.draft")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as file:
            for who, rows in summary.rows.items():
                not_graded = [row for row in summary.not_graded if (row.student, row.id) == who]
                path = _unused([*rows, *not_graded][0].feedback, file.namelist())
                file.writestr(path, feedback_page(who[0], rows, not_graded))
        draft.replace(archive)
    finally:
        draft.unlink(missing_ok=True)


def _unused(path: str, used: Collection[str]) -> str:
    """Number a path, for students whose names differ in what the name of a file can't have."""
    tried, number = path, 1
    while tried in used:
        number += 1
        tried = path.replace("feedback.html", f"feedback_{number}.html")
    return tried
