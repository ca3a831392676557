"""A grade: what became of an exercise of a student, from the notebook to the tables and pages."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lnorm_course.checking.feedback import State
from lnorm_course.progress_files import score
from lnorm_diagnose.slips.beliefs import Belief

__all__ = [
    *("FURTHER", "NOT_GRADED", "NOT_JUDGED", "ON_ANOTHER", "RIGHT", "STATES", "STRAY", "UNTOUCHED"),
    *("VERDICTS", "Grade", "Who", "best", "in_short", "points_of", "right_of"),
]

RIGHT = "right"
FURTHER = "further"
# What an exercise can say of an attempt, and all that can become of it.
VERDICTS = {RIGHT: State.RIGHT, "wrong": State.WRONG, "not attempted": State.NOT_ATTEMPTED}
NOT_JUDGED = "not judged"  # because the machine failed, which is no fault of the student
STATES = (*VERDICTS, "missing", "crashed", "timed out", NOT_JUDGED)
# Of a whole file: there's nothing to grade in it, or it can't be graded.
UNTOUCHED, STRAY, NOT_GRADED = "untouched", "not of this course", "not graded"
ON_ANOTHER = "on another lesson"  # than those that are asked for

Who = tuple[str, str]  # name and id


@dataclass(frozen=True)
class Grade:
    """What became of an exercise of a file; without an exercise, why the file isn't graded.

    The table of exercises has a column for each field.
    """

    student: str
    id: str  # the number by which Moodle or Canvas knows the student
    file: str  # with the folders that are the student's own
    feedback: str  # the path under which the student's feedback goes back
    lesson: str = ""  # the name of its notebook, such as "01_mean"
    exercise: str = ""
    state: str = ""  # one of `STATES`, or of those of a whole file
    points: str = ""  # that a person gives, in place of 1 for what is right
    comment: str = ""  # of a person
    mistake: str = ""
    belief: str = ""  # codes of the common beliefs that it may come from
    message: str = ""
    further: str = ""  # FURTHER in a side trip, which gives no points; else nothing
    quoted: str = ""  # what of the message the student's own code said
    attempt: str = ""  # the value or the source, as the notebook has sent it

    @property
    def who(self) -> Who:
        """Return the student's name and id, because two students may have one name."""
        return self.student, self.id

    @property
    def name(self) -> str:
        """Return the name of the file, without folders."""
        return self.file.rpartition("/")[2]

    @property
    def earned(self) -> float:
        """Return its points: those that a person gives, or else one if it's right."""
        return float(self.points or (self.state == RIGHT and not self.further))

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """Return each of the common beliefs."""
        codes = self.belief.split()
        return tuple(belief for belief in Belief if belief.code in codes)


def best(grades: Sequence[Grade]) -> Grade:
    """Return the best of an exercise, and of those as good the last.

    That one isn't judged counts more than that others are wrong, for it may be right.
    """
    order = ["missing", "not attempted", "crashed", "timed out", "wrong", NOT_JUDGED, RIGHT]
    return max(reversed(grades), key=lambda grade: (grade.earned, order.index(grade.state)))


def points_of(grades: Collection[Grade]) -> tuple[float, int]:
    """Return how many points there are, and how many there could be."""
    return sum(grade.earned for grade in grades), sum(not grade.further for grade in grades)


def right_of(grades: Collection[Grade]) -> str:
    """Count the right ones, such as "4 of 6 right, and 1 of 2 further"."""
    parts = [[grade.state for grade in grades if bool(grade.further) == apart] for apart in (0, 1)]
    main, further = ((states.count(RIGHT), len(states)) for states in parts)
    return score(*main, " right", *further)


def in_short(grades: Sequence[Grade]) -> str:
    """Tell in a line what becomes of a file, such as "01_mean, 2 of 3 right; missing: center"."""
    if not grades[0].exercise:
        return f"{grades[0].state}: {grades[0].message}"
    told = []
    for lesson in dict.fromkeys(grade.lesson for grade in grades):
        told.append(f"{lesson}, {right_of([g for g in grades if g.lesson == lesson])}")
    for state in STATES[1:]:
        if names := [grade.exercise for grade in grades if grade.state == state]:
            told.append(f"{state}: {', '.join(names)}")
    return "; ".join(told)
