"""Update a student's own copy of the lessons without overwriting the student's work."""

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lnorm_course.lab.lesson_files import (
    NAME,
    LessonError,
    cleared,
    content_hash,
    exercises,
    made_from,
    main_way,
    read,
    topics,
    whole,
    write,
)
from lnorm_course.progress_files import FOLDER, RIGHT, kept

__all__ = ["finished", "fresh_copy", "lesson_named", "lessons", "update"]


def _how_to_refresh(lesson: str) -> str:
    """Say how to refresh a lesson, with `make` or Python, whichever the student used."""
    by_make = "MAKELEVEL" in os.environ
    command = 'make lab ARGS="--fresh {}"' if by_make else "python -m lnorm_course --fresh {}"
    return f"To get the new edition and keep yours next to it: {command.format(lesson)}"


def update(originals: Path, copies: Path) -> Iterator[str]:
    """Bring a working copy up to date without touching what a student has written.

    A lesson that isn't there yet is copied without outputs. A lesson that the student hasn't
    changed is replaced when its original has changed. All others are left alone.

    Args:
        originals: the folder with the course's own notebooks.
        copies: the folder to work in; it is created if it doesn't exist.

    Yields:
        A sentence for each lesson that was updated, has a new edition, can't be read, or was added
            to a folder that already existed.

    Raises:
        OSError: the folder can't be written to.
    """
    is_first = not copies.exists()
    copies.mkdir(parents=True, exist_ok=True)
    for path in lessons(originals):
        original, copy = _original(path), copies / path.name
        if not copy.exists():
            write(cleared(original), copy)
            if not is_first:
                yield f"New: {path.name}."
            continue
        try:
            own = read(copy)
        except (LessonError, PermissionError) as problem:
            yield f"{problem} {_how_to_refresh(path.stem)}"
            continue
        if content_hash(original) in (made_from(own), content_hash(own)):
            continue
        if content_hash(own) == made_from(own):
            write(cleared(original), copy)
            yield f"{path.name} has a new edition. You hadn't changed yours, so it was updated."
        else:
            yield f"{path.name} has a new edition; yours is untouched. {_how_to_refresh(path.stem)}"


def fresh_copy(originals: Path, copies: Path, lesson: str) -> str:
    """Put a fresh copy of a lesson in place, and keep the student's own copy under a new name.

    Returns:
        A message that also says where the student's own copy is now, if there was one.

    Raises:
        ValueError: there is no such lesson, or more than one.
        OSError: the folder can't be written to.
    """
    path = lesson_named(originals, lesson)
    copies.mkdir(parents=True, exist_ok=True)
    fresh, copy = cleared(_original(path)), copies / path.name
    said = f"{path.name} is now a fresh copy."
    with whole(copy) as draft:
        write(fresh, draft)  # written first, so that nothing is moved if the disk is full
        if copy.exists():
            kept_as = _new_name(copies, path.stem)
            copy.replace(kept_as)
            said += f" Your own copy is kept as {kept_as.name}."
            said += " If the lesson is open in JupyterLab, close its tab first."
    return said


def _new_name(folder: Path, lesson: str) -> Path:
    """Create an empty file with an unused name, to be replaced by the student's own lesson."""
    paths = (folder / f"{lesson}_kept_{number}.ipynb" for number in itertools.count(1))
    path = next(path for path in paths if not path.exists())
    path.touch(exist_ok=False)
    return path


def _original(path: Path) -> dict:
    try:
        return read(path)
    except LessonError as problem:
        raise LessonError(f"The course's own {problem}") from None


def lessons(originals: Path) -> list[Path]:
    """List the lessons in a folder in order, with the appendices last."""
    return sorted(path for path in originals.glob("*.ipynb") if re.fullmatch(NAME, path.name))


def lesson_named(originals: Path, name: str) -> Path:
    """Find a lesson by its name, by the beginning of its name ("02"), or by a topic ("variance").

    Raises:
        ValueError: there is no such lesson, or more than one.
    """
    wanted = name.removesuffix(".ipynb")
    found = [path for path in lessons(originals) if wanted and path.stem.startswith(wanted)]
    found = found or [path for path in lessons(originals) if wanted in topics(_original(path))]
    if len(found) != 1:
        known = ", ".join(path.stem for path in lessons(originals))
        raise ValueError(f"{name!r} doesn't match exactly one lesson. Choose from {known}.")
    return found[0]


def finished(originals: Path, copies: Path) -> dict[str, bool]:
    """Tell, for each lesson in order, whether all exercises are solved; side trips don't count."""
    done = {}
    for path in lessons(originals):
        lesson, answered = _original(path), copies / FOLDER
        done[path.name] = all(
            any(kept(topic, name, answered) == RIGHT for topic in topics(lesson))
            for name in exercises(main_way(lesson))
        )
    return done
