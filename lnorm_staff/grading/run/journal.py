"""Keep the grades of what is done, so that grading goes on after an interruption."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.collect.notebooks import unsafe
from lnorm_staff.grading.files import whole_file
from lnorm_staff.grading.grade import Grade

__all__ = ["Journal"]

Key = tuple[str, str]  # the file, and a word for what was in it


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
            file.writelines(_line(key, grades) for key, grades in self._done.items())

    def done(self, file: HandedIn) -> list[Grade] | None:
        """Return the grades of a submission that was graded earlier and hasn't changed since."""
        return self._done.get(_key(file))

    def add(self, file: HandedIn, grades: Sequence[Grade]) -> None:
        """Write down the grades of a submission.

        Raises:
            OSError: the disk is full.
        """
        with self.path.open("a", encoding="utf-8") as journal:
            journal.write(_line(_key(file), grades))

    def remove(self) -> None:
        """Remove the file, because everything in it has got its place elsewhere."""
        self.path.unlink(missing_ok=True)


def _line(key: Key, grades: Sequence[Grade]) -> str:
    return json.dumps([*key, [asdict(grade) for grade in grades]]) + "\n"


def _lines(path: Path) -> Iterator[tuple[Key, list[Grade]]]:
    for line in path.read_text("utf-8").splitlines():
        with contextlib.suppress(ValueError, TypeError):  # a line that was cut off
            name, contents, grades = json.loads(line)
            yield (name, contents), [Grade(**grade) for grade in grades]


def _key(file: HandedIn) -> Key:
    """Return a key that changes with what is in a file; all that can't be read have one."""
    contents = ""
    with contextlib.suppress(OSError):
        if file.path and not unsafe(file.path):
            contents = hashlib.sha256(file.path.read_bytes()).hexdigest()
    return file.file, contents
