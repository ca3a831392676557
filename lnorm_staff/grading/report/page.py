"""Write pages in HTML that need no other file: the report on a class, and each one's feedback."""

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from lnorm_course.checking.feedback import as_html, inline
from lnorm_staff.grading.grade import STATES, STRAY, UNTOUCHED, VERDICTS, Grade, points_of, right_of
from lnorm_staff.grading.report.questions import questions
from lnorm_staff.grading.report.summary import ExerciseCount, Misconception, StudentWork, Summary
from lnorm_utils.version import __version__
from lnorm_utils.words import counted

__all__ = ["feedback_page", "report_page"]

IN_SHORT, MOST_ROWS = 3, 25  # all mistakes are in exercises.csv
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


def report_page(summary: Summary) -> str:
    """Write the report on a class. It names no student, so it can be shown in a lecture."""
    parts = [
        "<h1>What the class got right, and what to repeat</h1>",
        *_in_short(summary),
        *_on_misconceptions(summary.misconceptions),
        *_on_exercises(summary),
        *_on_not_graded(summary),
    ]
    return _page("Report on a class", parts)


def _in_short(summary: Summary) -> Iterator[str]:
    students = sum(bool(student.lessons) for student in summary.students)
    yield '<div class="first">'
    yield f"<p>{counted(students, 'student')} handed in work that could be graded.</p>"
    if found := summary.misconceptions:
        yield "<p>The most frequent misconceptions:</p>"
        yield _table([], [_told(each)[:3] for each in found[:IN_SHORT]])
    if needed := [count for count in summary.exercises if not count.further]:
        least = min(needed, key=lambda count: count.right / count.students)
        told = f"Fewest are right here: {least.right} of {least.students}."
        yield f"<p>{told} {_asked(least.lesson, least.exercise)}</p>"
    yield "</div>"


def _on_misconceptions(misconceptions: Sequence[Misconception]) -> Iterator[str]:
    yield "<h2>The most frequent misconceptions</h2>"
    if not misconceptions:
        yield "<p>No mistake was recognized.</p>"
        return
    yield "<p>In bold is a common belief, which can show in several exercises. The others are "
    yield "mistakes in one exercise.</p>"
    titles = ["belief or mistake", "students", "shown in", "what students read"]
    yield _table(titles, [_told(each) for each in misconceptions[:MOST_ROWS]])


def _told(each: Misconception) -> list[str]:
    """Tell in the cells of a table what some believe, how many, where, and what they were told."""
    what = f"<strong>{inline(each.what)}</strong>" if each.is_belief else inline(each.what)
    show = f"<br>Show {inline(f'`{each.show}`')}." if each.show else ""
    where = "<br>".join(_asked(*place) for place in each.exercises)
    return [f"{what}{show}", _bar(each.students, each.of), where, inline(each.message)]


def _on_exercises(summary: Summary) -> Iterator[str]:
    for lesson, group in groupby(summary.exercises, key=lambda count: count.lesson):
        yield f"<h2>{html.escape(lesson)}</h2>"
        rows = [
            [
                f"{_asked(lesson, each.exercise)}{' (further)' if each.further else ''}",
                _bar(each.right, each.students),
                _others(each),
                inline(f"{each.mistake}: {each.mistakes}" if each.mistake else ""),
            ]
            for each in group
        ]
        yield _table(["question", "right", "others", "most frequent mistake"], rows)


def _asked(lesson: str, exercise: str) -> str:
    """Return what an exercise asks, and its name."""
    name = f"<code>{html.escape(exercise)}</code>"
    words = questions(lesson).get(exercise)
    return f"{inline(words)} ({name})" if words else name


def _bar(part: int, whole: int) -> str:
    return f'<progress value="{part}" max="{whole}"></progress> {part} of {whole}'


def _others(count: ExerciseCount) -> str:
    others = [f"{count.states[state]} {state}" for state in STATES[1:] if count.states.get(state)]
    return ", ".join(others)


def _on_not_graded(summary: Summary) -> Iterator[str]:
    states = Counter(grade.state for student in summary.students for grade in student.not_graded)
    not_run = {state: states.pop(state, 0) for state in (UNTOUCHED, STRAY)}
    told = [f"{counted(number, 'notebook')} {state}" for state, number in not_run.items() if number]
    if told:
        yield f"<p>Not run: {', '.join(told)}.</p>"
    if states:
        number = counted(states.total(), "file")
        yield f"<p>Not graded: {number}; <code>exercises.csv</code> says why.</p>"


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
            parts.append(f"<dt>{_asked(lesson, grade.exercise)}</dt>")
            parts += [f"<dd>{sentence}</dd>" for sentence in _sentences(grade)]
        parts.append("</dl>")
    if student.not_graded:
        parts.append("<h2>Not graded</h2><ul>")
        for grade in student.not_graded:
            name = grade.file.rpartition("/")[2]
            told = f"{name}: {grade.message or grade.state} {grade.comment}"
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
