"""Start the processes that run what was handed in, each anew and in a sandbox, and stop them."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from lnorm_staff.grading.run.memory import MOST_MEMORY, in_files_of, limited_by_linux, used_by
from lnorm_staff.grading.run.recording import describe_banks
from lnorm_staff.grading.run.sandbox import HOME, IN_MEMORY, can_sandbox, start_in_sandbox

__all__ = ["LIMITS", "Process", "Processes", "environment", "remove"]

# Nothing else of the environment reaches a kernel, because it often holds keys and passwords.
KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"),
}
START = """
import os, sys
sys.path[:] = {path!r}
from lnorm_staff.grading.run import runner
runner.main()
os._exit(0)
"""
# An interrupt is for the cell that runs: bubblewrap itself would end at once. When memory is short,
# Linux ends the process with the highest score first.
BEFORE = """
trap "" INT
echo 1000 > /proc/self/oom_score_adj
exec "$@"
"""
STOPPED = "grading was stopped"
# RLIMIT_DATA and not RLIMIT_AS: libraries may be large, what a student allocates may not.
LIMITS = {
    "RLIMIT_DATA": MOST_MEMORY,
    "RLIMIT_FSIZE": 2**28,
    "RLIMIT_NPROC": 4096,  # for all that the user runs, so not too few
    "RLIMIT_CORE": 0,
}
MOST_PROCESSES = 64
LIMITS_IN_SANDBOX = {**LIMITS, "RLIMIT_NOFILE": 256, "RLIMIT_AS": 2**35}


class Process:
    """A process that runs cells.

    Args:
        folder: where it may write, if it isn't in a sandbox.
        is_walled: whether it starts in a sandbox.
    """

    def __init__(self, folder: Path, is_walled: bool) -> None:
        path = [os.path.abspath(part) for part in sys.path]
        command = [sys.executable, "-I", "-c", START.format(path=path)]
        self.is_walled = is_walled
        before = ["/bin/sh", "-c", BEFORE, "sh"] if os.name == "posix" else []
        known = environment(HOME if is_walled else str(folder))
        if is_walled:
            # For systemd; a sandbox doesn't pass it on.
            known["XDG_RUNTIME_DIR"] = os.environ.get("XDG_RUNTIME_DIR", "")
            before += limited_by_linux(MOST_PROCESSES + 3)  # with those of bubblewrap
        (folder / "empty").mkdir()
        options: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.DEVNULL,
            "env": known,
            "cwd": folder / "empty",
            "start_new_session": True,  # apart from this terminal and its Ctrl-C
            "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        }
        self.process: subprocess.Popen = (
            start_in_sandbox(command, before, **options)
            if is_walled
            else subprocess.Popen([*before, *command], **options)
        )
        self.requests = cast(BinaryIO, self.process.stdin)
        self.replies = cast(BinaryIO, self.process.stdout)

    def interrupt(self) -> None:
        """Stop the cell that runs.

        Raises:
            OSError: the process has ended.
        """
        if os.name == "posix":
            os.killpg(self.process.pid, signal.SIGINT)
        else:
            self.process.send_signal(getattr(signal, "CTRL_BREAK_EVENT"))  # noqa: B009 - for mypy

    def end(self) -> None:
        """End the process and those that it has started."""
        self.process.kill()
        if os.name == "posix":
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Wait until it has ended, and close its files."""
        self.process.wait()
        for file in (self.requests, self.replies):
            with contextlib.suppress(OSError):  # about what was not read
                file.close()

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return self.process.poll() is None

    def is_too_large(self) -> bool:
        """Return whether it uses too much memory, with all that it has started."""
        in_files = in_files_of(self.process.pid, IN_MEMORY) if self.is_walled else 0
        return used_by(self.process.pid) + in_files > MOST_MEMORY


class Processes:
    """Where processes come from; a context that ends all of them.

    Args:
        seconds: how long a call of an attempt may take.

    Raises:
        TypeError: an input of an exercise can't be sent to a kernel.
    """

    def __init__(self, seconds: float) -> None:
        self.is_walled = can_sandbox()
        # All banks are imported before the first line of a submission runs.
        limits = _limits_in_sandbox() if self.is_walled else LIMITS
        self.setup = {"banks": describe_banks(), "seconds": seconds, "limits": limits}
        self.running: list[Process] = []
        self.is_closed = False

    def __enter__(self) -> "Processes":
        self.folder = Path(tempfile.mkdtemp(prefix="lnorm"))
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
        remove(self.folder)

    def close(self) -> None:
        """End all processes, and start no more."""
        self.is_closed = True
        for process in list(self.running):
            process.end()

    @contextlib.contextmanager
    def process(self) -> Iterator[Process]:
        """Start a process that takes `setup`, says that it's ready, and then answers each request.

        Raises:
            OSError: none can be started.
        """
        if self.is_closed:
            raise OSError(STOPPED)
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        process = Process(folder, self.is_walled)
        self.running.append(process)
        try:
            if self.is_closed:  # since then, so that nobody else ends this one
                raise OSError(STOPPED)
            yield process
        finally:
            process.end()
            self.running.remove(process)
            process.close()
            remove(folder)


def _limits_in_sandbox() -> dict[str, int]:
    version = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    if version < (5, 14):  # before, all processes of the user count, also those outside
        return LIMITS_IN_SANDBOX
    return {**LIMITS_IN_SANDBOX, "RLIMIT_NPROC": MOST_PROCESSES}


def environment(home: str) -> dict[str, str]:
    """Return what a process gets to know of this one's environment, with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), home)
    return {**kept, "LNORM_PROGRESS": "", "OMP_NUM_THREADS": "1", **homes}


def remove(folder: Path) -> None:
    """Remove a folder, also what somebody has made unreadable or very deep in it."""
    if os.name == "posix":  # whose commands don't stumble over a path that is too long
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run([*command, folder], capture_output=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
