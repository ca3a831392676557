"""Exercises as a page shows them: predictions that a script judges, hints, and solutions."""

import html
import math
import re
from collections.abc import Mapping
from typing import Any

from lnorm_course.checking.choosing import program_data
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.comparing import plain
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback, State
from lnorm_course.checking.prediction import CLOSEST, NEARLY, ROUNDED, Prediction
from lnorm_staff.web.baking import curly, in_script
from lnorm_utils.words import inline

__all__ = ["code_exercise", "in_order", "options", "prediction", "unseen"]

KINDS = {str: "word", bool: "truth", tuple: "tuple"}
ASKED = {"number": "a number", "tuple": "numbers, with commas", "word": "", "truth": ""}

# Matches a possible answer and its meaning, as a question lists them: `"a": the rows;`.
OPTION = re.compile(r'(?:^- |(?<=\s))"(\w+)": (.+?)(?:; |[;.]?$)', re.MULTILINE)


def _as_data(question: Prediction) -> dict[str, Any]:
    """Return all the data that a script needs to judge an answer as `Prediction.judge` does.

    Numbers are compared within a tolerance, and words without regard to case. A number that isn't
    finite is written as text, such as "nan".
    """
    kind = KINDS.get(type(plain(question.answers[0].answer)), "number")
    right = [_known(value, Feedback(State.RIGHT, why)) for value, why, _ in question.answers]
    wrong = [
        _known(value, Feedback(State.WRONG, why, misconceptions=misconceptions))
        for value, why, misconceptions in question.wrong
    ]
    return {
        "kind": kind,
        "asked": ASKED[kind] if kind == "word" else ", or ".join([ASKED[kind], *question.words]),
        "right": right,
        "wrong": wrong,
        "tol": question.tol,
        "rounded": max(question.tol, ROUNDED),
        "nearly": NEARLY if question.tol > 1e-3 and not question.choices else 0,
        "choices": question.choices,
        "choose": question.asked_to_choose if question.choices else "",
        "closest": [CLOSEST.format(choice) for choice in question.choices],
    }


def options(text: str, question: Prediction) -> tuple[str, dict[str, str]]:
    """Separate a question from its list of choices, and return both."""
    found = dict(OPTION.findall(text))
    if {*found} != {*question.words}:
        return text, {}
    return OPTION.sub("", text).rstrip(), found


def prediction(
    question: Prediction, asked: str = "", choices: Mapping[str, str] | None = None
) -> str:
    """Write a prediction as HTML: a form, its hints, and the data for judging an answer.

    Args:
        question: the prediction, with or without words to choose from.
        asked: the question's text, which determines the order of the words.
        choices: the meaning of each word, if the text lists the words.
    """
    data = _as_data(question)
    kind = "lnorm-prediction further" if question.further else "lnorm-prediction"
    words = {"word": in_order(question, asked), "truth": ["True", "False"]}.get(data["kind"], [])
    if words:
        told = {word: f"{word}: {inline(text)}" for word, text in (choices or {}).items()}
        inputs = "".join(
            f'<label><input type="radio" name="answer" value="{html.escape(word)}"> '
            f"<span>{told.get(word, html.escape(word))}</span></label>"
            for word in words
        )
    else:
        inputs = (
            '<input type="text" name="answer" aria-label="your answer" autocomplete="off" '
            f'autocapitalize="off" spellcheck="false" placeholder="{html.escape(data["asked"])}">'
        )
    return (
        f'<form class="{kind}{" listed" * bool(choices)}" id="{question.topic}-{question.name}">'
        "<noscript>Answering needs JavaScript, which is off.</noscript>"
        f'{inputs}<button type="submit">Check{unseen(question)}</button>'
        f'<div class="said" aria-live="polite"></div>{_hints(question)}'
        f"{in_script(data)}</form>"
    )


def code_exercise(exercise: CodeExercise, start: str) -> str:
    """Write a code exercise as HTML: a program with gaps, its hints, and its solution.

    Args:
        exercise: the exercise.
        start: the code that a student starts with.
    """
    kind = "lnorm-exercise lnorm-choosing" + " further" * exercise.further
    data = in_script(program_data(exercise.template, exercise.right_programs, exercise.reason))
    return (
        f'<div class="{kind}" id="{exercise.topic}-{exercise.name}"><div class="place">'
        f"{_code(start)}"
        "<p>Fill it in on paper or in JupyterLab. Then compare it with the solution.</p></div>"
        f"{curly(data)}{_hints(exercise)}"
        f"<details><summary>Solution{unseen(exercise)}</summary>"
        f"{_code(exercise.template.program())}</details></div>"
    )


def in_order(question: Prediction, asked: str) -> list[str]:
    """Sort the possible answers in the order in which the question mentions them, quoted or not."""

    def place(word: str) -> int:
        places = (asked.rfind(form) for form in (f'"{word}"', word))
        return next((place for place in places if place >= 0), len(asked))

    return sorted(question.words, key=place)


def _hints(exercise: Exercise) -> str:
    return "".join(
        f"<details><summary>Hint {number}{unseen(exercise)}</summary>"
        f"<p>{curly(inline(hint))}</p></details>"
        for number, hint in enumerate(exercise.hints, 1)
    )


def unseen(exercise: Exercise) -> str:
    """Name a button's exercise for screen readers, because many buttons have the same label."""
    return f'<span class="lnorm-unseen">: {exercise.name.replace("_", " ")}</span>'


def _known(value: object, feedback: Feedback) -> dict[str, Any]:
    return {"value": _plain(value), "html": curly(feedback._repr_html_())}


def _plain(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _code(source: str) -> str:
    """Write Python code as HTML, highlighted as in Sphinx, to match the other code on the page."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    shown = highlight(source, PythonLexer(), HtmlFormatter())
    return f'<div class="highlight-python notranslate">{shown}</div>'
