"""Call a student's function on fresh inputs, and report the outcome, even if it fails or hangs.

The grader's kernel runs this file too, so it imports nothing that contains the answers.
"""

import contextlib
import copy
import functools
import io
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple, cast

import torch

from lnorm_course.checking import watching
from lnorm_course.checking.errors import error_of
from lnorm_course.checking.sanitizing import sanitized
from lnorm_diagnose.fewest_slips import Raised
from lnorm_utils.words import spoken

__all__ = ["Outcome", "fresh", "results", "tensors"]

SECONDS = 10.0  # time limit for one call
# Functions and layers from these modules don't count as an answer.
FINISHED = ("torch.", "lnorm_utils.", "lnorm_course.lessons.")


class Outcome(NamedTuple):
    """What happened when an attempt was called.

    Args:
        values: the attempt's `sanitized` results, either for all inputs or, if it failed on one,
            for those before it.
        error: why it failed on that input; None if it didn't fail.
        notices: further messages for the student, one sentence each.
        code: the attempt's source, as far as it's known.
        attempt: the function or class that was called; None if none was, or if another process
            called it.
    """

    values: list
    error: Raised | str | None = None
    notices: Sequence[str] = ()
    code: str = ""
    attempt: object = None

    @property
    def remark(self) -> str:
        """What a student reads in addition to a verdict: the error and the notices."""
        return " ".join([str(self.error or ""), *self.notices]).strip()


def fresh(arguments: tuple) -> tuple:
    """Copy the arguments of a call, so that an attempt can't change the exercise's own."""
    own = (t for t in tensors(arguments) if type(t) is torch.Tensor and not t.requires_grad)
    whole = (t for t in own if t.is_contiguous() and not t._is_view())
    made: dict = {id(t): t.clone() for t in whole}  # far cheaper than a deep copy
    return tuple(made[id(a)] if id(a) in made else copy.deepcopy(a, made) for a in arguments)


def results(
    attempt: object,
    inputs: Sequence[tuple] | None,
    use_class: Callable | None = None,
    seconds: float = SECONDS,
    without: Collection[str] = (),
) -> Outcome:
    """Call an attempt with each input, until a call fails.

    A function whose body does nothing counts as returning `...`.

    Args:
        attempt: a function or a class; for a prediction, a value.
        inputs: the arguments of each call; None for a prediction.
        use_class: for an attempt that is a class, the function to call with it and each input.
        seconds: how long a call may take.
        without: functions that the attempt must not call, such as "torch.std" and
            "lnorm_utils.standardize".
    """
    kind = "class" if use_class else "function"
    if refused := _refused(attempt, inputs is None, kind):
        return Outcome([], refused)
    if inputs is None:
        seen, problem = _looked_at(attempt)
        return Outcome([] if problem else [seen], problem)
    function = functools.partial(use_class, attempt) if use_class else cast(Callable, attempt)
    values: list[object] = []
    notices: list[str] = []
    code, does_nothing = "", False
    if own := watching.written(attempt):
        code, does_nothing = watching.code_of(own), watching.is_blank(own)
        if read := [f"`{name}`" for name in watching.notebook_tensors(own)]:
            notices.append(f"Your {kind} reads {spoken(read)} from the notebook.")
    printed, has_printed = io.StringIO(), False
    for arguments in inputs:
        with contextlib.redirect_stdout(printed):
            value, error = _called(function, arguments, kind, seconds, without)
        has_printed = printed.closed or bool(printed.getvalue())
        if value is None and not error and (has_printed or not does_nothing):
            asked = "Is `return` inside an `if`?" if values else "Did you forget `return`?"
            error = f"your {kind} returns nothing. {asked}"
            if has_printed:
                sees = "A check sees only what comes after `return`."
                error = f"your {kind} prints something but returns nothing. {sees}"
        if error:
            return Outcome(values, error, notices, code, attempt)
        values.append(... if value is None else value)
    if has_printed:
        notices.append(f"What your {kind} printed isn't shown.")
    return Outcome(values, None, notices, code, attempt)


