"""Start the processes that run what was handed in, and stop them.

On Linux each is forked from a process that has imported everything; elsewhere each starts anew.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from lnorm_utils.grading.channel import send
from lnorm_utils.grading.recording import describe_banks
from lnorm_utils.grading.sandbox import HOME, PACKAGE, can_sandbox, sandboxed
from lnorm_utils.grading.walls import LIMITS

__all__ = ["Process", "Processes", "remove"]

# Nothing else of the environment reaches a kernel, because it often holds keys and passwords.
KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"),
}
START = """
import os, sys
sys.path[:] = {path!r}
from lnorm_utils.grading import fork_server
fork_server.{function}()
os._exit(0)  # at once, and with it, the sandboxes
"""
SECONDS_TO_END = 5
STOPPED = "grading was stopped"
# An interrupt is for the cell that runs: bubblewrap itself would end at once.
NO_INTERRUPT = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh"]
WAIT = ["/bin/sh", "-c", "echo; exec sleep 9999999 > /dev/null"]


@dataclass(frozen=True)
class Process:
    """A process that runs cells, and what ends it."""

    requests: BinaryIO
    replies: BinaryIO
    interrupt: Callable[[], None]  # stops the cell that runs
    end: Callable[[], None]  # also all that it has started
    close: Callable[[], None]  # behind it, when it has ended
    is_alive: Callable[[], bool]
    roots: list[int]  # the processes whose children are all that it has started


class Processes:
    """Where processes come from; a context that ends all of them.

    Args:
        seconds: how long a call of an attempt may take.

    Raises:
        TypeError: an input of an exercise can't be sent to a kernel.
    """

    def __init__(self, seconds: float) -> None:
        # All banks are imported before the first line of a submission runs.
        self.setup = {"banks": describe_banks(), "seconds": seconds, "limits": LIMITS}
        self.can_fork = sys.platform == "linux"
        self.lock = threading.Lock()
        self.server: subprocess.Popen | None = None
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
        if self.server:
            self.server.kill()  # first, so that it forks no more
            self.server.wait()
        for process in list(self.running):
            process.end()

    @contextlib.contextmanager
    def process(self) -> Iterator[Process]:
        """Start a process that says that it's ready, and then answers each request.

        Raises:
            OSError: none can be started.
        """
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "empty").mkdir()
        process = self._start(folder)
        self.running.append(process)
        try:
            if self.is_closed:
                raise OSError(STOPPED)
            yield process
        finally:
            process.end()
            self.running.remove(process)
            process.close()
            remove(folder)

    def _start(self, folder: Path) -> Process:
        if self.can_fork:
            try:
                return self._forked(folder)
            except RuntimeError:  # such as a system that lets nobody enter a sandbox
                self.can_fork = False
        return self._new(folder)

    def _forked(self, folder: Path) -> Process:
        sandbox = sandboxed(WAIT, (PACKAGE / "exercises",)) if can_sandbox() else []
        home = HOME if sandbox else str(folder)
        request = {"sandbox": sandbox, "home": home, "environment": _environment(home)}
        ours, theirs = socket.socketpair()
        with theirs, self.lock:
            files = self._fork(json.dumps(request).encode(), theirs.fileno())
        kernel, outermost = files[0], files[-1]
        numbers = [_number_of(file) for file in files]

        def end() -> None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(outermost, signal.SIGKILL)
            if not sandbox:
                _end_group(numbers[0])

        def close() -> None:
            select.select([outermost], [], [], SECONDS_TO_END)
            ours.close()
            for file in files:
                os.close(file)

        return Process(
            requests=ours.makefile("wb"),
            replies=ours.makefile("rb"),
            interrupt=lambda: signal.pidfd_send_signal(kernel, signal.SIGINT),
            end=end,
            close=close,
            is_alive=lambda: not select.select([kernel], [], [], 0)[0],
            roots=numbers,
        )

    def _fork(self, request: bytes, channel: int) -> list[int]:
        """Let the server fork; return the process files of the kernel and of its sandbox."""
        if self.is_closed:
            raise OSError(STOPPED)
        if not self.server or self.server.poll() is not None:
            self._start_server()
        told: bytes = b""
        files: list[int] = []
        with contextlib.suppress(OSError):  # the server has died
            socket.send_fds(self.socket, [request], [channel])
            told, files, _, _ = socket.recv_fds(self.socket, 2**16, 2)
        if not files and self.is_closed:
            raise OSError(STOPPED)
        if not files:
            raise RuntimeError(told.decode() or "the fork server ended")
        return files

    def _start_server(self) -> None:
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.server = _start("serve_forks", self.folder, theirs.fileno())
        with contextlib.suppress(OSError), self.socket.makefile("wb") as file:
            send(file, self.setup)
            self.socket.recv(2)  # when it's ready

    def _new(self, folder: Path) -> Process:
        is_walled = can_sandbox()
        home = HOME if is_walled else str(folder)
        place = folder / "empty"
        process = _start("be_a_kernel", place, subprocess.PIPE, home, is_walled)
        requests, replies = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        with contextlib.suppress(OSError):  # it has died, which the caller will notice
            send(requests, self.setup)

        def end() -> None:
            process.kill()
            if os.name == "posix":
                _end_group(process.pid)

        def close() -> None:
            process.wait()
            for file in (requests, replies):
                with contextlib.suppress(OSError):  # about what was not read
                    file.close()

        def interrupt() -> None:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGINT)
            else:
                process.send_signal(getattr(signal, "CTRL_BREAK_EVENT"))  # noqa: B009 - for mypy

        return Process(
            requests=requests,
            replies=replies,
            interrupt=interrupt,
            end=end,
            close=close,
            is_alive=lambda: process.poll() is None,
            roots=[process.pid],
        )


def _end_group(leader: int) -> None:
    """End a process and those that it has started and left behind."""
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _start(
    function: str,
    folder: Path,
    stdin: int,
    home: str = "",
    is_walled: bool = False,
) -> subprocess.Popen:
    """Start Python with a function of `fork_server`, apart from this terminal and its Ctrl-C."""
    path = [os.path.abspath(part) for part in sys.path]
    start = START.format(path=path, function=function)
    command = [sys.executable, "-I", "-c", start]
    return subprocess.Popen(
        [*NO_INTERRUPT, *sandboxed(command)] if is_walled else command,
        stdin=stdin,
        stdout=subprocess.PIPE if stdin == subprocess.PIPE else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environment(home or str(folder)),
        cwd=folder,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def _environment(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), home)
    return {**kept, "LNORM_PROGRESS": "", "OMP_NUM_THREADS": "1", **homes}


def _number_of(process_file: int) -> int:
    """Return the number of a process; -1 if it has ended."""
    with open(f"/proc/self/fdinfo/{process_file}", encoding="ascii") as about:
        return int(next(line for line in about if line.startswith("Pid:")).split()[1])


def remove(folder: Path) -> None:
    """Remove a folder, also what somebody has made unreadable in it."""
    with contextlib.suppress(RecursionError):  # of folders made to go too deep
        for place, folders, _ in os.walk(folder):
            for path in (os.path.join(place, name) for name in folders):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
