"""Count what a class got right, and which misconceptions its mistakes show."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lnorm_staff.grading.grade import RIGHT, STATES, STRAY, UNTOUCHED, Grade, Who, points_of
from lnorm_staff.lecture import FOR_BELIEF, FOR_LESSON

__all__ = ["ExerciseCount", "LessonPoints", "Misconception", "SameCode", "Summary", "summarize"]

MOST_REMARKS = 5
SHOWN_FOR_LESSON = {lesson: lecture.show for lesson, lecture in FOR_LESSON.items()}
SHOWN_FOR_BELIEF = {belief.value: call for belief, call in FOR_BELIEF.items()}
Key = tuple[Who, str]  # a student and a lesson


@dataclass(frozen=True)
class LessonPoints:
    """The points of a student in a lesson; without a lesson, what wasn't graded."""

    student: str
    lesson: str
    points: int | str
    maximum: int | str
    late_files: str
    remarks: str
    id: str
    same_code: str  # with whom the student shares code, and in which exercises
    feedback: str  # the path under which the student's feedback goes back


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
    def label(self) -> str:
        """Return its name, with a mark if it's part of a side trip."""
        return f"{self.exercise} ({self.further})" if self.further else self.exercise

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
    show: str  # the call of a picture that shows it, if there is one

    @property
    def kind(self) -> str:
        """Return what it is, in words."""
        return "common belief" if self.is_belief else "mistake"


@dataclass(frozen=True)
class SameCode:
    """An exercise that several students have solved with the same code."""

    lesson: str
    exercise: str
    students: Sequence[Who]


@dataclass(frozen=True)
class Summary:
    """A class: what counts of each student, and the counts over all of them."""

    lessons: Sequence[LessonPoints]
    exercises: Sequence[ExerciseCount]
    misconceptions: Sequence[Misconception]
    graded: Mapping[Who, Sequence[Grade]]  # what counts, for the feedback
    not_graded: Sequence[Grade]
    same_code: Sequence[SameCode]

    @property
    def maximum(self) -> dict[str, int]:
        """Return the most points of each lesson."""
        return {each.lesson: int(each.maximum) for each in self.lessons if each.lesson}


def summarize(grades: Iterable[Grade]) -> Summary:
    """Summarize the grades of a class.

    Of several notebooks of a student on one lesson, the one with the most points counts.
    """
    files: dict[Key, dict[str, dict[str, Grade]]] = defaultdict(lambda: defaultdict(dict))
    not_graded = []
    for grade in grades:
        if grade.exercise:
            # In parts that overlap, a file may come twice.
            files[grade.who, grade.lesson][grade.file][grade.exercise] = grade
        else:
            not_graded.append(grade)
    notebooks = {key: [[*each.values()] for each in found.values()] for key, found in files.items()}
    counted = {key: max(each, key=points_of) for key, each in notebooks.items()}
    same = _same_code(counted)
    points = [_lesson_points(key, notebooks[key], counted[key], same) for key in counted]
    remarks: dict[Who, list[Grade]] = defaultdict(list)
    for grade in not_graded:
        remarks[grade.who].append(grade)
    points += [_without_lesson(who, each) for who, each in remarks.items()]
    by_student: dict[Who, list[Grade]] = {who: [] for who in remarks}
    for (who, _), each in sorted(counted.items()):
        by_student.setdefault(who, []).extend(each)
    return Summary(
        sorted(points, key=lambda p: (p.student, p.id, not p.lesson, p.lesson)),
        _exercise_counts(counted.values()),
        _misconceptions(counted),
        dict(sorted(by_student.items())),
        not_graded,
        same,
    )


