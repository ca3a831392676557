"""How much memory processes use together with all that they have started."""

import contextlib
from collections.abc import Iterable
from typing import Any

__all__ = ["used_by"]


def used_by(processes: Iterable[int]) -> int:
    """Return how many bytes processes and their children use; memory they share counts once."""
    import psutil

    found = {}
    for number in processes:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(number)
            found.update({each.pid: each for each in (process, *process.children(recursive=True))})
    return sum(_used(process) for process in found.values())


def _used(process: Any) -> int:
    import psutil

    with contextlib.suppress(psutil.Error):
        try:
            told = process.memory_full_info()
            return getattr(told, "pss", told.rss)
        except psutil.AccessDenied:
            return process.memory_info().rss
    return 0
