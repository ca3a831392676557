"""Write self-contained HTML pages: the report on a class, and the feedback for each student.

Their layout is in `templates`, where Jinja escapes everything that's filled in.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from lnorm_course.checking.feedback import Feedback
from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lessons
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_staff.exercise_words import exercise_words
from lnorm_staff.formulas import with_mathml
from lnorm_staff.grading import grade as grade_module
from lnorm_staff.grading.grade import RIGHT, Grade
from lnorm_staff.grading.report.summary import StudentWork, counted_of, mistake_counts
from lnorm_staff.lesson_list import LISTED
from lnorm_utils.version import __version__
from lnorm_utils.words import counted, inline

__all__ = ["feedback_page", "report_page"]

MOST_ROWS = 25  # the report lists at most this many mistakes; exercises.csv has all


def report_page(students: Sequence[StudentWork], site: str = "") -> str:
    """Write the report on a class. It names no student, so it can be shown in a lecture."""
    grades = counted_of(students)
    exercises: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grade in sorted(grades, key=lambda grade: (grade.lesson, grade.further)):
        exercises[grade.lesson, grade.exercise].append(grade)
    needed = [each for each in exercises.values() if not each[0].further]
    return PAGES.get_template("report.html").render(
        title="Report on a class",
        site=site.rstrip("/"),
        graded=counted(sum(bool(student.lessons) for student in students), "student"),
        least=min(needed, key=_share, default=None),
        mistake_counts=mistake_counts(grades)[:MOST_ROWS],
        exercises=exercises.values(),
        others=Counter(grade.state for student in students for grade in student.not_graded),
    )


def feedback_page(student: StudentWork) -> str:
    """Write a student's feedback: for each exercise, the sentence that the notebook shows."""
    title = f"Feedback for {student.name}"
    return PAGES.get_template("feedback.html").render(title=title, student=student)


def _share(grades: Sequence[Grade]) -> float:
    """Return the fraction of grades that are right."""
    return [grade.state for grade in grades].count(RIGHT) / len(grades)


def _asked(grade: Grade) -> Markup:
    """Return an exercise's question and name, as HTML."""
    name = Markup("<code>{}</code>").format(grade.exercise)
    words = exercise_words().get(grade.exercise)
    return (
        Markup("{} ({})").format(Markup(with_mathml(words, _emphasized)), name) if words else name
    )


def _emphasized(text: str) -> str:
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", inline(text))


def _place_of(shown: str) -> str:
    """Return the web edition's address for an explorer with a preset, or "" for any other code."""
    topic, _, preset = shown.removeprefix("explore_").partition('(preset="')
    for path in lessons(ORIGINALS) if preset else ():
        if f"explore_{topic}(" in path.read_text("utf-8"):
            words = re.findall("[a-z0-9]+", preset.lower())  # as pages write presets in addresses
            return f"notebooks/{path.stem}.html#{topic}={'-'.join(words)}"
    return ""


FOLDER = FileSystemLoader(Path(__file__).parent / "templates")
PAGES = Environment(loader=FOLDER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
PAGES.filters |= {"asked": _asked, "inline": lambda text: Markup(inline(text))}
PAGES.globals |= {"feedback": Feedback, "of_grades": grade_module, "version": __version__}
PAGES.globals |= {"shown_for": {m.value: LISTED["misconception"][m.code] for m in Misconception}}
PAGES.globals |= {"place_of": _place_of}
