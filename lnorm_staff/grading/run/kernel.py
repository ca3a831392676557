"""Run the cells of a notebook that nobody trusts, in a kernel that starts again if it dies."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lnorm_staff.grading.run.child import Child, Children

__all__ = ["Outcome", "outcomes"]

SECONDS_TO_START, SECONDS_TO_STOP = 60, 3
MODULE = "lnorm_staff.grading.run.runner"
NO_KERNEL = "no kernel could be started."


class Outcome(NamedTuple):
    """What became of a cell: a state of failure and its reason, and what the checks in it got."""

    failed: str = ""  # or "crashed", "timed out"
    reason: str = ""
    attempts: Mapping[str, Any] = {}


def outcomes(
    cells: Sequence[str], children: Children, timeout: float, total: float, call: float
) -> Iterator[Outcome]:
    """Yield what becomes of each cell. If one ends the kernel, those that went well run again.

    Args:
        cells: the sources.
        children: what starts the kernel.
        timeout: seconds for a cell.
        total: seconds for all of them together.
        call: seconds for a call of an attempt.

    Raises:
        OSError: this machine can't start a kernel.
    """
    deadline = time.monotonic() + total
    done: list[str] = []
    waiting = list(cells)
    while waiting:
        kernel = children.start(MODULE)
        try:
            # All at once, because a kernel that runs code of a student may read nothing any more.
            kernel.send({"cells": [*done, *waiting], "seconds": call})
            kernel.receive(SECONDS_TO_START)
            for _ in done:
                kernel.send(None)
                kernel.receive(deadline - time.monotonic())
            is_alive = True
            while waiting and is_alive and time.monotonic() < deadline:
                outcome, is_alive = _one(kernel, timeout, deadline)
                cell = waiting.pop(0)
                done += [] if outcome.failed else [cell]
                yield outcome
        except (OSError, EOFError):  # a TimeoutError is an OSError
            if time.monotonic() < deadline:
                reason = "the kernel died again and again." if done else NO_KERNEL
                yield from (Outcome("crashed", reason) for _ in waiting)
                return
        finally:
            children.end(kernel)
        if time.monotonic() > deadline:
            over = f"the {total:g} seconds for the whole notebook were over."
            yield from (Outcome("timed out", over) for _ in waiting)
            return


def _one(kernel: Child, timeout: float, deadline: float) -> tuple[Outcome, bool]:
    """Return what becomes of the next cell, and whether the kernel lives on."""
    late = f"it ran for more than {timeout:g} seconds."
    try:
        kernel.send(None)
        return _read(kernel.receive(min(timeout, deadline - time.monotonic()))), True
    except TimeoutError:
        kernel.interrupt()
    except (OSError, EOFError):
        return Outcome("crashed", "the kernel died."), False
    try:
        return Outcome("timed out", late, _read(kernel.receive(SECONDS_TO_STOP)).attempts), True
    except (TimeoutError, EOFError):
        return Outcome("timed out", late), False


def _read(answer: Any) -> Outcome:
    """Read what a kernel says of a cell.

    Raises:
        EOFError: it says something else.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("attempts"), dict):
        raise EOFError
    why = answer.get("why")
    return Outcome("crashed" if why else "", str(why or ""), answer["attempts"])
