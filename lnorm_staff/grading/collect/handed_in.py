"""Collect the notebooks that were handed in, and say of each other file why it isn't graded."""

import contextlib
import os
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
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
from lnorm_staff.grading.collect.whose import Export, Student
from lnorm_staff.grading.grade import FURTHER, NOT_GRADED, Grade, Who
from lnorm_staff.grading.plain_text import printable

__all__ = ["HandedIn", "collect"]

MOST_FILES, MOST_FILES_OF_ONE = 10**6, 5_000  # in what a lecturer downloaded, or a student packed
MOST_OF_ONE = 100 * 10**6  # bytes that are unpacked of one student
MADE = "it is in a folder that a program made."
REASONS = {
    ".py": "it is a Python file. Hand in the notebook instead.",
    **dict.fromkeys(
        (".tar", ".gz", ".tgz", ".7z", ".rar"), "it is an archive, but not a zip archive."
    ),
}
Packed = tuple[zipfile.ZipFile, zipfile.ZipInfo]


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


@dataclass(frozen=True)
class Found:
    """A file in a folder or an archive."""

    names: tuple[str, ...]  # of the folders that lead to it, and its own
    path: Path | None = None  # where it can be read now
    reason: str = ""  # why it isn't
    packed: Packed | None = None  # where it can be unpacked


def collect(given: Path, scratch: Path) -> Iterator[HandedIn]:
    """Yield what was handed in: a notebook, all files below a folder, or all of a zip archive.

    Args:
        given: what the lecturer names; it may be a link.
        scratch: a folder in which archives are unpacked.
    """
    where = given.resolve()
    unpacked: Counter[Who] = Counter()  # bytes
    if where.is_dir():
        found = list(_in_folder(where))
    elif where.suffix.lower() == ".zip":
        try:
            found = _in_archive(where, (given.name,), MOST_FILES)
        except ValueError as problem:
            found = [Found(("", given.name), reason=str(problem))]
    else:  # a notebook, by any name
        names = (where.parent.name, given.name)
        yield HandedIn(Export([names]).student_of(names), "/".join(names), where)
        return
    export = Export(each.names for each in found)

    def handed_in(each: Found, is_inside: bool = False) -> Iterator[HandedIn]:
        who, path, reason = export.student_of(each.names), each.path, each.reason
        name = each.names[-1]
        reason = reason or _refusal(name)
        if each.packed and not reason:
            path, reason = _unpacked(*each.packed, scratch, unpacked, who.who)
        if path and not reason and name.lower().endswith(".zip"):
            try:
                if is_inside:
                    raise ValueError("it is an archive inside other archives. Unpack it first.")
                for inner in _in_archive(path, each.names, MOST_FILES_OF_ONE):
                    yield from handed_in(inner, is_inside=True)
                return
            except ValueError as problem:
                reason = str(problem)
        yield HandedIn(who, "/".join(each.names).lstrip("/"), None if reason else path, reason)

    for each in found:
        yield from handed_in(each, is_inside=False)


def _refusal(name: str) -> str:
    """Say why a file isn't graded, by its name; empty if it can be."""
    ending = Path(name).suffix.lower()
    if name.startswith("."):
        return "it is a hidden file."
    return "" if ending in (".ipynb", ".zip") else REASONS.get(ending, "it is not a notebook.")


def _in_folder(folder: Path) -> Iterator[Found]:
    """Find all files below a folder, without following a link."""
    unread: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=unread.append):
        names = (folder.name, *Path(root).relative_to(folder).parts)
        links = {name for name in folders if Path(root, name).is_symlink()}
        made = sorted(name for name in {*folders} - links if _is_made(name))
        folders[:] = sorted({*folders} - links - {*made})
        yield from (Found((*names, name), reason=MADE) for name in made)  # with thousands of files
        for name in sorted({*files} | links):
            yield Found((*names, name), Path(root, name), unsafe(Path(root, name)))
    for problem in unread:
        names = (folder.name, *Path(problem.filename).relative_to(folder).parts)
        yield Found(names, reason=f"it can't be opened: {problem.strerror}.")


def _is_made(folder: str) -> bool:
    return folder.startswith(".") or folder in ("__pycache__", "__MACOSX")


def _in_archive(path: Path, outer: tuple[str, ...], most: int) -> list[Found]:
    """Find all files in an archive, by its own table, and unpack nothing.

    Raises:
        ValueError: it isn't an archive, or has too many files.
    """
    try:
        archive = zipfile.ZipFile(path)
    except Exception:  # anything can be in a file that somebody else made
        raise ValueError("it can't be read as a zip archive.") from None
    infos = sorted((_name(info), number) for number, info in enumerate(archive.infolist()))
    infos = [each for each in infos if not each[0].endswith("/")]
    if len(infos) > most:
        raise ValueError(f"it has {len(infos):,} files, and at most {most:,} are read.")
    found = []
    for name, number in infos:
        names = tuple(part for part in name.split("/") if part not in ("", ".")) or ("?",)
        info = archive.infolist()[number]
        reason = _danger(name, info) or (MADE if any(map(_is_made, names[:-1])) else "")
        found.append(Found((*outer, *names), None, reason, (archive, info)))
    return found


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a file as it was meant, also where the archive doesn't say its encoding.

    Without a flag zipfile takes it for the encoding of MS-DOS, but macOS writes UTF-8.
    """
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _danger(name: str, info: zipfile.ZipInfo) -> str:
    """Say why a file isn't unpacked; empty if it can be."""
    parts = name.split("/")
    if not name.strip("/.") or ".." in parts or not parts[0] or parts[0].endswith(":"):
        return "its name leads out of the archive."
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or another special file, and only plain files are read."
    if info.flag_bits & 1:
        return "it is encrypted."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is compressed in an unusual way."
    if info.file_size > LARGEST:
        return f"it has {info.file_size / 1e6:.0f} MB, and at most {LARGEST / 1e6:.0f} MB are read."
    return ""


def _unpacked(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, scratch: Path, unpacked: Counter[Who], who: Who
) -> tuple[Path | None, str]:
    """Unpack a file under a name of our own, or say why that can't be done."""
    # Whoever fills the disk does so for all others.
    share = (shutil.disk_usage(scratch).free + unpacked[who]) // 4
    if unpacked[who] + info.file_size > (most := min(MOST_OF_ONE, share)):
        return None, f"with it, more than {most / 1e6:.0f} MB of this student's would be unpacked."
    unpacked[who] += info.file_size
    path = scratch / str(len(os.listdir(scratch)))
    try:
        # In pieces, it stops at the size that the archive tells, however much there is.
        with archive.open(info) as packed, path.open("wb") as file:
            shutil.copyfileobj(packed, file)
    except Exception as problem:
        path.write_bytes(b"")  # its number is taken
        if isinstance(problem, OSError) and problem.strerror:
            return None, f"it can't be unpacked: {problem.strerror}."
        return None, "it is damaged and can't be unpacked."
    return path, ""
