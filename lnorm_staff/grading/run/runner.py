"""What runs in a kernel: the cells of a submission, one after the other, as the grader sends them.

Of each cell it sends back how it ended, and what was given to the checks of exercises.
"""

import contextlib
import os
import signal
from collections.abc import Mapping
from typing import Any, BinaryIO

from lnorm_staff.grading.run.channel import receive, send
from lnorm_staff.grading.run.recording import ATTEMPTS, install

__all__ = ["main"]

# What the grader sends to stop a cell; on Windows that is SIGBREAK.
STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGBREAK") if hasattr(signal, name)]


def main() -> None:
    """Take the setup that `Processes` has, and then run cells until there are no more."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _quiet()
    setup = receive(requests)
    install(setup["banks"], setup["seconds"])
    _limit(setup["limits"])
    _serve(requests, replies)


def _quiet() -> None:
    """Read nothing and write nothing by the usual ways."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _limit(limits: Mapping[str, int]) -> None:
    """Limit what this process may use, as far as the system knows how."""
    for name, most in limits.items():
        with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
            import resource

            resource.setrlimit(getattr(resource, name), (most, most))


def _serve(requests: BinaryIO, replies: BinaryIO) -> None:
    shell, process = _shell(), os.getpid()
    send(replies, {"status": "ready"})
    while True:
        try:
            code = receive(requests)
        except EOFError:
            return
        reply = _run(shell, code)
        if os.getpid() != process:  # a cell has forked, and this is the copy
            os._exit(0)
        send(replies, reply)


def _shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    shell: Any = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    nothing = lambda *arguments, **options: None  # noqa: E731 - nobody reads it
    shell.showtraceback = shell.showsyntaxerror = nothing
    shell.ask_exit = shell.enable_gui = nothing  # a kernel of Jupyter has these
    return shell


def _run(shell: Any, code: str) -> dict:
    """Run a cell; an interrupt ends it, and reaches nothing else."""
    ATTEMPTS.clear()
    error: BaseException | None = None
    try:
        _on_stop(signal.default_int_handler)
        _remember(shell, code)
        result = shell.run_cell(code, store_history=False, silent=True)
        error = result.error_before_exec or result.error_in_exec
    except BaseException as problem:  # whatever a cell does to its shell
        error = problem
    with contextlib.suppress(KeyboardInterrupt):
        _on_stop(signal.SIG_IGN)
    attempts = dict(ATTEMPTS)
    if error is None:
        return {"status": "ok", "attempts": attempts}
    return {"status": "error", "why": _in_words(error), "attempts": attempts}


def _remember(shell: Any, code: str) -> None:
    """Keep a cell in the history, where `put_back` looks for imports; that of IPython is off."""
    with contextlib.suppress(Exception):  # no Python; IPython says so when it runs it
        shell.history_manager.input_hist_parsed.append(shell.transform_cell(code))


def _on_stop(handler: Any) -> None:
    for number in STOPS:
        signal.signal(number, handler)


def _in_words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:1000]
    except BaseException:  # of a class whose __str__ is wrong as well
        return type(error).__name__
