"""Collect the notebooks that were handed in, and say of each other file why it isn't graded."""

import contextlib
import io
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.collect.notebooks import NotGradedError, lesson_on, opened
from lnorm_staff.grading.collect.whose import Export, Origin
from lnorm_staff.grading.grade import FURTHER, NOT_GRADED, Grade, Who
from lnorm_staff.grading.plain_text import printable, shortened

__all__ = ["HandedIn", "collect"]

LARGEST = 20_000_000  # bytes of a file
KINDS = (".ipynb", ".zip")
MOST_LISTED = {True: 100, False: 20}  # of one student, whether they are of these kinds or not
MOST_OF_ONE = 100 * 10**6  # bytes that are read of one student
MADE = (".", "__")  # how the names begin of what a program made, such as "__MACOSX"


class HandedIn(NamedTuple):
    """A file that was handed in; with a state, it isn't graded."""

    origin: Origin
    cells: Sequence[str] = ()  # its code
    exercises: Sequence[Exercise] = ()  # that it should solve
    state: str = ""
    reason: str = ""  # for the state, in a sentence

    def grade(self, exercise: Exercise | None, state: str = "", message: str = "") -> Grade:
        """Return a grade for an exercise in this file, or for the file as a whole."""
        told = {**self.origin._asdict(), "state": state, "message": message}
        if exercise:
            told |= {"lesson": lesson_on(exercise.topic), "exercise": exercise.name}
            told |= {"further": FURTHER if exercise.further else ""}
        return Grade(**{name: printable(cell) for name, cell in told.items()})


class Found(NamedTuple):
    """A file in a folder or an archive."""

    names: tuple[str, ...]  # of the folders that lead to it, and its own
    read: Callable[[], bytes]  # which raises a NotGradedError or an OSError if it can't be read


def collect(given: Iterable[Path], wanted: Container[str] | None = None) -> Iterator[HandedIn]:
    """Yield what was handed in, each file under a name of its own, and nothing that's hidden.

    Args:
        given: what the lecturer names: notebooks, folders of them, or zip archives. It may be a
            link, and nothing in it may be one.
        wanted: the names of the lessons, such as "01_mean"; None for all of them.
    """
    size_of, files_of = Counter[Who](), Counter[tuple[Who, bool]]()
    seen = Counter[str]()

    def handed_in(found: list[Found], export: Export, archives: int) -> Iterator[HandedIn]:
        for named, read in sorted(found, key=lambda each: each.names):
            # As tables show them, so that files whose names look alike there stay several.
            names = tuple(map(printable, named))
            origin = export.origin_of(names)
            origin = origin._replace(file=shortened(origin.file))
            who = origin.who
            seen[origin.file] += 1
            if (number := seen[origin.file]) > 1:  # as an archive may have it
                origin = origin._replace(file=f"{origin.file} ({number})")
            is_work = names[-1].lower().endswith(KINDS)
            most = MOST_LISTED[is_work]
            files_of[who, is_work] += 1
            if files_of[who, is_work] > most + 1:
                continue
            try:
                if files_of[who, is_work] > most:
                    raise NotGradedError(f"of a student, at most {most} such files are listed.")
                # Whoever has too much already has no more of it read.
                data = read() if size_of[who] <= MOST_OF_ONE else b""
                size_of[who] += len(data)
                if size_of[who] > MOST_OF_ONE:
                    told = f"at most {MOST_OF_ONE / 1e6:.0f} MB are graded."
                    raise NotGradedError(f"of a student, {told}")
                is_archive = names[-1].lower().endswith(KINDS[1])
                if is_archive and not archives:
                    raise NotGradedError("it is an archive inside other archives. Unpack it first.")
                if is_archive:
                    inner = _in_archive(io.BytesIO(data), names)
                    yield from handed_in(inner, export, archives - 1)
                    continue
                cells, exercises = opened(data, names[-1], wanted)
                yield HandedIn(origin, cells, exercises)
            except NotGradedError as problem:
                yield HandedIn(origin, state=problem.state, reason=str(problem))
            except OSError as problem:
                told = f"it can't be opened: {problem.strerror}."
                yield HandedIn(origin, state=NOT_GRADED, reason=told)

    for path in given:
        found = _in(path)
        yield from handed_in(found, Export(each.names for each in found), archives=1)


def _in(given: Path) -> list[Found]:
    """Find all that a lecturer names."""
    where = given.resolve()
    if where.is_dir():
        return list(_in_folder(where))
    if where.suffix.lower() != ".zip":
        return [Found((where.parent.name, given.name), partial(_read, where))]
    try:
        return _in_archive(where, (given.name,))
    except NotGradedError as problem:
        return [Found((where.parent.name, given.name), partial(_refuse, problem))]


def _refuse(problem: Exception) -> bytes:
    raise problem


def _in_folder(folder: Path) -> Iterator[Found]:
    """Find all files below a folder, however deep, without following a link."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        names = (folder.name, *path.relative_to(folder).parts)
        try:
            for each in path.iterdir():
                if each.is_dir() and not each.is_symlink():
                    waiting += [] if each.name.startswith(MADE) else [each]
                elif not each.name.startswith(MADE):
                    yield Found((*names, each.name), partial(_read, each))
        except OSError as problem:
            yield Found(names, partial(_refuse, problem))


def _read(path: Path) -> bytes:
    """Read a file; reading a pipe may take for ever, and a link leads to what is another's."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise NotGradedError("it is a link, and only plain files are read.")
    if not stat.S_ISREG(status.st_mode):
        raise NotGradedError("it is not a plain file.")
    _check(path.name, status.st_size)
    return path.read_bytes()


def _check(name: str, size: int) -> None:
    """Refuse a file by its name or its size."""
    if not name.lower().endswith(KINDS):
        raise NotGradedError("it is neither a notebook nor a zip archive.")
    if size > LARGEST:
        most = f"at most {LARGEST / 1e6:.0f} MB are read."
        raise NotGradedError(f"it has {size / 1e6:.0f} MB, and {most}")


def _in_archive(file: Path | IO[bytes], outer: tuple[str, ...]) -> list[Found]:
    """Find all files in an archive, by its own table.

    Raises:
        NotGradedError: it isn't an archive.
    """
    try:
        archive = zipfile.ZipFile(file)
        infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
        files = [(info, _name(info)) for info in infos]
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be read as a zip archive.") from None
    return [
        Found((*outer, *names), partial(_unpacked, archive, info, names[-1]))
        for info, names in files
        if not any(name.startswith(MADE) for name in names)
    ]


def _name(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """Return the names of a file and its folders as they were meant, and none that leads out.

    Without a flag zipfile takes them for the encoding of MS-DOS, but macOS writes UTF-8.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return tuple(each for each in name.replace("\\", "/").split("/") if each.strip(".")) or ("?",)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    """Unpack a file, of which no more comes out than the archive's own table says.

    Raises:
        NotGradedError: it is damaged, encrypted, or compressed in an unusual way.
    """
    _check(name, info.file_size)
    try:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError  # what zipfile would unpack as a whole
        with archive.open(info) as packed:
            return packed.read(info.file_size + 1)  # without a size, all of it is unpacked
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be unpacked.") from None
