"""Keep results through a full disk, a Ctrl-C, or a power cut: whole files, and a journal."""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from lnorm_utils.grading.grade import Grade

__all__ = ["Journal", "whole_file"]

LARGEST = 20_000_000  # bytes of a submission that are looked at


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a file to write beside `path`, and put it into its place once all is written.

    If writing fails or is interrupted, what was at `path` stays as it was.

    Raises:
        OSError: the file can't be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


class Journal:
    """The grades of each submission that is done: a line in a file, written at once.

    Args:
        path: the file.
        resume: go on with what an earlier call has written there, instead of starting over.

    Raises:
        OSError: the file can't be written or read.
    """

    def __init__(self, path: Path, resume: bool = False) -> None:
        self.path = path
        self._done = dict(_lines(path)) if resume and path.exists() else {}
        with whole_file(path) as file:  # without a line that was cut off
            file.writelines(_line(*key, grades) for key, grades in self._done.items())

    def done(self, name: str, submission: Path) -> list[Grade] | None:
        """Return the grades of a submission that was graded earlier and hasn't changed since."""
        return self._done.get((name, _contents(submission)))

    def add(self, name: str, submission: Path, grades: Sequence[Grade]) -> None:
        """Write down the grades of a submission.

        Raises:
            OSError: the disk is full.
        """
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(name, _contents(submission), grades))

    def remove(self) -> None:
        """Remove the file, because everything in it has got its place elsewhere."""
        self.path.unlink(missing_ok=True)


def _line(name: str, contents: str, grades: Sequence[Grade]) -> str:
    return json.dumps([name, contents, [asdict(grade) for grade in grades]]) + "\n"


def _lines(path: Path) -> Iterator[tuple[tuple[str, str], list[Grade]]]:
    for line in path.read_text("utf-8").splitlines():
        with contextlib.suppress(ValueError, TypeError):  # a line that was cut off
            name, contents, grades = json.loads(line)
            yield (name, contents), [Grade(**grade) for grade in grades]


def _contents(submission: Path) -> str:
    """Return a word that changes with a file, and is empty for what can't be read as one."""
    with contextlib.suppress(OSError):
        if submission.is_file() and submission.stat().st_size <= LARGEST:
            return hashlib.sha256(submission.read_bytes()).hexdigest()
    return ""
