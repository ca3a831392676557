"""Count what a class got right, and which misconceptions its mistakes show."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lnorm_staff.grading.grade import RIGHT, STATES, STRAY, UNTOUCHED, Grade, Who, points_of
from lnorm_staff.lecture import FOR_BELIEF

__all__ = ["ExerciseCount", "Misconception", "StudentWork", "Summary", "summarize"]

MOST_REMARKS = 5
SHOWN_FOR_BELIEF = {belief.value: call for belief, call in FOR_BELIEF.items()}


@dataclass(frozen=True)
class StudentWork:
    """What a student handed in, and what of it counts."""

    name: str
    id: str
    lessons: Mapping[str, Sequence[Grade]]  # the notebook that counts of each lesson
    not_graded: Sequence[Grade]
    late: str  # the files that came late
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
        return " ".join(f"{name}: {words}" if name else words for name, words in said)


@dataclass(frozen=True)
class ExerciseCount:
    """How many students got an exercise right, and the mistake that most of the others made."""

    lesson: str
    exercise: str
    states: Mapping[str, int]
    students: int
    mistake: str
    mistakes: int  # how many made it
    further: str = ""  # as in `Grade`

    @property
    def right(self) -> int:
        """Return how many students got it right."""
        return self.states.get(RIGHT, 0)


@dataclass(frozen=True)
class Misconception:
    """A common belief, or else a mistake in one exercise, and how many students show it."""

    what: str
    is_belief: bool
    students: int
    of: int  # how many handed in a lesson that could show it
    exercises: Sequence[tuple[str, str]]  # each with its lesson in front
    message: str  # what one of them was told
    show: str  # the call of a picture that shows it, if there is one


@dataclass(frozen=True)
class Summary:
    """A class: what counts of each student, and the counts over all of them."""

    students: Sequence[StudentWork]
    exercises: Sequence[ExerciseCount]
    misconceptions: Sequence[Misconception]

    @property
    def maximum(self) -> dict[str, int]:
        """Return the most points of each lesson."""
        counts = Counter(each.lesson for each in self.exercises if not each.further)
        return {lesson: counts[lesson] for lesson in sorted({e.lesson for e in self.exercises})}


def summarize(grades: Iterable[Grade]) -> Summary:
    """Summarize the grades of a class.

    Of several notebooks of a student on one lesson, the one with the most points counts.
    """
    by_student: dict[Who, list[Grade]] = defaultdict(list)
    for grade in grades:
        by_student[grade.who].append(grade)
    students = [_work(who, graded) for who, graded in sorted(by_student.items())]
    counted = [graded for student in students for graded in student.lessons.values()]
    return Summary(students, _exercise_counts(counted), _misconceptions(counted))


def _work(who: Who, grades: Sequence[Grade]) -> StudentWork:
    files: dict[str, dict[str, list[Grade]]] = defaultdict(lambda: defaultdict(list))
    for grade in grades:
        if grade.exercise:
            files[grade.lesson][grade.file].append(grade)
    lessons = {lesson: max(files[lesson].values(), key=points_of) for lesson in sorted(files)}
    not_graded = [grade for grade in grades if not grade.exercise]
    late = dict.fromkeys(_name(grade) for grade in grades if grade.late)
    remarks = [
        f"{lesson}: {', '.join(_remarks(lessons[lesson], len(files[lesson])))}"
        for lesson in lessons
        if [*_remarks(lessons[lesson], len(files[lesson]))]
    ]
    if not_graded:
        remarks.append(f"not graded: {', '.join(_reasons(not_graded))}")
    return StudentWork(*who, lessons, not_graded, ", ".join(late), "; ".join(remarks))


def _remarks(counted: Sequence[Grade], notebooks: int) -> Iterator[str]:
    for state in STATES[2:]:
        if names := [g.exercise for g in counted if g.state == state and not g.further]:
            yield f"{state}: {', '.join(names)}"
    if notebooks > 1:
        yield f"{notebooks} notebooks, of which {_name(counted[0])} counts"


def _reasons(grades: Sequence[Grade]) -> Iterator[str]:
    for state in dict.fromkeys(grade.state for grade in grades):
        files = [grade for grade in grades if grade.state == state]
        if len(files) > 1 and state in (UNTOUCHED, STRAY):
            yield f"{len(files):,} notebooks {state}"
            continue
        for grade in files[:MOST_REMARKS]:
            yield f"{_name(grade)}: {grade.message.removesuffix('.') or state}"
        if more := len(files[MOST_REMARKS:]):
            yield f"and {more:,} more files"


def _name(grade: Grade) -> str:
    return PurePosixPath(grade.file).name


def _exercise_counts(counted: Iterable[Sequence[Grade]]) -> list[ExerciseCount]:
    by_exercise: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grades in counted:
        for grade in grades:
            by_exercise[grade.lesson, grade.exercise].append(grade)
    counts = []
    for (lesson, exercise), grades in by_exercise.items():
        mistakes = Counter(grade.mistake for grade in grades if grade.mistake)
        mistake, times = mistakes.most_common(1)[0] if mistakes else ("", 0)
        states = Counter(grade.state for grade in grades)
        told = len(grades), mistake, times, grades[0].further
        counts.append(ExerciseCount(lesson, exercise, states, *told))
    return sorted(counts, key=lambda count: (count.lesson, count.further))


def _misconceptions(counted: Sequence[Sequence[Grade]]) -> list[Misconception]:
    """Count for each belief the students who show it; for each other mistake likewise."""
    shown: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for grades in counted:
        for grade in grades:
            for belief in grade.beliefs:
                shown[belief, ""].append(grade)
            if grade.mistake and not grade.belief:
                shown[grade.mistake, grade.exercise].append(grade)
    found = []
    for (what, exercise), grades in shown.items():
        lessons = {grade.lesson for grade in grades}
        of = {graded[0].who for graded in counted if graded[0].lesson in lessons}
        where = list(dict.fromkeys((grade.lesson, grade.exercise) for grade in grades))
        found.append(
            Misconception(
                what,
                is_belief=not exercise,
                students=len({grade.who for grade in grades}),
                of=len(of),
                exercises=where,
                message=grades[0].message,
                show="" if exercise else SHOWN_FOR_BELIEF[what],
            )
        )
    return sorted(found, key=lambda each: (-each.students, not each.is_belief, each.what))
