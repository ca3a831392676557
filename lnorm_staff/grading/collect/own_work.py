"""Tell in which notebooks there's something of a student's own to grade."""

import functools
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from lnorm_course.lab.lesson_files import ORIGINALS, edition, made_from, read
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.cells import code_cells
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.collect.notebooks import NO_LESSON, lesson_on
from lnorm_staff.grading.grade import STRAY, UNTOUCHED, Who

__all__ = ["with_work"]

NOTHING_CHANGED = "nothing in it has changed since it was handed out."
MOST_NOTEBOOKS = 40  # of one student; the course has less than half as many lessons
TOO_MANY = f"of a student, only the first {MOST_NOTEBOOKS} notebooks are graded, by their names."


def with_work(
    files: Iterable[HandedIn], wanted: Container[str] | None = None
) -> Iterator[HandedIn]:
    """Yield the files on some lessons, and say of each whether there's anything to grade.

    Of each student's notebooks with work in them, the first 40 are graded.

    Args:
        files: what was handed in.
        wanted: the names of the lessons, such as "01_mean"; None for all of them.
    """
    to_run: Counter[Who] = Counter()
    for file in files:
        reason, state = "", file.state
        if file.path:
            try:
                notebook, exercises = file.opened()
            except Exception:  # anything can be in it; grading it says what's wrong
                exercises = []
            else:
                on = {lesson_on(exercise.topic) for exercise in exercises}
                if exercises and wanted is not None and not any(each in wanted for each in on):
                    continue
                if _is_untouched(notebook):
                    reason, state = NOTHING_CHANGED, UNTOUCHED
                elif not exercises:
                    reason, state = NO_LESSON, STRAY
        if file.path and not reason:
            to_run[file.student.who] += 1
            reason = TOO_MANY if to_run[file.student.who] > MOST_NOTEBOOKS else ""
        yield replace(file, path=None, reason=reason, state=state) if reason else file


def _is_untouched(notebook: Mapping) -> bool:
    """Tell whether a notebook is a lesson of this edition, or of the one it was made from."""
    return edition(notebook) == made_from(notebook) or _code(notebook) in _originals()


@functools.cache
def _originals() -> set[tuple[str, ...]]:
    return {_code(read(path)) for path in lessons(ORIGINALS)}


def _code(notebook: Mapping) -> tuple[str, ...]:
    return tuple(source.strip() for source in code_cells(notebook) if source.strip())
