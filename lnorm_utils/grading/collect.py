"""Collect the notebooks that were handed in, and say of each other file why it isn't graded."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lnorm_utils.grading.students import Student, student_of
from lnorm_utils.grading.submissions import LARGEST, unsafe
from lnorm_utils.grading.unzip import Limits, unzip

__all__ = ["HandedIn", "collect"]

GIVEN = Limits(LARGEST, 2 * 10**9, 10**6)  # what a lecturer downloaded
NESTED = Limits(LARGEST, 200 * 10**6, 5_000)  # what a student packed
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
    path: Path | None = None  # where to read it
    reason: str = ""  # why it isn't graded


Found = tuple[tuple[str, ...], Path | None, str]  # names, where it is, why it isn't read


def collect(given: Path, scratch: Path) -> Iterator[HandedIn]:
    """Yield what was handed in: a notebook, all files below a folder, or all of a zip archive.

    Args:
        given: what the lecturer names; it may be a link.
        scratch: a folder in which archives are unpacked.
    """
    where = given.resolve()
    if where.is_dir():
        yield from _collect(_in_folder(where), scratch, NESTED)
    elif where.suffix.lower() == ".zip":
        yield from _in_zip((given.name,), where, scratch, GIVEN)
    else:  # a notebook, by any name
        names = (where.parent.name, given.name)
        yield HandedIn(student_of(names), "/".join(names), where)


def _collect(files: Iterable[Found], scratch: Path, limits: Limits | None) -> Iterator[HandedIn]:
    """Tell what to grade; archives are unpacked if there are limits for them."""
    for names, path, reason in files:
        reason = reason or _refusal(names[-1])
        if path and not reason and names[-1].lower().endswith(".zip"):
            if limits:
                yield from _in_zip(names, path, scratch, limits)
                continue
            reason = "it is an archive inside other archives. Unpack it first."
        yield HandedIn(student_of(names), "/".join(names), None if reason else path, reason)


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
            yield (*names, name), None, HIDDEN
        for name in sorted({*files} | links):
            path = Path(root, name)
            yield (*names, name), path, unsafe(path) or _in_hidden((*names, name))
    for problem in unread:
        names = (folder.name, *Path(problem.filename).relative_to(folder).parts)
        yield names, None, f"it can't be opened: {problem.strerror}."


def _in_zip(
    names: tuple[str, ...], archive: Path, scratch: Path, limits: Limits
) -> Iterator[HandedIn]:
    into = Path(tempfile.mkdtemp(dir=scratch))
    try:
        files = [
            ((*names, *each.parts), each.path, each.reason or _in_hidden(each.parts))
            for each in unzip(archive, into, UNPACKED, limits)
        ]
    except ValueError as problem:
        who = student_of(names if names[1:] else ("", *names))
        yield HandedIn(who, "/".join(names), reason=str(problem))
        return
    yield from _collect(files, scratch, NESTED if limits is GIVEN else None)


def _in_hidden(parts: tuple[str, ...]) -> str:
    return HIDDEN if any(p == MACOS or _is_hidden(p) for p in parts[:-1]) else ""


def _is_hidden(folder: str) -> bool:
    return folder.startswith(".") or folder == "__pycache__"
