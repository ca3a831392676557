"""Look into a kernel of the grader: what an expression is there."""

from lnorm_staff.grading.run.kernel import Kernel
from lnorm_staff.grading.run.plain_data import decode

__all__ = ["IMPORTS", "value_of"]

IMPORTS = "import os, torch\nfrom lnorm_course.exercises.mean import how_many, row_means"


def value_of(kernel: Kernel, expression: str) -> object:
    """Return the value of an expression in a kernel."""
    outcome = kernel.run(f"{IMPORTS}\nhow_many.check({expression})")
    assert (outcome.failed, outcome.reason) == ("", "")
    (value,) = outcome.attempts["how_many"]["values"]
    return decode(value)
