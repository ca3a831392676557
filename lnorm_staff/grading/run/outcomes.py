"""Have several things done by a child that nobody trusts, which starts again if it dies."""

import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NamedTuple

from lnorm_staff.grading.run.child import Child

__all__ = ["JUDGE", "KERNEL", "Outcome", "Program", "outcomes"]

SECONDS_TO_START, SECONDS_TO_STOP = 60, 3
MOST_OF_A_REASON = 1000  # characters


class Program(NamedTuple):
    """What runs in a child."""

    name: str  # in sentences for people
    module: str
    has_memory: bool  # whether a new child has to do again what went well in the one before


KERNEL = Program("kernel", "lnorm_staff.grading.run.runner", has_memory=True)
JUDGE = Program("judge", "lnorm_staff.grading.run.judge", has_memory=False)


class Outcome(NamedTuple):
    """What became of one thing: a state of failure and its reason, and what is known by then."""

    failed: str = ""  # or "crashed", "timed out"
    reason: str = ""
    attempts: Mapping[str, Any] = {}  # for each exercise, what its check got, or its verdict


async def outcomes(
    program: Program, setup: Any, asked: Iterable[Any], timeout: float, total: float
) -> AsyncIterator[tuple[Any, Outcome]]:
    """Yield each thing that a child is asked to do with what becomes of it, and keep nothing of it.

    Args:
        program: what runs in the child.
        setup: what it's told first.
        asked: such as the source of each cell.
        timeout: seconds for one of them.
        total: seconds for all of them together.
    """
    deadline = time.monotonic() + total
    waiting = deque(asked)
    done: list[Any] = []  # what went well, if a new child has to do it again
    rest: Outcome | None = None
    while waiting and not rest:
        try:
            async with Child(program.module) as child:
                await child.ask(setup, SECONDS_TO_START)
                for each in done:
                    await child.ask(each, deadline - time.monotonic())
                while child.is_alive and waiting and time.monotonic() < deadline:
                    each = waiting.popleft()
                    outcome = await _one(child, program, each, timeout, deadline)
                    if program.has_memory and not outcome.failed:
                        done.append(each)
                    yield each, outcome
        except (EOFError, TimeoutError):
            died = f"the {program.name} died again and again."
            rest = Outcome("crashed", died if done else f"no {program.name} could be started.")
        except OSError as problem:  # of the machine, such as a full disk
            rest = Outcome("crashed", f"the machine that grades it stopped early: {problem}.")
        if time.monotonic() > deadline:
            rest = Outcome("timed out", f"the {total:g} seconds for the whole notebook were over.")
    if rest:
        for each in waiting:
            yield each, rest


async def _one(
    child: Child, program: Program, asked: Any, timeout: float, deadline: float
) -> Outcome:
    """Return what becomes of the next thing; the child may be dead then."""
    try:
        return _read(await child.ask(asked, min(timeout, deadline - time.monotonic())))
    except TimeoutError:
        child.interrupt()
    except EOFError:
        child.kill()
        return Outcome("crashed", f"the {program.name} died.")
    late = Outcome("timed out", f"it ran for more than {timeout:g} seconds.")
    try:
        return late._replace(attempts=_read(await child.answer(SECONDS_TO_STOP)).attempts)
    except (TimeoutError, EOFError):
        child.kill()
        return late


def _read(answer: Any) -> Outcome:
    """Read what a child says.

    Raises:
        EOFError: it says something else.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("attempts"), dict):
        raise EOFError
    why = answer.get("why")
    return Outcome("crashed" if why else "", str(why or "")[:MOST_OF_A_REASON], answer["attempts"])
