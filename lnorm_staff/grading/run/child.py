"""A child process that answers each line of JSON with a line of its own.

The kernel and the judge of the attempts run in such children. Neither can hang the grader, which
limits how long it waits and how much it reads, and kills a child that goes too far, along with all
its processes.
"""

import asyncio
import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnorm_staff.grading.run.sandbox import HOME, MOST_PROCESSES, filter_of_calls, walls

__all__ = ["LIMITS", "LIMITS_IN_SANDBOX", "PROCESSOR", "Child", "serve", "started"]

LONGEST = 2**22  # the maximum length of a line, in bytes; all attempts in a cell take much less
SECONDS_TO_END = 10
# A child gets no other environment variables, because they often hold keys and passwords.
KEPT = {
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE"),
    # Only systemd needs the last one, and the sandbox doesn't pass it on.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "XDG_RUNTIME_DIR"),
}
START = (
    "import sys; sys.path[:] = {path!r}; from lnorm_staff.grading.run.child import serve; "
    "serve({module!r})"
)
# RLIMIT_DATA, not RLIMIT_AS: libraries can be large, but a student's allocations must not be. When
# all libraries are loaded, `serve` also limits the address space, to MORE_SPACE above its size.
# The limit on processes counts everything that the user runs, so it mustn't be too low.
LIMITS = {"RLIMIT_DATA": 2**32, "RLIMIT_FSIZE": 2**28, "RLIMIT_NPROC": 4096, "RLIMIT_CORE": 0}
LIMITS_IN_SANDBOX = {"RLIMIT_NOFILE": 256, "RLIMIT_NPROC": MOST_PROCESSES}
# When memory runs out, Linux kills the process with the highest score first. A child runs on one
# processor at a low priority, so that it doesn't slow others down, however many processes it has.
# File descriptor 9 is the filter of system calls, which bubblewrap reads.
BEFORE = (
    "echo 1000 > /proc/self/oom_score_adj; taskset -cp $1 $$ > /dev/null; shift; "
    'exec nice -n 5 "$@" 9< "$0"'
)
PROCESSOR = ContextVar("PROCESSOR", default="")  # number of the processor to use, or "" for all
MORE_SPACE = 2**32  # bytes of address space for a student's code, including shared memory


@dataclass
class Child:
    """A process that runs the `main` function of a module; `started` starts it."""

    process: asyncio.subprocess.Process
    is_alive: bool = True

    async def ask(self, message: object, seconds: float) -> Any:
        """Send a line, and wait for its answer; if none comes, kill the child.

        Raises:
            TimeoutError: no answer came in time.
            EOFError: no answer will come, because the child is dead or sent something that
                isn't a line of JSON.
        """
        assert self.process.stdin
        assert self.process.stdout
        try:
            async with asyncio.timeout(max(0.01, seconds)):
                self.process.stdin.write(json.dumps(message).encode() + b"\n")
                await self.process.stdin.drain()
                return json.loads(await self.process.stdout.readline())
        except TimeoutError:
            self.kill()
            raise
        except Exception:  # the child may send anything, even half a line
            self.kill()
            raise EOFError from None

    def kill(self) -> None:
        """Kill the child and everything that it started."""
        self.is_alive = False
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


@contextlib.asynccontextmanager
async def started(module: str) -> AsyncIterator[Child]:
    """Start a child, in a sandbox if possible; on exit, kill it and everything that it started.

    Raises:
        OSError: the machine can't start it, for example because the disk is full.
    """
    with (
        contextlib.suppress(RecursionError),  # the child may nest folders endlessly
        tempfile.TemporaryDirectory(prefix="lnorm", ignore_cleanup_errors=True) as folder,
    ):
        child = Child(await _process(module, Path(folder)))
        try:
            yield child
        finally:
            child.kill()
            if child.process.stdin:
                child.process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SECONDS_TO_END):
                    await child.process.wait()


async def _process(module: str, folder: Path) -> asyncio.subprocess.Process:
    (folder / "empty").mkdir()
    path = [os.path.abspath(part) for part in sys.path]
    command = [sys.executable, "-I", "-c", START.format(path=path, module=module)]
    if os.name == "posix":
        (folder / "filter").write_bytes(filter_of_calls())
        before = ["/bin/sh", "-c", BEFORE, str(folder / "filter"), PROCESSOR.get()]
        command = [*before, *walls(), *command]
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        limit=LONGEST,
        env=_environment(HOME if walls() else str(folder)),
        cwd=folder / "empty",
        start_new_session=True,  # detached from this terminal and its Ctrl+C
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def serve(module: str) -> None:
    """In a child, answer each request with what the `main` function of a module yields for it."""
    is_inside = os.getcwd() == f"{HOME}/empty"
    _limit(LIMITS | LIMITS_IN_SANDBOX if is_inside else LIMITS)
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # disconnect stdin, stdout, and stderr
        os.dup2(nowhere, number)
    os.close(nowhere)
    gc.disable()  # imports leave no garbage, and looking for it takes a tenth of their time
    program = importlib.import_module(module)
    gc.freeze()
    gc.enable()
    with contextlib.suppress(OSError):  # systems differ in how much memory is mapped at this point
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _limit({"RLIMIT_AS": pages * os.sysconf("SC_PAGE_SIZE") + MORE_SPACE})
    process = os.getpid()
    for answer in program.main(map(json.loads, requests)):
        if os.getpid() != process:  # this is a fork made by a student's code
            break
        print(json.dumps(answer), file=replies, flush=True)
    os._exit(0)


def _limit(limits: dict[str, int]) -> None:
    """Limit what this process may use, as far as the system supports it."""
    for name, most in limits.items():
        with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
            import resource

            resource.setrlimit(getattr(resource, name), (most, most))


def _environment(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), home)
    return {**kept, "LNORM_PROGRESS": "", "OMP_NUM_THREADS": "1", **homes}
