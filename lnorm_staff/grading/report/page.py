"""Write pages in HTML that need no other file: the report on a class, and each one's feedback."""

import html
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from lnorm_course.checking.feedback import as_html, inline
from lnorm_staff.grading.grade import RIGHT, STATES, VERDICTS, Grade, points_of, right_of
from lnorm_staff.grading.report.questions import questions
from lnorm_staff.grading.report.summary import (
    Misconception,
    StudentWork,
    counted_of,
    misconceptions,
)
from lnorm_staff.lecture import FOR_BELIEF
from lnorm_utils.version import __version__
from lnorm_utils.words import counted

__all__ = ["feedback_page", "report_page"]

MOST_ROWS = 25  # all mistakes are in exercises.csv
SHOWN_FOR_BELIEF = {belief.value: call for belief, call in FOR_BELIEF.items()}
STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1b; background: #fff; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem;
  border-bottom: 1px solid #ccc; }
td:first-child { width: 35%; }
progress { width: 7rem; accent-color: #0072B2; }
dt { font-weight: bold; margin-top: .8rem; }
.first { font-size: 1.15rem; border-left: .3rem solid #0072B2; padding-left: 1rem; }
"""


def report_page(students: Sequence[StudentWork]) -> str:
    """Write the report on a class. It names no student, so it can be shown in a lecture."""
    grades = counted_of(students)
    by_exercise: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grade in sorted(grades, key=lambda grade: (grade.lesson, grade.further)):
        by_exercise[grade.lesson, grade.exercise].append(grade)
    exercises = list(by_exercise.values())
    graded = sum(bool(student.lessons) for student in students)
    first = f"{counted(graded, 'student')} handed in work that could be graded."
    if needed := [each for each in exercises if not each[0].further]:
        least = min(needed, key=lambda each: _right(each) / len(each))
        first += f" Fewest are right here, {_right(least)} of {len(least)}: {_asked(least[0])}"
    parts = [
        "<h1>What the class got right, and what to repeat</h1>",
        f'<p class="first">{first}</p>',
        *_on_misconceptions(misconceptions(grades)),
        *_on_exercises(exercises),
    ]
    states = Counter(grade.state for student in students for grade in student.not_graded)
    if states:
        told = ", ".join(f"{number:,} {state}" for state, number in states.items())
        parts.append(f"<p>Other files: {told}; <code>exercises.csv</code> says why.</p>")
    return _page("Report on a class", parts)


def _on_misconceptions(shown: Sequence[Misconception]) -> Iterator[str]:
    yield "<h2>The most frequent misconceptions</h2>"
    if not shown:
        yield "<p>No mistake was recognized.</p>"
        return
    yield "<p>In bold is a common belief, which can show in several exercises. The others are "
    yield "mistakes in one exercise.</p>"
    titles = ["belief or mistake", "students", "shown in", "what students read"]
    yield _table(titles, [_told(each) for each in shown[:MOST_ROWS]])


def _told(each: Misconception) -> list[str]:
    """Tell in the cells of a table what some believe, how many, where, and what they were told."""
    what = inline(each.what)
    if each.is_belief:
        call = inline(f"`{SHOWN_FOR_BELIEF[each.what]}`")
        what = f"<strong>{what}</strong><br>Show {call}."
    where = "<br>".join(dict.fromkeys(map(_asked, each.shown)))
    ((message, _),) = Counter(grade.message for grade in each.shown).most_common(1)
    return [what, _bar(each.students, each.of), where, inline(message)]


def _on_exercises(exercises: Iterable[Sequence[Grade]]) -> Iterator[str]:
    for lesson, group in groupby(exercises, key=lambda grades: grades[0].lesson):
        yield f"<h2>{html.escape(lesson)}</h2>"
        rows = []
        for grades in group:
            asked = f"{_asked(grades[0])}{' (further)' if grades[0].further else ''}"
            states = Counter(grade.state for grade in grades)
            others = [f"{states[state]}&nbsp;{state}" for state in STATES[1:] if states[state]]
            rows.append([asked, _bar(_right(grades), len(grades)), ", ".join(others)])
        yield _table(["question", "right", "others"], rows)


def _right(grades: Iterable[Grade]) -> int:
    return sum(grade.state == RIGHT for grade in grades)


def _asked(grade: Grade) -> str:
    """Return what an exercise asks, and its name."""
    name = f"<code>{html.escape(grade.exercise)}</code>"
    words = questions(grade.lesson).get(grade.exercise)
    return f"{inline(words)} ({name})" if words else name


def _bar(part: int, whole: int) -> str:
    return f'<progress value="{part}" max="{whole}"></progress> {part}&nbsp;of&nbsp;{whole}'


def feedback_page(student: StudentWork) -> str:
    """Write the feedback for a student: for each exercise the sentence that the notebook shows."""
    parts = [f"<h1>Feedback for {html.escape(student.name)}</h1>"]
    for lesson, grades in student.lessons.items():
        parts.append(f"<h2>{html.escape(lesson)}: {right_of(grades)}</h2>")
        if any(grade.points for grade in grades):
            points, most = points_of(grades)
            parts.append(f"<p>Points: {points:g} of {most}.</p>")
        parts.append("<dl>")
        for grade in grades:
            parts.append(f"<dt>{_asked(grade)}</dt>")
            parts += [f"<dd>{sentence}</dd>" for sentence in _sentences(grade)]
        parts.append("</dl>")
    if student.not_graded:
        parts.append("<h2>Not graded</h2><ul>")
        for grade in student.not_graded:
            told = f"{grade.name}: {grade.message} {grade.comment}"
            parts.append(f"<li>{html.escape(told)}</li>")
        parts.append("</ul>")
    return _page(f"Feedback for {student.name}", parts)


def _sentences(grade: Grade) -> Iterator[str]:
    if verdict := VERDICTS.get(grade.state):
        yield as_html(verdict, grade.message, grade.beliefs)
    else:
        state, message = grade.state.capitalize(), grade.message
        yield f"<strong>{html.escape(state)}:</strong> {html.escape(message)}"
    if grade.points:
        yield f"Your instructor gives this {html.escape(grade.points)} of 1 point."
    if grade.comment:
        yield f"Your instructor writes: {html.escape(grade.comment)}"


def _page(title: str, parts: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    graded_with = f"<footer>Graded with version {__version__} of the course.</footer>"
    body = "\n".join([*parts, graded_with])
    head = f'<!doctype html>\n<html lang="en"><head>{head}{view}</head>'
    return f"{head}\n<body>\n{body}\n</body></html>\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table, of titles in plain text and cells in HTML."""
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"
