"""Judge what a kernel sent of an attempt, in a child that may die of it."""

import importlib
import json
import os
import sys
from dataclasses import replace
from typing import Any

from lnorm_course.checking.errors import Error
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback
from lnorm_course.checking.running import Outcome
from lnorm_staff.grading.grade import VERDICTS, Grade
from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, MOST_OF_A_REMARK, one_line
from lnorm_staff.grading.run.child import Child, Children
from lnorm_staff.grading.run.plain_data import decode

__all__ = ["Judge", "judge", "main"]

MODULE = "lnorm_staff.grading.run.judge"
SECONDS_TO_JUDGE = 60
TOO_SLOW = f"judging this answer took more than {SECONDS_TO_JUDGE} seconds."
DIED = "the process that judges answers died of this one."
TRIES = 2  # because what ends a process may be left from the attempt before
WORDS = {state: word for word, state in VERDICTS.items()}
NOT_AN_ATTEMPT = "its kernel sent something that is not an attempt."


def judge(exercise: Exercise, answer: Any) -> Feedback:
    """Return what the exercise says of an attempt that a kernel sent.

    Args:
        exercise: the exercise of this process, which no student has changed.
        answer: what `record` writes in the kernel, or what a student made it send instead.

    Raises:
        ValueError: `record` writes nothing like this.
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


class Judge:
    """A child that judges one attempt after the other, and starts again when it has died."""

    def __init__(self, children: Children) -> None:
        self.children, self.child = children, None  # type: Children, Child | None

    def start(self) -> Child:
        """Return the child, which is started if there is none; it may not be ready yet.

        Raises:
            OSError: none can be started.
        """
        if self.child is None:
            self.child = self.children.start(MODULE)
        return self.child

    def grade(self, grade: Grade, exercise: Exercise, attempt: Any) -> Grade:
        """Fill in a grade with what becomes of an attempt that a kernel sent."""
        reason = DIED
        for _ in range(TRIES):
            try:
                child = self.start()
                child.send([exercise.topic, exercise.name, attempt])
                state, *words = map(str.__str__, child.receive(SECONDS_TO_JUDGE))
                mistake, belief, message = (one_line(w, MOST_OF_A_MESSAGE) for w in words)
                told = {"mistake": mistake, "belief": belief, "message": message}
                return replace(grade, state=state, **told)
            except RecursionError:  # lists in lists without end
                reason = NOT_AN_ATTEMPT
                break
            except TimeoutError:
                self.end()
                reason = TOO_SLOW
                break
            except (OSError, EOFError, ValueError, TypeError):  # it has died
                self.end()
        return replace(grade, state="crashed", message=reason)

    def end(self) -> None:
        """End the child."""
        if self.child:
            self.children.end(self.child)
        self.child = None


def main() -> None:
    """Judge what comes in over the standard input, one attempt after the other.

    The answers are the state, the mistake, the beliefs, and the message of a `Grade`.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        topic, name, attempt = json.loads(line)
        importlib.import_module(f"lnorm_course.exercises.{topic}")
        print(json.dumps(_judged(Exercise.bank[topic][name], attempt)), file=replies, flush=True)


def _judged(exercise: Exercise, attempt: Any) -> list[str]:
    try:
        told = judge(exercise, attempt)
    except ValueError:
        return ["crashed", "", "", NOT_AN_ATTEMPT]
    except Exception as problem:
        return ["crashed", "", "", f"judging this answer raised {type(problem).__name__}."]
    beliefs = " ".join(belief.code for belief in told.beliefs)
    return [WORDS[told.state], told.mistake, beliefs, told.said]
