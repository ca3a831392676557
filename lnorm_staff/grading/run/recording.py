"""In a kernel, `check` judges nothing: it writes down what the attempt returns for each input.

The grader has that judged elsewhere, so nothing that a notebook does to its exercises gives it a
point.
"""

import json

from lnorm_course.checking import running
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.errors import Error
from lnorm_course.checking.exercise import Exercise, one_answer
from lnorm_course.checking.lesson_names import put_back
from lnorm_course.checking.prediction import Prediction
from lnorm_staff.grading.run.plain_data import encode

__all__ = ["ATTEMPTS", "as_data", "install", "record"]

ATTEMPTS: dict[str, dict] = {}  # of the cell that runs: what the last check of each exercise got
LONGEST_ATTEMPT = 2**19  # characters


def install(seconds: float) -> None:
    """Let all exercises write down attempts, and say nothing.

    Args:
        seconds: how long a call of an attempt may take.
    """

    def check(exercise: Exercise, attempt: object = ..., *more: object) -> None:
        put_back()
        record(exercise, seconds, attempt, *more)

    for kind in (Exercise, CodeExercise, Prediction):
        setattr(kind, "check", check)  # noqa: B010 - for mypy
        for name in ("hint", "solution", "choose"):
            setattr(kind, name, lambda *arguments, **options: None)


def record(exercise: Exercise, seconds: float, attempt: object, *more: object) -> None:
    """Write down what becomes of an attempt, as JSON."""
    if more:
        outcome = running.Outcome([], one_answer(exercise))
    elif attempt is None or attempt is ...:
        outcome = running.Outcome([...] * len(exercise.inputs or [()]))
    else:
        inputs, use_class = exercise.inputs, exercise.use_class
        outcome = running.results(attempt, inputs, use_class, seconds, exercise.without)
    sent = as_data(outcome)
    if len(json.dumps(sent)) > LONGEST_ATTEMPT:
        sent = as_data(running.Outcome([], "your answer is too large to be judged."))
    ATTEMPTS[exercise.name] = sent


def as_data(outcome: running.Outcome) -> dict:
    """Write what became of an attempt as what JSON knows."""
    error = outcome.error
    return {
        "values": [encode(value) for value in outcome.values],
        "error": error._asdict() if isinstance(error, Error) else error,
        "notices": list(outcome.notices),
        "code": outcome.code,
    }
