"""Grade a notebook that was handed in: run it in a kernel, and have the attempts judged."""

import re
from typing import Any

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.plain_text import one_line
from lnorm_staff.grading.run.judge import Judge
from lnorm_staff.grading.run.kernel import Outcome, outcomes

__all__ = ["grade_one"]

CHECK = re.compile(r"\b(\w+)\s*\.\s*check\b")
SECONDS_FOR_A_CALL = 10
CELLS_IN_TIME = 5  # how many cells may use up their time before the notebook has
MISSING = Outcome("missing", "no cell checks it.")


def grade_one(file: HandedIn, timeout: float, judge: Judge) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        file: the notebook that was handed in.
        timeout: seconds for each cell; the whole notebook may take five times that.
        judge: what judges its attempts, and whose children the kernel is one of.

    Returns:
        A grade for each exercise, whatever the notebook does; none for one of a side trip that no
        cell checks, because lecturers may leave those out.
    """
    names = {exercise.name for exercise in file.exercises}
    attempts: dict[str, Any] = {}  # the last one of each exercise
    failures: dict[str, Outcome] = {}  # of the last cell that failed before it checked it
    without = MISSING
    times = timeout, CELLS_IN_TIME * timeout, max(1, min(SECONDS_FOR_A_CALL, timeout / 3))
    try:
        judge.start()  # while the kernel starts
        found = outcomes(file.cells, judge.children, *times)
        for source, outcome in zip(file.cells, found, strict=True):
            attempts |= {name: a for name, a in outcome.attempts.items() if name in names}
            if outcome.failed:
                failures |= dict.fromkeys(CHECK.findall(source), outcome)
    except OSError as problem:  # of the machine, such as a full disk
        without = Outcome("crashed", f"its grading stopped early: {one_line(problem)}.")

    def graded(exercise: Exercise) -> Grade:
        if exercise.name in attempts:
            return judge.grade(file.grade(exercise), exercise, attempts[exercise.name])
        if outcome := failures.get(exercise.name):
            reason = f"its cell failed: {one_line(outcome.reason)}"
        else:
            outcome, reason = without, without.reason
        return file.grade(exercise, outcome.failed, reason)

    grades = [graded(exercise) for exercise in file.exercises]
    return [grade for grade in grades if not (grade.further and grade.state == MISSING.failed)]
