"""Shut a command in with bubblewrap, so that it sees some folders and nothing else.

In the sandbox there is no network, no other process, and no bank of exercises. All files are
read-only, but for those in a small folder that is kept in memory and ends with the sandbox.
"""

import functools
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lnorm_staff.grading.run.system_calls import refusals

__all__ = ["HOME", "IN_MEMORY", "can_sandbox", "start_in_sandbox"]

COURSE = Path(__file__).parents[3]
PACKAGES = ("lnorm_utils", "lnorm_course", "lnorm_staff")
# What Python and the course need.
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix"),
    *(sys.base_prefix, sys.prefix, site.getusersitepackages()),
    *(str(COURSE / name) for name in PACKAGES),
    *(str(Path(spec.origin).parents[1]) for spec in [find_spec("torch")] if spec and spec.origin),
)
HOME = "/tmp"  # the folder that can be written
IN_MEMORY = (HOME, "/dev/shm")
LARGEST_HOME, LARGEST_SHARED_MEMORY = 2**28, 2**26  # bytes


@functools.cache
def can_sandbox() -> bool:
    """Return whether bubblewrap is installed and works here."""
    try:
        quiet: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return start_in_sandbox([sys.executable, "-c", ""], **quiet).wait(60) == 0
    except (OSError, subprocess.SubprocessError):
        return False


def start_in_sandbox(
    command: Sequence[str], before: Sequence[str] = (), **options: Any
) -> subprocess.Popen:
    """Start a command in a sandbox.

    Args:
        command: what to run in it.
        before: a command outside of it that goes on with the command at its end.
        options: those of `subprocess.Popen`.
    """
    tool = shutil.which("bwrap") or "no bubblewrap"
    with refusals() as files:
        refused = [part for file in files for part in ("--seccomp", str(file))]
        walls = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
        walls += ["--unsetenv", "XDG_RUNTIME_DIR", *refused]
        whole = [*before, tool, *walls, *_folders(tool), *command]
        return subprocess.Popen(whole, pass_fds=files, **options)


def _folders(tool: str) -> list[str]:
    shown = [(path, ["--ro-bind-try", str(path), str(path)]) for path in map(Path, READABLE)]
    if is_checkout := (COURSE / "pyproject.toml").exists():  # its tests have answers
        shown.insert(0, (COURSE, ["--tmpfs", str(COURSE)]))
    found = [*_at_most(tool, LARGEST_HOME), "--tmpfs", HOME, "--dir", f"{HOME}/empty"]
    for _, how in sorted(shown, key=lambda each: len(each[0].parts)):  # a folder before its own
        found += how
    for banks in _folders_of_banks():
        found += ["--tmpfs", str(banks), "--remount-ro", str(banks)]
    found += ["--proc", "/proc", "--dev", "/dev", *_at_most(tool, LARGEST_SHARED_MEMORY)]
    found += ["--tmpfs", "/dev/shm"]
    found += ["--ro-bind", "/dev/null", "/dev/zero"]  # mapped, it's memory that no process has
    # In /proc, root could change the whole system.
    for path in ("/dev", "/proc", *([str(COURSE)] if is_checkout else []), "/"):
        found += ["--remount-ro", path]
    return [*found, "--chdir", f"{HOME}/empty"]


def _folders_of_banks() -> Iterator[Path]:
    """Yield the folders of the banks: of this course, and of every other copy on the path."""
    copies = {COURSE, *(Path(part).absolute() for part in sys.path)}
    for copy in {*copies, *(copy.resolve() for copy in copies)}:
        if (banks := copy / "lnorm_course" / "exercises").is_dir():
            yield banks


@functools.cache
def _at_most(tool: str, size: int) -> list[str]:
    """Limit the next folder in memory; bubblewrap before 0.7 leaves it half of the memory."""
    told = subprocess.run([tool, "--help"], capture_output=True, text=True)
    return ["--size", str(size)] if "--size" in told.stdout else []
