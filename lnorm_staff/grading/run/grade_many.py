"""Grade notebooks that were handed in: run each in a kernel, and have the attempts judged."""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade, Who
from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, one_line
from lnorm_staff.grading.run.plain_data import LONGEST
from lnorm_staff.grading.run.replies import JUDGE, KERNEL, Reply, replies

__all__ = ["grade_many", "grade_one"]

CHECK = re.compile(r"\b(\w+)\s*\.\s*check\b")
SECONDS_FOR_A_CALL = 10
CELLS_IN_TIME = 5  # how many cells may use up their time before the notebook has
NOTEBOOKS_IN_TIME = 10  # and how many notebooks before their student has
SECONDS_TO_JUDGE, SECONDS_TO_JUDGE_ALL = 60, 300  # an answer, and those of a notebook
MISSING = "missing"


async def grade_many(
    files: Sequence[HandedIn],
    timeout: float,
    jobs: int,
    tell: Callable[[HandedIn, list[Grade]], object],
) -> None:
    """Grade several files at once, and tell of each as soon as that is done.

    Args:
        files: what was handed in.
        timeout: seconds for a cell.
        jobs: how many notebooks run at once.
        tell: what to call with each file and its grades.
    """
    waiting = iter(files)
    spent, most = defaultdict[Who, float](float), NOTEBOOKS_IN_TIME * CELLS_IN_TIME * timeout

    async def work() -> None:
        for file in waiting:
            who, started = file.whole.who, time.monotonic()
            if spent[who] > most and not file.whole.state:
                told = f"the {most:g} seconds for all notebooks of a student were over."
                file = file.refused(told)
            try:
                grades = await grade_one(file, timeout)
            except Exception as problem:  # of one notebook, which must not stop a class
                reason = f"grading it raised {type(problem).__name__}: {one_line(problem)}"
                grades = [file.refused(reason).whole]
            spent[who] += time.monotonic() - started
            tell(file, grades)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(jobs, len(files))):
            group.create_task(work())


async def grade_one(file: HandedIn, timeout: float) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        file: what was handed in.
        timeout: seconds for each cell; the whole notebook may take five times that.

    Returns:
        A grade for each exercise, whatever the notebook does; none for one of a side trip that no
        cell checks, because lecturers may leave those out. Of what isn't graded, the reason.
    """
    if file.whole.state:
        return [file.whole]
    names = {exercise.name for exercise in file.exercises}
    attempts: dict[str, str] = {}  # the last one of each exercise
    failures: dict[str, Reply] = {}  # of the last cell that failed before it checked it
    call, total = max(1, min(SECONDS_FOR_A_CALL, timeout / 3)), CELLS_IN_TIME * timeout
    async for source, reply in replies(KERNEL, call, file.cells, timeout, total):
        for name in names & {*reply.attempts}:
            sent = reply.attempts[name]
            attempts[name] = sent if isinstance(sent, str) and len(sent) <= LONGEST else ""
        if reply.failed:
            failed = reply._replace(attempts={})
            failures |= dict.fromkeys(names & {*CHECK.findall(source)}, failed)
    topics = sorted({exercise.topic for exercise in file.exercises})
    judged = replies(JUDGE, topics, attempts.items(), SECONDS_TO_JUDGE, SECONDS_TO_JUDGE_ALL)
    verdicts = {name: reply async for (name, _), reply in judged}

    def graded(exercise: Exercise) -> Grade:
        if reply := verdicts.get(exercise.name):
            if reply.failed:
                reason = f"it can't be judged: {one_line(reply.reason)}"
                return file.grade(exercise, reply.failed, reason)
            state, *words = reply.attempts[exercise.name]
            mistake, belief, message = (one_line(each, MOST_OF_A_MESSAGE) for each in words)
            return file.grade(exercise, state, message, mistake=mistake, belief=belief)
        if reply := failures.get(exercise.name):
            reason = f"its cell failed: {one_line(reply.reason)}"
            return file.grade(exercise, reply.failed, reason)
        return file.grade(exercise, MISSING, "no cell checks it.")

    grades = [graded(exercise) for exercise in file.exercises]
    return [grade for grade in grades if not (grade.further and grade.state == MISSING)]
