"""Call a student's function on fresh inputs, and say what became of it, whatever happens.

The grader's kernel runs this file too, so it imports nothing that knows answers.
"""

import contextlib
import functools
import io
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple, cast

import torch

from lnorm_course.checking.errors import Error, error_of
from lnorm_course.checking.watching import (
    code_of,
    handed_in,
    is_blank,
    loops_that_end_at_once,
    never_used,
    notebook_tensors,
    source_of,
    watched,
)

__all__ = ["CallError", "Outcome", "fresh", "results"]

SLOW = 1.0  # seconds for all calls
SECONDS = 10.0  # for one call
WHOSE = {"torch": "PyTorch", "sys": "Python"}
# Layers from these modules don't count as an answer.
FINISHED = ("torch.", "lnorm_utils.modules")


class Outcome(NamedTuple):
    """What became of the calls of an attempt.

    Args:
        values: what it returned for each input, up to the one on which it failed.
        error: why it failed there; None if it never did.
        notices: what else its student should read, a sentence each.
        code: the attempt's source, as far as it's known.
    """

    values: list
    error: Error | str | None = None
    notices: Sequence[str] = ()
    code: str = ""

    @property
    def remark(self) -> str:
        """What a student reads besides a verdict: the error, and the notices."""
        return " ".join([str(self.error or ""), *self.notices]).strip()


def fresh(arguments: tuple) -> tuple:
    """Copy the tensors, so that an attempt can't change those of the exercise."""
    return tuple(map(_copied, arguments))


def _copied(value: Any) -> Any:
    """Copy a tensor, and what holds tensors; leave all else as it is."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {name: _copied(each) for name, each in value.items()}
    return value


def results(
    attempt: object,
    inputs: Sequence[tuple] | None,
    use_class: Callable | None = None,
    describe: Callable[..., str] | None = None,
    seconds: float | None = None,
    without: Collection[str] = (),
) -> Outcome:
    """Call an attempt with each input, until a call fails.

    The value of a body that is only three dots is the three dots.

    Args:
        attempt: a value for a prediction, otherwise a function or a class.
        inputs: the arguments of each call; None for a prediction.
        use_class: for an attempt that is a class, the function to call with it and each input.
        describe: says in words what a call was made with; by default, with which shapes.
        seconds: how long a call may take; by default 10 seconds.
        without: functions that the attempt must not call, such as "torch.std" and
            "lnorm_utils.standardize".
    """
    kind = "class" if use_class else "function"
    if refused := _refused(attempt, inputs is None, kind):
        return Outcome([], refused)
    if inputs is None:
        return Outcome([attempt])
    source, notices = source_of(attempt), []
    if source and not use_class:
        tensors = notebook_tensors(source, cast(FunctionType, attempt).__globals__)
        read = " and ".join(f"`{name}`" for name in tensors)
        unused = " and ".join(f"`{name}`" for name in never_used(source))
        if read and unused:
            told = f"your function reads {read}, from the notebook, and never its own {unused}."
            return Outcome([], told)
        if read:
            notices.append(f"Your function also reads {read}, from the notebook.")
    if source and loops_that_end_at_once(source):
        notices.append("Your loop ends on its first pass: look where its `return` stands.")
    function = functools.partial(use_class, attempt) if use_class else cast(Callable, attempt)
    describe, seconds = describe or _called_with, SECONDS if seconds is None else seconds
    values: list[object] = []
    has_printed = False
    started = time.thread_time()  # that of this computation only, however busy the machine is
    for arguments in inputs:
        try:
            value, printed = _call(function, arguments, kind, describe, seconds, without)
        except CallError as problem:
            return Outcome(values, problem.error, notices, code_of(attempt))
        values.append(... if value is None and source and is_blank(source) else value)
        has_printed |= printed
    if has_printed:
        notices.append(f"What your {kind} printed isn't shown.")
    if (passed := time.thread_time() - started) > SLOW:
        notices.append(f"It took {passed:.0f} seconds. Without a loop it would take almost none.")
    return Outcome(values, None, notices, code_of(attempt))


def _refused(attempt: object, is_prediction: bool, kind: str) -> str:
    """Say why an attempt isn't called, or isn't taken as a value; empty if it is."""
    attempt_class = type(attempt)  # isinstance would ask the attempt, which may raise or lie
    can_be_called = callable(attempt) and not issubclass(attempt_class, torch.Tensor)
    if is_prediction:
        return "this is a prediction. Give a value." if can_be_called else ""
    wrong, word = (torch.nn.Module, "class") if kind == "class" else (type, "def")
    if not can_be_called or issubclass(attempt_class, wrong):
        define = f"Define one with `{word}`, and pass its name, without parentheses after it."
        return f"this exercise checks a {kind}. {define}"
    if issubclass(attempt_class, type) and _is_finished(cast(type, attempt)):
        return "that's a finished layer. Write a class with a `forward` of your own."
    if name := handed_in(attempt):
        return f"that's {_of(name)}. Write the steps yourself."
    return ""


def _is_finished(attempt: type) -> bool:
    """Tell whether a class takes its `forward` from a finished layer, such as PyTorch's."""
    forward = next((vars(c)["forward"] for c in attempt.__mro__ if "forward" in vars(c)), None)
    is_missing = forward is None or forward is vars(torch.nn.Module)["forward"]
    return not is_missing and str(getattr(forward, "__module__", "")).startswith(FINISHED)


