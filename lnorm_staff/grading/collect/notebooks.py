"""Read a notebook that was handed in, and determine which exercises it should solve."""

import functools
import json
import re
from collections.abc import Container

from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises.progress_report import import_banks
from lnorm_course.lab.lesson_files import ORIGINALS, content_hash, made_from, read, topics
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.grade import NOT_GRADED, ON_ANOTHER, STRAY, UNTOUCHED

__all__ = ["NotGradedError", "lessons_by_topic", "opened"]

# Matches an import of several banks, and captures their names.
LIST = re.compile(r"lnorm_course\.exercises import (\([^)]*|[^\n]*)")


class NotGradedError(ValueError):
    """Raised if a file can't be graded; carries a one-sentence reason and the file's state."""

    def __init__(self, reason: str, state: str = NOT_GRADED) -> None:
        super().__init__(reason)
        self.state = state


def opened(data: bytes, wanted: Container[str] | None = None) -> tuple[list[str], list[Exercise]]:
    """Return the code cells of a notebook in format 4, and the exercises that it should solve.

    Args:
        data: the content of the file.
        wanted: the names of the lessons, such as "01_mean"; None for all of them.

    Raises:
        NotGradedError: the file isn't a notebook, or it contains nothing to grade.
    """
    try:
        notebook = json.loads(data)  # accepts any Unicode encoding, with or without a BOM
        cells = notebook["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        is_untouched = content_hash(notebook) == made_from(notebook)
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be read as a notebook.") from None
    bare = [{"cell_type": "code", "source": re.sub("#.*", "", source)} for source in code]
    lists = " ".join(each for cell in bare for each in LIST.findall(cell["source"]))
    named = dict.fromkeys([*topics({"cells": bare}), *re.findall(r"\w+", lists)])
    known = [topic for topic in named if topic in lessons_by_topic()]
    asked = [topic for topic in known if wanted is None or lessons_by_topic()[topic] in wanted]
    if known and not asked:
        raise NotGradedError("it is for a different lesson.", ON_ANOTHER)
    if is_untouched:
        raise NotGradedError("nothing in it has changed since it was handed out.", UNTOUCHED)
    if not known:
        raise NotGradedError("it imports no exercises, so its lesson can't be determined.", STRAY)
    return code, [exercise for topic in asked for exercise in Exercise.bank[topic].values()]


@functools.cache
def lessons_by_topic() -> dict[str, str]:
    """Import all banks, and return the lesson on each topic, such as "01_mean" for "mean"."""
    import_banks()
    return {topic: path.stem for path in lessons(ORIGINALS) for topic in topics(read(path))}
