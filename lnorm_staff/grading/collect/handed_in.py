"""Collect the notebooks that were handed in, and say of each other file why it isn't graded."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lnorm_course.checking.exercise import Exercise
from lnorm_course.lab.lesson_files import LessonError
from lnorm_staff.grading.collect.notebooks import (
    LARGEST,
    exercises_for,
    lesson_on,
    read_submission,
    unsafe,
)
from lnorm_staff.grading.collect.unzip import Found, Limits, names_in, unzip
from lnorm_staff.grading.collect.whose import Export, Student
from lnorm_staff.grading.grade import FURTHER, NOT_GRADED, Grade, Who
from lnorm_staff.grading.plain_text import printable

__all__ = ["HandedIn", "collect"]

GIVEN = Limits(LARGEST, 2 * 10**9, 10**6)  # what a lecturer downloaded
NESTED = Limits(LARGEST, 200 * 10**6, 5_000)  # what a student packed
MOST_OF_ONE = 100 * 10**6  # bytes that are unpacked of one student
HIDDEN = "it is in a folder that a program made."
MACOS = "__MACOSX"  # beside what macOS packs
UNPACKED = (".ipynb", ".zip")
REASONS = {
    ".py": "it is a Python file. Hand in the notebook instead.",
    **dict.fromkeys(
        (".tar", ".gz", ".tgz", ".7z", ".rar"), "it is an archive, but not a zip archive."
    ),
}


@dataclass(frozen=True)
class HandedIn:
    """A file that was handed in."""

    student: Student
    file: str  # with its folders, as it was handed in
    path: Path | None = None  # where to read it; None if it isn't graded
    reason: str = ""  # why it isn't graded
    state: str = NOT_GRADED  # which kind of reason that is, without a path

    def opened(self) -> tuple[dict, list[Exercise]]:
        """Return the notebook, and the exercises that it should solve.

        Raises:
            LessonError: it isn't a notebook, or isn't graded.
            OSError: it can't be read at all. What is in it may raise others.
        """
        if not self.path:
            raise LessonError(self.reason)
        notebook = read_submission(self.path)
        return notebook, exercises_for(notebook, self.file.rpartition("/")[2])

    def grade(self, exercise: Exercise | None, state: str = "", message: str = "") -> Grade:
        """Return a grade for an exercise in this file, or for the file as a whole."""
        who = self.student
        cells = {
            "student": who.name,
            "id": who.id,
            "file": self.file,
            "late": "late" if who.late else "",
            "feedback": who.feedback,
            "lesson": lesson_on(exercise.topic) if exercise else "",
            "exercise": exercise.name if exercise else "",
            "state": state,
            "message": message,
            "further": FURTHER if exercise and exercise.further else "",
        }
        return Grade(**{name: printable(cell) for name, cell in cells.items()})


def collect(given: Path, scratch: Path) -> Iterator[HandedIn]:
    """Yield what was handed in: a notebook, all files below a folder, or all of a zip archive.

    Args:
        given: what the lecturer names; it may be a link.
        scratch: a folder in which archives are unpacked.
    """
    where = given.resolve()
    if where.is_dir():
        files = list(_in_folder(where))
        yield from _Collection(Export(each.names for each in files), scratch).of(files)
    elif where.suffix.lower() == ".zip":
        try:
            export = Export((given.name, *names) for names in names_in(where))
        except ValueError:  # which unpacking it says
            export = Export([])
        yield from _Collection(export, scratch).in_zip((given.name,), where, GIVEN)
    else:  # a notebook, by any name
        names = (where.parent.name, given.name)
        yield HandedIn(Export([names]).student_of(names), "/".join(names), where)


class _Collection:
    """All that is in what the lecturer named, and how much of each student's is unpacked."""

    def __init__(self, export: Export, scratch: Path) -> None:
        self.export, self.scratch = export, scratch
        self._unpacked: Counter[Who] = Counter()  # bytes

    def of(self, files: Iterable[Found], limits: Limits | None = NESTED) -> Iterator[HandedIn]:
        """Tell what to grade; archives are unpacked if there are limits for them."""
        for each in files:
            names, path = each.names, each.path
            reason = each.reason or _refusal(names[-1])
            if path and not reason and names[-1].lower().endswith(".zip"):
                if limits:
                    yield from self.in_zip(names, path, limits)
                    continue
                reason = "it is an archive inside other archives. Unpack it first."
            who = self.export.student_of(names)
            yield HandedIn(who, "/".join(names), None if reason else path, reason)

    def in_zip(self, names: tuple[str, ...], archive: Path, limits: Limits) -> Iterator[HandedIn]:
        """Tell what to grade in an archive."""

        def refusal(inside: tuple[str, ...], size: int) -> str:
            return _in_hidden(inside) or self._too_much((*names, *inside), size)

        try:
            into = Path(tempfile.mkdtemp(dir=self.scratch))
            found = [*unzip(archive, into, UNPACKED, limits, refusal)]
        except (ValueError, OSError) as problem:
            failed = getattr(problem, "strerror", "")
            reason = f"it can't be unpacked: {failed}." if failed else str(problem)
            who = self.export.student_of(names if names[1:] else ("", *names))
            yield HandedIn(who, "/".join(names), reason=reason)
            return
        files = (replace(each, names=(*names, *each.names)) for each in found)
        yield from self.of(files, NESTED if limits is GIVEN else None)

    def _too_much(self, names: tuple[str, ...], size: int) -> str:
        """Count a file that will be unpacked, or say why it won't be."""
        student = self.export.student_of(names)
        before = self._unpacked[student.who]
        # Whoever fills the disk does so for all others.
        share = (shutil.disk_usage(self.scratch).free + before) // 4
        if before + size > (most := min(MOST_OF_ONE, share)):
            return f"with it, more than {most / 1e6:.0f} MB of this student's would be unpacked."
        self._unpacked[student.who] += size
        return ""


def _refusal(name: str) -> str:
    """Say why a file isn't graded, by its name; empty if it can be."""
    ending = Path(name).suffix.lower()
    if name.startswith("."):
        return "it is a hidden file."
    return "" if ending in UNPACKED else REASONS.get(ending, "it is not a notebook.")


def _in_folder(folder: Path) -> Iterator[Found]:
    """Find all files below a folder, without following a link."""
    unread: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=unread.append):
        names = (folder.name, *Path(root).relative_to(folder).parts)
        links = {name for name in folders if Path(root, name).is_symlink()}
        folders[:] = sorted({*folders} - links)
        for name in [name for name in folders if _is_hidden(name)]:
            folders.remove(name)  # there may be thousands of files in it
            yield Found((*names, name), reason=HIDDEN)
        for name in sorted({*files} | links):
            path, found = Path(root, name), (*names, name)
            yield Found(found, path, unsafe(path) or _in_hidden(found))
    for problem in unread:
        names = (folder.name, *Path(problem.filename).relative_to(folder).parts)
        yield Found(names, reason=f"it can't be opened: {problem.strerror}.")


def _in_hidden(names: tuple[str, ...]) -> str:
    return HIDDEN if any(n == MACOS or _is_hidden(n) for n in names[:-1]) else ""


def _is_hidden(folder: str) -> bool:
    return folder.startswith(".") or folder == "__pycache__"
