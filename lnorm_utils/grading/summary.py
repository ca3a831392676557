"""Count what a class got right, and which misconceptions its mistakes show."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lnorm_utils.grading.grade import RIGHT
from lnorm_utils.grading.rows import Row

__all__ = ["ExerciseCount", "LessonGrade", "Misconception", "Summary", "summarize"]

STATES = (RIGHT, "wrong", "not attempted", "missing", "crashed", "timed out")
MOST_REMARKS = 5
Who = tuple[str, str]  # name and id


@dataclass(frozen=True)
class LessonGrade:
    """The points of a student in a lesson; without a lesson, what wasn't graded."""

    student: str
    lesson: str
    points: int | str
    maximum: int | str
    late_files: str
    remarks: str
    id: str


@dataclass(frozen=True)
class ExerciseCount:
    """How many students got an exercise right, and the mistake that most of the others made."""

    lesson: str
    exercise: str
    states: Mapping[str, int]
    students: int
    mistake: str
    mistakes: int  # how many made it

    @property
    def right(self) -> int:
        """Return how many students got it right."""
        return self.number(RIGHT)

    def number(self, *states: str) -> int:
        """Return how many students are in one of the states."""
        return sum(self.states.get(state, 0) for state in states)


@dataclass(frozen=True)
class Misconception:
    """A common belief, or else a mistake in one exercise, and how many students show it."""

    what: str
    is_belief: bool
    students: int
    of: int  # how many handed in a lesson that could show it
    exercises: Sequence[str]
    message: str  # what one of them was told

    @property
    def kind(self) -> str:
        """Return what it is, in words."""
        return "common belief" if self.is_belief else "mistake"


@dataclass(frozen=True)
class Summary:
    """A class: what counts of each student, and the counts over all of them."""

    grades: Sequence[LessonGrade]
    exercises: Sequence[ExerciseCount]
    misconceptions: Sequence[Misconception]
    rows: Mapping[Who, Sequence[Row]]  # what counts, for the feedback
    not_graded: Sequence[Row]


def summarize(rows: Iterable[Row]) -> Summary:
    """Summarize the rows of a class.

    Of several notebooks of a student on one lesson, the one with the most right exercises counts.
    """
    files: dict[tuple[Who, str], dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    not_graded = []
    for row in rows:
        if row.exercise:
            # In parts that overlap, a file may come twice.
            files[(row.student, row.id), row.lesson][row.file][row.exercise] = row
        else:
            not_graded.append(row)
    notebooks = {key: [[*each.values()] for each in found.values()] for key, found in files.items()}
    counted = {key: max(each, key=_right) for key, each in notebooks.items()}
    grades = [_lesson_grade(key, notebooks[key], counted[key]) for key in counted]
    remarks: dict[Who, list[Row]] = defaultdict(list)
    for row in not_graded:
        remarks[row.student, row.id].append(row)
    grades += [_without_lesson(who, each) for who, each in remarks.items()]
    by_student: dict[Who, list[Row]] = {who: [] for who in remarks}
    for (who, _), each in sorted(counted.items()):
        by_student.setdefault(who, []).extend(each)
    return Summary(
        sorted(grades, key=lambda g: (g.student, g.id, not g.lesson, g.lesson)),
        _exercise_counts(counted.values()),
        _misconceptions(counted),
        dict(sorted(by_student.items())),
        not_graded,
    )


def _right(rows: Sequence[Row]) -> int:
    return sum(row.state == RIGHT for row in rows)


def _lesson_grade(
    key: tuple[Who, str], notebooks: Sequence[Sequence[Row]], counted: Sequence[Row]
) -> LessonGrade:
    (student, number), lesson = key
    late = [_name(rows[0].file) for rows in notebooks if rows[0].late]
    remarks = []
    for state in STATES[2:]:
        if names := [row.exercise for row in counted if row.state == state]:
            remarks.append(f"{state}: {', '.join(names)}")
    if len(notebooks) > 1:
        remarks.append(f"{len(notebooks)} notebooks, of which {_name(counted[0].file)} counts")
    points = _right(counted)
    told = ", ".join(late), "; ".join(remarks)
    return LessonGrade(student, lesson, points, len(counted), *told, number)


def _without_lesson(who: Who, rows: Sequence[Row]) -> LessonGrade:
    told = [f"{_name(row.file)}: {row.message or row.state}" for row in rows[:MOST_REMARKS]]
    if more := len(rows) - len(told):
        told.append(f"and {more:,} more files")
    late = ", ".join(_name(row.file) for row in rows if row.late)
    return LessonGrade(who[0], "", "", "", late, "not graded: " + "; ".join(told), who[1])


def _name(file: str) -> str:
    return PurePosixPath(file).name


def _exercise_counts(counted: Iterable[Sequence[Row]]) -> list[ExerciseCount]:
    by_exercise: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for rows in counted:
        for row in rows:
            by_exercise[row.lesson, row.exercise].append(row)
    counts = []
    for (lesson, exercise), rows in by_exercise.items():
        mistakes = Counter(row.mistake for row in rows if row.mistake)
        mistake, times = mistakes.most_common(1)[0] if mistakes else ("", 0)
        states = Counter(row.state for row in rows)
        counts.append(ExerciseCount(lesson, exercise, states, len(rows), mistake, times))
    return sorted(counts, key=lambda count: count.lesson)


def _misconceptions(counted: Mapping[tuple[Who, str], Sequence[Row]]) -> list[Misconception]:
    """Count for each belief the students who show it; for each other mistake likewise."""
    shown: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for rows in counted.values():
        for row in rows:
            for belief in filter(None, row.belief.split("; ")):
                shown[belief, True].append(row)
            if row.mistake and not row.belief:
                shown[f"{row.exercise}: {row.mistake}", False].append(row)
    found = []
    for (what, is_belief), rows in shown.items():
        lessons = {row.lesson for row in rows}
        of = {who for who, lesson in counted if lesson in lessons}
        students = {(row.student, row.id) for row in rows}
        exercises = list(dict.fromkeys(row.exercise for row in rows))
        found.append(
            Misconception(what, is_belief, len(students), len(of), exercises, rows[0].message)
        )
    return sorted(found, key=lambda each: (-each.students, not each.is_belief, each.what))
