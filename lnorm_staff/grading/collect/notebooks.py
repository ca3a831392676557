"""Read a notebook that was handed in, and tell which exercises it should solve."""

import functools
import importlib
import json
import re
import stat
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from lnorm_course.checking.exercise import Exercise
from lnorm_course.lab.lesson_files import ORIGINALS, LessonError, edition, read, topics
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.cells import code_cells

__all__ = ["LARGEST", "NO_LESSON", "exercises_for", "lesson_on", "read_submission", "unsafe"]

LARGEST = 20_000_000  # bytes of a notebook
MOST_CELLS, MOST_CODE = 2_000, 1_000_000  # characters of all code cells together
NO_LESSON = "neither its cells nor its name say which lesson it is."
BANKS = "lnorm_course.exercises"
IMPORT = re.compile(r"^[ \t]*((?:from|import) .*lnorm_course\.exercises.*)", re.MULTILINE)


def read_submission(path: Path) -> dict:
    """Read a notebook of format 4.

    Raises:
        LessonError: the file isn't a notebook, or isn't a plain file of at most 20 MB, or has more
            cells or more code than anybody writes.
        OSError: the file can't be read at all.
    """
    if reason := unsafe(path):
        raise LessonError(reason)
    data = path.read_bytes()
    try:
        notebook = json.loads(data)  # in any encoding of Unicode, with or without a mark for it
        if not (reason := _too_much(notebook)):
            edition(notebook)  # which looks at all cells
    except Exception:  # anything can be in a file that somebody else made
        raise LessonError("it can't be read as a notebook.") from None
    if reason:
        raise LessonError(reason)
    return notebook


def unsafe(path: Path) -> str:
    """Say why nobody should read a file that somebody else made; empty if it can be read.

    Reading a pipe may take for ever, and a link leads to what isn't the student's.
    """
    try:
        status = path.lstat()
    except OSError as problem:
        return f"it can't be opened: {problem.strerror}."
    if stat.S_ISLNK(status.st_mode):
        return "it is a link, and only plain files are read."
    if not stat.S_ISREG(status.st_mode):
        return "it is not a plain file."
    if status.st_size > LARGEST:
        return f"it has {status.st_size / 1e6:.0f} MB, and at most {LARGEST / 1e6:.0f} MB are read."
    return ""


def _too_much(notebook: Mapping) -> str:
    """Say why reading a notebook would take long; empty if it won't."""
    if (cells := len(notebook["cells"])) > MOST_CELLS:
        return f"it has {cells:,} cells, and at most {MOST_CELLS:,} are read."
    if (code := sum(map(len, code_cells(notebook)))) > MOST_CODE:
        return f"its code has {code:,} characters, and at most {MOST_CODE:,} are read."
    return ""


def exercises_for(notebook: Mapping, name: str) -> list[Exercise]:
    """Return the exercises on the topics that a notebook imports.

    If it imports none, the lessons in its name count: "01_mean" in "01_mean_of_ada".
    """
    named = (topic for topic, lesson in _lessons_by_topic().items() if lesson in name)
    imported = dict.fromkeys(topic for cell in code_cells(notebook) for topic in _imported(cell))
    wanted = [topic for topic in imported if topic in _lessons_by_topic()] or list(named)
    for topic in wanted:
        if find_spec(f"{BANKS}.{topic}"):
            importlib.import_module(f"{BANKS}.{topic}")
    return [exercise for topic in wanted for exercise in Exercise.bank.get(topic, {}).values()]


def _imported(source: str) -> Iterator[str]:
    """Yield the topics that a cell imports, and none that a comment names."""
    for line in IMPORT.findall(source):
        yield from re.findall(rf"\b{BANKS}\.(\w+)", line)
        _, _, names = line.partition(f"from {BANKS} import ")
        yield from re.findall(r"\w+", names.partition("#")[0])


def lesson_on(topic: str) -> str:
    """Return the name of the lesson on a topic, "01_mean" for "mean"; the topic if there's none."""
    return _lessons_by_topic().get(topic, topic)


@functools.cache
def _lessons_by_topic() -> dict[str, str]:
    return {topic: path.stem for path in lessons(ORIGINALS) for topic in topics(read(path))}
