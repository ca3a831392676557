"""Tell whose a file is by the outermost name that the lecturer's system gave it."""

import re
from collections.abc import Collection, Sequence

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.grade import Grade

__all__ = ["students_at", "whose"]

# What Moodle calls a folder, or the beginning of a file, "Ada Lovelace_17_assignsubmission_file_",
# and Canvas a file, "lovelaceada_LATE_17_23_01_mean.ipynb". Both put the student first and what the
# student chose behind, so the shortest match counts.
SYSTEM = re.compile(
    r"(?P<name>.+?)"
    r"(?P<rest>(?:_LATE)?_(?P<id>\d+)_(?:(?P<moodle>assignsubmission_[a-z]+)|\d+(?=_.)))"
)
# How browsers, Canvas, and this course number the copies of a file.
COPY = re.compile(r" \(\d+\)|-\d+|_kept_\d+|-checkpoint")
NBGRADER, WORKING_COPY = "submitted", ("my_lessons", "notebooks")
MOST_BYTES = 150  # of a name; every system takes 255, and the student's number comes behind


def students_at(paths: Collection[Sequence[str]]) -> int:
    """Tell how far in students' names are: 1, or 2 if all are in one more folder; 0 in a student's.

    Args:
        paths: for each file, the folder or archive that the lecturer named, the folders in it that
            lead to the file, and the file. Of a single notebook, its folder and the notebook.
    """
    if any(_of_system(path[0]) for path in paths):
        return 0
    outer = {path[1] for path in paths}
    inner = {path[2] for path in paths if len(path) > 3}
    if len(outer) > 1 or len(inner) < 2 or any(len(path) < 4 for path in paths):
        return 1
    if (outer | inner) & {*WORKING_COPY} or any(map(_of_system, outer)):
        return 1  # it may be a single student's
    return 2 if len(set(map(bool, map(_of_system, inner)))) == 1 else 1


def whose(path: Sequence[str], at: int) -> Grade:
    """Tell whose a file is, without a grade yet.

    Only one name tells it, because those further in are the student's own.

    Args:
        path: as `students_at` takes it.
        at: what it returns.
    """
    at = min(at, len(path) - 1)
    if path[at] == NBGRADER and at < len(path) - 2:
        at += 1
    if path[at] in WORKING_COPY and at < len(path) - 1:
        at -= 1
    name, is_file = path[at], at == len(path) - 1
    file = "/".join(path[at:])
    if found := _of_system(name, is_file):
        back = f"{_file_name(found['name'])}{found['rest']}_{'/' if found['moodle'] else ''}"
        return Grade(found["name"], found["id"], file, f"{back}feedback.html")
    if not is_file and not name.lower().endswith(".zip"):
        return _named(name, file)
    stem = COPY.sub("", _without_ending(name))
    for lesson in lessons(ORIGINALS):
        stem = stem.replace(lesson.stem, "").strip(" _-.")
    if any(map(str.isalpha, stem)):
        return _named(stem, file)
    return _named(_without_ending(path[at - 1]), f"{path[at - 1]}/{file}")


def _of_system(name: str, is_file: bool = False) -> re.Match | None:
    """Match a name that Moodle or Canvas gave."""
    found = SYSTEM.match(name)
    # A folder such as week_1_2_points is no student's, but a file or an archive in one is.
    is_file = is_file or name.lower().endswith(".zip")
    return found if found and (is_file or found["moodle"]) else None


def _named(name: str, file: str) -> Grade:
    return Grade(name, "", file, f"{_file_name(name) or 'student'}/feedback.html")


def _without_ending(name: str) -> str:
    return re.sub(r"\.(ipynb|zip)$", "", name, flags=re.IGNORECASE)


def _file_name(text: str) -> str:
    """Make a name that every system takes for a file, and that leads to no other folder."""
    safe = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", text).encode(errors="ignore")
    return safe[:MOST_BYTES].decode(errors="ignore").strip(" .")
