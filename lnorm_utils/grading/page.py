"""Write pages in HTML that need no other file: the report on a class, and each one's feedback."""

import base64
import html
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any, cast

from lnorm_utils.exercises.engine.feedback import Feedback, State
from lnorm_utils.grading.grade import STATES
from lnorm_utils.grading.pictures import misconception_bars, right_bars
from lnorm_utils.grading.rows import Row
from lnorm_utils.grading.summary import Misconception, Summary
from lnorm_utils.plotting.picture import Picture

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
    graded = {(grade.student, grade.id) for grade in summary.grades if grade.lesson}
    parts = [
        "<h1>What the class got right, and what to repeat</h1>",
        *_in_short(summary, len(graded)),
        *_on_misconceptions(summary.misconceptions),
        *_on_exercises(summary),
    ]
    if summary.not_graded:
        number = _count(len(summary.not_graded), "file")
        parts.append(
            f"<p>Not graded: {number}. The remarks in <code>grades.csv</code> say why.</p>"
        )
    return _page("Report on a class", parts)


def _in_short(summary: Summary, students: int) -> Iterable[str]:
    yield '<div class="first">'
    yield f"<p>{_count(students, 'student')} handed in work that could be graded.</p>"
    if summary.misconceptions:
        yield "<p>The most frequent misconceptions:</p><ol>"
        for each in summary.misconceptions[:IN_SHORT]:
            where = ", ".join(f"<code>{html.escape(name)}</code>" for name in each.exercises)
            told = f"<strong>{_words(each.what)}</strong>: {each.students} of {each.of}"
            yield f"<li>{told}, in {where}.</li>" if each.is_belief else f"<li>{told}.</li>"
        yield "</ol>"
    if summary.exercises:
        least = min(summary.exercises, key=lambda count: count.right / count.students)
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
    rows = [
        [each.what, f"{each.students} of {each.of}", ", ".join(each.exercises), each.message]
        for each in misconceptions[:MOST_ROWS]
    ]
    yield _table(["belief or mistake", "students", "exercises", "what students were told"], rows)


def _on_exercises(summary: Summary) -> Iterable[str]:
    for lesson, group in groupby(summary.exercises, key=lambda count: count.lesson):
        counts = list(group)
        yield f"<h2>{html.escape(lesson)}</h2>"
        yield _image(right_bars(lesson, counts))
        yield _table(
            ["exercise", "right", "most frequent mistake", "made by"],
            [
                [c.exercise, f"{c.right} of {c.students}", c.mistake, str(c.mistakes or "")]
                for c in counts
            ],
        )


def feedback_page(student: str, rows: Sequence[Row], not_graded: Sequence[Row]) -> str:
    """Write the feedback for a student: for each exercise the sentence that the notebook shows."""
    parts = [f"<h1>Feedback for {html.escape(student)}</h1>"]
    for lesson, group in groupby(rows, key=lambda row: row.lesson):
        exercises = list(group)
        right = sum(STATES[State.RIGHT] == row.state for row in exercises)
        parts.append(f"<h2>{html.escape(lesson)}: {right} of {len(exercises)} right</h2>")
        parts.append("<dl>")
        for row in exercises:
            parts.append(f"<dt><code>{html.escape(row.exercise)}</code></dt>")
            parts.append(f"<dd>{_sentence(row)}</dd>")
        parts.append("</dl>")
    if not_graded:
        parts.append("<h2>Not graded</h2><ul>")
        for row in not_graded:
            name = row.file.rpartition("/")[2]
            parts.append(f"<li>{html.escape(f'{name}: {row.message or row.state}')}</li>")
        parts.append("</ul>")
    return _page(f"Feedback for {student}", parts)


def _sentence(row: Row) -> str:
    for state, word in STATES.items():
        if word == row.state:
            # A belief is an Enum, of which the feedback reads the value.
            named = filter(None, row.belief.split("; "))
            beliefs = cast(Any, tuple(SimpleNamespace(value=each) for each in named))
            return Feedback(state, row.message, row.mistake, beliefs)._repr_html_()
    return f"<strong>{html.escape(row.state.capitalize())}:</strong> {html.escape(row.message)}"


def _page(title: str, parts: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(parts)
    head = f'<!doctype html>\n<html lang="en"><head>{head}{view}</head>'
    return f"{head}\n<body>\n{body}\n</body></html>\n"


def _image(picture: Picture) -> str:
    png = base64.b64encode(picture.png()).decode()
    return f'<p><img alt="{html.escape(picture.alt)}" src="data:image/png;base64,{png}"></p>'


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{_words(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def _words(text: str) -> str:
    """Write what stands in backticks as code, as the feedback in a notebook does."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
