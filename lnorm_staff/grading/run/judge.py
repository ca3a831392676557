"""Judge what a kernel sent of an attempt: the work of a process that may die of it."""

import json
import os
from typing import Any

from lnorm_course.checking.errors import Error
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback
from lnorm_course.checking.running import Outcome
from lnorm_staff.grading.grade import VERDICTS
from lnorm_staff.grading.plain_text import MOST_OF_A_REMARK, one_line
from lnorm_staff.grading.run.channel import receive, send
from lnorm_staff.grading.run.plain_data import decode
from lnorm_staff.grading.run.recording import describe_banks

__all__ = ["judge", "serve"]

WORDS = {state: word for word, state in VERDICTS.items()}
NOT_AN_ATTEMPT = "its kernel sent something that is not an attempt."


def judge(exercise: Exercise, answer: Any) -> Feedback:
    """Return what the exercise says of an attempt that a kernel sent.

    Args:
        exercise: the exercise of this process, which no student has changed.
        answer: what a `Recorder` writes in the kernel, or what a student made it send instead.

    Raises:
        ValueError: a `Recorder` writes nothing like this.
    """
    try:
        values = [decode(value) for value in answer["values"]]
        notices = [_line(notice) for notice in answer["notices"]]
        outcome = Outcome(values, _error(answer["error"]), notices, str.__str__(answer["code"]))
    except Exception as problem:  # the kernel may send anything
        raise ValueError(f"{type(problem).__name__}: {problem}") from problem
    expected = 1 if exercise.inputs is None else len(exercise.inputs)
    if len(values) > expected or (len(values) < expected) != bool(outcome.error):
        raise ValueError(f"{len(values)} values instead of {expected}")
    if exercise.inputs is None and values:
        return exercise.judge(values[0])
    return exercise.judge_outcome(outcome)


def _error(sent: Any) -> Error | str | None:
    """Read what `as_data` makes of the error of an outcome; anything else raises."""
    if isinstance(sent, dict):
        return Error(**{name: _line(text) for name, text in sent.items()})
    return None if sent is None else _line(sent)


def _line(text: Any) -> str:
    return one_line(str.__str__(text), MOST_OF_A_REMARK)


def serve() -> None:
    """Judge what comes in over the standard input, one attempt after the other.

    The answers are the state, the mistake, the beliefs, and the message of a `Grade`.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    describe_banks()  # imports them
    send(replies, "ready")
    while True:
        try:
            topic, name, attempt = receive(requests)
        except EOFError:
            return
        send(replies, _judged(Exercise.bank[topic][name], attempt))


def _judged(exercise: Exercise, attempt: str) -> list[str]:
    try:
        told = judge(exercise, json.loads(attempt))
    except ValueError:
        return ["crashed", "", "", NOT_AN_ATTEMPT]
    except Exception as problem:
        return ["crashed", "", "", f"judging this answer raised {type(problem).__name__}."]
    beliefs = " ".join(belief.code for belief in told.beliefs)
    return [WORDS[told.state], told.mistake, beliefs, told.said]
