"""Record results as empty files whose names give the exercise and its state.

Because a record is only a file name, notebooks that run at the same time don't overwrite each
other's records, a kernel that dies leaves nothing half written, and even a full disk usually has
room for another record.
"""

import functools
import os
import sys
from pathlib import Path

__all__ = ["CHOSEN", "FOLDER", "RIGHT", "WRONG", "keep", "kept", "score"]

RIGHT, CHOSEN, WRONG = "right", "chosen", "wrong"  # the states, from best to worst
# Records are stored in a folder next to the notebooks unless the environment variable names a
# different one. If the variable is empty, nothing is stored.
FOLDER, VARIABLE = ".progress", "LNORM_PROGRESS"


def score(right: int, most: int, what: str = "", further: int = 0, most_further: int = 0) -> str:
    """Say how many exercises are right, counting those on side trips separately.

    >>> score(4, 6, " right", 1, 2), score(8, 8)
    ('4 of 6 right, and 1 of 2 further', '8 of 8')
    """
    more = f", and {further} of {most_further} further" if most_further else ""
    return f"{right} of {most}{what}{more}"


def keep(topic: str, exercise: str, state: str) -> None:
    """Record the state of an exercise; once an exercise is right, it stays right."""
    if (folder := _folder()) is None:
        return
    try:
        folder.mkdir(exist_ok=True)
        (folder / f"{topic}.{exercise}.{state}").touch()
    except OSError as problem:  # a read-only folder or a full disk must not stop the student
        _say(
            f"Your progress can't be stored in {folder.absolute()} ({problem.strerror}). Make room "
            "on the disk, or make the folder writable, and run your cells again."
        )


def kept(topic: str, exercise: str, folder: Path | None = None) -> str:
    """Return the best recorded state of an exercise, or an empty string if there is none.

    Args:
        topic: what the exercise is about, such as "mean".
        exercise: the name of the exercise.
        folder: the folder with the files; by default, the one that `keep` uses.
    """
    if (folder := folder or _folder()) is None:
        return ""
    files = {state: folder / f"{topic}.{exercise}.{state}" for state in (RIGHT, CHOSEN, WRONG)}
    return next((state for state, file in files.items() if os.path.exists(file)), "")


def _folder() -> Path | None:
    chosen = os.environ.get(VARIABLE, FOLDER)
    return Path(chosen) if chosen else None


@functools.cache  # so that a sentence is printed only once per kernel
def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
