"""Write pages in HTML that need no other file: the report on a class, and each one's feedback."""

import base64
import html
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from lnorm_course.checking.feedback import as_html, inline
from lnorm_staff.grading.grade import STRAY, UNTOUCHED, VERDICTS, Grade, right_of
from lnorm_staff.grading.report.pictures import misconception_bars, right_bars
from lnorm_staff.grading.report.summary import Misconception, Summary
from lnorm_utils.plotting.picture import Picture, image_tag
from lnorm_utils.version import __version__
from lnorm_utils.words import counted

__all__ = ["feedback_page", "report_page"]

IN_SHORT, MOST_BARS, MOST_ROWS = 3, 10, 25  # all are in misconceptions.csv
STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1b; background: #fff; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem;
  border-bottom: 1px solid #ccc; }
dt { font-weight: bold; margin-top: .8rem; }
.first { font-size: 1.15rem; border-left: .3rem solid #0072B2; padding-left: 1rem; }
"""


def report_page(summary: Summary) -> str:
    """Write the report on a class. It names no student, so it can be shown in a lecture."""
    students = {(each.student, each.id) for each in summary.lessons if each.lesson}
    parts = [
        "<h1>What the class got right, and what to repeat</h1>",
        *_in_short(summary, len(students)),
        *_on_misconceptions(summary.misconceptions),
        *_on_exercises(summary),
    ]
    parts += [*_on_same_code(summary), *_on_not_graded(summary)]
    return _page("Report on a class", parts)


def _in_short(summary: Summary, students: int) -> Iterable[str]:
    yield '<div class="first">'
    yield f"<p>{counted(students, 'student')} handed in work that could be graded.</p>"
    if summary.misconceptions:
        yield "<p>The most frequent misconceptions:</p><ol>"
        for each in summary.misconceptions[:IN_SHORT]:
            where = ", ".join(f"<code>{html.escape(name)}</code>" for name in each.exercises)
            told = f"<strong>{inline(each.what)}</strong>: {each.students} of {each.of}"
            show = f" Show {inline(f'`{each.show}`')}." if each.show else ""
            yield (
                f"<li>{told}, in {where}.{show}</li>"
                if each.is_belief
                else f"<li>{told}.{show}</li>"
            )
        yield "</ol>"
    if needed := [count for count in summary.exercises if not count.further]:
        least = min(needed, key=lambda count: count.right / count.students)
        yield (
            f"<p>Fewest are right in <code>{html.escape(least.exercise)}</code> of "
            f"{html.escape(least.lesson)}: {least.right} of {least.students}.</p>"
        )
    yield "</div>"


def _on_misconceptions(misconceptions: Sequence[Misconception]) -> Iterable[str]:
    yield "<h2>The most frequent misconceptions</h2>"
    if not misconceptions:
        yield "<p>No mistake was recognized.</p>"
        return
    yield (
        "<p>A filled bar is a common belief, which can show in several exercises. An empty bar is "
        "a mistake in one exercise.</p>"
    )
    yield _image(misconception_bars(misconceptions[:MOST_BARS]))
    titles = ["belief or mistake", "students", "exercises", "what students were told", "show"]
    rows = [
        [
            *(each.what, f"{each.students} of {each.of}", ", ".join(each.exercises)),
            *(each.message, f"`{each.show}`" if each.show else ""),
        ]
        for each in misconceptions[:MOST_ROWS]
    ]
    yield _table(titles, rows)


def _on_exercises(summary: Summary) -> Iterable[str]:
    for lesson, group in groupby(summary.exercises, key=lambda count: count.lesson):
        counts = list(group)
        yield f"<h2>{html.escape(lesson)}</h2>"
        yield _image(right_bars(lesson, counts))
        yield _table(
            ["exercise", "right", "most frequent mistake", "made by"],
            [
                [c.label, f"{c.right} of {c.students}", c.mistake, str(c.mistakes or "")]
                for c in counts
            ],
        )


def _on_same_code(summary: Summary) -> Iterable[str]:
    if summary.same_code:
        yield "<h2>The same code</h2>"
        yield (
            "<p>In these exercises, students have handed in the same code, apart from spaces and "
            "comments. That says nothing about how it came about. The remarks in "
            "<code>grades.csv</code> name them.</p>"
        )
        rows = [[e.lesson, f"`{e.exercise}`", str(len(e.students))] for e in summary.same_code]
        yield _table(["lesson", "exercise", "students"], rows)


def _on_not_graded(summary: Summary) -> Iterable[str]:
    states = Counter(grade.state for grade in summary.not_graded)
    not_run = {state: states.pop(state, 0) for state in (UNTOUCHED, STRAY)}
    told = [f"{counted(number, 'notebook')} {state}" for state, number in not_run.items() if number]
    if told:
        yield f"<p>Not run: {', '.join(told)}.</p>"
    if states:
        number = counted(states.total(), "file")
        yield f"<p>Not graded: {number}. The remarks in <code>grades.csv</code> say why.</p>"


def feedback_page(student: str, graded: Sequence[Grade], not_graded: Sequence[Grade]) -> str:
    """Write the feedback for a student: for each exercise the sentence that the notebook shows."""
    parts = [f"<h1>Feedback for {html.escape(student)}</h1>"]
    for lesson, group in groupby(graded, key=lambda grade: grade.lesson):
        grades = list(group)
        parts.append(f"<h2>{html.escape(lesson)}: {right_of(grades)}</h2>")
        parts.append("<dl>")
        for grade in grades:
            parts.append(f"<dt><code>{html.escape(grade.exercise)}</code></dt>")
            parts.append(f"<dd>{_sentence(grade)}</dd>")
        parts.append("</dl>")
    if not_graded:
        parts.append("<h2>Not graded</h2><ul>")
        for grade in not_graded:
            name = grade.file.rpartition("/")[2]
            parts.append(f"<li>{html.escape(f'{name}: {grade.message or grade.state}')}</li>")
        parts.append("</ul>")
    return _page(f"Feedback for {student}", parts)


def _sentence(grade: Grade) -> str:
    if verdict := VERDICTS.get(grade.state):
        return as_html(verdict, grade.message, grade.beliefs)
    return f"<strong>{html.escape(grade.state.capitalize())}:</strong> {html.escape(grade.message)}"


def _page(title: str, parts: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    graded_with = f"<footer>Graded with version {__version__} of the course.</footer>"
    body = "\n".join([*parts, graded_with])
    head = f'<!doctype html>\n<html lang="en"><head>{head}{view}</head>'
    return f"{head}\n<body>\n{body}\n</body></html>\n"


def _image(picture: Picture) -> str:
    png = base64.b64encode(picture.png()).decode()
    return f"<p>{image_tag(png, picture.alt)}</p>"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"
