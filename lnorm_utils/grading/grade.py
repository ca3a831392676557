"""Grade a notebook that was handed in: run it in a kernel, and judge the attempts here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.feedback import State
from lnorm_utils.grading.cells import code_cells
from lnorm_utils.grading.judge import judge
from lnorm_utils.grading.kernel import Kernel, Outcome
from lnorm_utils.grading.plain_text import MOST_OF_A_MESSAGE, one_line
from lnorm_utils.grading.processes import Processes
from lnorm_utils.grading.submissions import exercises_for, lesson_on, read_submission

__all__ = ["RIGHT", "Grade", "grade"]

RIGHT = "right"
STATES = {State.RIGHT: RIGHT, State.WRONG: "wrong", State.NOT_ATTEMPTED: "not attempted"}
CHECK = re.compile(r"\b(\w+)\s*\.\s*check\b")
CELLS_IN_TIME = 5  # how many cells may use up their time before the notebook has


@dataclass(frozen=True)
class Grade:
    """What became of one exercise; without a lesson, why there's nothing to grade."""

    lesson: str  # the name of its notebook, such as "01_mean"
    exercise: str
    state: str  # right, wrong, not attempted, missing, crashed, timed out, not a notebook
    mistake: str = ""
    message: str = ""
    belief: str = ""  # the common beliefs that it may come from, with "; " between them


class Verdict(NamedTuple):
    """The part of a grade that doesn't say which exercise it's about."""

    state: str
    mistake: str = ""
    message: str = ""
    belief: str = ""


MISSING = Verdict("missing", message="no cell checks it.")


def grade(path: Path, timeout: float, processes: Processes) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        path: the notebook that was handed in.
        timeout: seconds for each cell; the whole notebook may take five times that.
        processes: what starts a process for the notebook.

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
    by_name = {e.name: e for e in exercises}
    verdicts = dict.fromkeys(by_name, MISSING)
    try:
        with Kernel(processes, timeout, CELLS_IN_TIME * timeout) as kernel:
            for source in sources:
                verdicts |= _judged(kernel.run(source), source, by_name)
    except Exception as problem:  # of the machine, such as a full disk
        message = f"its grading stopped early: {one_line(problem)}."
        lost = Verdict("crashed", message=message)
        verdicts = {name: lost if v == MISSING else v for name, v in verdicts.items()}
    return [Grade(lesson_on(e.topic), e.name, *verdicts[e.name]) for e in exercises]


def _judged(outcome: Outcome, source: str, exercises: Mapping[str, Exercise]) -> dict[str, Verdict]:
    """Return a verdict for each exercise that a cell has checked, or names and never got to."""
    verdicts = {
        name: _verdict(exercises[name], attempt)
        for name, attempt in outcome.attempts.items()
        if name in exercises
    }
    if outcome.failed:
        failed = Verdict(outcome.failed, message=f"its cell failed: {one_line(outcome.reason)}")
        checked = set(CHECK.findall(source)) & set(exercises)
        verdicts |= dict.fromkeys(checked - set(verdicts), failed)
    return verdicts


def _verdict(exercise: Exercise, attempt: object) -> Verdict:
    try:
        feedback = judge(exercise, attempt)
    except ValueError as problem:
        return Verdict(
            "crashed", message=f"its kernel sent something that is not an attempt: {problem}."
        )
    return Verdict(
        STATES[feedback.state],
        one_line(feedback.mistake, MOST_OF_A_MESSAGE),
        one_line(feedback.message, MOST_OF_A_MESSAGE),
        "; ".join(belief.value for belief in feedback.beliefs),
    )
