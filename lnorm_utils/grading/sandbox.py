"""Shut a command in with bubblewrap, so that it sees some folders and nothing else.

In the sandbox there is no network and no other process. All files are read-only, but for those in a
small folder that is kept in memory and ends with the sandbox.
"""

import functools
import shutil
import site
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["HOME", "can_sandbox", "sandboxed"]

PACKAGE = Path(__file__).parents[1]
# What Python and the course need.
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"),
    *(sys.base_prefix, sys.prefix, site.getusersitepackages(), str(PACKAGE)),
    *(str(Path(spec.origin).parents[1]) for spec in [find_spec("torch")] if spec and spec.origin),
)
HOME = "/tmp"  # the folder that can be written
LARGEST_HOME, LARGEST_SHARED_MEMORY = 2**28, 2**26  # bytes


@functools.cache
def can_sandbox() -> bool:
    """Return whether bubblewrap is installed and works here."""
    try:
        command = sandboxed([sys.executable, "-c", ""])
        subprocess.run(command, capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def sandboxed(command: list[str], without: tuple[Path, ...] = ()) -> list[str]:
    """Return the command that runs another one in a sandbox, where some folders are empty."""
    tool = shutil.which("bwrap") or "no bubblewrap"
    folders = ["--tmpfs", HOME, "--dir", f"{HOME}/empty", "--chdir", f"{HOME}/empty"]
    folders = [*_at_most(tool, LARGEST_HOME), *folders]
    for path in READABLE:
        folders += ["--ro-bind-try", path, path]
    for hidden in map(str, without):
        folders += ["--tmpfs", hidden, "--remount-ro", hidden]
    folders += ["--proc", "/proc", "--dev", "/dev", *_at_most(tool, LARGEST_SHARED_MEMORY)]
    folders += ["--tmpfs", "/dev/shm"]
    for path in ("/dev", "/proc", "/"):  # in /proc, root could change the whole system
        folders += ["--remount-ro", path]
    walls = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    return [tool, *folders, *walls, *command]


@functools.cache
def _at_most(tool: str, size: int) -> list[str]:
    """Limit the next folder in memory; bubblewrap before 0.7 leaves it half of the memory."""
    told = subprocess.run([tool, "--help"], capture_output=True, text=True)
    return ["--size", str(size)] if "--size" in told.stdout else []
