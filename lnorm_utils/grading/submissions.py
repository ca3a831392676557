"""Find the notebooks that were handed in, read them, and tell which exercises each should solve."""

import functools
import importlib
import json
import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.lab.lesson_files import ORIGINALS, LessonError, read, topics
from lnorm_utils.lab.working_copy import lessons

__all__ = ["exercises_for", "find_submissions", "lesson_on", "read_submission"]


def find_submissions(given: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the path of each notebook: the one given, or those below a folder."""
    if given.is_file():
        yield given.name, given
    for path in sorted(given.rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            yield path.relative_to(given).as_posix(), path


def read_submission(path: Path) -> dict:
    """Read a notebook, also one of an older format.

    Raises:
        LessonError: the file isn't a notebook.
        OSError: the file can't be read at all.
    """
    try:
        return read(path)
    except LessonError as problem:
        return _read_older(path, problem)


def _read_older(path: Path, problem: LessonError) -> dict:
    import nbformat

    try:
        notebook = json.loads(path.read_text("utf-8-sig"))
        if notebook["nbformat"] >= 4:
            raise problem
        with warnings.catch_warnings(action="ignore"):  # about missing ids
            return nbformat.convert(nbformat.from_dict(notebook), 4)
    except Exception:  # anything can be in a file that somebody else made
        raise problem from None


def exercises_for(notebook: Mapping, name: str) -> list[Exercise]:
    """Return the exercises on the topics that a notebook imports.

    If it imports none, the lessons in its name count: "01_mean" in "01_mean_of_ada".
    """
    named = (topic for topic, lesson in _lessons_by_topic().items() if lesson in name)
    wanted = topics(notebook) or list(named)
    for topic in wanted:
        if find_spec(f"lnorm_utils.exercises.{topic}"):
            importlib.import_module(f"lnorm_utils.exercises.{topic}")
    return [exercise for topic in wanted for exercise in Exercise.bank.get(topic, {}).values()]


def lesson_on(topic: str) -> str:
    """Return the name of the lesson on a topic, "01_mean" for "mean"; the topic if there's none."""
    return _lessons_by_topic().get(topic, topic)


@functools.cache
def _lessons_by_topic() -> dict[str, str]:
    return {topic: path.stem for path in lessons(ORIGINALS) for topic in topics(read(path))}
