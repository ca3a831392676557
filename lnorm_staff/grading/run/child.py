"""A child process that is told something as a line of JSON, and answers in lines of JSON.

A kernel is one, and so is what judges the attempts. Neither can stop the grader: it waits for a
line only so long, reads only so much of it, and ends the child with all that it has started.
"""

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from lnorm_staff.grading.run.sandbox import HOME, MOST_PROCESSES, can_sandbox, walls

__all__ = ["LIMITS", "LIMITS_IN_SANDBOX", "Child", "Children", "limit"]

LONGEST = 2**22  # bytes of a line; the values of all attempts in a cell are much shorter
# Nothing else of the environment reaches a child, because it often holds keys and passwords.
KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"),
    "XDG_RUNTIME_DIR",  # for systemd; the sandbox doesn't pass it on
}
START = (
    "import sys; sys.path[:] = {path!r}; from lnorm_staff.grading.run.child import limit; limit(); "
    "from {module} import main; main()"
)
# RLIMIT_DATA and not RLIMIT_AS: libraries may be large, what a student allocates may not.
LIMITS = {
    "RLIMIT_DATA": 2**32,
    "RLIMIT_FSIZE": 2**28,
    "RLIMIT_NPROC": 4096,  # for all that the user runs, so not too few
    "RLIMIT_CORE": 0,
}
LIMITS_IN_SANDBOX = {"RLIMIT_NOFILE": 256, "RLIMIT_AS": 2**35, "RLIMIT_NPROC": MOST_PROCESSES}
# An interrupt is for the cell that runs: bubblewrap itself would end at once. When memory is short,
# Linux ends the process with the highest score first. File 9 is the filter for bubblewrap.
BEFORE = 'trap "" INT; echo 1000 > /proc/self/oom_score_adj; exec "$@" 9< "$0"'


class Child:
    """A process that runs the `main` of a module, behind walls if there are any.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self, module: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lnorm"))
        (self.folder / "empty").mkdir()
        path = [os.path.abspath(part) for part in sys.path]
        command = [sys.executable, "-I", "-c", START.format(path=path, module=module)]
        rules = self.folder / "filter"
        if is_walled := can_sandbox():
            command = [*walls(rules), *command]
        if os.name == "posix":
            file = str(rules) if rules.exists() else os.devnull
            command = ["/bin/sh", "-c", BEFORE, file, *command]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(HOME if is_walled else str(self.folder)),
            cwd=self.folder / "empty",
            start_new_session=True,  # apart from this terminal and its Ctrl-C
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._asked, self._lines = queue.SimpleQueue[bool](), queue.SimpleQueue[Any]()
        self._is_waiting = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        """Read a line whenever one is asked for; what isn't read can't fill the grader's memory."""
        answer, file = None, self.process.stdout
        while self._asked.get() and file:
            with contextlib.suppress(Exception):  # it may send anything, also half a line
                answer = json.loads(file.readline(LONGEST))
            self._lines.put(answer)
            answer = None

    def send(self, message: object) -> None:
        """Write a line, which has to be short if the child runs code of a student.

        Raises:
            OSError: the child has ended.
        """
        if self.process.stdin:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def receive(self, seconds: float) -> Any:
        """Wait for a line; after a TimeoutError, for the same one.

        Raises:
            TimeoutError: none comes in time.
            EOFError: none will come, because the child is dead or sends something else.
        """
        if not self._is_waiting:
            self._asked.put(True)
        self._is_waiting = True
        try:
            answer = self._lines.get(timeout=max(0.01, seconds))
        except queue.Empty:
            raise TimeoutError from None
        self._is_waiting = False
        if answer is None:
            raise EOFError
        return answer

    def interrupt(self) -> None:
        """Stop the cell that runs."""
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGINT)
            else:
                self.process.send_signal(getattr(signal, "CTRL_BREAK_EVENT"))  # noqa: B009 - mypy

    def kill(self) -> None:
        """Stop it with all that it has started."""
        self.process.kill()
        if os.name == "posix":
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Stop it, and remove its folder."""
        self.kill()
        self.process.wait()
        self._asked.put(False)
        for file in (self.process.stdin, None if self._is_waiting else self.process.stdout):
            with contextlib.suppress(OSError):  # about what was not read
                if file:
                    file.close()
        _remove(self.folder)


class Children:
    """All children of a call; a context that ends them, after which none starts any more."""

    def __init__(self) -> None:
        self.running: set[Child] = set()
        self.is_closed = False

    def start(self, module: str) -> Child:
        """Start a child, as `Child` says.

        Raises:
            OSError: none can be started, or `stop` was called.
        """
        if self.is_closed:
            raise OSError("grading was stopped")
        child = Child(module)
        self.running.add(child)
        if self.is_closed:  # meanwhile
            child.kill()
        return child

    def end(self, child: Child) -> None:
        """End a child."""
        self.running.discard(child)
        child.end()

    def stop(self) -> None:
        """Stop all children at once, and start no more."""
        self.is_closed = True
        for child in list(self.running):
            child.kill()

    def __enter__(self) -> "Children":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        for child in list(self.running):
            self.end(child)


def limit() -> None:
    """Limit what this process may use, as far as the system knows how."""
    limits = dict(LIMITS)
    if os.getcwd() == f"{HOME}/empty":  # in a sandbox
        limits |= LIMITS_IN_SANDBOX
        version = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
        if version < (5, 14):  # before, all processes of the user count, also those outside
            limits["RLIMIT_NPROC"] = LIMITS["RLIMIT_NPROC"]
    for name, most in limits.items():
        with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
            import resource

            resource.setrlimit(getattr(resource, name), (most, most))


def _environment(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), home)
    return {**kept, "LNORM_PROGRESS": "", "OMP_NUM_THREADS": "1", **homes}


def _remove(folder: Path) -> None:
    """Remove a folder, also what somebody has made unreadable or very deep in it."""
    if os.name == "posix":  # whose commands don't stumble over a path that is too long
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run([*command, folder], capture_output=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
