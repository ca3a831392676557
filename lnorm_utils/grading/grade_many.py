"""Grade many notebooks, several at once; when that is interrupted, all of it ends at once."""

import sys
import time
from collections.abc import Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from lnorm_utils.grading.grade import Grade, grade
from lnorm_utils.grading.processes import Processes
from lnorm_utils.grading.results import Journal

__all__ = ["TimeLeft", "grade_many"]

SECONDS_FOR_A_CALL = 10


def grade_many(
    paths: Mapping[str, Path], timeout: float, jobs: int, journal: Journal | None = None
) -> Generator[tuple[str, list[Grade]], None, None]:
    """Yield the name and the grades of each submission, in the order given.

    Closing the iterator, or Ctrl-C, ends all notebooks that run.

    Args:
        paths: the name and the path of each notebook.
        timeout: seconds for a cell.
        jobs: how many notebooks run at once.
        journal: what is done already and need not be done again, and where more is written down.

    Raises:
        OSError: the journal can't be written.
    """
    seconds = max(1, min(SECONDS_FOR_A_CALL, timeout / 3))
    with Processes(seconds) as processes, ThreadPoolExecutor(jobs) as pool:

        def one(name: str, path: Path) -> list[Grade]:
            done = journal.done(name, path) if journal else None
            grades = grade(path, timeout, processes) if done is None else done
            if journal and done is None and not processes.is_closed:
                journal.add(name, path, grades)
            return grades

        found = {name: pool.submit(one, name, path) for name, path in paths.items()}
        try:
            for name, future in found.items():
                yield name, _result(future)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.close()


def _result(future: Future) -> list[Grade]:
    while not future.done():
        wait([future], timeout=1)  # on Windows, Ctrl-C arrives between two of them
    return future.result()


class TimeLeft:
    """Say on a terminal how many notebooks are graded, and how long the others will take."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()

    def one_more(self) -> None:
        """Count a notebook; write the line again in the place of the last one."""
        self.done += 1
        if not sys.stderr.isatty():
            return
        passed = time.monotonic() - self.start
        left = passed / self.done * (self.total - self.done)
        words = f"{left / 60:.0f} minutes" if left >= 90 else f"{left:.0f} seconds"
        line = f"{self.done} of {self.total} graded, about {words} left"
        end = "\n" if self.done == self.total else "\r"
        print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