def _lesson_points(
    key: Key,
    notebooks: Sequence[Sequence[Grade]],
    counted: Sequence[Grade],
    same: Iterable[SameCode],
) -> LessonPoints:
    who, lesson = key
    late = [_name(grades[0].file) for grades in notebooks if grades[0].late]
    remarks = []
    for state in STATES[2:]:
        if names := [g.exercise for g in counted if g.state == state and not g.further]:
            remarks.append(f"{state}: {', '.join(names)}")
    if len(notebooks) > 1:
        remarks.append(f"{len(notebooks)} notebooks, of which {_name(counted[0].file)} counts")
    same_code = _same_code_of(who, [each for each in same if each.lesson == lesson])
    remarks += [same_code] if same_code else []
    told = ", ".join(late), "; ".join(remarks), who[1], same_code, counted[0].feedback
    return LessonPoints(who[0], lesson, *points_of(counted), *told)


def _same_code_of(who: Who, same: Iterable[SameCode]) -> str:
    """Say with whom a student shares code, such as "same code as Bo in words, pixels"."""
    shared: dict[tuple[Who, ...], list[str]] = defaultdict(list)
    for each in same:
        if who in each.students:
            shared[tuple(other for other in each.students if other != who)].append(each.exercise)
    told = []
    for others, exercises in shared.items():
        names = [f"{name} ({number})" if number else name for name, number in others]
        some = ", ".join(names[:MOST_REMARKS])
        more = f" and {len(names) - MOST_REMARKS} more" if len(names) > MOST_REMARKS else ""
        told.append(f"same code as {some}{more} in {', '.join(exercises)}")
    return "; ".join(told)


def _same_code(counted: Mapping[Key, Sequence[Grade]]) -> list[SameCode]:
    by_code: dict[tuple[str, str, str], list[Who]] = defaultdict(list)
    for (who, lesson), grades in sorted(counted.items()):
        for grade in grades:
            if grade.answer:
                by_code[lesson, grade.exercise, grade.answer].append(who)
    return [
        SameCode(lesson, exercise, students)
        for (lesson, exercise, _), students in by_code.items()
        if len(students) > 1
    ]


def _without_lesson(who: Who, grades: Sequence[Grade]) -> LessonPoints:
    told = []
    for state in dict.fromkeys(grade.state for grade in grades):
        files = [grade for grade in grades if grade.state == state]
        if len(files) > 1 and state in (UNTOUCHED, STRAY):
            told.append(f"{len(files):,} notebooks {state}")
            continue
        told += [f"{_name(grade.file)}: {grade.message or state}" for grade in files[:MOST_REMARKS]]
        if more := len(files[MOST_REMARKS:]):
            told.append(f"and {more:,} more files")
    late = ", ".join(_name(grade.file) for grade in grades if grade.late)
    remarks = "not graded: " + "; ".join(told).replace(".; ", "; ")  # a reason ends like a sentence
    return LessonPoints(who[0], "", "", "", late, remarks, who[1], "", grades[0].feedback)


def _name(file: str) -> str:
    return PurePosixPath(file).name


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


def _misconceptions(counted: Mapping[Key, Sequence[Grade]]) -> list[Misconception]:
    """Count for each belief the students who show it; for each other mistake likewise."""
    shown: dict[tuple[str, bool], list[Grade]] = defaultdict(list)
    for grades in counted.values():
        for grade in grades:
            for belief in grade.beliefs:
                shown[belief, True].append(grade)
            if grade.mistake and not grade.belief:
                shown[f"{grade.exercise}: {grade.mistake}", False].append(grade)
    found = []
    for (what, is_belief), grades in shown.items():
        lessons = {grade.lesson for grade in grades}
        of = {who for who, lesson in counted if lesson in lessons}
        students = {grade.who for grade in grades}
        exercises = list(dict.fromkeys(grade.exercise for grade in grades))
        by_lesson = SHOWN_FOR_LESSON.get(grades[0].lesson, "")
        show = SHOWN_FOR_BELIEF.get(what, by_lesson) if is_belief else by_lesson
        told = exercises, grades[0].message, show
        found.append(Misconception(what, is_belief, len(students), len(of), *told))
    return sorted(found, key=lambda each: (-each.students, not each.is_belief, each.what))
