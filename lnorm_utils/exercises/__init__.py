"""Questions that know which mistake was made: a bank for each topic, such as `mean`.

`engine` is what runs them. A lesson imports its exercises by name and calls `.check(attempt)`,
`.hint()` and `.solution()`.
"""

from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.progress import progress

__all__ = ["Exercise", "progress"]
