"""Judge what a kernel sent of an attempt, in a child that may die of it."""

import importlib
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback
from lnorm_staff.grading.grade import VERDICTS, Grade
from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, one_line
from lnorm_staff.grading.run.child import Child
from lnorm_staff.grading.run.plain_data import read_outcome

__all__ = ["Judge", "judge", "main"]

MODULE = "lnorm_staff.grading.run.judge"
SECONDS_TO_JUDGE = 60
TOO_SLOW = f"judging this answer took more than {SECONDS_TO_JUDGE} seconds."
DIED = "the process that judges answers died of this one."
TRIES = 2  # because what ends a process may be left from the attempt before
WORDS = {state: word for word, state in VERDICTS.items()}
NOT_AN_ATTEMPT = "its kernel sent something that is not an attempt."


class Judge(AsyncExitStack):
    """A child that judges one attempt after the other, and starts again when it has died."""

    child: Child | None = None

    async def start(self) -> Child:
        """Return the child, which is started if there is none; it may not be ready yet.

        Raises:
            OSError: none can be started.
        """
        if self.child is None or not self.child.is_alive:
            await self.aclose()
            self.child = await self.enter_async_context(Child(MODULE))
        return self.child

    async def grade(self, grade: Grade, exercise: Exercise, attempt: Any) -> Grade:
        """Fill in a grade with what becomes of an attempt that a kernel sent."""
        reason = DIED
        for _ in range(TRIES):
            try:
                child = await self.start()
                asked = exercise.topic, exercise.name, attempt
                state, *words = map(str.__str__, await child.ask(asked, SECONDS_TO_JUDGE))
                mistake, belief, message = (one_line(w, MOST_OF_A_MESSAGE) for w in words)
                told = {"mistake": mistake, "belief": belief, "message": message}
                return replace(grade, state=state, **told)
            except RecursionError:  # lists in lists without end
                reason = NOT_AN_ATTEMPT
                break
            except TimeoutError:
                child.kill()
                reason = TOO_SLOW
                break
            except EOFError:
                continue
            except OSError as problem:  # of the machine, such as a full disk
                reason = f"nothing could judge it: {one_line(problem)}."
        return replace(grade, state="crashed", message=reason)


def main(asked: Iterable[Any]) -> Iterator[list[str]]:
    """Yield the state, the mistake, the beliefs, and the message for each attempt."""
    for topic, name, attempt in asked:
        importlib.import_module(f"lnorm_course.exercises.{topic}")
        try:
            told = judge(Exercise.bank[topic][name], attempt)
        except ValueError:
            yield ["crashed", "", "", NOT_AN_ATTEMPT]
        except Exception as problem:
            yield ["crashed", "", "", f"judging this answer raised {type(problem).__name__}."]
        else:
            beliefs = " ".join(belief.code for belief in told.beliefs)
            yield [WORDS[told.state], told.mistake, beliefs, told.said]


def judge(exercise: Exercise, answer: Any) -> Feedback:
    """Return what the exercise says of an attempt that a kernel sent.

    Args:
        exercise: the exercise of this process, which no student has changed.
        answer: what `record` writes in the kernel, or what a student made it send instead.

    Raises:
        ValueError: `record` writes nothing like this.
    """
    outcome = read_outcome(answer)
    number, expected = len(outcome.values), len(exercise.inputs or [()])
    if number > expected or (number < expected) != bool(outcome.error):
        raise ValueError(f"{number} values instead of {expected}")
    if exercise.inputs is None and number:
        return exercise.judge(outcome.values[0])
    return exercise.judge_outcome(outcome)
