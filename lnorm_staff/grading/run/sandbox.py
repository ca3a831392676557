"""Shut a command in with bubblewrap, so that it sees some folders and nothing else.

In the sandbox there is no network and no other process. All files are read-only, but for those in a
small folder that is kept in memory and ends with the sandbox. Where Linux lets this user make a
cgroup, that limits the memory and the processes of all in it together.
"""

import functools
import site
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lnorm_staff.grading.run.system_calls import filter_of_calls

__all__ = ["COURSE", "HOME", "MOST_PROCESSES", "walls"]

COURSE = Path(__file__).parents[3]
_TORCH = find_spec("torch")
# What Python and the course need, and no tests, which have answers of students.
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"),
    *(sys.base_prefix, sys.prefix, site.getusersitepackages()),
    *(str(COURSE / name) for name in ("lnorm_utils", "lnorm_course", "lnorm_staff")),
    *([str(Path(_TORCH.origin).parents[1])] if _TORCH and _TORCH.origin else []),
)
HOME = "/tmp"  # the folder that can be written
LARGEST = 2**28, 2**26  # bytes in it, and in shared memory
MOST_PROCESSES = 64
# Nothing inside can make new walls, with which it could undo these.
BUBBLEWRAP = (
    *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
    *("--cap-drop", "ALL", "--unsetenv", "XDG_RUNTIME_DIR"),
)
# 3 processes are bubblewrap's own.
CGROUP = (
    *("systemd-run", "--user", "--scope", "--quiet", "--collect", "--property=MemoryMax=4G"),
    *("--property=MemorySwapMax=0", f"--property=TasksMax={MOST_PROCESSES + 3}"),
)


@functools.cache
def walls() -> tuple[str, ...]:
    """Return what starts a command in a sandbox, if it's written in front of it.

    That's nothing where bubblewrap is missing, older than version 0.8, or doesn't work. If there's
    a filter of system calls, bubblewrap reads it as file 9.
    """
    sandbox = (*BUBBLEWRAP, *_folders())
    if not _works([*sandbox, "--", sys.executable, "-c", ""]):
        return ()
    cgroup = CGROUP if _works([*CGROUP, "true"]) else ()
    filtered = ("--seccomp", "9") if filter_of_calls() else ()
    return (*cgroup, *sandbox, *filtered, "--")


def _works(command: Sequence[str]) -> bool:
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _folders() -> list[str]:
    home, shared = map(str, LARGEST)
    options = ["--size", home, "--tmpfs", HOME, "--dir", f"{HOME}/empty"]
    for path in sorted({*READABLE}, key=lambda path: path.count("/")):  # a folder before its own
        options += ["--ro-bind-try", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", "--size", shared, "--tmpfs", "/dev/shm"]
    # In /proc, root could change the whole system.
    for path in ("/dev", "/proc", "/"):
        options += ["--remount-ro", path]
    return [*options, "--chdir", f"{HOME}/empty"]
