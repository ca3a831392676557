"""Tell on a terminal what is graded, and how long the rest will take."""

import sys
import time
from collections.abc import Iterable

from lnorm_staff.grading.grade import RIGHT, Grade, right_of
from lnorm_staff.grading.plain_text import printable

__all__ = ["TimeLeft", "table"]


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


class TimeLeft:
    """Say on a terminal how many notebooks are graded, and how long the others will take."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()

    def one_more(self) -> None:
        """Count a notebook; write the line again in the place of the last one."""
        self.done += 1
        if not sys.stderr.isatty():
            return
        passed = time.monotonic() - self.start
        left = passed / self.done * (self.total - self.done)
        words = f"{left / 60:.0f} minutes" if left >= 90 else f"{left:.0f} seconds"
        line = f"{self.done} of {self.total} graded, about {words} left"
        end = "\n" if self.done == self.total else "\r"
        print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
