"""What runs in a kernel: the cells of a submission, of each of which it says how it ended."""

import contextlib
import json
import os
import signal
from typing import Any

from lnorm_staff.grading.run.recording import ATTEMPTS, install

__all__ = ["main"]

# What the grader sends to stop a cell; on Windows that is SIGBREAK.
STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGBREAK") if hasattr(signal, name)]


def main() -> None:
    """Take all cells at once, and run the next one whenever a line comes in."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # read nothing and write nothing by the usual ways
        os.dup2(nowhere, number)
    os.close(nowhere)
    setup = json.loads(requests.readline())
    install(setup["seconds"])
    shell, process = _shell(), os.getpid()
    print("{}", file=replies, flush=True)
    for code in setup["cells"]:
        if not requests.readline():
            break
        answer = json.dumps(_run(shell, code))
        if os.getpid() == process:  # and not the copy that a cell has made by a fork
            print(answer, file=replies, flush=True)
        else:
            break
    os._exit(0)


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
        with contextlib.suppress(Exception):  # `put_back` looks for imports there
            shell.history_manager.input_hist_parsed.append(shell.transform_cell(code))
        result = shell.run_cell(code, store_history=False, silent=True)
        error = result.error_before_exec or result.error_in_exec
    except BaseException as problem:  # whatever a cell does to its shell
        error = problem
    with contextlib.suppress(KeyboardInterrupt):
        _on_stop(signal.SIG_IGN)
    return {"attempts": dict(ATTEMPTS), **({"why": _in_words(error)} if error else {})}


def _on_stop(handler: Any) -> None:
    for number in STOPS:
        signal.signal(number, handler)


def _in_words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:1000]
    except BaseException:  # of a class whose __str__ is wrong as well
        return type(error).__name__
