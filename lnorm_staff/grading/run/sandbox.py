"""Shut a command in with bubblewrap, so that it sees some folders and nothing else.

In the sandbox there is no network and no other process. All files are read-only, but for those in a
small folder that is kept in memory and ends with the sandbox. Where Linux lets this user make a
cgroup, that limits the memory and the processes of all in it together.
"""

import functools
import shutil
import site
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from lnorm_staff.grading.run.system_calls import write_filter

__all__ = ["COURSE", "HOME", "MOST_PROCESSES", "can_sandbox", "walls"]

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


@functools.cache
def can_sandbox() -> bool:
    """Return whether bubblewrap is installed and works here."""
    return bool(_tool())


def walls(file: Path) -> list[str]:
    """Return what starts a command in a sandbox, if it's written in front of it.

    Args:
        file: where the filter of system calls is to be written; bubblewrap reads it as file 9.
    """
    filtered = ["--seccomp", "9"] if write_filter(file) else []
    return [*_cgroup(), *_tool(), *filtered, *_folders(), "--"]


@functools.cache
def _tool() -> tuple[str, ...]:
    """Return bubblewrap with the options that work here; nothing if it doesn't work at all."""
    base = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    base += ["--unsetenv", "XDG_RUNTIME_DIR"]
    # Before version 0.8, bubblewrap can't refuse new walls inside; the filter of system calls does.
    for more in (("--unshare-user", "--disable-userns"), ()):
        if shutil.which("bwrap"):
            command = [*base, *more, *_folders(), "--", sys.executable, "-c", ""]
            try:
                subprocess.run(command, capture_output=True, check=True, timeout=60)
                return (*base, *more)
            except (OSError, subprocess.SubprocessError):
                continue
    return ()


@functools.cache
def _folders() -> tuple[str, ...]:
    told = subprocess.run(["bwrap", "--help"], capture_output=True, text=True).stdout
    limits = "--size" in told  # bubblewrap before 0.7 leaves a folder half of the memory
    home, shared = (["--size", str(most)] if limits else [] for most in LARGEST)
    options = [*home, "--tmpfs", HOME, "--dir", f"{HOME}/empty"]
    for path in sorted({*READABLE}, key=lambda path: path.count("/")):  # a folder before its own
        options += ["--ro-bind-try", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", *shared, "--tmpfs", "/dev/shm"]
    options += ["--ro-bind", "/dev/null", "/dev/zero"]  # mapped, it's memory that no process has
    # In /proc, root could change the whole system.
    for path in ("/dev", "/proc", "/"):
        options += ["--remount-ro", path]
    return (*options, "--chdir", f"{HOME}/empty")


@functools.cache
def _cgroup() -> tuple[str, ...]:
    """Return what starts a command in a cgroup with limits; nothing if this user may make none."""
    limits = (f"TasksMax={MOST_PROCESSES + 3}", "MemoryMax=4G", "MemorySwapMax=0")  # 3 are bwrap's
    command = ["systemd-run", "--user", "--scope", "--quiet", "--collect"]
    command += [f"--property={limit}" for limit in limits]
    try:
        subprocess.run([*command, "true"], capture_output=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(command)
