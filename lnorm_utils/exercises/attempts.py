"""Call a student's function on fresh inputs, and turn whatever happens into a sentence."""

import contextlib
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


def results(attempt: object, inputs: Sequence[tuple] | None) -> tuple[list, str]:
    """Return the attempt's value for each input, as far as it has one, and a remark."""
    function = callable(attempt) and not isinstance(attempt, torch.Tensor)
    if inputs is None:
        return ([], "this is a prediction: give a value.") if function else ([attempt], "")
    if not function or isinstance(attempt, type):
        return [], "this exercise checks a function: pass its name, without brackets behind it."
    values, remarks = [], {}
    started = time.monotonic()
    for arguments in inputs:
        try:
            values.append(_call(attempt, arguments, remarks))
        except CallError as problem:
            return values, str(problem)
    if (seconds := time.monotonic() - started) > SLOW:
        remarks[f"It took {seconds:.0f} seconds; without a loop it would take none."] = None
    return values, " ".join(remarks)


def _call(attempt: Callable, arguments: tuple, remarks: dict[str, None]) -> object:
    given, printed = fresh(arguments), io.StringIO()
    try:
        with _limited(SECONDS), contextlib.redirect_stdout(printed):
            value = attempt(*given)
    except KeyboardInterrupt:
        raise
    except _TooSlow:
        raise CallError(f"your function did not finish within {SECONDS:.0f} seconds.") from None
    except BaseException as error:  # also SystemExit and whatever else a function can raise
        raise CallError(_told(error, arguments)) from None
    for before, after in zip(arguments, given, strict=True):
        if isinstance(before, torch.Tensor) and not _untouched(before, after):
            raise CallError("your function changes its input: compute a new tensor instead.")
    if printed.getvalue():
        remarks["What your function printed is not shown."] = None
    return value


def _untouched(before: torch.Tensor, after: torch.Tensor) -> bool:
    with torch.no_grad():
        return before.shape == after.shape and torch.equal(
            before.nan_to_num(), after.detach().nan_to_num()
        )


def _told(error: BaseException, arguments: tuple) -> str:
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
    text = " ".join(str(error).split())[:200]
    return (
        f"your function raised {type(error).__name__}{where}{line}: {text or 'no message'} "
        f"(called with {shapes})."
    )


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
