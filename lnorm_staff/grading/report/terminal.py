"""Tell on a terminal what is graded."""

from collections.abc import Sequence

from lnorm_staff.grading.grade import Grade, right_of
from lnorm_staff.grading.plain_text import printable

__all__ = ["table"]


def table(name: str, grades: Sequence[Grade]) -> str:
    """Write a line for each exercise, below how many are right in each lesson."""
    lessons = dict.fromkeys(grade.lesson for grade in grades if grade.lesson)
    right = [f"{each}, {right_of([g for g in grades if g.lesson == each])}" for each in lessons]
    width = max(len(grade.exercise) for grade in grades)
    lines = [f"  {grade.exercise:{width}}  {_words_of(grade)}".rstrip() for grade in grades]
    return "\n".join([f"{printable(name)}: {'; '.join(right) or '0 right'}", *lines, ""])


def _words_of(grade: Grade) -> str:
    """Write a state with the mistake's name, or with the reason if the mistake has no name."""
    more = "" if grade.state in ("right", "not attempted") else grade.mistake or grade.message
    return ": ".join(filter(None, (grade.state, more)))
