"""Run cells in a kernel of the grader, and look into it: what an expression is there."""

import asyncio

from lnorm_staff.grading.run.outcomes import KERNEL, Outcome, outcomes
from lnorm_staff.grading.run.plain_data import read_outcome

__all__ = ["DIED", "IMPORTS", "WELL", "look", "outcomes_of", "run", "value"]

IMPORTS = "import os, torch\nfrom lnorm_course.exercises.mean import how_many, row_means"
DIED, WELL = Outcome("crashed", "the kernel died."), Outcome()


def outcomes_of(program: str, setup: object, asked: list, timeout: float, total: float) -> list:
    """Return what becomes of each thing that a child is asked to do."""

    async def found() -> list[Outcome]:
        return [outcome async for _, outcome in outcomes(program, setup, asked, timeout, total)]

    return asyncio.run(found())


def run(*cells: str, timeout: float = 20, total: float = 100) -> list[Outcome]:
    """Return what becomes of each cell."""
    return outcomes_of(KERNEL, 2, [*cells], timeout, total)


def look(expression: str) -> str:
    """Return a cell of which `value` tells what the expression is."""
    return f"{IMPORTS}\nhow_many.check({expression})"


def value(outcome: Outcome) -> object:
    """Return the value of the expression in a cell of `look`."""
    assert (outcome.failed, outcome.reason) == ("", "")
    (found,) = read_outcome(outcome.attempts["how_many"]).values
    return found
