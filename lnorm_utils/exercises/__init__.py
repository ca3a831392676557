"""Questions that know which mistake was made: a bank for each topic, such as `mean`.

A lesson imports its exercises by name and calls `.check(attempt)`, `.hint()` and `.solution()`;
`lnorm_utils.checking` runs them.
"""

from lnorm_utils.checking.exercise import Exercise
from lnorm_utils.checking.lesson_names import explain_missing_names
from lnorm_utils.checking.progress import progress

__all__ = ["Exercise", "progress"]

explain_missing_names()
