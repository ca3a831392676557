"""Collect the notebooks that were handed in, and say of each other file why it isn't graded."""

import contextlib
import io
import os
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.collect.notebooks import Notebook, NotGradedError, lesson_on, opened
from lnorm_staff.grading.collect.whose import Export, Student
from lnorm_staff.grading.grade import (
    FURTHER,
    NOT_GRADED,
    ON_ANOTHER,
    STRAY,
    UNTOUCHED,
    Grade,
    Who,
)
from lnorm_staff.grading.plain_text import printable

__all__ = ["HandedIn", "collect"]

LARGEST = 20_000_000  # bytes of a file
MOST_FILES, MOST_FILES_OF_ONE = 10**6, 5_000  # in what a lecturer downloaded, or a student packed
MOST_OF_ONE = 100 * 10**6  # bytes that are read of one student
MOST_NOTEBOOKS = 40  # of one student; the course has less than half as many lessons
MADE = "it is in a folder that a program made."


@dataclass(frozen=True)
class HandedIn:
    """A file that was handed in; with a state, it isn't graded."""

    student: Student
    file: str  # with its folders, as it was handed in
    cells: Sequence[str] = ()  # its code
    exercises: Sequence[Exercise] = ()  # that it should solve
    state: str = ""
    reason: str = ""  # for the state, in a sentence

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


class Found(NamedTuple):
    """A file in a folder or an archive."""

    names: tuple[str, ...]  # of the folders that lead to it, and its own
    reason: str = ""  # why it isn't read
    size: int = 0  # in bytes
    read: Callable[[], bytes] = bytes


def collect(given: Iterable[Path], wanted: Container[str] | None = None) -> Iterator[HandedIn]:
    """Yield what was handed in, each file under a name of its own.

    Args:
        given: what the lecturer names: notebooks, folders of them, or zip archives. It may be a
            link, and nothing in it may be one.
        wanted: the names of the lessons, such as "01_mean"; None for all of them.
    """
    size_of, notebooks_of = Counter[Who](), Counter[Who]()
    seen = Counter[str]()

    def handed_in(each: Found, export: Export, is_inside: bool = False) -> Iterator[HandedIn]:
        who, file = export.student_of(each.names), "/".join(each.names).lstrip("/")
        seen[file] += 1
        if seen[file] > 1:  # as an archive may have it
            file = f"{file} ({seen[file]})"
        try:
            if reason := each.reason or _refusal(each.names[-1]):
                raise NotGradedError(reason)
            size_of[who.who] += each.size
            if size_of[who.who] > MOST_OF_ONE:
                most = f"{MOST_OF_ONE / 1e6:.0f} MB"
                raise NotGradedError(f"with it, more than {most} of this student's would be read.")
            data = each.read()
            if each.names[-1].lower().endswith(".zip"):
                if is_inside:
                    raise NotGradedError("it is an archive inside other archives. Unpack it first.")
                for inner in _in_archive(io.BytesIO(data), each.names, MOST_FILES_OF_ONE):
                    yield from handed_in(inner, export, is_inside=True)
                return
            found = opened(data, each.names[-1])
            _look_for_work(found, wanted)
            notebooks_of[who.who] += 1
            if notebooks_of[who.who] > MOST_NOTEBOOKS:
                most = f"the first {MOST_NOTEBOOKS} notebooks"
                raise NotGradedError(f"of a student, only {most} are graded, by their names.")
            yield HandedIn(who, file, found.cells, found.exercises)
        except NotGradedError as problem:
            yield HandedIn(who, file, state=problem.state, reason=str(problem))
        except OSError as problem:
            told = f"it can't be opened: {problem.strerror}."
            yield HandedIn(who, file, state=NOT_GRADED, reason=told)

    for path in given:
        found = _in(path)
        export = Export(each.names for each in found)
        for each in found:
            yield from handed_in(each, export)


def _look_for_work(notebook: Notebook, wanted: Container[str] | None) -> None:
    """Raise NotGradedError where there's nothing to grade."""
    on = {lesson_on(exercise.topic) for exercise in notebook.exercises}
    if on and wanted is not None and not any(lesson in wanted for lesson in on):
        raise NotGradedError("it is on another lesson.", ON_ANOTHER)
    if notebook.is_untouched:
        raise NotGradedError("nothing in it has changed since it was handed out.", UNTOUCHED)
    if not on:
        raise NotGradedError("neither its cells nor its name say which lesson it is.", STRAY)


