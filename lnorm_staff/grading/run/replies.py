"""Send requests to an untrusted child process, and restart it if it dies."""

import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NamedTuple

from lnorm_staff.grading.grade import NOT_JUDGED
from lnorm_staff.grading.run.child import Child, started

__all__ = ["JUDGE", "KERNEL", "Reply", "replies"]

SECONDS_TO_START, SECONDS_TO_STOP = 60, 3  # time for a child to start, and to stop by itself
MOST_OF_A_REASON = 1000  # the maximum length of a reason, in characters
MOST_TRIES = 5  # a child is started, or an attempt judged, at most this many times
# The modules that can run in a child.
KERNEL, JUDGE = "kernel", "judge"


class Reply(NamedTuple):
    """The result of one request: whether, how, and why it failed, and its attempts or verdict."""

    failed: str = ""  # "", "crashed", "timed out", or NOT_JUDGED
    reason: str = ""
    attempts: Mapping[str, Any] = {}  # for each exercise, its attempt or its verdict
    by_machine: bool = False  # the machine may be at fault, so the request is worth a second try


async def replies(
    program: str, setup: Any, asked: Iterable[Any], timeout: float, total: float
) -> AsyncIterator[tuple[Any, Reply]]:
    """Send requests to a child, restart it if it dies, and yield each request with its reply.

    Args:
        program: KERNEL or JUDGE. A new kernel repeats the requests that succeeded in the old one.
        setup: the data that the child is sent first.
        asked: the requests, such as the source of each cell.
        timeout: seconds allowed for one request.
        total: seconds allowed for all requests together.
    """
    deadline = time.monotonic() + total
    waiting = deque(asked)
    done: list[Any] = []  # the requests that a new kernel has to repeat
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
            if tries >= MOST_TRIES:  # if a child was up, it died while repeating requests
                died = Reply("crashed", f"the {program} died repeatedly.", by_machine=True)
                rest = died if is_up else Reply(NOT_JUDGED, f"no {program} could be started.")
        except OSError as problem:  # the machine failed, for example because of a full disk
            rest = Reply(NOT_JUDGED, f"the machine that grades it stopped early: {problem}.")
        if time.monotonic() > deadline:
            over = f"the {total:g} seconds for the whole notebook were used up."
            rest = Reply("timed out", over, by_machine=has_waited)
    if rest:
        for each in waiting:
            yield each, rest


async def _one(child: Child, program: str, asked: Any, timeout: float, deadline: float) -> Reply:
    """Return the reply to one request; the child may be dead afterward.

    A late request that hardly used the processor was waiting, either on purpose or because the
    processor was busy, so the machine may be at fault.
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
