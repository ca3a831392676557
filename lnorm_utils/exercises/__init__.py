"""Questions that know which mistake was made, with a bank for each lesson: `lesson_01` and so on.

A lesson imports its exercises by name and calls `.check(attempt)`, `.hint()` and `.solution()`.
"""

from lnorm_utils.exercises.exercise import Exercise
from lnorm_utils.exercises.progress import progress

__all__ = ["Exercise", "progress"]
