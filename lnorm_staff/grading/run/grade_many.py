"""Grade notebooks that were handed in: run each in a kernel, and have the attempts judged."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.plain_text import one_line
from lnorm_staff.grading.run.judge import Judge
from lnorm_staff.grading.run.kernel import Outcome, outcomes

__all__ = ["grade_many", "grade_one"]

CHECK = re.compile(r"\b(\w+)\s*\.\s*check\b")
SECONDS_FOR_A_CALL = 10
CELLS_IN_TIME = 5  # how many cells may use up their time before the notebook has
MISSING = Outcome("missing", "no cell checks it.")


async def grade_many(
    files: Sequence[HandedIn],
    timeout: float,
    jobs: int,
    tell: Callable[[HandedIn, list[Grade]], object],
) -> None:
    """Grade several files at once, and tell of each in the order given.

    Args:
        files: what was handed in.
        timeout: seconds for a cell.
        jobs: how many notebooks run at once.
        tell: what to call with each file and its grades.
    """
    graded = [asyncio.get_running_loop().create_future() for _ in files]
    waiting = iter(zip(files, graded, strict=True))

    async def work() -> None:
        async with Judge() as judge:
            for file, future in waiting:
                future.set_result(await grade_one(file, timeout, judge))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(jobs, len(files))):
            group.create_task(work())
        for file, future in zip(files, graded, strict=True):
            tell(file, await future)


async def grade_one(file: HandedIn, timeout: float, judge: Judge) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        file: what was handed in.
        timeout: seconds for each cell; the whole notebook may take five times that.
        judge: what judges its attempts.

    Returns:
        A grade for each exercise, whatever the notebook does; none for one of a side trip that no
        cell checks, because lecturers may leave those out. Of what isn't graded, the reason.
    """
    if file.state:
        return [file.grade(None, file.state, file.reason)]
    names = {exercise.name for exercise in file.exercises}
    attempts: dict[str, Any] = {}  # the last one of each exercise
    failures: dict[str, Outcome] = {}  # of the last cell that failed before it checked it
    times = timeout, CELLS_IN_TIME * timeout, max(1, min(SECONDS_FOR_A_CALL, timeout / 3))
    with contextlib.suppress(OSError):  # which comes again
        await judge.start()  # while the kernel starts
    for source, outcome in zip(file.cells, await outcomes(file.cells, *times), strict=True):
        attempts |= {name: a for name, a in outcome.attempts.items() if name in names}
        if outcome.failed:
            failures |= dict.fromkeys(CHECK.findall(source), outcome)

    async def graded(exercise: Exercise) -> Grade:
        if exercise.name in attempts:
            return await judge.grade(file.grade(exercise), exercise, attempts[exercise.name])
        if outcome := failures.get(exercise.name):
            reason = f"its cell failed: {one_line(outcome.reason)}"
            return file.grade(exercise, outcome.failed, reason)
        return file.grade(exercise, *MISSING[:2])

    grades = [await graded(exercise) for exercise in file.exercises]
    return [grade for grade in grades if not (grade.further and grade.state == MISSING.failed)]
