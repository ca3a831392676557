"""Grade notebooks that were handed in: run each in a kernel, and have the attempts judged."""

import asyncio
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import NOT_JUDGED, RIGHT, Grade, Who, best
from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, one_line, several_lines
from lnorm_staff.grading.run.child import PROCESSOR
from lnorm_staff.grading.run.plain_data import LONGEST
from lnorm_staff.grading.run.replies import JUDGE, KERNEL, Reply, replies

__all__ = ["grade_many", "grade_one"]

CHECK = re.compile(r"\b(\w+)\s*\.\s*check\b")
SECONDS_FOR_A_CALL = 10
CELLS_IN_TIME = 5  # a notebook's time limit, as a multiple of a cell's
NOTEBOOKS_IN_TIME = 10  # a student's time limit, as a multiple of a notebook's
SECONDS_TO_JUDGE, SECONDS_TO_JUDGE_ALL = 60, 300  # for one answer, and for all in a notebook
# The most characters in a notebook's attempts. LEAST_SENT is added to the length of each, so
# at most 512 attempts are judged.
MOST_SENT, LEAST_SENT = 2**25, 2**16


async def grade_many(
    files: Sequence[HandedIn],
    timeout: float,
    jobs: int,
    tell: Callable[[HandedIn, list[Grade]], object],
) -> None:
    """Grade several files at once, each on a single processor, and report each result.

    Notebooks that may have failed because of the machine, or because of other notebooks, are graded
    once more at the end, one at a time.

    Args:
        files: the files that were handed in.
        timeout: seconds allowed for a cell.
        jobs: how many notebooks run at once.
        tell: a function to call with each file and its grades.
    """
    processors = sorted(map(str, getattr(os, "sched_getaffinity", lambda _: [""])(0)))
    spent, most = defaultdict[Who, float](float), NOTEBOOKS_IN_TIME * CELLS_IN_TIME * timeout
    again: list[tuple[HandedIn, list[Grade]]] = []

    async def grade(file: HandedIn, is_last: bool) -> list[Grade]:
        who, started = file.whole.who, time.monotonic()
        if spent[who] > most and not file.whole.state:
            file = file.refused(f"the {most:g} seconds for a student's notebooks were used up.")
        try:
            return await grade_one(file, timeout, is_last)
        except Exception as problem:  # one notebook mustn't stop the grading of a whole class
            reason = f"grading it raised {type(problem).__name__}: {one_line(problem)}"
            return [file.grade(exercise, NOT_JUDGED, reason) for exercise in file.exercises]
        finally:
            spent[who] += time.monotonic() - started

    async def work(number: int) -> None:
        PROCESSOR.set(processors[number % len(processors)])
        for file in waiting:
            grades = await grade(file, is_last=False)
            if any(grade.state == NOT_JUDGED for grade in grades):
                again.append((file, grades))
            tell(file, grades)

    waiting = iter(files)
    async with asyncio.TaskGroup() as group:
        for number in range(min(jobs, len(files))):
            group.create_task(work(number))
    PROCESSOR.set(processors[0])
    for file, first in again:
        if spent[file.whole.who] > most:
            continue
        known = [grade for grade in first if grade.state != NOT_JUDGED]
        merged = {each.exercise: each for each in [*await grade(file, is_last=True), *known]}
        tell(file, [*merged.values()])


async def grade_one(file: HandedIn, timeout: float, is_last: bool = True) -> list[Grade]:
    """Grade all exercises of the lesson that a notebook belongs to.

    Args:
        file: the file that was handed in.
        timeout: seconds allowed for each cell; the whole notebook may take five times that.
        is_last: whether to blame the notebook for a failure that the machine may have caused.

    Returns:
        A grade for each exercise, whatever the notebook does. Exercises in side trips are left out
        if no cell checks them, because lecturers may remove side trips. For a file that can't be
        graded, the list has only one entry, which gives the reason.
    """
    if file.whole.state:
        return [file.whole]
    exercises = {exercise.name: exercise for exercise in file.exercises}
    attempts: dict[tuple[str, str], None] = {}  # the last attempt at each exercise in each cell
    failures: dict[str, Reply] = {}  # for each exercise, the reply to its last failed cell
    first, is_doubtful = "", False  # why a cell first failed; whether the machine may be at fault
    call, total = max(1, min(SECONDS_FOR_A_CALL, timeout / 3)), CELLS_IN_TIME * timeout
    async for source, reply in replies(KERNEL, call, file.cells, timeout, total):
        for name in exercises.keys() & reply.attempts.keys():
            sent = reply.attempts[name]
            sent = sent if isinstance(sent, str) and len(sent) <= LONGEST else ""
            attempts.pop((name, sent), None)
            attempts[name, sent] = None
        while sum(len(sent) + LEAST_SENT for _, sent in attempts) > MOST_SENT:
            attempts.pop(next(iter(attempts)))
        if reply.failed:
            first, is_doubtful = first or reply.reason, is_doubtful or reply.by_machine
            failed = reply._replace(attempts={})
            failures |= dict.fromkeys(exercises.keys() & {*CHECK.findall(source)}, failed)
    topics = sorted({exercise.topic for exercise in file.exercises})
    judged = replies(JUDGE, topics, attempts, SECONDS_TO_JUDGE, SECONDS_TO_JUDGE_ALL)
    found = defaultdict[str, list[Grade]](list)
    async for (name, _), reply in judged:
        if reply.failed:
            reason = f"it can't be judged: {one_line(reply.reason)}"
            found[name].append(file.grade(exercises[name], NOT_JUDGED, reason))
        else:
            verdict = reply.attempts[name]
            told = {key: one_line(text, MOST_OF_A_MESSAGE) for key, text in verdict.items()}
            told["attempt"] = several_lines(verdict.get("attempt", ""))
            found[name].append(file.grade(exercises[name], **told))
    for name, reply in failures.items():
        if name not in found:
            reason = f"its cell failed: {one_line(reply.reason)}"
            if first != reply.reason:
                reason = f"the notebook first failed with {one_line(first)} Then {reason}"
            found[name].append(file.grade(exercises[name], reply.failed, reason))
    for name, exercise in exercises.items():
        if not (exercise.further or found[name]):
            found[name].append(file.grade(exercise, "missing", "no cell checks it."))
    grades = [best(found[name]) for name in exercises if found[name]]
    if is_doubtful and not is_last:  # a failed cell may have caused all other failures
        grades = [g if g.state == RIGHT else replace(g, state=NOT_JUDGED) for g in grades]
    return grades
