"""How far a student has come: an empty file for each answer, or nothing where none can be.

The name of the file is all there is to know. So notebooks that run at the same time overwrite
nothing, a kernel that dies leaves nothing half written, and a full disk mostly has room for it.
"""

import functools
import html
import json
import os
import sys
from pathlib import Path

from lnorm_utils.exercises.feedback import SIGNS, State

__all__ = ["note", "progress"]

# The folder where it is kept; an empty value keeps nothing, as in tests.
VARIABLE = "LNORM_PROGRESS"
FOLDER = ".progress"
FORMER = ".json"  # an earlier version kept it all in `.progress.json`


def note(lesson: str, name: str, state: State) -> None:
    """Keep the state of an exercise; a right one stays right."""
    folder = _folder()
    if folder is None or state is State.NOT_ATTEMPTED:
        return
    try:
        folder.mkdir(exist_ok=True)
        _file(folder, lesson, name, state).touch()
    except OSError as problem:  # a read-only folder or a full disk must not get in the way
        _say(
            f"Your progress cannot be kept in {folder.absolute()} ({problem.strerror}): make room "
            "on the disk, or make the folder writable, and run your cells again."
        )


def progress(lesson: str) -> "Progress":
    """Show the exercises of a lesson, such as "01_mean", and what became of each.

    Raises:
        ValueError: there are no exercises of that lesson.
    """
    from lnorm_utils.exercises.exercise import Exercise

    if lesson not in Exercise.bank:
        known = ", ".join(sorted(Exercise.bank)) or "none yet"
        raise ValueError(f"There are no exercises of {lesson!r}; known lessons: {known}.")
    folder = _folder()
    former = _former(folder, lesson)
    return Progress({name: _state(folder, lesson, name, former) for name in Exercise.bank[lesson]})


class Progress(dict):
    """Exercise name → state, shown as a list."""

    def __repr__(self) -> str:
        right = sum(state is State.RIGHT for state in self.values())
        lines = [f"{SIGNS[s]} {name}: {s.value.lower()}" for name, s in self.items()]
        return "\n".join([f"{right} of {len(self)} exercises are right.", *lines])

    def _repr_html_(self) -> str:
        head, *lines = repr(self).splitlines()
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        return f"<p>{head}</p><ul style='list-style: none'>{items}</ul>"


def _folder() -> Path | None:
    chosen = os.environ.get(VARIABLE, FOLDER)
    return Path(chosen) if chosen else None


def _file(folder: Path, lesson: str, name: str, state: State) -> Path:
    return folder / f"{lesson}.{name}.{state.name.lower()}"


def _state(folder: Path | None, lesson: str, name: str, former: dict) -> State:
    for state in (State.RIGHT, State.WRONG):
        kept = folder is not None and os.path.exists(_file(folder, lesson, name, state))
        if kept or former.get(name) == state.name:
            return state
    return State.NOT_ATTEMPTED


def _former(folder: Path | None, lesson: str) -> dict:
    """Read what an earlier version kept; a file that is missing or damaged is no progress."""
    if folder is None:
        return {}
    try:
        kept = json.loads(folder.with_name(folder.name + FORMER).read_text("utf-8"))[lesson]
        return dict(kept)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return {}


@functools.cache  # once in a kernel
def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
