"""Collect what students of a hub hand in, from home folders that they control, as root.

Each step opens one name in a folder that is already open and never follows a link, so nothing that
a student changes meanwhile leads anywhere else. Linux and macOS.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lnorm_staff.grading.collect.notebooks import LARGEST
from lnorm_staff.grading.collect.unzip import Limits

__all__ = ["Owner", "collect_homes"]

WORKING_COPY, SUBMITTED = "my_lessons", "submitted"
EACH = Limits(LARGEST, 200 * 10**6, 500)  # of one student


@dataclass(frozen=True)
class Owner:
    """Whose the collected files are: an ordinary user, who grades them."""

    uid: int
    gid: int


def collect_homes(homes: Path, out: Path, owner: Owner | None = None) -> Iterator[tuple[str, str]]:
    """Copy the notebooks in each student's working copy to a folder that `grade` takes.

    Args:
        homes: the folder of the home folders, such as /home.
        out: a folder that isn't there yet; within `private_files`, only root can open it until it's
            complete.
        owner: who gets it; whoever runs this, if None.

    Yields:
        Each file, such as "seat-01/01_mean.ipynb", with the reason if it wasn't copied.

    Raises:
        OSError: the folder of homes can't be read, or `out` can't be written.
    """
    (out / SUBMITTED).mkdir(parents=True)
    top = os.open(homes, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for student in sorted(os.listdir(top)):
            into = out / SUBMITTED / student
            into.mkdir()
            for name, reason in _one_student(top, student, into):
                yield f"{student}/{name}", reason
            if not any(into.iterdir()):
                into.rmdir()
    finally:
        os.close(top)
    if owner:
        for path in (*out.rglob("*"), out):
            os.chown(path, owner.uid, owner.gid, follow_symlinks=False)


def _one_student(top: int, student: str, into: Path) -> Iterator[tuple[str, str]]:
    with contextlib.ExitStack() as opened:
        try:
            home = _folder(student, top, opened)
            uid = os.fstat(home).st_uid
            work = _folder(WORKING_COPY, home, opened)
        except OSError as problem:
            # Not every home has a working copy, and not everything in /home is one.
            if not isinstance(problem, FileNotFoundError | NotADirectoryError):
                yield WORKING_COPY, f"it can't be opened: {problem.strerror}."
            return
        left, files = EACH.total, EACH.files
        for name in sorted(os.listdir(work)):
            if name.startswith("."):
                continue
            if _is_folder(name, work):
                yield name, "it is a folder, and notebooks in folders aren't collected."
                continue
            if not name.lower().endswith(".ipynb"):
                continue
            data, reason = _read(name, work, uid)
            left, files = left - len(data), files - 1
            if left < 0 or files < 0:
                yield WORKING_COPY, "it has too many notebooks, so some weren't collected."
                return
            if not reason:
                try:
                    (into / name).write_bytes(data)
                except OSError as problem:
                    (into / name).unlink(missing_ok=True)
                    reason = f"it can't be written: {problem.strerror}."
            yield name, reason


def _folder(name: str, parent: int, opened: contextlib.ExitStack) -> int:
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    opened.callback(os.close, folder)
    return folder


def _is_folder(name: str, parent: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:  # it has gone meanwhile
        return False


def _read(name: str, folder: int, uid: int) -> tuple[bytes, str]:
    """Return what is in a file, or why it isn't read."""
    try:
        # Without blocking, because a pipe that nobody writes to would block for ever.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as problem:
        is_link = problem.errno == errno.ELOOP
        return b"", "it is a link." if is_link else f"it can't be opened: {problem.strerror}."
    with open(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return b"", "it is not a plain file."
        if status.st_uid != uid:
            return b"", "it belongs to somebody else."
        data = opened.read(LARGEST + 1)  # it may grow meanwhile
    if len(data) > LARGEST:
        return b"", f"it has more than {LARGEST / 1e6:.0f} MB."
    return data, ""