def _refusal(name: str) -> str:
    """Say why a file isn't graded, by its name; empty if it can be."""
    if name.startswith("."):
        return "it is a hidden file."
    is_known = name.lower().endswith((".ipynb", ".zip"))
    return "" if is_known else "it is neither a notebook nor a zip archive."


def _in(given: Path) -> list[Found]:
    """Find all that a lecturer names."""
    where = given.resolve()
    if where.is_dir():
        return list(_in_folder(where))
    if where.suffix.lower() != ".zip":
        return [_on_disk((where.parent.name, given.name), where)]
    try:
        return list(_in_archive(where, (given.name,), MOST_FILES))
    except NotGradedError as problem:
        return [Found(("", given.name), str(problem))]


def _in_folder(folder: Path) -> Iterator[Found]:
    """Find all files below a folder, without following a link."""
    unread: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=unread.append):
        names = (folder.name, *Path(root).relative_to(folder).parts)
        links = {name for name in folders if Path(root, name).is_symlink()}
        made = sorted(name for name in {*folders} - links if _is_made(name))
        folders[:] = sorted({*folders} - links - {*made})
        yield from (Found((*names, name), MADE) for name in made)  # with thousands of files
        yield from (_on_disk((*names, name), Path(root, name)) for name in sorted({*files} | links))
    for problem in unread:
        names = (folder.name, *Path(problem.filename).relative_to(folder).parts)
        yield Found(names, f"it can't be opened: {problem.strerror}.")


def _on_disk(names: tuple[str, ...], path: Path) -> Found:
    """Find a file; reading a pipe may take for ever, and a link leads to what is another's."""
    try:
        status = path.lstat()
    except OSError as problem:
        return Found(names, f"it can't be opened: {problem.strerror}.")
    if stat.S_ISLNK(status.st_mode):
        return Found(names, "it is a link, and only plain files are read.")
    reason = "" if stat.S_ISREG(status.st_mode) else "it is not a plain file."
    return Found(names, reason or _too_large(status.st_size), status.st_size, path.read_bytes)


def _is_made(folder: str) -> bool:
    return folder.startswith(".") or folder in ("__pycache__", "__MACOSX")


def _too_large(size: int) -> str:
    most = f"at most {LARGEST / 1e6:.0f} MB are read."
    return f"it has {size / 1e6:.0f} MB, and {most}" if size > LARGEST else ""


def _in_archive(file: Path | IO[bytes], outer: tuple[str, ...], most: int) -> Iterator[Found]:
    """Find all files in an archive, by its own table.

    Raises:
        NotGradedError: it isn't an archive, or has too many files.
    """
    try:
        archive = zipfile.ZipFile(file)
        infos = archive.infolist()
        found = sorted((_name(info), number) for number, info in enumerate(infos))
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be read as a zip archive.") from None
    if len(found) > most:
        raise NotGradedError(f"it has {len(found):,} files, and at most {most:,} are read.")
    for name, number in found:
        if not name.endswith("/"):
            names = tuple(each for each in name.split("/") if each.strip(".")) or ("?",)
            size = infos[number].file_size
            reason = MADE if any(map(_is_made, names[:-1])) else _too_large(size)
            yield Found((*outer, *names), reason, size, partial(_unpacked, archive, infos[number]))


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a file as it was meant, also where the archive doesn't say its encoding.

    Without a flag zipfile takes it for the encoding of MS-DOS, but macOS writes UTF-8.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Unpack a file, of which no more comes out than the archive's own table says.

    Raises:
        NotGradedError: it is damaged, encrypted, or compressed in an unusual way.
    """
    try:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError  # what zipfile would unpack as a whole
        with archive.open(info) as packed:
            return packed.read(info.file_size + 1)  # without a size, all of it is unpacked
    except Exception:  # anything can be in a file that somebody else made
        raise NotGradedError("it can't be unpacked.") from None