class CallError(Exception):
    """Raised when a call of an attempt fails.

    Args:
        error: why, as a sentence or as what it raised.
    """

    def __init__(self, error: Error | str) -> None:
        super().__init__(error)
        self.error = error


def _call(
    function: Callable,
    arguments: tuple,
    kind: str,
    describe: Callable[..., str],
    seconds: float,
    without: Collection[str],
) -> tuple[object, bool]:
    """Return the value of a call, and whether it printed something. For arguments see `results`.

    Raises:
        CallError: the call fails, or does what it must not.
    """
    given, printed = fresh(arguments), io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(printed),
            _dtype_of(given),
            watched(without) as called,
            _limited(seconds),
        ):
            value = function(*given)
    except (KeyboardInterrupt, CallError):  # `observe` raises such errors
        raise
    except _TooSlow:
        raise CallError(f"your {kind} did not finish within {seconds:.0f} seconds.") from None
    except BaseException as problem:  # SystemExit, too
        raise CallError(error_of(problem, kind, describe(*arguments))) from None
    if called:
        here = "Here you do without it: write the steps yourself."
        raise CallError(f"your {kind} calls {_of(called[0])}. {here}")
    if not all(map(_untouched, arguments, given)):
        raise CallError(f"your {kind} changes its input. Compute a new tensor instead.")
    if value is None and not printed.closed and printed.getvalue():
        sees = "A check sees only what stands after `return`."
        raise CallError(f"your {kind} prints something and returns nothing. {sees}")
    return value, printed.closed or bool(printed.getvalue())


def _untouched(before: Any, after: Any) -> bool:
    """Tell whether an argument, and each tensor in it, is still what it was."""
    if isinstance(before, torch.Tensor):
        with torch.no_grad():
            return before.shape == after.shape and torch.equal(
                before.nan_to_num(), after.detach().nan_to_num()
            )
    if type(before) is dict:
        before, after = list(before.items()), list(after.items())
    if type(before) in (list, tuple):
        return len(before) == len(after) and all(map(_untouched, before, after))
    return isinstance(before, str | torch.nn.Module) or before is after or before == after


def _of(name: str) -> str:
    """Say whose function a name such as "torch.std" stands for."""
    package, _, function = name.partition(".")
    return f"{WHOSE.get(package, 'the course')}'s own `{function}`"


@contextlib.contextmanager
def _dtype_of(arguments: tuple) -> Iterator[None]:
    """Let new layers and tensors be float64 if the inputs are, so that both fit together."""
    tensors = (each for each in arguments if isinstance(each, torch.Tensor))
    dtypes = {tensor.dtype for tensor in tensors if tensor.is_floating_point()}
    before = torch.get_default_dtype()
    if dtypes == {torch.float64}:
        torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _called_with(*arguments: object) -> str:
    shown = (str(tuple(a.shape)) if isinstance(a, torch.Tensor) else repr(a) for a in arguments)
    return f"called with {', '.join(shown)}"


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
