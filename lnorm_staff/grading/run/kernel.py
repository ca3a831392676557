"""A kernel for code that nobody trusts: limited in time and memory, started again if it dies."""

import contextlib
import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lnorm_staff.grading.run.channel import receive, send
from lnorm_staff.grading.run.memory import MOST_MEMORY
from lnorm_staff.grading.run.processes import Processes

__all__ = ["Kernel", "Outcome"]

SECONDS_TO_START, SECONDS_TO_STOP, SECONDS_BETWEEN_LOOKS = 60, 3, 0.5
TOO_LARGE = f"it used more than {MOST_MEMORY // 2**30} GiB of memory."


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: a state of failure and its reason, and what the checks in it got."""

    failed: str = ""  # or "crashed", "timed out"
    reason: str = ""
    attempts: Mapping[str, Any] = field(default_factory=dict)
    lost: bool = False  # what the code has defined is gone with the kernel


class Kernel:
    """A kernel of this environment in an empty folder of its own; a context that ends it.

    Args:
        processes: where its process comes from.
        timeout: seconds for a cell.
        total: seconds for all of them together.
    """

    def __init__(self, processes: Processes, timeout: float, total: float) -> None:
        self.processes, self.timeout, self.total = processes, timeout, total
        self.deadline = time.monotonic() + total
        self.done: list[str] = []
        self.end = Outcome()  # once it has failed, nothing runs any more

    def __enter__(self) -> "Kernel":
        self.context = contextlib.ExitStack()
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    def run(self, code: str) -> Outcome:
        """Run a cell, after all cells that ran before it if the kernel has died.

        Raises:
            OSError: this machine can't start one again.
        """
        if self._over():
            return self.end
        outcome = self._run(code)
        if not outcome.failed:
            self.done.append(code)
        if outcome.lost and not self._over():
            self._start()
            if any(self._run(code).lost for code in self.done) and not self._over():
                self.end = Outcome("crashed", "the kernel died again and again.", lost=True)
        return outcome

    def _over(self) -> bool:
        if not self.end.failed and time.monotonic() > self.deadline:
            reason = f"the {self.total:g} seconds for the whole notebook were over."
            self.end = Outcome("timed out", reason, lost=True)
        return bool(self.end.failed)

    def _start(self) -> None:
        self.context.close()
        self.process = self.context.enter_context(self.processes.process())
        try:
            self._reply(self._asked(self.processes.setup), SECONDS_TO_START, is_limited=False)
        except (TimeoutError, EOFError):
            self.end = Outcome("crashed", "no kernel could be started.", lost=True)

    def _run(self, code: str) -> Outcome:
        """Run a cell in the process that there is, and stop it when its time is over."""
        reason = f"it ran for more than {self.timeout:g} seconds."
        answer = self._asked(code)
        try:
            reply = self._reply(answer, min(self.timeout, self.deadline - time.monotonic()))
        except TimeoutError:
            return self._stop(answer, reason)
        except EOFError:
            return Outcome("crashed", "the kernel died.", lost=True)
        except MemoryError:
            return Outcome("crashed", TOO_LARGE, lost=True)
        if reply.get("status") == "ok":
            return Outcome(attempts=_attempts_in(reply))
        return Outcome("crashed", str(reply.get("why")), _attempts_in(reply))

    def _stop(self, answer: queue.Queue, reason: str) -> Outcome:
        """Interrupt the cell that runs; if that doesn't help, the kernel is lost."""
        try:
            self.process.interrupt()
            reply = self._reply(answer, SECONDS_TO_STOP)
        except (OSError, EOFError, MemoryError):
            return Outcome("timed out", reason, lost=True)
        return Outcome("timed out", reason, _attempts_in(reply))

    def _asked(self, message: object) -> queue.Queue:
        """Send a cell, or the setup of a kernel that starts; return where its answer will be."""
        process = self.process
        answer: queue.Queue = queue.Queue(1)

        def exchange() -> None:
            found = None
            with contextlib.suppress(Exception):  # the kernel may send anything, or nothing
                send(process.requests, message)
                found = receive(process.replies)
            answer.put(found if isinstance(found, dict) else None)

        threading.Thread(target=exchange, daemon=True).start()
        return answer

    def _reply(self, answer: queue.Queue, seconds: float, is_limited: bool = True) -> dict:
        """Wait for an answer.

        Args:
            answer: where it will be.
            seconds: how long to wait.
            is_limited: whether to look at the memory; while a sandbox is built, nobody can tell.

        Raises:
            TimeoutError: there is none in time.
            EOFError: there will be none, because the kernel is dead or sends something else.
            MemoryError: the kernel takes too much.
        """
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            is_alive = self.process.is_alive()
            with contextlib.suppress(queue.Empty):
                if found := answer.get(timeout=min(left, SECONDS_BETWEEN_LOOKS)):
                    return found
                is_alive = False
            if not is_alive:
                raise EOFError
            if is_limited and self.process.is_too_large():
                raise MemoryError
        raise TimeoutError


def _attempts_in(reply: dict) -> dict:
    attempts = reply.get("attempts")
    return attempts if isinstance(attempts, dict) else {}
