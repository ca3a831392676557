"""Grade many notebooks, several at once; when that is interrupted, all of it ends at once."""

import threading
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait

from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.run.child import Children
from lnorm_staff.grading.run.grade_one import grade_one
from lnorm_staff.grading.run.judge import Judge

__all__ = ["grade_many"]


def grade_many(
    files: Iterable[HandedIn], timeout: float, jobs: int
) -> Generator[tuple[HandedIn, list[Grade]], None, None]:
    """Yield each file with its grades, in the order given; of one that isn't graded, the reason.

    Closing the iterator, or Ctrl-C, ends all notebooks that run.

    Args:
        files: what was handed in.
        timeout: seconds for a cell.
        jobs: how many notebooks run at once.
    """
    own = threading.local()  # each thread has a judge

    def one(file: HandedIn) -> list[Grade]:
        if file.state:
            return [file.grade(None, file.state, file.reason)]
        own.judge = getattr(own, "judge", None) or Judge(children)
        return grade_one(file, timeout, own.judge)

    with Children() as children, ThreadPoolExecutor(jobs) as pool:
        try:
            for file, future in [(file, pool.submit(one, file)) for file in files]:
                while not future.done():
                    wait([future], timeout=1)  # on Windows, Ctrl-C arrives between two of them
                yield file, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            children.stop()
