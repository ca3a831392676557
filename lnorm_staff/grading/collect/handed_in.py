"""Collect the notebooks that were handed in, and say why any other file isn't graded."""

import contextlib
import io
import re
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.collect.notebooks import NotGradedError, lessons_by_topic, opened
from lnorm_staff.grading.collect.whose import KINDS, students_at, whose
from lnorm_staff.grading.grade import FURTHER, NOT_GRADED, Grade, Who
from lnorm_staff.grading.plain_text import printable

__all__ = ["HandedIn", "collect"]

LARGEST = 20_000_000  # the maximum size of a file, in bytes
LONGEST_NAME = 400  # characters; a longer name wouldn't fit in spreadsheets or on screens
# The most files listed per student: of the types in `KINDS`, and of other types.
MOST_LISTED = {True: 100, False: 20}
MOST_OF_ONE = 100 * 10**6  # the maximum size of a student's files, in bytes
# An archive's table may have at most LONGEST_TABLE bytes, of which each file takes about 100. In
# memory, an entry takes more, so each counts as BYTES_OF_A_NAME bytes toward the student's limit.
LONGEST_TABLE, BYTES_OF_A_NAME = 5_000_000, 1000
# Matches files that programs create, and hidden files other than notebooks and archives.
MADE = re.compile(
    r"(?i)(^|/)(\._|__(MACOSX|pycache__)/|\.(ipynb_checkpoints|git|venv|cache|local|trash[^/]*)/"
    r"|\.(?!.*\.(ipynb|ipynb\.txt|zip)$))"
)


class HandedIn(NamedTuple):
    """A file that was handed in, and what to grade in it."""

    whole: Grade  # names the owner; has a state if nothing in the file is graded
    cells: Sequence[str] = ()  # the source of its code cells
    exercises: Sequence[Exercise] = ()  # the exercises that it should solve

    def refused(self, message: str, state: str = NOT_GRADED) -> "HandedIn":
        """Return this file with the reason why it isn't graded."""
        return HandedIn(replace(self.whole, state=state, message=message))

    def grade(self, exercise: Exercise, state: str, message: str = "", **more: str) -> Grade:
        """Return a grade for an exercise in this file."""
        told = {"lesson": lessons_by_topic()[exercise.topic], "exercise": exercise.name}
        told |= {"further": FURTHER if exercise.further else ""}
        return replace(self.whole, **told, **more, state=state, message=message)


class _Found(NamedTuple):
    """A file in a folder or an archive."""

    names: tuple[str, ...]  # the folders that lead to it, and its own name
    read: Callable[[], bytes]  # raises NotGradedError or OSError if it can't be read


def collect(given: Iterable[Path], wanted: Container[str] | None = None) -> Iterator[HandedIn]:
    """Yield the files that were handed in, each with a unique name, except matches of `MADE`.

    Args:
        given: the notebooks, folders, and zip archives that the lecturer names. These may be links,
            but links inside them are refused.
        wanted: the names of the lessons, such as "01_mean"; None for all of them.

    Raises:
        OSError: something that the lecturer names doesn't exist.
    """
    size_of, listed, seen = Counter[Who](), Counter[tuple[Who, bool]](), Counter[str]()
    for path in given:
        waiting = _last_first(_in(path))
        at = students_at([each.names for each in waiting])
        while waiting:
            names, read = waiting.pop()
            whole = whose(names, at)
            name, who = whole.file[:LONGEST_NAME], whole.who
            seen[name] += 1
            if seen[name] > 1:  # an archive may contain a name twice
                name = f"{name} ({seen[name]})"
            file = HandedIn(replace(whole, file=name))
            is_archive, is_work = (names[-1].lower().endswith(kind) for kind in (KINDS[1], KINDS))
            most = MOST_LISTED[is_work]
            listed[who, is_work] += 1
            if listed[who, is_work] > most + 1:
                continue
            try:
                if listed[who, is_work] > most:
                    raise NotGradedError(f"at most {most} such files are listed for a student.")
                # If a student is already over the limit, nothing more is read.
                data = read() if size_of[who] <= MOST_OF_ONE else b""
                size_of[who] += len(data)
                _check_size("the student's files total", size_of[who], MOST_OF_ONE)
                if not data.strip():
                    raise NotGradedError("it is empty.")
                if is_archive:
                    inside = _last_first(_in_archive(io.BytesIO(data), names))
                    size_of[who] += BYTES_OF_A_NAME * len(inside)
                    waiting += inside
                else:
                    yield HandedIn(file.whole, *opened(data, wanted))
            except NotGradedError as problem:
                yield file.refused(str(problem), problem.state)
            except OSError as problem:
                yield file.refused(f"it can't be opened: {problem.strerror}.")


