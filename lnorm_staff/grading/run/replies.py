"""Have several things done by a child that nobody trusts, which starts again if it dies."""

import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NamedTuple

from lnorm_staff.grading.grade import NOT_JUDGED
from lnorm_staff.grading.run.child import Child, started

__all__ = ["JUDGE", "KERNEL", "Reply", "replies"]

SECONDS_TO_START, SECONDS_TO_STOP = 60, 3  # to stop, a child has that long for itself
MOST_OF_A_REASON = 1000  # characters
MOST_TRIES = 5  # to start a child, and to have an attempt judged by one
# What runs in a child, by the name of its module.
KERNEL, JUDGE = "kernel", "judge"


class Reply(NamedTuple):
    """What became of one thing: a state of failure and its reason, and what is known by then."""

    failed: str = ""  # or "crashed", "timed out", NOT_JUDGED
    reason: str = ""
    attempts: Mapping[str, Any] = {}  # for each exercise, what its check got, or its verdict
    by_machine: bool = False  # the failure may be the machine's, so that it's worth another try


async def replies(
    program: str, setup: Any, asked: Iterable[Any], timeout: float, total: float
) -> AsyncIterator[tuple[Any, Reply]]:
    """Yield each thing that a child is asked to do with what becomes of it, and keep nothing of it.

    Args:
        program: what runs in the child. A new kernel does again what went well in the one before.
        setup: what it's told first.
        asked: such as the source of each cell.
        timeout: seconds for one of them.
        total: seconds for all of them together.
    """
    deadline = time.monotonic() + total
    waiting = deque(asked)
    done: list[Any] = []  # what a new kernel has to do again
    rest: Reply | None = None
    tries, has_waited = 0, False
    while waiting and not rest:
        is_up = False
        try:
            async with started(f"lnorm_staff.grading.run.{program}") as child:
                await child.ask([setup, None], min(SECONDS_TO_START, deadline - time.monotonic()))
                is_up = True
                for each in done:
                    left = deadline - time.monotonic()
                    await child.ask([each, left], left)
                while child.is_alive and waiting and time.monotonic() < deadline:
                    each = waiting.popleft()
                    reply = await _one(child, program, each, timeout, deadline)
                    has_waited |= reply.by_machine
                    if program == KERNEL and not reply.failed:
                        done.append(each)
                    tries = tries + 1 if (program, reply.failed) == (JUDGE, "crashed") else 0
                    if 0 < tries < MOST_TRIES:
                        waiting.appendleft(each)
                    else:
                        yield each, reply
        except (EOFError, TimeoutError):
            tries += 1
            if tries >= MOST_TRIES:  # where it's up, of what ran well before
                died = Reply("crashed", f"the {program} died again and again.", by_machine=True)
                rest = died if is_up else Reply(NOT_JUDGED, f"no {program} could be started.")
        except OSError as problem:  # of the machine, such as a full disk
            rest = Reply(NOT_JUDGED, f"the machine that grades it stopped early: {problem}.")
        if time.monotonic() > deadline:
            over = f"the {total:g} seconds for the whole notebook were over."
            rest = Reply("timed out", over, by_machine=has_waited)
    if rest:
        for each in waiting:
            yield each, rest


async def _one(child: Child, program: str, asked: Any, timeout: float, deadline: float) -> Reply:
    """Return what becomes of the next thing; the child may be dead then.

    What is late without having computed had to wait, for itself or for a processor.
    """
    began = time.monotonic()
    seconds = min(timeout, deadline - began)
    late = Reply("timed out", f"it ran for more than {timeout:g} seconds.", by_machine=True)
    try:
        answer = await child.ask([asked, seconds], seconds + SECONDS_TO_STOP)
    except TimeoutError:
        return late
    except EOFError:
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("attempts"), dict):
        child.kill()
        return Reply("crashed", f"the {program} died.", by_machine=True)
    if time.monotonic() - began > seconds:
        has_computed = bool(answer.get("is_busy"))
        return late._replace(attempts=answer["attempts"], by_machine=not has_computed)
    why = str(answer.get("why") or "")[:MOST_OF_A_REASON]
    return Reply("crashed" if why else "", why, answer["attempts"])
