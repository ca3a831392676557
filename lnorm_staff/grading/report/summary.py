"""Sum up each student's grades, and count the misconceptions that a class's mistakes show."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple
from unicodedata import combining, normalize

from lnorm_staff.grading.grade import NOT_JUDGED, STATES, Grade, Who, best, in_short, points_of

__all__ = ["StudentWork", "alike", "counted_of", "maximum_of", "mistake_counts", "summarize"]

MOST_REASONS = 5  # remarks list at most this many reasons; exercises.csv has all


@dataclass(frozen=True)
class StudentWork:
    """What a student handed in, and the grades that count."""

    name: str
    id: str
    lessons: Mapping[str, Sequence[Grade]]  # for each lesson, the grades that count
    not_graded: Sequence[Grade]
    remarks: str  # for the lecturer, one per line

    @property
    def grades(self) -> list[Grade]:
        """Return all grades that the student gets to read."""
        return [*(each for grades in self.lessons.values() for each in grades), *self.not_graded]

    @property
    def pending(self) -> list[Grade]:
        """Return the grades that neither the grader nor a person has decided yet."""
        return [grade for grade in self.grades if grade.state == NOT_JUDGED and not grade.points]

    @property
    def points(self) -> dict[str, float]:
        """Return the points for each lesson in which all exercises that earn points are judged."""
        pending = {grade.lesson for grade in self.pending if not grade.further}
        judged = {lesson: each for lesson, each in self.lessons.items() if lesson not in pending}
        return {lesson: points_of(grades)[0] for lesson, grades in judged.items()}

    @property
    def total(self) -> float | None:
        """Return the total points; None if a lesson isn't fully judged, or there is no lesson."""
        points = self.points
        return sum(points.values()) if points and len(points) == len(self.lessons) else None

    @property
    def comment(self) -> str:
        """Return all comments that a person wrote, in one line."""
        said = [(grade.exercise, grade.comment) for grade in self.grades if grade.comment]
        told = " ".join(f"{name}: {words}" if name else words for name, words in said)
        return " ".join(told.split())


class MistakeCount(NamedTuple):
    """A misconception, or a mistake in one exercise, and the answers that show it."""

    what: str
    is_misconception: bool
    shown: Sequence[Grade]
    of: int  # how many students handed in a lesson that could show it

    @property
    def students(self) -> int:
        """Return how many students show this misconception or mistake."""
        return len({grade.who for grade in self.shown})

    @property
    def message(self) -> str:
        """Return the most frequent message that doesn't quote a student's code, or ""."""
        own = Counter(grade.message for grade in self.shown if not grade.quoted)
        return own.most_common(1)[0][0] if own else ""


def summarize(grades: Iterable[Grade]) -> list[StudentWork]:
    """Return the work of each student in a class, sorted by name.

    If a student handed in several notebooks on a lesson, the best grade for each exercise counts.
    """
    ordered = sorted(grades, key=lambda grade: grade.who)
    return [_work(who, [*own]) for who, own in groupby(ordered, key=lambda grade: grade.who)]


def _work(who: Who, grades: Sequence[Grade]) -> StudentWork:
    lessons: dict[str, dict[str, list[Grade]]] = defaultdict(lambda: defaultdict(list))
    for grade in sorted(grades, key=lambda grade: grade.lesson):
        lessons[grade.lesson][grade.exercise].append(grade)
    not_graded = lessons.pop("", {}).get("", [])
    remarks = [f"{grade.name}: {in_short([grade])}" for grade in not_graded[:MOST_REASONS]]
    counting = {}
    for lesson, exercises in lessons.items():
        counted = counting[lesson] = [*map(best, exercises.values())]
        files = {grade.file for grades in exercises.values() for grade in grades}
        if len(files) > 1:
            names = sorted({grade.file for grade in counted})
            told = f"{names[0]} counts" if len(names) == 1 else "the best grade per exercise counts"
            remarks.append(f"{lesson}: {len(files)} notebooks were handed in; {told}.")
        if {grade.state for grade in counted if not grade.further} & {*STATES[2:]}:
            remarks.append(f"{in_short(counted)}.")
    return StudentWork(*who, counting, not_graded, "\n".join(remarks))


def alike(name: str) -> str:
    """Normalize a name, so that accents, case, and the order of its words don't matter.

    >>> alike("Lovelace, Ádá") == alike("ada lovelace")
    True
    """
    letters = [each for each in normalize("NFKD", name) if not combining(each)]
    return " ".join(sorted(re.findall(r"[^\W_]+", "".join(letters).casefold())))


def counted_of(students: Iterable[StudentWork]) -> list[Grade]:
    """Return all grades that count."""
    return [grade for work in students for grades in work.lessons.values() for grade in grades]


def maximum_of(students: Iterable[StudentWork]) -> dict[str, int]:
    """Return the maximum points of each lesson."""
    lessons = {lesson: grades for work in students for lesson, grades in work.lessons.items()}
    return {lesson: points_of(lessons[lesson])[1] for lesson in sorted(lessons)}


def mistake_counts(counted: Sequence[Grade]) -> list[MistakeCount]:
    """Count the misconceptions and other mistakes in grades; the most frequent come first."""
    shown: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    handed_in: dict[str, set[Who]] = defaultdict(set)
    for grade in counted:
        handed_in[grade.lesson].add(grade.who)
        for misconception in grade.misconceptions:
            shown[misconception.value, ""].append(grade)
        if grade.mistake and not grade.misconception:
            shown[grade.mistake, grade.exercise].append(grade)
    found = []
    for (what, exercise), grades in shown.items():
        of = set[Who]().union(*(handed_in[grade.lesson] for grade in grades))
        found.append(MistakeCount(what, not exercise, grades, len(of)))
    return sorted(found, key=lambda each: (-each.students, not each.is_misconception, each.what))
