"""Tell whose a file is by the names of its folders and its own, as Moodle, Canvas, nbgrader do."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from lnorm_utils.lab.lesson_files import ORIGINALS
from lnorm_utils.lab.working_copy import lessons

__all__ = ["Student", "student_of"]

# "Ada Lovelace_17_assignsubmission_file_", a folder or the beginning of a file's name.
MOODLE = re.compile(r"(?P<back>(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+)_?")
# "lovelaceada_LATE_17_23_01_mean.ipynb"
CANVAS = re.compile(r"(?P<back>(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_\d+)_.")
# How browsers, Canvas, and this course number the copies of a file.
COPY = re.compile(r" \(\d+\)|-\d+|_kept_\d+|-checkpoint")
NBGRADER = "submitted"
WORKING_COPY = {"my_lessons", "notebooks"}
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')  # in the name of a file, on Windows


@dataclass(frozen=True)
class Student:
    """A student, as the names in an export tell."""

    name: str
    id: str = ""  # Moodle's or Canvas's number, for two students of one name
    late: bool = False
    feedback: str = ""  # the path under which the same system takes a feedback file


def student_of(parts: Sequence[str]) -> Student:
    """Tell whose a file is.

    Args:
        parts: the folder or archive that the lecturer named, the folders in it that lead to the
            file, and the file. The outermost name that tells a student counts, because those
            further in are the student's own.
    """
    parts = [unicodedata.normalize("NFC", part) for part in parts]
    for number, part in enumerate(parts):
        if found := MOODLE.match(part):
            feedback = f"{_file_name(found['back'])}_/feedback.html"
            return Student(found["name"], found["id"], feedback=feedback)
        # A folder such as week_1_2_points is no student's, but a file or an archive in one is.
        is_file = number == len(parts) - 1 or (number > 0 and part.lower().endswith(".zip"))
        if is_file and (found := CANVAS.match(part)):
            feedback = f"{_file_name(found['back'])}_feedback.html"
            return Student(found["name"], found["id"], bool(found["late"]), feedback)
        if part == NBGRADER and number < len(parts) - 2:
            return _named(parts[number + 1])
    given, *inside = parts
    if folders := _of_the_lecturer(inside[:-1]):
        return _named("/".join(folders))
    stem = COPY.sub("", _without_ending(inside[-1]))
    for lesson in lessons(ORIGINALS):
        stem = stem.replace(lesson.stem, "").strip(" _-.")
    return _named(stem if any(map(str.isalpha, stem)) else _without_ending(given))


def _named(name: str) -> Student:
    folder = "/".join(filter(None, map(_file_name, name.split("/")))) or "student"
    return Student(name, feedback=f"{folder}/feedback.html")


def _of_the_lecturer(folders: Sequence[str]) -> list[str]:
    """Return the folders down to a student's, without those that the student handed in."""
    for number, folder in enumerate(folders):
        if folder in WORKING_COPY:
            return list(folders[:number])
        if folder.lower().endswith(".zip"):
            return list(folders[:number]) or [_without_ending(folder)]
    return list(folders)


def _without_ending(name: str) -> str:
    return re.sub(r"\.(ipynb|zip)$", "", name, flags=re.IGNORECASE)


def _file_name(text: str) -> str:
    """Make a name that every system takes for a file, and that leads to no other folder."""
    return FORBIDDEN.sub("_", text)[:150].strip(" .")
