"""How much memory a kernel may use together with all that it has started."""

import contextlib
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["MOST_MEMORY", "in_files_of", "limited_by_linux", "used_by"]

MOST_MEMORY = 4 * 2**30  # bytes
FOR_A_NAME = 2**11  # bytes, what Linux keeps for each file, also for an empty one
PARTS = re.compile(r"^(?:Pss|SwapPss|VmRSS|VmSwap):\s*(\d+) kB", re.MULTILINE)


def used_by(number: int) -> int:
    """Return how many bytes a process and its children use; memory they share counts once."""
    import psutil

    with contextlib.suppress(psutil.Error):
        process = psutil.Process(number)
        return sum(map(_used, (process, *process.children(recursive=True))))
    return 0


def _used(process: Any) -> int:
    import psutil

    with contextlib.suppress(OSError, ValueError, psutil.Error):
        if sys.platform != "linux":
            return process.memory_info().rss
        # All threads that run tell the same, and the first one may have ended.
        return max(map(_told, Path(f"/proc/{process.pid}/task").iterdir()))
    return 0


def _told(thread: Path) -> int:
    for file in ("smaps_rollup", "status"):  # a process can hide the first one
        with contextlib.suppress(OSError):
            parts = PARTS.findall((thread / file).read_text("utf-8", errors="replace"))
            if parts:
                return 1024 * sum(map(int, parts))
    return 0


def in_files_of(sandbox: int, folders: Iterable[str]) -> int:
    """Return how many bytes are in folders that are kept in memory.

    Args:
        sandbox: the process that waits for the sandbox to end.
        folders: each is a file system of its own.
    """
    import psutil

    used = 0
    with contextlib.suppress(OSError, psutil.Error):
        for inside in psutil.Process(sandbox).children():
            for folder in folders:
                told = os.statvfs(f"/proc/{inside.pid}/root{folder}")
                used += (told.f_blocks - told.f_bfree) * told.f_frsize
                used += (told.f_files - told.f_ffree) * FOR_A_NAME
    return used


@functools.cache
def limited_by_linux(processes: int) -> list[str]:
    """Return what starts a command in a cgroup with limits; nothing if this user may make none.

    Args:
        processes: how many there may be.
    """
    limits = [f"MemoryMax={MOST_MEMORY}", "MemorySwapMax=0", f"TasksMax={processes}"]
    command = ["systemd-run", "--user", "--scope", "--quiet", "--collect"]
    command += [f"--property={limit}" for limit in limits]
    try:
        subprocess.run([*command, "true"], capture_output=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return command
