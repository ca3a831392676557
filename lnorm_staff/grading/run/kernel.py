"""Run the cells of a notebook that nobody trusts, in a kernel that starts again if it dies."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lnorm_staff.grading.run.child import Child

__all__ = ["Outcome", "outcomes"]

SECONDS_TO_START, SECONDS_TO_STOP = 60, 3
MODULE = "lnorm_staff.grading.run.runner"
NO_KERNEL, AGAIN = "no kernel could be started.", "the kernel died again and again."


class Outcome(NamedTuple):
    """What became of a cell: a state of failure and its reason, and what the checks in it got."""

    failed: str = ""  # or "crashed", "timed out"
    reason: str = ""
    attempts: Mapping[str, Any] = {}


async def outcomes(
    cells: Sequence[str], timeout: float, total: float, call: float
) -> list[Outcome]:
    """Return what becomes of each cell. If one ends the kernel, those that went well run again.

    Args:
        cells: the sources.
        timeout: seconds for a cell.
        total: seconds for all of them together.
        call: seconds for a call of an attempt.
    """
    deadline = time.monotonic() + total
    found: list[Outcome] = []
    rest: Outcome | None = None
    while len(found) < len(cells):
        done = [cell for cell, outcome in zip(cells, found, strict=False) if not outcome.failed]
        try:
            async with Child(MODULE) as kernel:
                await kernel.ask(call, SECONDS_TO_START)
                for cell in done:
                    await kernel.ask(cell, deadline - time.monotonic())
                while kernel.is_alive and len(found) < len(cells) and time.monotonic() < deadline:
                    found.append(await _one(kernel, cells[len(found)], timeout, deadline))
        except (EOFError, TimeoutError):
            rest = Outcome("crashed", AGAIN if done else NO_KERNEL)
        except OSError as problem:  # of the machine, such as a full disk
            rest = Outcome("crashed", f"the machine that grades it stopped early: {problem}.")
        if time.monotonic() > deadline:
            rest = Outcome("timed out", f"the {total:g} seconds for the whole notebook were over.")
        if rest:
            found += [rest] * (len(cells) - len(found))
    return found


async def _one(kernel: Child, cell: str, timeout: float, deadline: float) -> Outcome:
    """Return what becomes of the next cell; the kernel may be dead then."""
    try:
        return _read(await kernel.ask(cell, min(timeout, deadline - time.monotonic())))
    except TimeoutError:
        kernel.interrupt()
    except EOFError:
        kernel.kill()
        return Outcome("crashed", "the kernel died.")
    late = Outcome("timed out", f"it ran for more than {timeout:g} seconds.")
    try:
        return late._replace(attempts=_read(await kernel.answer(SECONDS_TO_STOP)).attempts)
    except (TimeoutError, EOFError):
        kernel.kill()
        return late


def _read(answer: Any) -> Outcome:
    """Read what a kernel says of a cell.

    Raises:
        EOFError: it says something else.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("attempts"), dict):
        raise EOFError
    why = answer.get("why")
    return Outcome("crashed" if why else "", str(why or ""), answer["attempts"])
