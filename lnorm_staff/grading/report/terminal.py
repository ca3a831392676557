"""Tell on a terminal what is graded."""

from collections.abc import Iterable

from lnorm_staff.grading.grade import RIGHT, Grade, right_of
from lnorm_staff.grading.plain_text import printable

__all__ = ["table"]


def table(name: str, grades: Iterable[Grade]) -> str:
    """Write a line for each exercise, below how many are right."""
    grades = list(grades)
    width = max(len(f"{g.exercise}  ".lstrip()) for g in grades)
    lines = [f"  {g.exercise:{width}}{_words_of(g)}" for g in grades]
    return "\n".join([f"{printable(name)}: {_total(grades)}", *lines, ""])


def _total(grades: list[Grade]) -> str:
    """Count the right ones of each lesson, as in "01_mean, 4 of 6 right"."""
    counts = []
    for lesson in dict.fromkeys(g.lesson for g in grades if g.lesson):
        counts.append(f"{lesson}, {right_of([g for g in grades if g.lesson == lesson])}")
    return "; ".join(counts) or "0 right"


def _words_of(g: Grade) -> str:
    """Write a state with the mistake's name, or with the reason if the mistake has no name."""
    if g.state in (RIGHT, "not attempted"):
        return g.state
    return ": ".join(part for part in (g.state, g.mistake or g.message) if part)
