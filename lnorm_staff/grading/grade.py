"""Define a grade: one student's result on one exercise, used by all steps of grading."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lnorm_course.checking.feedback import State
from lnorm_course.progress_files import score
from lnorm_diagnose.slips.misconceptions import Misconception

__all__ = [
    *("FURTHER", "NOT_GRADED", "NOT_JUDGED", "ON_ANOTHER", "RIGHT", "STATES", "STRAY", "UNTOUCHED"),
    *("VERDICTS", "Grade", "Who", "best", "in_short", "points_of", "right_of"),
]

RIGHT = "right"
FURTHER = "further"
# The verdicts that an exercise can give; `STATES` contains all states that a grade can have.
VERDICTS = {RIGHT: State.RIGHT, "wrong": State.WRONG, "not attempted": State.NOT_ATTEMPTED}
NOT_JUDGED = "not judged"  # because the machine failed, which isn't the student's fault
STATES = (*VERDICTS, "missing", "crashed", "timed out", NOT_JUDGED)
# States of a whole file that contains nothing to grade, or can't be graded.
UNTOUCHED, STRAY, NOT_GRADED = "untouched", "not of this course", "not graded"
ON_ANOTHER = "on a different lesson"  # the lesson isn't one of those requested

Who = tuple[str, str]  # a student's name and id


@dataclass(frozen=True)
class Grade:
    """The result of one exercise in a file, or the reason why the file isn't graded.

    The table of exercises has a column for each field.
    """

    student: str
    id: str  # the student's number in Moodle or Canvas
    file: str  # its path, starting at the student's own folder
    feedback: str  # the path at which the student's feedback is returned
    lesson: str = ""  # the name of the lesson's notebook, such as "01_mean"
    exercise: str = ""
    state: str = ""  # one of `STATES`, or a state of a whole file
    points: str = ""  # given by a person, instead of the grader's 1 or 0
    comment: str = ""  # written by a person
    mistake: str = ""
    misconception: str = ""  # codes of the misconceptions that the mistake may come from
    message: str = ""
    further: str = ""  # FURTHER for an exercise in a side trip, which earns no points; else empty
    quoted: str = ""  # the part of the message that the student's own code wrote
    attempt: str = ""  # the value or the source code, as the notebook sent it

    @property
    def who(self) -> Who:
        """Return the student's name and id, because two students may share a name."""
        return self.student, self.id

    @property
    def name(self) -> str:
        """Return the name of the file, without folders."""
        return self.file.rpartition("/")[2]

    @property
    def earned(self) -> float:
        """Return the points that a person gave or, if there are none, those that the grader gives.

        The grader gives 1 point for a right answer that counts, and 0 for anything else.
        """
        return float(self.points or (self.state == RIGHT and not self.further))

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """Return the misconceptions whose codes are in `misconception`."""
        codes = self.misconception.split()
        return tuple(each for each in Misconception if each.code in codes)


def best(grades: Sequence[Grade]) -> Grade:
    """Return the best of an exercise's grades; if several are equally good, return the last.

    "Not judged" ranks above "wrong", because the attempt may be right.
    """
    order = ["missing", "not attempted", "crashed", "timed out", "wrong", NOT_JUDGED, RIGHT]
    return max(reversed(grades), key=lambda grade: (grade.earned, order.index(grade.state)))


def points_of(grades: Collection[Grade]) -> tuple[float, int]:
    """Return the points earned, and the most that could be earned."""
    return sum(grade.earned for grade in grades), sum(not grade.further for grade in grades)


def right_of(grades: Collection[Grade]) -> str:
    """Count the right answers, as in "4 of 6 right, and 1 of 2 further"."""
    parts = [[grade.state for grade in grades if bool(grade.further) == apart] for apart in (0, 1)]
    main, further = ((states.count(RIGHT), len(states)) for states in parts)
    return score(*main, " right", *further)


def in_short(grades: Sequence[Grade]) -> str:
    """Sum up a file's grades in one line, such as "01_mean, 2 of 3 right; missing: center"."""
    if not grades[0].exercise:
        return f"{grades[0].state}: {grades[0].message}"
    told = []
    for lesson in dict.fromkeys(grade.lesson for grade in grades):
        told.append(f"{lesson}, {right_of([g for g in grades if g.lesson == lesson])}")
    for state in STATES[1:]:
        if names := [grade.exercise for grade in grades if grade.state == state]:
            told.append(f"{state}: {', '.join(names)}")
    return "; ".join(told)
