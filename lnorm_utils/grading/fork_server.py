"""A process that has imported everything, and forks into kernels: each starts in no time.

It starts without secrets, knows no answers, and reads nothing that was handed in. Each copy of it
steps behind its walls, and only then is given cells to run.
"""

import contextlib
import importlib
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from lnorm_utils.grading import recording, runner, walls
from lnorm_utils.grading.channel import receive

__all__ = ["IMPORTED", "be_a_kernel", "serve_forks"]

MOST_PROCESSES = 64
# What lessons import, and what takes time at the first use.
IMPORTED = (
    *("torch", "torch.nn.functional", "numpy", "matplotlib.font_manager", "matplotlib.figure"),
    *("matplotlib_inline.backend_inline", "IPython.core.interactiveshell", "IPython.display"),
    *("ipywidgets", "lnorm_utils.examples", "lnorm_utils.explorers", "lnorm_utils.measures"),
    *("lnorm_utils.plotting", "lnorm_utils.slips", "asyncio", "psutil"),
)


def be_a_kernel() -> None:
    """Run cells that come in over the standard input; a kernel that nobody forks."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _quiet()
    setup = receive(requests)
    recording.install(setup["banks"], setup["seconds"])
    walls.limit(setup["limits"])
    runner.serve(requests, replies)


def serve_forks() -> None:
    """Fork into a kernel at each request over the standard input, until there are no more.

    A request has the command of a sandbox, empty if there is none, the home and the environment of
    the kernel, and a socket for its cells. The answer has two process files, those of the kernel
    and of the sandbox, or says what went wrong.
    """
    server = socket.socket(fileno=os.dup(0))
    with server.makefile("rb") as file:
        setup = receive(file)
    _quiet()
    for name in IMPORTED:
        importlib.import_module(name)
    recording.install(setup["banks"], setup["seconds"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server.sendall(b"{}")
    while True:
        data, files, _, _ = socket.recv_fds(server, 2**20, 1)
        if not data:
            return
        _reap()
        try:
            found = _fork(json.loads(data), files[0], setup["limits"])
            socket.send_fds(server, [b"{}"], found)
        except Exception as problem:
            found = []
            server.sendall(json.dumps({"failed": f"{problem}"}).encode())
        for file_number in (*files, *found):
            os.close(file_number)


def _reap() -> None:
    """Take notice of the children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _fork(request: dict, channel: int, limits: dict[str, int]) -> list[int]:
    """Start a sandbox and a kernel in it; return their process files."""
    inside = _start_sandbox(request["sandbox"]) if request["sandbox"] else 0
    ours, theirs = socket.socketpair()
    with ours, theirs:
        if os.fork() == 0:
            _in_copy(lambda: _step_inside(request, inside, channel, theirs, limits))
        theirs.close()
        data, files, _, _ = socket.recv_fds(ours, 1000, 1)
    if not files:
        if inside:
            os.kill(inside, signal.SIGKILL)
        raise RuntimeError(data.decode() or "the copy of the fork server ended")
    return [*files, os.pidfd_open(inside)] if inside else files


def _start_sandbox(command: Sequence[str]) -> int:
    """Start a sandbox whose command writes a line when all walls stand; return its first process.

    Nothing that this process has is left open in it, not even a pipe.
    """
    info, told = os.pipe()
    with open(info, "rb") as answer:
        process = subprocess.Popen(
            [*command[:1], "--info-fd", str(told), *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[told],
            start_new_session=True,
        )
        os.close(told)
        with cast(BinaryIO, process.stdout) as line:
            if not line.read(1):
                raise RuntimeError("no sandbox could be started")
        return json.loads(answer.read())["child-pid"]


def _step_inside(
    request: dict, inside: int, channel: int, parent: socket.socket, limits: dict[str, int]
) -> None:
    """Enter the sandbox, and fork once more, because only a child is in its process namespace."""
    with contextlib.suppress(OSError):  # when memory is short, this goes first
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        if inside:
            walls.enter(inside)
        kernel = os.fork()
    except Exception as problem:
        parent.sendall(f"{type(problem).__name__}: {problem}".encode())
        return
    if kernel == 0:
        _in_copy(lambda: _run_kernel(request, bool(inside), channel, limits))
    process_file = os.pidfd_open(kernel)
    socket.send_fds(parent, [b"{}"], [process_file])
    os.close(channel)
    _close_all_but()
    os.waitpid(kernel, 0)


def _in_copy(do: Any) -> None:
    """Do something in a process that was just forked, and end it."""
    with contextlib.suppress(BaseException):
        do()
    os._exit(0)


def _run_kernel(request: dict, walled: bool, channel: int, limits: dict[str, int]) -> None:
    os.setsid()
    channel = os.dup2(channel, 3, inheritable=False)
    _close_all_but(0, 1, 2, channel)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(f"{request['home']}/empty")
    walls.limit(limits)
    if walled:
        if _version_of_linux() >= (5, 14):  # which counts those of this sandbox alone
            walls.limit({"RLIMIT_NPROC": MOST_PROCESSES})
        walls.drop_privileges()
    with socket.socket(fileno=channel) as connection:
        runner.serve(connection.makefile("rb"), connection.makefile("wb"))


def _version_of_linux() -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


def _close_all_but(*kept: int) -> None:
    start = 0
    for number in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        if start < number:  # Python 3.11 would close all for an empty range
            os.closerange(start, number)
        start = number + 1


def _quiet() -> None:
    """Read nothing and write nothing by the usual ways."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
