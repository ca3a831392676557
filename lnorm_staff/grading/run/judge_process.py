"""Have attempts judged in a process of its own, so that no attempt can end or stop the grader."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lnorm_course.checking.exercise import Exercise
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.plain_text import MOST_OF_A_MESSAGE, one_line
from lnorm_staff.grading.run.channel import receive, send
from lnorm_staff.grading.run.processes import STOPPED, environment, remove
from lnorm_staff.grading.run.recording import LONGEST_ATTEMPT

__all__ = ["Judge", "packed"]

START = """
import sys
sys.path[:] = {path!r}
from lnorm_staff.grading.run import judge
judge.serve()
"""
SECONDS_TO_START, SECONDS_TO_JUDGE, SECONDS_BETWEEN_LOOKS = 60, 60, 0.2
MOST_MEMORY = 2**31  # bytes
NOT_STARTED = "no process to judge it could be started."
TOO_SLOW = f"judging this answer took more than {SECONDS_TO_JUDGE} seconds."
TOO_LARGE = f"judging this answer took more than {MOST_MEMORY // 2**30} GiB of memory."
DIED = "the process that judges answers died of this one."
TRIES = 2  # because what ends a process may be left from the attempt before


class Judge:
    """A process that judges one attempt after the other; a context that ends it.

    It starts when it's needed or asked to, and again when it has died.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.lock = threading.Lock()
        self.is_closed = self.is_ready = False

    def __enter__(self) -> "Judge":
        self.folder = Path(tempfile.mkdtemp(prefix="lnorm"))
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
        remove(self.folder)

    def start(self) -> None:
        """Start the process if there is none, and don't wait until it's ready.

        Raises:
            OSError: none can be started.
        """
        with self.lock:
            if self.is_closed:
                raise OSError(STOPPED)
            if self.process is None:
                path = [os.path.abspath(part) for part in sys.path]
                self.is_ready = False
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-c", START.format(path=path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=environment(str(self.folder)),
                    cwd=self.folder,
                    start_new_session=True,  # apart from this terminal and its Ctrl-C
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )

    def close(self) -> None:
        """End the process, and start no other."""
        with self.lock:
            self.is_closed = True
        self._end()

    def _end(self) -> None:
        with self.lock:
            process, self.process = self.process, None
        if process:
            process.kill()
            with contextlib.suppress(OSError):  # about what was not read
                process.__exit__(None, None, None)

    def grade(self, grade: Grade, exercise: Exercise, attempt: str) -> Grade:
        """Fill in a grade with what becomes of an attempt, as `packed` writes it."""
        reason = ""
        for _ in range(TRIES):
            try:
                state, *words = self._answer([exercise.topic, exercise.name, attempt])
                mistake, belief, message = (one_line(w, MOST_OF_A_MESSAGE, attempt) for w in words)
                told = {"mistake": mistake, "belief": belief, "message": message}
                return replace(grade, state=state, **told)
            except TimeoutError as problem:
                reason = str(problem)
                break
            except Exception:  # it has died, or answers something else
                reason = DIED
        return replace(grade, state="crashed", message=reason)

    def _answer(self, request: list[str]) -> list[str]:
        """Send a request and wait for the answer; without one, end the process.

        Raises:
            TimeoutError: the process took too much time or memory.
            OSError, EOFError: it has died. What broke it may raise others.
        """
        self.start()
        try:
            if not self.is_ready:
                with self._watched(SECONDS_TO_START, NOT_STARTED) as process:
                    receive(process.stdout)
                self.is_ready = True
            with self._watched(SECONDS_TO_JUDGE, TOO_SLOW) as process:
                send(process.stdin, request)
                return receive(process.stdout)
        except Exception:
            self._end()
            raise

    @contextlib.contextmanager
    def _watched(self, seconds: float, too_slow: str) -> Iterator[Any]:
        import psutil

        process, done, reasons = self.process, threading.Event(), []
        if process is None:
            raise OSError(STOPPED)

        def watch() -> None:
            until = time.monotonic() + seconds
            with contextlib.suppress(psutil.Error):  # it has ended
                while not done.wait(SECONDS_BETWEEN_LOOKS):
                    if time.monotonic() > until:
                        reasons.append(too_slow)
                    elif psutil.Process(process.pid).memory_info().rss > MOST_MEMORY:
                        reasons.append(TOO_LARGE)
                    if reasons:
                        return process.kill()

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield process
        except (OSError, EOFError):
            if reasons:
                raise TimeoutError(reasons[0]) from None
            raise
        finally:
            done.set()


def packed(attempt: object) -> str:
    """Write an attempt as JSON; as null what is longer than a `Recorder` writes, or nested deep."""
    with contextlib.suppress(RecursionError):
        text = json.dumps(attempt)
        if len(text) <= LONGEST_ATTEMPT:
            return text
    return "null"