def _last_first(found: Iterable[_Found]) -> list[_Found]:
    """Make names printable, drop files that match `MADE`, and sort the rest by name in reverse."""
    shown = (each._replace(names=tuple(map(printable, each.names))) for each in found)
    kept = (each for each in shown if not MADE.search("/".join(each.names[1:])))
    return sorted(kept, key=lambda each: each.names, reverse=True)


def _in(given: Path) -> Iterable[_Found]:
    """Return the files in the given folder or archive, or the given file itself."""
    where = given.resolve(strict=True)
    if where.is_dir():
        return _in_folder(where)
    read: Callable[[], Any] = partial(_read, where)
    if where.suffix.lower() == KINDS[1]:
        read = partial(_in_archive, where, (given.name,))
        with contextlib.suppress(NotGradedError):
            return read()
    return [_Found((where.parent.name, given.name), read)]


def _in_folder(folder: Path) -> Iterator[_Found]:
    """Yield all files below a folder, at any depth, without following links."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        names = (folder.name, *path.relative_to(folder).parts)
        try:
            for each in path.iterdir():
                if each.is_dir() and not each.is_symlink():
                    waiting.append(each)
                else:
                    yield _Found((*names, each.name), partial(_read, each))
        except OSError:
            yield _Found(names, partial(_read, path))


def _read(path: Path) -> bytes:
    """Read a file, but only a plain one: a pipe may block forever, and a link may lead anywhere."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise NotGradedError("it is a link, but only plain files are read.")
    if not stat.S_ISREG(status.st_mode):
        raise NotGradedError("it is neither a plain file nor a folder that can be opened.")
    _check(path.name, status.st_size)
    return path.read_bytes()


def _check(name: str, size: int) -> None:
    """Refuse a file because of its name or its size."""
    if not name.lower().endswith(KINDS):
        raise NotGradedError("it is neither a notebook nor a zip archive.")
    _check_size("its size is", size, LARGEST)


def _check_size(what: str, size: int, most: int) -> None:
    if size > most:
        raise NotGradedError(f"{what} {size / 1e6:.0f} MB; the limit is {most / 1e6:.0f} MB.")


class _Packed(io.BufferedReader):
    """A file that limits the size of each read, because an archive's table is read all at once."""

    most = LONGEST_TABLE

    def read(self, size: int | None = -1, /) -> bytes:
        _check_size("its list of files takes", size or 0, self.most)
        return super().read(size)


def _in_archive(file: Path | io.BytesIO, outer: tuple[str, ...]) -> list[_Found]:
    """Find all files that the table of an archive lists.

    Raises:
        NotGradedError: the file isn't an archive, or its table is too large.
    """
    try:
        packed = _Packed(file.open("rb") if isinstance(file, Path) else file)
        archive = zipfile.ZipFile(packed)
        packed.most = LARGEST + 1  # from now on, the limit for one file
        files = [(info, _names(info)) for info in archive.infolist()]
    except NotGradedError:
        raise
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be read as a zip archive.") from None
    return [
        _Found((*outer, *names), partial(_unpacked, archive, info, names[-1]))
        for info, names in files
        if not info.filename.endswith("/")
    ]


def _names(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """Decode the names of a file and its folders, and drop names that lead outside the archive.

    If a name isn't marked as UTF-8, zipfile assumes an MS-DOS encoding, but macOS writes UTF-8
    without marking it.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return tuple(each for each in name.replace("\\", "/").split("/") if each.strip(".")) or ("?",)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    """Unpack a file, but read at most one byte more than the size in the archive's table.

    Raises:
        NotGradedError: the file is of the wrong kind, too large, damaged, encrypted, or
            compressed in an unusual way.
    """
    _check(name, info.file_size)
    try:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError  # zipfile would unpack it all at once
        with archive.open(info) as packed:
            return packed.read(info.file_size + 1)  # without a size, `read` would unpack it all
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be unpacked.") from None
