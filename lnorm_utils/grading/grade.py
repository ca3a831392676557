"""Grade a notebook that was handed in: run it in a kernel, fetch the attempts, judge them here."""

import importlib
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.feedback import Feedback, State
from lnorm_utils.grading import plain_data
from lnorm_utils.grading.cells import Check, code_cells, pieces
from lnorm_utils.grading.kernel import Kernel, Outcome
from lnorm_utils.lab.lesson_files import ORIGINALS, read, topics

__all__ = ["Grade", "grade"]

RIGHT = "right"
WORDS = {State.RIGHT: RIGHT, State.WRONG: "wrong", State.NOT_ATTEMPTED: "not attempted"}
CELLS_IN_TIME = 5  # how many cells may use up their time before the notebook has


@dataclass(frozen=True)
class Grade:
    """What became of one exercise; without a lesson, why there is none to grade."""

    lesson: str
    exercise: str
    state: str  # right, wrong, not attempted, missing, crashed, timed out, not a notebook
    mistake: str = ""
    message: str = ""


def grade(path: Path, timeout: float) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        path: the notebook that was handed in.
        timeout: seconds for each cell; the whole notebook may take five times that.

    Returns:
        A grade for each exercise, whatever the notebook does; for a file that is no notebook of
        this course a single one that says so.
    """
    try:
        notebook = _read(path)
        sources = code_cells(notebook)
    except Exception as problem:  # anything can be in a file that somebody else made
        return [Grade("", "", "not a notebook", message=_one_line(problem))]
    bank = _bank(topics(notebook) or _topics_of_name(path.stem))
    if not bank:
        message = "neither its cells nor its name say which lesson it is."
        return [Grade("", "", "not a notebook of this course", message=message)]
    missing = ("missing", "", "no cell checks it.")
    found = {name: missing for _, name in bank}
    exercises = {name: exercise for (_, name), exercise in bank.items()}
    try:
        with Kernel(timeout, CELLS_IN_TIME * timeout) as kernel:
            for source in sources:
                found |= _grade_cell(kernel, source, exercises)
    except Exception as problem:  # of the machine, such as a full disk
        lost = ("crashed", "", f"it could not be graded to its end: {_one_line(problem)}.")
        found = {name: lost if seen == missing else seen for name, seen in found.items()}
    return [Grade(lesson, name, *found[name]) for lesson, name in bank]


def _read(path: Path) -> dict:
    import nbformat

    with warnings.catch_warnings(action="ignore"):  # that cells have no ids
        return nbformat.read(path, as_version=4)


def _topics_of_name(name: str) -> list[str]:
    """Return the topics of the lesson whose name is part of a notebook's name."""
    found = [path for path in sorted(ORIGINALS.glob("*.ipynb")) if path.stem in name]
    return topics(read(found[0])) if found else []


def _bank(topics: list[str]) -> dict[tuple[str, str], Exercise]:
    """Return {(topic, name): exercise} of these topics, as far as they exist."""
    for topic in topics:
        if find_spec(f"lnorm_utils.exercises.{topic}"):
            importlib.import_module(f"lnorm_utils.exercises.{topic}")
    return {
        (topic, name): exercise
        for topic in topics
        for name, exercise in Exercise.bank.get(topic, {}).items()
    }


def _grade_cell(kernel: Kernel, source: str, exercises: dict[str, Exercise]) -> dict[str, tuple]:
    """Run a cell, and return (state, mistake, message) for each exercise that it checks."""
    try:
        parts = list(pieces(source, exercises))
    except Exception as problem:  # a syntax error, or code that no parser can carry
        message = f"its cell cannot be read: {_one_line(problem)}."
        return {name: ("crashed", "", message) for name in exercises if f"{name}.check" in source}
    found, failed = {}, Outcome()
    for part in parts:
        # Nothing depends on what a check says in the kernel, so one that stands alone is not run.
        if not failed.failed and not (part.checks and part.checks[0].alone):
            outcome = kernel.run(part.source)
            failed = outcome if outcome.lost or not part.checks else failed
        for check in part.checks:
            found[check.exercise] = _failure(failed) or _grade_attempt(
                kernel, check, exercises[check.exercise]
            )
    return found


def _failure(outcome: Outcome, message: str = "its cell failed") -> tuple[str, str, str] | None:
    if outcome.failed:
        return outcome.failed, "", f"{message}: {_one_line(outcome.reason)}"
    return None


def _grade_attempt(kernel: Kernel, check: Check, exercise: Exercise) -> tuple[str, str, str]:
    trial = exercise.trial.__name__ if exercise.trial else ""
    outcome = kernel.ask(check.attempt, exercise.inputs, trial)
    if failure := _failure(outcome, "its attempt cannot be looked at"):
        return failure
    try:
        feedback = judged(exercise, outcome.answer)
    except ValueError as problem:
        return "crashed", "", f"its kernel sent what no attempt is: {problem}."
    return WORDS[feedback.state], feedback.mistake, _one_line(feedback.message)


def judged(exercise: Exercise, answer: dict) -> Feedback:
    """Judge what a kernel has answered, with the exercise of this process.

    Raises:
        ValueError: it is no answer.
    """
    try:
        remark, sent = _one_line(answer["remark"]), answer["values"]
        values = [plain_data.decode(value) for value in sent]
    except Exception as problem:  # whatever it is that was sent instead
        raise ValueError(_one_line(problem)) from problem
    if len(values) > len(exercise.inputs or [0]) or not (values or remark):
        raise ValueError(f"{len(values)} values")
    if exercise.inputs is None and values:
        return exercise.judge(values[0])
    return exercise.judge_results(values, remark)


def _one_line(text: object) -> str:
    """Keep what a student wrote from moving the cursor of a terminal."""
    line = " ".join(str(text).split())[:300]
    return "".join(letter if letter.isprintable() else "�" for letter in line)
