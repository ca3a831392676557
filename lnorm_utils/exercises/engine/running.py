"""Call a student's function on fresh inputs, and turn whatever happens into a sentence."""

import contextlib
import functools
import io
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence

import torch

__all__ = ["fresh", "results"]

SLOW, SECONDS = 1.0, 10.0


def fresh(arguments: tuple) -> tuple:
    """Copy the arguments, so that nobody can change those of the exercise."""
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments)


def results(
    attempt: object, inputs: Sequence[tuple] | None, trial: Callable | None = None
) -> tuple[list, str]:
    """Return the attempt's value for each input, as far as it has one, and a remark.

    A function is called with the input. A class is given to `trial`, and the input after it.
    """
    made_of = type(attempt)  # isinstance would ask the attempt, which may raise or lie
    function = callable(attempt) and not issubclass(made_of, torch.Tensor)
    if inputs is None:
        return ([], "this is a prediction: give a value.") if function else ([attempt], "")
    kind = "class" if trial else "function"
    if not function or issubclass(made_of, torch.nn.Module if trial else type):
        return [], f"this exercise checks a {kind}: pass its name, without brackets behind it."
    call = functools.partial(trial, attempt) if trial else attempt
    values, remarks = [], {}
    started = time.monotonic()
    for arguments in inputs:
        try:
            values.append(_call(call, arguments, remarks, kind))
        except CallError as problem:
            return values, str(problem)
    if (seconds := time.monotonic() - started) > SLOW:
        remarks[f"It took {seconds:.0f} seconds; without a loop it would take none."] = None
    return values, " ".join(remarks)


def _call(attempt: Callable, arguments: tuple, remarks: dict[str, None], kind: str) -> object:
    given, printed = fresh(arguments), io.StringIO()
    try:
        with _limited(SECONDS), contextlib.redirect_stdout(printed):
            value = attempt(*given)
    except KeyboardInterrupt:
        raise
    except _TooSlow:
        raise CallError(f"your {kind} did not finish within {SECONDS:.0f} seconds.") from None
    except BaseException as error:  # also SystemExit and whatever else a function can raise
        raise CallError(_told(error, arguments, kind)) from None
    for before, after in zip(arguments, given, strict=True):
        if isinstance(before, torch.Tensor) and not _untouched(before, after):
            raise CallError(f"your {kind} changes its input: compute a new tensor instead.")
    if printed.closed or printed.getvalue():
        remarks[f"What your {kind} printed is not shown."] = None
    return value


def _untouched(before: torch.Tensor, after: torch.Tensor) -> bool:
    with torch.no_grad():
        return before.shape == after.shape and torch.equal(
            before.nan_to_num(), after.detach().nan_to_num()
        )


def _told(error: BaseException, arguments: tuple, kind: str) -> str:
    """Tell a student's own exception as theirs, with its line."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [
        f for f in frames[1:] if "lnorm_utils" not in f.filename and "/torch/" not in f.filename
    ]
    where = f" in line {theirs[-1].lineno} of your cell" if theirs else ""
    line = f", `{theirs[-1].line[:80]}`" if theirs and theirs[-1].line else ""
    shapes = ", ".join(
        str(tuple(a.shape)) if isinstance(a, torch.Tensor) else repr(a) for a in arguments
    )
    text = " ".join(_message(error).split())[:200]
    return (
        f"your {kind} raised {type(error).__name__}{where}{line}: {text or 'no message'} "
        f"(called with {shapes})."
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # of a class whose __str__ is wrong as well
        return ""


class CallError(Exception):
    """What is wrong with calling an attempt, in a sentence."""


class _TooSlow(BaseException):
    """Raised in a function that takes too long; not an Exception, so that it is not caught."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer, where the system can: not on Windows, only in the main thread."""
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
