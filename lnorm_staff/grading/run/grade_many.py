"""Grade many notebooks, several at once; when that is interrupted, all of it ends at once."""

from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from queue import LifoQueue

from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run.grade_one import grade_one
from lnorm_staff.grading.run.judge_process import Judge
from lnorm_staff.grading.run.processes import Processes

__all__ = ["grade_many"]

SECONDS_FOR_A_CALL = 10


def grade_many(
    files: Iterable[HandedIn], timeout: float, jobs: int
) -> Generator[tuple[HandedIn, list[Grade]], None, None]:
    """Yield each file with its grades, in the order given; without a path, one that says why.

    Closing the iterator, or Ctrl-C, ends all notebooks that run.

    Args:
        files: what was handed in.
        timeout: seconds for a cell.
        jobs: how many notebooks run at once.
    """
    seconds = max(1, min(SECONDS_FOR_A_CALL, timeout / 3))
    with ExitStack() as stack:
        processes = stack.enter_context(Processes(seconds))
        judges = [stack.enter_context(Judge()) for _ in range(jobs)]
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        free: LifoQueue[Judge] = LifoQueue()  # those that have started come first
        for judge in judges:
            free.put(judge)

        def one(file: HandedIn) -> list[Grade]:
            if not file.path:
                return [file.grade(None, file.state, file.reason)]
            judge = free.get()
            try:
                return grade_one(file, timeout, processes, judge)
            finally:
                free.put(judge)

        found = [(file, pool.submit(one, file)) for file in files]
        try:
            for file, future in found:
                yield file, _result(future)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.close()
            for judge in judges:
                judge.close()


def _result(future: Future) -> list[Grade]:
    while not future.done():
        wait([future], timeout=1)  # on Windows, Ctrl-C arrives between two of them
    return future.result()
