"""Read a notebook that was handed in, and tell which exercises it should solve."""

import functools
import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from lnorm_course.checking.exercise import Exercise
from lnorm_course.lab.lesson_files import ORIGINALS, edition, made_from, read, topics
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.grade import NOT_GRADED

__all__ = ["NotGradedError", "Notebook", "lesson_on", "opened"]

MOST_CELLS, MOST_CODE = 2_000, 1_000_000  # characters of all code cells together
BANKS = "lnorm_course.exercises"
IMPORT = re.compile(r"^[ \t]*((?:from|import) .*lnorm_course\.exercises.*)", re.MULTILINE)


class NotGradedError(ValueError):
    """Why a file isn't graded, in a sentence, and its state."""

    def __init__(self, reason: str, state: str = NOT_GRADED) -> None:
        super().__init__(reason)
        self.state = state


class Notebook(NamedTuple):
    """What of a notebook is graded."""

    cells: Sequence[str]  # its code
    exercises: Sequence[Exercise]  # that it should solve
    is_untouched: bool  # whether it's a lesson of this edition, or of the one it was made from


def opened(data: bytes, name: str) -> Notebook:
    """Read a notebook of format 4; one without an import is known by its name.

    Raises:
        NotGradedError: it isn't a notebook, or has more cells or more code than anybody writes.
    """
    try:
        notebook = json.loads(data)  # in any encoding of Unicode, with or without a mark for it
        code, cells = _code_cells(notebook), len(notebook["cells"])
        too_many, too_long = cells > MOST_CELLS, sum(map(len, code)) > MOST_CODE
        is_untouched = not (too_many or too_long) and _is_untouched(notebook)
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be read as a notebook.") from None
    if too_many:
        raise NotGradedError(f"it has {cells:,} cells, and at most {MOST_CELLS:,} are read.")
    if too_long:
        raise NotGradedError(
            f"its code has more than {MOST_CODE:,} characters, and no more are read."
        )
    return Notebook(code, _exercises(code, name), is_untouched)


def _code_cells(notebook: Mapping) -> list[str]:
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _is_untouched(notebook: Mapping) -> bool:
    return edition(notebook) == made_from(notebook) or _written(notebook) in _originals()


@functools.cache
def _originals() -> set[tuple[str, ...]]:
    return {_written(read(path)) for path in lessons(ORIGINALS)}


def _written(notebook: Mapping) -> tuple[str, ...]:
    return tuple(source.strip() for source in _code_cells(notebook) if source.strip())


def _exercises(code: Sequence[str], name: str) -> list[Exercise]:
    """Return the exercises on the topics that a notebook imports.

    If it imports none, the lessons in its name count: "01_mean" in "01_mean_of_ada".
    """
    named = [topic for topic, lesson in _lessons_by_topic().items() if lesson in name]
    imported = dict.fromkeys(topic for cell in code for topic in _imported(cell))
    wanted = [topic for topic in imported if topic in _lessons_by_topic()] or named
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
