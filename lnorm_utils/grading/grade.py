"""Grade a notebook that was handed in: run it in a kernel, fetch the attempts, judge them here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.feedback import State
from lnorm_utils.grading.cells import Check, code_cells, split_at_checks
from lnorm_utils.grading.judge import judge
from lnorm_utils.grading.kernel import Kernel, Outcome
from lnorm_utils.grading.plain_text import one_line
from lnorm_utils.grading.submissions import exercises_for, lesson_on, read_submission

__all__ = ["RIGHT", "Grade", "grade"]

RIGHT = "right"
STATES = {State.RIGHT: RIGHT, State.WRONG: "wrong", State.NOT_ATTEMPTED: "not attempted"}
CELLS_IN_TIME = 5  # how many cells may use up their time before the notebook has


@dataclass(frozen=True)
class Grade:
    """What became of one exercise; without a lesson, why there's nothing to grade."""

    lesson: str  # the name of its notebook, such as "01_mean"
    exercise: str
    state: str  # right, wrong, not attempted, missing, crashed, timed out, not a notebook
    mistake: str = ""
    message: str = ""


class Verdict(NamedTuple):
    """The part of a grade that doesn't say which exercise it's about."""

    state: str
    mistake: str = ""
    message: str = ""


MISSING = Verdict("missing", message="no cell checks it.")


def grade(path: Path, timeout: float) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        path: the notebook that was handed in.
        timeout: seconds for each cell; the whole notebook may take five times that.

    Returns:
        A grade for each exercise, whatever the notebook does. For a file that isn't a notebook of
        this course, a single one that says so.
    """
    try:
        notebook = read_submission(path)
        sources = code_cells(notebook)
    except Exception as problem:  # anything can be in a file that somebody else made
        return [Grade("", "", "not a notebook", message=one_line(problem))]
    exercises = exercises_for(notebook, path.stem)
    if not exercises:
        message = "neither its cells nor its name say which lesson it is."
        return [Grade("", "", "not a notebook of this course", message=message)]
    verdicts = _run_and_judge(sources, {e.name: e for e in exercises}, timeout)
    return [Grade(lesson_on(e.topic), e.name, *verdicts[e.name]) for e in exercises]


def _run_and_judge(
    sources: Iterable[str], exercises: Mapping[str, Exercise], timeout: float
) -> dict[str, Verdict]:
    """Run the cells of a notebook one after the other; return a verdict for each exercise."""
    verdicts = dict.fromkeys(exercises, MISSING)
    try:
        with Kernel(timeout, CELLS_IN_TIME * timeout) as kernel:
            for source in sources:
                verdicts |= _run_cell(kernel, source, exercises)
    except Exception as problem:  # of the machine, such as a full disk
        message = f"it could not be graded to its end: {one_line(problem)}."
        lost = Verdict("crashed", message=message)
        verdicts = {name: lost if v == MISSING else v for name, v in verdicts.items()}
    return verdicts


def _run_cell(kernel: Kernel, source: str, exercises: Mapping[str, Exercise]) -> dict[str, Verdict]:
    """Run a cell, and return a verdict for each exercise that it checks."""
    try:
        parts = list(split_at_checks(source, exercises))
    except Exception as problem:  # a syntax error, or code that no parser can carry
        unread = Verdict("crashed", message=f"its cell cannot be read: {one_line(problem)}.")
        return {name: unread for name in exercises if f"{name}.check" in source}
    verdicts, failure = {}, Outcome()
    for part in parts:
        # Nothing depends on what a check says in the kernel, so one that stands alone is not run.
        if not failure.failed and not (part.checks and part.checks[0].alone):
            outcome = kernel.run(part.source)
            failure = outcome if outcome.lost or not part.checks else failure
        for check in part.checks:
            if failure.failed:
                verdict = _failed(failure, "its cell failed")
            else:
                verdict = _judge_check(kernel, check, exercises[check.exercise])
            verdicts[check.exercise] = verdict
    return verdicts


def _judge_check(kernel: Kernel, check: Check, exercise: Exercise) -> Verdict:
    use_class = exercise.use_class.__name__ if exercise.use_class else ""
    outcome = kernel.fetch(check.attempt, exercise.inputs, use_class)
    if outcome.failed:
        return _failed(outcome, "its attempt cannot be looked at")
    try:
        feedback = judge(exercise, outcome.answer)
    except ValueError as problem:
        return Verdict("crashed", message=f"its kernel sent what no attempt is: {problem}.")
    return Verdict(STATES[feedback.state], feedback.mistake, one_line(feedback.message))


def _failed(outcome: Outcome, what: str) -> Verdict:
    return Verdict(outcome.failed, message=f"{what}: {one_line(outcome.reason)}")
