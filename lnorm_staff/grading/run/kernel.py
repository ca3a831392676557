"""Run the cells of a submission in a kernel, where `check` only records attempts.

A separate process judges the attempts, so a notebook can't earn a point by changing its exercises.
"""

import _thread
import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from lnorm_course.checking import running
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise, one_answer
from lnorm_course.checking.lesson_names import put_back
from lnorm_staff.grading.run.plain_data import write_outcome

__all__ = ["ATTEMPTS", "main", "record"]

# The last attempt at each exercise that the running cell checked; `...` doesn't replace an attempt.
ATTEMPTS: dict[str, str] = {}


def main(asked: Iterator[Any]) -> Iterator[dict]:
    """Read the time limit for a call to an attempt; then run each cell and yield its result."""
    _install(next(asked)[0])
    shell = _shell()
    yield {}
    for code, seconds in asked:
        yield _run(shell, code, seconds)


def _install(seconds: float) -> None:
    """Make all exercises record attempts without printing anything."""

    def check(exercise: Exercise, attempt: object = ..., *more: object) -> None:
        put_back()
        record(exercise, seconds, attempt, *more)

    for kind in (Exercise, CodeExercise):
        setattr(kind, "check", check)  # noqa: B010 - for mypy
        for name in ("hint", "solution", "choose"):
            setattr(kind, name, lambda *arguments, **options: None)


def record(exercise: Exercise, seconds: float, attempt: object, *more: object) -> None:
    """Record the outcome of an attempt, as JSON."""
    if more:
        outcome = running.Outcome([], one_answer(exercise))
    elif attempt is None or attempt is ...:
        outcome = running.Outcome([...] * len(exercise.inputs or [()]))
    else:
        inputs, use_class = exercise.inputs, exercise.use_class
        outcome = running.results(attempt, inputs, use_class, seconds, exercise.without)
    is_blank = outcome.values and all(value is ... for value in outcome.values)
    if not (is_blank and exercise.name in ATTEMPTS):
        ATTEMPTS[exercise.name] = write_outcome(outcome)


def _shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    shell: Any = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    nothing = lambda *arguments, **options: None  # noqa: E731 - nobody reads it
    shell.showtraceback = shell.showsyntaxerror = nothing
    shell.ask_exit = shell.enable_gui = nothing  # cells written for Jupyter may call these
    return shell


def _run(shell: Any, code: str, seconds: float) -> dict:
    """Run a cell; if its time runs out, interrupt the cell and nothing else."""
    ATTEMPTS.clear()
    error: BaseException | None = None
    began, timer = time.process_time(), threading.Timer(seconds, _interrupt)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        timer.start()
        with contextlib.suppress(Exception):  # `put_back` looks for imports there
            shell.history_manager.input_hist_parsed.append(shell.transform_cell(code))
        result = shell.run_cell(code, store_history=False, silent=True)
        error = result.error_before_exec or result.error_in_exec
    except BaseException as problem:  # a cell can do anything to its shell
        error = problem
    with contextlib.suppress(KeyboardInterrupt):
        timer.cancel()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    told = {"attempts": dict(ATTEMPTS), "is_busy": time.process_time() - began > seconds / 2}
    return {**told, **({"why": _in_words(error)} if error else {})}


def _interrupt() -> None:
    if hasattr(signal, "pthread_kill"):  # this also interrupts a system call
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _in_words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:1000]
    except BaseException:  # its class may have a faulty __str__
        return type(error).__name__
