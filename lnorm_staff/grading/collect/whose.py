"""Determine a file's owner from the outermost name in its path that can be a student's."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from lnorm_course.lab.lesson_files import ORIGINALS
from lnorm_course.lab.working_copy import lessons
from lnorm_staff.grading.grade import Grade

__all__ = ["KINDS", "students_at", "whose"]

KINDS = (".ipynb", ".zip", ".ipynb.txt")  # some browsers save notebooks as .ipynb.txt

# In Moodle, a folder's name, or the beginning of a file's name, looks like
# "Ada Lovelace_17_assignsubmission_file_". In Canvas, a file's name looks like
# "lovelaceada_LATE_17_23_01_mean.ipynb". Both systems put the student's name first and the
# name that the student chose last, so the shortest match counts.
SYSTEM = re.compile(
    r"(?P<name>.+?)"
    r"(?P<rest>(?:_LATE)?_(?P<id>\d+)_(?:(?P<moodle>assignsubmission_[a-z]+)|\d+(?=_.)))"
)
# Matches what browsers, Canvas, and this course, among others, add to the name of a copy.
COPY = re.compile(r" \(\d+\)|-\d+|_kept_\d+|-checkpoint")
NBGRADER, WORKING_COPY = "submitted", ("my_lessons", "notebooks")
DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)\d)(\.|$)", re.IGNORECASE)  # Windows reserves these
MOST_BYTES = 150  # the most bytes in a name; systems allow 255, but the student's number is added


def students_at(paths: Collection[Sequence[str]]) -> int:
    """Return the index of the student's name in each path: usually 1, but sometimes 0 or 2.

    The index is 0 if the outermost name is already a student's, and 2 if one more folder contains
    everyone's work. If it's unclear, a folder counts as a single student's, unless two people in it
    handed in the same lesson. Files whose names don't give a lesson count as work on the same one,
    but those in subfolders do so only if they have the same name.

    Args:
        paths: for each file, these names: the folder or archive that the lecturer named, the
            folders in it that lead to the file, and the file itself. If the lecturer named a
            notebook, its path consists of its folder and the notebook.
    """
    if any(_of_system(path[0]) for path in paths):
        return 0
    works = [path for path in paths if path[-1].lower().endswith(KINDS)]
    outer, inner = {path[1] for path in works}, {path[2] for path in works if len(path) > 2}
    if len(outer) != 1 or len(inner) < 2 or any(len(path) < 3 for path in works):
        return 1
    if (outer | inner) & {*WORKING_COPY} or any(map(_of_system, outer)):
        return 1  # the folder may be a single student's
    if any(map(_of_system, inner)):
        return 2 if all(map(_of_system, inner)) else 1
    who_has = defaultdict[str, set[str]](set)
    for path in works:
        lesson, own = _lesson_and_name(path[-1])
        who_has[lesson or (own if len(path) > 3 else "")].add(path[2] if len(path) > 3 else own)
    return 2 if any(len(who) > 1 and "" not in who for who in who_has.values()) else 1


def whose(path: Sequence[str], at: int) -> Grade:
    """Return a grade that names a file's owner but has no result yet.

    Names after the index are ignored, because students choose them.

    Args:
        path: one of the paths for `students_at`.
        at: the index that `students_at` returned.
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
    if own := _lesson_and_name(name)[1]:
        return _named(own, file)
    return _named(_without_ending(path[at - 1]), f"{path[at - 1]}/{file}")


def _lesson_and_name(file: str) -> tuple[str, str]:
    """Return the lesson in a file's name, and the rest of the name if it contains letters."""
    stem, told = COPY.sub("", _without_ending(file)), ""
    for lesson in lessons(ORIGINALS):
        if lesson.stem in stem:
            told, stem = lesson.stem, stem.replace(lesson.stem, "")
    own = stem.strip(" _-.")
    return told, own if any(map(str.isalpha, own)) else ""


def _of_system(name: str, is_file: bool = False) -> re.Match | None:
    """Match the name that Moodle or Canvas gave to a file or folder."""
    found = SYSTEM.match(name)
    # A folder such as week_1_2_points isn't a student's, but a file or archive named like that is.
    is_file = is_file or name.lower().endswith(".zip")
    return found if found and (is_file or found["moodle"]) else None


def _named(name: str, file: str) -> Grade:
    name = name.strip()  # because cells are stripped when a table is read
    return Grade(name, "", file, f"{_file_name(name) or 'student'}/feedback.html")


def _without_ending(name: str) -> str:
    return re.sub(r"\.(ipynb|ipynb\.txt|zip)$", "", name, flags=re.IGNORECASE)


def _file_name(text: str) -> str:
    """Make a file name that every system accepts, and that can't lead to a different folder."""
    safe = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", text).encode(errors="ignore")
    name = safe[:MOST_BYTES].decode(errors="ignore").strip(" .")
    return f"_{name}" if DEVICE.match(name) else name