def _refused(attempt: object, is_prediction: bool, kind: str) -> str:
    """Say why an attempt isn't accepted as a function, class, or value; return "" if it is."""
    attempt_class = type(attempt)  # isinstance may run the attempt's code, which can raise or lie
    can_be_called = callable(attempt) and not issubclass(attempt_class, torch.Tensor)
    if is_prediction:
        return "this is a prediction. Give a value." if can_be_called else ""
    wrong, word = (torch.nn.Module, "class") if kind == "class" else (type, "def")
    if not can_be_called or issubclass(attempt_class, wrong):
        define = f"Define one with `{word}`, and pass its name, without parentheses after it."
        return f"this exercise checks a {kind}. {define}"
    own = watching.written(attempt)
    if own and own is not torch.nn.Module.forward and str(own.__module__).startswith(FINISHED):
        return f"that's a finished {kind}, with `{own.__qualname__}`. Write the steps yourself."
    return ""


def _called(
    function: Callable, arguments: tuple, kind: str, seconds: float, without: Collection[str]
) -> tuple[object, Raised | str | None]:
    """Return the value of a call, and an error if the call fails or breaks a rule."""
    given, default = fresh(arguments), torch.get_default_dtype()
    if {each.dtype for each in tensors(given) if each.is_floating_point()} == {torch.float64}:
        torch.set_default_dtype(torch.float64)  # so that new layers and tensors fit the inputs
    try:
        with watching.watched(without) as called, _limited(seconds):
            value = function(*given)
    except KeyboardInterrupt:
        raise
    except _TooSlow:
        return None, f"your {kind} did not finish within {seconds:.0f} seconds."
    except BaseException as problem:  # including SystemExit
        used = "" if kind == "class" else f"called with {', '.join(map(_shown, arguments))}"
        return None, error_of(problem, kind, used)
    finally:
        torch.set_default_dtype(default)
    if called:
        package, _, name = called[0].partition(".")
        of = {"torch": "PyTorch's", "lnorm_utils": "the course's", "lnorm_course": "the course's"}
        whose = of.get(package, "Python's")
        here = "It isn't allowed here: write the steps yourself."
        return None, f"your {kind} calls {whose} own `{name}`. {here}"
    before, after = ([t.detach() for t in tensors(a)] for a in (arguments, given))
    if len(before) != len(after) or not all(map(_are_same, before, after)):
        return None, f"your {kind} changes its input. Compute a new tensor instead."
    return _looked_at(value)


def _are_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Tell whether all numbers are equal, counting NaN as equal to NaN."""
    return torch.equal(one, other) or torch.equal(one.nan_to_num(), other.nan_to_num())


def _looked_at(value: object) -> tuple[object, str | None]:
    """Return a trusted version of a value, or an error if there is none."""
    try:
        return sanitized(value), None
    except (Exception, SystemExit) as problem:  # a student's object may raise when it's inspected
        return None, f"comparing your answer raised an error: {type(problem).__name__}."


def _shown(argument: object) -> str:
    return str(tuple(argument.shape)) if isinstance(argument, torch.Tensor) else repr(argument)


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Yield the value if it's a tensor, or all tensors in a list, a tuple, or a dict."""
    if issubclass(type(value), torch.Tensor):
        yield value
    parts = list(value.values()) if type(value) is dict else value
    if type(parts) in (list, tuple):
        for part in parts:
            yield from tensors(part)


class _TooSlow(BaseException):
    """Raised in a function that takes too long; `except Exception` doesn't catch it."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop a block after this many seconds, except on Windows and outside the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and hasattr(signal, "setitimer")):
        yield
        return

    extra = iter([1] * 60)

    def stop(number: int, frame: FrameType | None) -> None:
        # PyTorch imports some modules when they're first used. A module whose import is cut off
        # stays broken until the kernel restarts, so let the import end, and try again in a second.
        files = (each.f_code.co_filename for each, _ in traceback.walk_stack(frame))
        if any(file.startswith("<frozen importlib") for file in files) and next(extra, 0):
            signal.setitimer(signal.ITIMER_REAL, 1)
        else:
            raise _TooSlow

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
