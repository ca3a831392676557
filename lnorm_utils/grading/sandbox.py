"""Shut a command in with bubblewrap, so that it sees some folders and nothing else.

In the sandbox there is no network and no other process, and all files but those of one folder are
read-only.
"""

import functools
import shutil
import site
import subprocess
import sys
from pathlib import Path

__all__ = ["can_sandbox", "sandboxed"]

# What Python and the course need.
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"),
    *(sys.base_prefix, sys.prefix, site.getusersitepackages(), str(Path(__file__).parents[1])),
)


@functools.cache
def can_sandbox() -> bool:
    """Return whether bubblewrap is installed and works here."""
    try:
        subprocess.run([*_bubblewrap(), sys.executable, "-c", ""], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def sandboxed(command: list[str], writable: Path) -> list[str]:
    """Return the command that runs another one in a sandbox, where it can change one folder."""
    folder = str(writable)
    return [*_bubblewrap(), "--bind", folder, folder, "--remount-ro", "/", *command]


def _bubblewrap() -> list[str]:
    tool = shutil.which("bwrap") or "no bubblewrap"
    readable = (part for path in READABLE for part in ("--ro-bind-try", path, path))
    # An interrupt is for the kernel: bubblewrap itself would end at once.
    command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", tool, *readable]
    command += ["--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent"]
    # A kernel ends when its parent changes, unless it takes process 1 for its parent.
    return [*command, "--setenv", "JPY_PARENT_PID", "1"]
