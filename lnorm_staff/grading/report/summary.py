"""Count what each student got right, and which misconceptions the mistakes of a class show."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from lnorm_staff.grading.grade import STATES, Grade, Who, in_short, points_of

__all__ = ["StudentWork", "counted_of", "maximum_of", "misconceptions", "summarize"]

MOST_REASONS = 5  # the others are in exercises.csv


@dataclass(frozen=True)
class StudentWork:
    """What a student handed in, and what of it counts."""

    name: str
    id: str
    lessons: Mapping[str, Sequence[Grade]]  # the notebook that counts of each lesson
    not_graded: Sequence[Grade]
    remarks: str  # for the lecturer

    @property
    def grades(self) -> list[Grade]:
        """Return all grades that the student gets to read."""
        return [*(each for grades in self.lessons.values() for each in grades), *self.not_graded]

    @property
    def points(self) -> dict[str, float]:
        """Return the points in each lesson."""
        return {lesson: points_of(grades)[0] for lesson, grades in self.lessons.items()}

    @property
    def comment(self) -> str:
        """Return what a person wrote, in one line."""
        said = [(grade.exercise, grade.comment) for grade in self.grades if grade.comment]
        told = " ".join(f"{name}: {words}" if name else words for name, words in said)
        return " ".join(told.split())


class Misconception(NamedTuple):
    """A common belief, or else a mistake in one exercise, and the answers that show it."""

    what: str
    is_belief: bool
    shown: Sequence[Grade]
    of: int  # how many students handed in a lesson that could show it

    @property
    def students(self) -> int:
        """Return how many students show it."""
        return len({grade.who for grade in self.shown})

    @property
    def message(self) -> str:
        """Return what most of those who show it read."""
        return Counter(grade.message for grade in self.shown).most_common(1)[0][0]


def summarize(grades: Iterable[Grade]) -> list[StudentWork]:
    """Return the work of each student in a class, by their names.

    Of several notebooks of a student on one lesson, the one with the most points counts.
    """
    ordered = sorted(grades, key=lambda grade: grade.who)
    return [_work(who, [*own]) for who, own in groupby(ordered, key=lambda grade: grade.who)]


def _work(who: Who, grades: Sequence[Grade]) -> StudentWork:
    files: dict[str, dict[str, list[Grade]]] = defaultdict(lambda: defaultdict(list))
    not_graded = [grade for grade in grades if not grade.exercise]
    for grade in grades:
        if grade.exercise:
            files[grade.lesson][grade.file].append(grade)
    lessons = {lesson: max(files[lesson].values(), key=points_of) for lesson in sorted(files)}
    remarks = []
    for lesson, counted in lessons.items():
        if (notebooks := len(files[lesson])) > 1:
            remarks.append(f"{notebooks} notebooks, of which {counted[0].name} counts.")
        if {grade.state for grade in counted if not grade.further} & {*STATES[2:]}:
            remarks.append(f"{in_short(counted)}.")
    remarks += [f"{grade.name}: {in_short([grade])}" for grade in not_graded[:MOST_REASONS]]
    return StudentWork(*who, lessons, not_graded, " ".join(remarks))


def counted_of(students: Iterable[StudentWork]) -> list[Grade]:
    """Return all grades that count."""
    return [grade for work in students for grades in work.lessons.values() for grade in grades]


def maximum_of(students: Iterable[StudentWork]) -> dict[str, int]:
    """Return the most points of each lesson."""
    lessons = {lesson: grades for work in students for lesson, grades in work.lessons.items()}
    return {lesson: points_of(lessons[lesson])[1] for lesson in sorted(lessons)}


def misconceptions(counted: Sequence[Grade]) -> list[Misconception]:
    """Find the beliefs that students show, and each other mistake; the most frequent come first."""
    shown: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    handed_in: dict[str, set[Who]] = defaultdict(set)
    for grade in counted:
        handed_in[grade.lesson].add(grade.who)
        for belief in grade.beliefs:
            shown[belief.value, ""].append(grade)
        if grade.mistake and not grade.belief:
            shown[grade.mistake, grade.exercise].append(grade)
    found = []
    for (what, exercise), grades in shown.items():
        of = set[Who]().union(*(handed_in[grade.lesson] for grade in grades))
        found.append(Misconception(what, not exercise, grades, len(of)))
    return sorted(found, key=lambda each: (-each.students, not each.is_belief, each.what))
