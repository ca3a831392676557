"""Tell what in a notebook is the student's own: nothing, or code that others may have too."""

import functools
import hashlib
import io
import re
import tokenize
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise
from lnorm_course.lab.lesson_files import ORIGINALS, edition, made_from, main_way, read
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.cells import MOST_CHARACTERS, code_cells
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.collect.notebooks import NO_LESSON, lesson_on
from lnorm_staff.grading.grade import STRAY, UNTOUCHED, Who

__all__ = ["looked_at"]

NOTHING_CHANGED = "nothing in it has changed since it was handed out."
MOST_NOTEBOOKS = 40  # of one student; the course has less than half as many lessons
LEAST = 80  # characters; two students often write the same few
TOO_MANY = f"of a student, only the first {MOST_NOTEBOOKS} notebooks are graded, by their names."
LEFT_OUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def looked_at(
    files: Iterable[HandedIn], wanted: Container[str] | None = None
) -> Iterator[HandedIn]:
    """Yield the files, and say of each whether there's anything of the student's to grade.

    Of each student's notebooks with work in them, the first 40 are graded.

    Args:
        files: what was handed in.
        wanted: the lessons to grade, such as "01_mean"; notebooks on others are left out.
    """
    to_run: Counter[Who] = Counter()
    for file in _with_work(files, wanted):
        to_run[file.student.who] += bool(file.path)
        if file.path and to_run[file.student.who] > MOST_NOTEBOOKS:
            yield replace(file, path=None, reason=TOO_MANY)
        else:
            yield file


def _with_work(files: Iterable[HandedIn], wanted: Container[str] | None) -> Iterator[HandedIn]:
    for file in files:
        if not file.path:
            yield file
            continue
        try:
            notebook, exercises = file.opened()
            untouched = _is_untouched(notebook)
            answers = dict(_answers(notebook, exercises))
        except Exception:  # anything can be in it; grading it says what's wrong
            yield file
            continue
        lessons_in_it = {lesson_on(exercise.topic) for exercise in exercises}
        if untouched:
            changed = replace(file, path=None, reason=NOTHING_CHANGED, state=UNTOUCHED)
        elif not exercises:
            changed = replace(file, path=None, reason=NO_LESSON, state=STRAY)
        else:
            changed = replace(file, answers=answers)
        if wanted is None or not exercises or any(each in wanted for each in lessons_in_it):
            yield changed


def _is_untouched(notebook: Mapping) -> bool:
    """Tell whether a notebook is a lesson of this edition, or of the one it was made from."""
    return edition(notebook) == made_from(notebook) or _code(notebook) in _originals()


@functools.cache
def _originals() -> set[tuple[str, ...]]:
    originals = [read(path) for path in lessons(ORIGINALS)]
    return {_code(each) for original in originals for each in (original, main_way(original))}


def _code(notebook: Mapping) -> tuple[str, ...]:
    return tuple(source.strip() for source in code_cells(notebook) if source.strip())


def _answers(notebook: Mapping, exercises: Iterable[Exercise]) -> Iterator[tuple[str, str]]:
    """Yield for each function or class of some length a mark that is the same for the same code."""
    for exercise in exercises:
        if not isinstance(exercise, CodeExercise):
            continue
        code = _last_check(exercise.name, code_cells(notebook))
        given = _template(exercise)
        body = _body(code)
        if len(code) - len(given) >= LEAST and body != _solution(exercise):
            yield exercise.name, hashlib.sha256(body.encode()).hexdigest()[:12]


def _last_check(name: str, sources: Iterable[str]) -> str:
    """Return the code of the last cell that checks an exercise, without spaces and comments."""
    pattern = re.compile(rf"\b{re.escape(name)}\s*\.\s*check\b")
    return _plain(next((s for s in reversed([*sources]) if pattern.search(s)), ""))


@functools.cache
def _template(exercise: Exercise) -> str:
    lesson = ORIGINALS / f"{lesson_on(exercise.topic)}.ipynb"
    return _last_check(exercise.name, code_cells(read(lesson))) if lesson.exists() else ""


@functools.cache
def _solution(exercise: CodeExercise) -> str:
    return _body(_plain(exercise.shown_solution().code))


def _body(code: str) -> str:
    """Return what follows the first line of a function, without the check behind it."""
    return re.sub(r"\w+\.check\(.*", "", code.partition(":")[2])


def _plain(source: str) -> str:
    """Return code without spaces and comments; any other text without spaces."""
    try:
        if len(source) > MOST_CHARACTERS:
            raise ValueError
        tokens = [*tokenize.generate_tokens(io.StringIO(source).readline)]
    except (ValueError, SyntaxError, tokenize.TokenError):
        return "".join(source.split())
    return "".join(token.string for token in tokens if token.type not in LEFT_OUT)
