"""Tables with a row for each student, as the gradebooks of Moodle and Canvas import them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lnorm_staff.grading.report.class_list import ClassList, Member
from lnorm_staff.grading.report.summary import LessonPoints, Summary

__all__ = ["StudentPoints", "canvas_table", "grades_table", "student_points"]

NOTHING, NOT_ON_THE_LIST = "handed in nothing", "isn't on the class list"
# In the path under which feedback goes back.
MOODLE = re.compile(r"_assignsubmission_[a-z]+_/feedback")
CANVAS = re.compile(r"_\d+_\d+_feedback")
Table = Iterator[Sequence[object]]


@dataclass(frozen=True)
class StudentPoints:
    """The points of a student in all lessons."""

    member: Member
    points: Mapping[str, int]  # by lesson; only those with work
    late_files: str
    remarks: str
    from_canvas: bool

    @property
    def total(self) -> int | str:
        """Return the sum of all points; nothing if no work could be graded."""
        return sum(self.points.values()) if self.points else ""


def student_points(summary: Summary, class_list: ClassList | None = None) -> list[StudentPoints]:
    """Return the points of each student: those on the list in its order, then all others."""
    listed = class_list or ClassList()
    found: dict[Member, list[LessonPoints]] = {member: [] for member in listed.members}
    others: dict[Member, list[LessonPoints]] = defaultdict(list)
    for each in summary.lessons:
        if member := listed.find(each.student, each.id):
            found[member].append(each)
        else:
            others[Member(each.student, identifier=_identifier(each))].append(each)
    return [
        *(_one(m, lessons, [] if lessons else [NOTHING]) for m, lessons in found.items()),
        *(
            _one(m, lessons, [NOT_ON_THE_LIST] if class_list else [])
            for m, lessons in others.items()
        ),
    ]


def _identifier(points: LessonPoints) -> str:
    """Return how Moodle's grading worksheet, or Canvas's gradebook, writes a student's number."""
    return f"Participant {points.id}" if MOODLE.search(points.feedback) else points.id


def _one(member: Member, lessons: Sequence[LessonPoints], remarks: list[str]) -> StudentPoints:
    points: dict[str, int] = {}
    for each in lessons:
        if each.lesson:  # the same student may have handed in under two names
            points[each.lesson] = max(int(each.points), points.get(each.lesson, 0))
            remarks += [f"{each.lesson}: {each.same_code}"] if each.same_code else []
        else:
            remarks.append(each.remarks)
    late = ", ".join(each.late_files for each in lessons if each.late_files)
    if lessons and not member.identifier:
        member = replace(member, identifier=_identifier(lessons[0]))
    from_canvas = any(CANVAS.search(each.feedback) for each in lessons)
    return StudentPoints(member, points, late, "; ".join(remarks), from_canvas)


def grades_table(students: Sequence[StudentPoints], maximum: Mapping[str, int]) -> Table:
    """Yield the lines of the table for all; its columns have the names that Moodle gives them.

    Args:
        students: the points.
        maximum: the most points of each lesson.
    """
    who = {
        "Identifier": [each.member.identifier for each in students],
        "Full name": [each.member.name for each in students],
        "Email address": [each.member.email for each in students],
        "ID number": [each.member.number for each in students],
        "Username": [each.member.username for each in students],
    }
    who = {title: cells for title, cells in who.items() if any(cells) or title == "Full name"}
    last = ["Grade", "Maximum grade", "Last modified (grade)", "Late files", "Remarks"]
    yield [*who, *maximum, *last]
    for given, each in zip(zip(*who.values(), strict=True), students, strict=True):
        points = [each.points.get(lesson, "") for lesson in maximum]
        yield [
            *(*given, *points, each.total, sum(maximum.values())),
            *(each.member.changed, each.late_files, each.remarks),
        ]


def canvas_table(students: Sequence[StudentPoints], maximum: Mapping[str, int]) -> Table:
    """Yield the lines of the table for Canvas's gradebook, where each lesson is an assignment."""
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *maximum]
    yield ["    Points Possible", "", "", "", "", *maximum.values()]
    for each in students:
        who = each.member
        points = [each.points.get(lesson, "") for lesson in maximum]
        yield [who.name, who.identifier, who.number, who.username, who.section, *points]
