"""Call a student's function on fresh inputs, and turn whatever happens into a sentence.

The grader's kernel runs this file by its path, without the package around it, so it imports PyTorch
and the standard library only.
"""

import contextlib
import dis
import functools
import io
import signal
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import torch

__all__ = ["fresh", "results"]

SLOW = 1.0  # seconds for all calls
SECONDS = 10.0  # for one call
# Layers from these modules don't count as an answer.
FINISHED = ("torch.", "lnorm_utils.modules")
# Code in these folders wasn't written by the student.
LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(__file__).parents[2]),
    "<frozen",
    "<__array_function__",
)


def fresh(arguments: tuple) -> tuple:
    """Copy the tensors, so that an attempt can't change those of the exercise."""
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments)


def results(
    attempt: object,
    inputs: Sequence[tuple] | None,
    use_class: Callable | None = None,
    describe: Callable[..., str] | None = None,
    seconds: float | None = None,
) -> tuple[list, str]:
    """Return the attempt's value for each input, and a remark.

    When a call fails, the values end before it and the remark says what happened. The value of a
    body that is only three dots is the three dots.

    Args:
        attempt: a value for a prediction, otherwise a function or a class.
        inputs: the arguments of each call; None for a prediction.
        use_class: for an attempt that is a class, the function to call with it and each input.
        describe: says in words what a call was made with; by default, with which shapes.
        seconds: how long a call may take; by default 10 seconds.
    """
    attempt_class = type(attempt)  # isinstance would ask the attempt, which may raise or lie
    can_be_called = callable(attempt) and not issubclass(attempt_class, torch.Tensor)
    if inputs is None:
        return ([], "this is a prediction. Give a value.") if can_be_called else ([attempt], "")
    kind = "class" if use_class else "function"
    if not can_be_called or issubclass(attempt_class, torch.nn.Module if use_class else type):
        define = f"Define one with `{'class' if use_class else 'def'}`, and pass its name"
        return [], f"this exercise checks a {kind}. {define}, without parentheses after it."
    if issubclass(attempt_class, type) and _is_finished(cast(type, attempt)):
        return [], "that's a finished layer. Write a class with a `forward` of your own."
    function = functools.partial(use_class, attempt) if use_class else cast(Callable, attempt)
    calls = _Calls(
        function, kind, describe or _called_with, SECONDS if seconds is None else seconds
    )
    values = []
    started = time.thread_time()  # that of this computation only, however busy the machine is
    for arguments in inputs:
        try:
            value = calls.call(arguments)
            values.append(... if value is None and _is_blank(attempt) else value)
        except CallError as problem:
            return values, str(problem)
    if (passed := time.thread_time() - started) > SLOW:
        calls.remarks.append(
            f"It took {passed:.0f} seconds. Without a loop it would take almost none."
        )
    return values, " ".join(dict.fromkeys(calls.remarks))


def _is_finished(attempt: type) -> bool:
    """Tell whether a class takes its `forward` from a finished layer, such as PyTorch's."""
    forward = next((vars(c)["forward"] for c in attempt.__mro__ if "forward" in vars(c)), None)
    is_missing = forward is None or forward is vars(torch.nn.Module)["forward"]
    return not is_missing and str(getattr(forward, "__module__", "")).startswith(FINISHED)


class CallError(Exception):
    """Says in a sentence what went wrong when an attempt was called."""


class _Calls:
    """Calls of one attempt, and the remarks to make about them if they all succeed."""

    def __init__(
        self, function: Callable, kind: str, describe: Callable[..., str], seconds: float
    ) -> None:
        self.function, self.kind, self.describe = function, kind, describe
        self.seconds = seconds
        self.remarks: list[str] = []

    def call(self, arguments: tuple) -> object:
        given, printed = fresh(arguments), io.StringIO()
        try:
            with _limited(self.seconds), contextlib.redirect_stdout(printed):
                value = self.function(*given)
        except KeyboardInterrupt:
            raise
        except _TooSlow:
            limit = f"{self.seconds:.0f} seconds"
            raise CallError(f"your {self.kind} did not finish within {limit}.") from None
        except BaseException as error:  # SystemExit, too
            used = self.describe(*arguments)
            raise CallError(f"your {self.kind} raised {_in_words(error)} ({used}).") from None
        for before, after in zip(arguments, given, strict=True):
            if isinstance(before, torch.Tensor) and not _untouched(before, after):
                raise CallError(
                    f"your {self.kind} changes its input. Compute a new tensor instead."
                )
        if printed.closed or printed.getvalue():
            self.remarks.append(f"What your {self.kind} printed isn't shown.")
        return value


def _is_blank(attempt: object) -> bool:
    """Tell whether the body of a function, or of a class's `forward`, is empty."""
    function = vars(attempt).get("forward") if isinstance(attempt, type) else attempt
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    names = {instruction.opname for instruction in dis.get_instructions(code)}
    return names <= {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"}


def _untouched(before: torch.Tensor, after: torch.Tensor) -> bool:
    with torch.no_grad():
        return before.shape == after.shape and torch.equal(
            before.nan_to_num(), after.detach().nan_to_num()
        )


def _called_with(*arguments: object) -> str:
    shown = (str(tuple(a.shape)) if isinstance(a, torch.Tensor) else repr(a) for a in arguments)
    return f"called with {', '.join(shown)}"


def _in_words(error: BaseException) -> str:
    """Describe an exception, with the last line of the student's own code that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames[1:] if not f.filename.startswith(LIBRARIES)]
    where = f" in line {theirs[-1].lineno} of your cell" if theirs else ""
    code = theirs[-1].line if theirs else None
    line = f", `{code[:80]}`" if code else ""
    text = " ".join(_message(error).split())[:200]
    return f"{type(error).__name__}{where}{line}: {text or 'no message'}"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its __str__ raises, too
        return ""


class _TooSlow(BaseException):
    """Raised in a function that takes too long. `except Exception` doesn't catch it."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer, if the system can: not on Windows, and only in the main thread."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise _TooSlow

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
