"""Judge the attempts that a kernel sent, in a child process that an attempt may crash."""

import importlib
from collections.abc import Iterator
from typing import Any

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback
from lnorm_course.checking.running import Outcome
from lnorm_course.checking.sanitizing import shown
from lnorm_staff.grading.grade import VERDICTS
from lnorm_staff.grading.run.plain_data import ForgedError, read_outcome

__all__ = ["NOT_AN_ATTEMPT", "judge", "main"]

WORDS = {state: word for word, state in VERDICTS.items()}
NOT_AN_ATTEMPT = "it can't be judged: its kernel sent something that isn't an attempt."


def main(asked: Iterator[Any]) -> Iterator[dict]:
    """Read the topics; then, for each pair of an exercise's name and an attempt, yield a verdict.

    A verdict has the fields of a `Grade` that concern one exercise. If an attempt can't be judged,
    that's the student's fault only if the attempt is forged.
    """
    bank: dict[str, Exercise] = {}
    for topic in next(asked)[0]:
        importlib.import_module(f"lnorm_course.exercises.{topic}")
        bank |= Exercise.bank[topic]
    yield {}
    for (name, attempt), _ in asked:
        try:
            outcome = outcome_of(bank[name], attempt)
            told = _judged(bank[name], outcome)
            codes = " ".join(each.code for each in told.misconceptions)
            verdict = {"state": WORDS[told.state], "mistake": told.mistake, "misconception": codes}
            verdict |= {"message": told.message, "quoted": outcome.remark}
            first = [shown(value) for value in outcome.values[:1] if value is not ...]
            verdict["attempt"] = outcome.code or "".join(first)
            yield {"attempts": {name: verdict}}
        except ForgedError:
            yield {"attempts": {name: {"state": "crashed", "message": NOT_AN_ATTEMPT}}}
        except Exception as problem:
            yield {"attempts": {}, "why": f"{type(problem).__name__} was raised."}


def judge(exercise: Exercise, sent: Any) -> Feedback:
    """Judge an attempt as a lesson does, from the data that a kernel sent about it."""
    return _judged(exercise, outcome_of(exercise, sent))


def _judged(exercise: Exercise, outcome: Outcome) -> Feedback:
    if exercise.inputs is None and outcome.values:
        return exercise.judge(outcome.values[0])
    return exercise.judge_outcome(outcome)


def outcome_of(exercise: Exercise, sent: Any) -> Outcome:
    """Return the outcome of an attempt, from the data that a kernel sent about it.

    Args:
        exercise: the exercise in this process, which no student's code has changed.
        sent: what `record` wrote in the kernel, or what a student made the kernel send instead.

    Raises:
        ForgedError: `record` can't have written the data.
    """
    outcome = read_outcome(sent)
    number, expected = len(outcome.values), len(exercise.inputs or [()])
    if number > expected or (number < expected) != bool(outcome.error):
        raise ForgedError(f"{number} values instead of {expected}")
    return outcome
