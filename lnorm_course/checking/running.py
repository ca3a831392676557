"""Call a student's function on fresh inputs, and turn whatever happens into a sentence.

The grader's kernel runs this file too, so it imports nothing that knows answers.
"""

import contextlib
import functools
import io
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, cast

import torch

from lnorm_course.checking.errors import in_words
from lnorm_course.checking.watching import (
    handed_in,
    is_blank,
    loops_that_end_at_once,
    never_used,
    notebook_tensors,
    watched,
)

__all__ = ["CallError", "fresh", "results"]

SLOW = 1.0  # seconds for all calls
SECONDS = 10.0  # for one call
WHOSE = {"torch": "PyTorch", "sys": "Python"}
# Layers from these modules don't count as an answer.
FINISHED = ("torch.", "lnorm_utils.modules")


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
        without: functions that the attempt must not call, such as "torch.std" and
            "lnorm_utils.standardize".
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
    if name := handed_in(attempt):
        return [], f"that's {_of(name)}. Write the steps yourself."
    tensors = " and ".join(f"`{name}`" for name in notebook_tensors(attempt))
    unused = " and ".join(f"`{name}`" for name in never_used(attempt))
    if tensors and unused:
        return [], f"your function reads {tensors}, from the notebook, and never its own {unused}."
    function = functools.partial(use_class, attempt) if use_class else cast(Callable, attempt)
    calls = _Calls(
        function, kind, describe or _called_with, SECONDS if seconds is None else seconds, without
    )
    notices = []
    if tensors:
        notices.append(f"Your {kind} also reads {tensors}, from the notebook.")
    if loops_that_end_at_once(attempt):
        notices.append("Your loop ends on its first pass: look where its `return` stands.")
    calls.remarks += notices
    values = []
    started = time.thread_time()  # that of this computation only, however busy the machine is
    for arguments in inputs:
        try:
            value = calls.call(arguments)
            values.append(... if value is None and is_blank(attempt) else value)
        except CallError as problem:
            return values, " ".join([str(problem), *notices])
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
        self,
        function: Callable,
        kind: str,
        describe: Callable[..., str],
        seconds: float,
        without: Collection[str],
    ) -> None:
        self.function, self.kind, self.describe = function, kind, describe
        self.seconds, self.without = seconds, without
        self.remarks: list[str] = []

    def call(self, arguments: tuple) -> object:
        given, printed = fresh(arguments), io.StringIO()
        try:
            with (
                contextlib.redirect_stdout(printed),
                _dtype_of(given),
                watched(self.without) as called,
                _limited(self.seconds),
            ):
                value = self.function(*given)
        except KeyboardInterrupt:
            raise
        except _TooSlow:
            limit = f"{self.seconds:.0f} seconds"
            raise CallError(f"your {self.kind} did not finish within {limit}.") from None
        except CallError:  # of what uses a class
            raise
        except BaseException as error:  # SystemExit, too
            used = self.describe(*arguments)
            raise CallError(in_words(error, self.kind, used)) from None
        if called:
            raise CallError(
                f"your {self.kind} calls {_of(called[0])}. Here you do without it: write the steps "
                "yourself."
            )
        for before, after in zip(arguments, given, strict=True):
            if not _untouched(before, after):
                raise CallError(
                    f"your {self.kind} changes its input. Compute a new tensor instead."
                )
        if printed.closed or printed.getvalue():
            if value is None and not printed.closed:
                raise CallError(
                    f"your {self.kind} prints something and returns nothing. A check sees only "
                    "what stands after `return`."
                )
            self.remarks.append(f"What your {self.kind} printed isn't shown.")
        return value


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
