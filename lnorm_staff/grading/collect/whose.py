"""Tell whose a file is by the outermost name that the lecturer's system gave it."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.grade import Who

__all__ = ["Export", "Origin"]

# What Moodle calls a folder, or the beginning of a file, "Ada Lovelace_17_assignsubmission_file_",
# and Canvas a file, "lovelaceada_LATE_17_23_01_mean.ipynb". Both put the student first and what the
# student chose behind, so the shortest match counts.
SYSTEM = re.compile(
    r"(?P<name>.+?)"
    r"(?P<rest>(?P<late>_LATE)?_(?P<id>\d+)_(?:(?P<moodle>assignsubmission_[a-z]+)|\d+(?=_.)))"
)
# How browsers, Canvas, and this course number the copies of a file.
COPY = re.compile(r" \(\d+\)|-\d+|_kept_\d+|-checkpoint")
NBGRADER, WORKING_COPY = "submitted", ("my_lessons", "notebooks")
MOST_BYTES = 150  # of a name; every system takes 255, and the student's number comes behind


class Origin(NamedTuple):
    """Whose a file is, as the names in an export tell: the first columns of a grade."""

    student: str
    id: str = ""  # Moodle's or Canvas's number, for two students of one name
    file: str = ""  # from the name on that tells whose it is, so the same in every export
    late: str = ""  # or "late"
    feedback: str = ""  # the path under which the same system takes a feedback file

    @property
    def who(self) -> Who:
        """Return what tells two students apart."""
        return self.student, self.id


class Export:
    """What a lecturer names: a folder, an archive, or a notebook, with the names of all in it.

    Only the outermost name in it tells whose a file is, because those further in are the student's
    own.

    Args:
        paths: for each file, the folder or archive that the lecturer named, the folders in it that
            lead to the file, and the file. Of a single notebook, its folder and the notebook.
    """

    def __init__(self, paths: Iterable[Sequence[str]]) -> None:
        known = list(paths)
        is_student = any(_of_system(path[0], is_file=False) for path in known)
        self._start = 0 if is_student else 2 if _are_wrapped(known) else 1

    def origin_of(self, path: Sequence[str]) -> Origin:
        """Tell whose a file is."""
        at = min(self._start, len(path) - 1)
        if path[at] == NBGRADER and at < len(path) - 2:
            at += 1
        if path[at] in WORKING_COPY and at < len(path) - 1:
            at -= 1
        name, is_file = path[at], at == len(path) - 1
        file = "/".join(path[at:])
        if found := _of_system(name, is_file):
            back = f"{_file_name(found['name'])}{found['rest']}_{'/' if found['moodle'] else ''}"
            late = "late" if found["late"] else ""
            return Origin(found["name"], found["id"], file, late, f"{back}feedback.html")
        if not is_file and not name.lower().endswith(".zip"):
            return _named(name, file)
        stem = COPY.sub("", _without_ending(name))
        for lesson in lessons(ORIGINALS):
            stem = stem.replace(lesson.stem, "").strip(" _-.")
        if any(map(str.isalpha, stem)):
            return _named(stem, file)
        return _named(_without_ending(path[at - 1]), f"{path[at - 1]}/{file}")


def _of_system(name: str, is_file: bool) -> re.Match | None:
    """Match a name that Moodle or Canvas gave."""
    found = SYSTEM.match(name)
    # A folder such as week_1_2_points is no student's, but a file or an archive in one is.
    is_file = is_file or name.lower().endswith(".zip")
    return found if found and (is_file or found["moodle"]) else None


def _are_wrapped(paths: Sequence[Sequence[str]]) -> bool:
    """Tell whether all students are in one more folder, which has nothing else in it."""
    outer = {path[1] for path in paths}
    if len(outer) != 1 or any(len(path) < 3 for path in paths):
        return False
    inside = {path[2]: len(path) == 3 for path in paths}
    if outer & {*WORKING_COPY} or inside.keys() & {*WORKING_COPY, NBGRADER}:
        return False
    if _of_system(paths[0][1], is_file=False) or len(inside) == 1:
        return False  # it may be a single student's
    systems = [_of_system(name, is_file) for name, is_file in inside.items()]
    return all(systems) or (not any(systems) and not any(inside.values()))


def _named(name: str, file: str) -> Origin:
    return Origin(name, file=file, feedback=f"{_file_name(name) or 'student'}/feedback.html")


def _without_ending(name: str) -> str:
    return re.sub(r"\.(ipynb|zip)$", "", name, flags=re.IGNORECASE)


def _file_name(text: str) -> str:
    """Make a name that every system takes for a file, and that leads to no other folder."""
    safe = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", text).encode(errors="ignore")
    return safe[:MOST_BYTES].decode(errors="ignore").strip(" .")
