"""Exercises as a kernel knows them: with inputs and without answers.

Their `check` judges nothing. It writes down what the attempt is, or what it returns for each input,
and the grader judges that elsewhere.
"""

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

from lnorm_course.checking import class_attempts, running
from lnorm_course.checking.errors import Error
from lnorm_course.checking.exercise import Exercise, one_answer
from lnorm_course.checking.lesson_names import put_back
from lnorm_course.checking.progress import progress
from lnorm_staff.grading.run.plain_data import decode_input, encode, encode_input

__all__ = ["ATTEMPTS", "Recorder", "as_data", "describe_banks", "install"]

PACKAGE = "lnorm_course.exercises"

ATTEMPTS: dict[str, dict] = {}  # of the cell that runs: what the last check of each exercise got
LONGEST_ATTEMPT = 2**19  # characters


class Recorder:
    """An exercise without answers.

    Args:
        name: what the exercise is called in the lesson.
        inputs: encoded arguments for each call; None for a prediction.
        use_class: for a class, the name of the function of `class_attempts` that uses it.
        without: the functions that an attempt must not call.
        seconds: how long a call may take.
    """

    further = False  # nobody reads here what `progress` counts

    def __init__(
        self,
        name: str,
        inputs: list | None,
        use_class: str,
        without: Sequence[str],
        seconds: float,
    ) -> None:
        self.name, self.inputs = name, inputs
        self._use_class, self._without, self._seconds = use_class, without, seconds

    def check(self, attempt: object = ..., *more: object) -> None:
        """Write down what becomes of an attempt, as JSON; put the lesson's names back."""
        outcome = running.Outcome([], one_answer(self)) if more else self._outcome(attempt)
        sent = as_data(outcome)
        if len(json.dumps(sent)) > LONGEST_ATTEMPT:
            sent = as_data(running.Outcome([], "your answer is too large to be judged."))
        ATTEMPTS[self.name] = sent
        put_back()

    def _outcome(self, attempt: object) -> running.Outcome:
        if attempt is None or attempt is ...:
            return running.Outcome([...] * len(self.inputs or [[]]))
        calls = None
        if self.inputs is not None:
            calls = [tuple(map(decode_input, values)) for values in self.inputs]
        use = getattr(class_attempts, self._use_class) if self._use_class else None
        return running.results(attempt, calls, use, self._seconds, self._without)

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Let a notebook call `.hint()` and whatever else an exercise has; it says nothing here."""
        if name.startswith("_") or not callable(getattr(Exercise, name, None)):
            raise AttributeError(f"{self.name} has no {name} while it's graded")
        return lambda *arguments, **options: None


def as_data(outcome: running.Outcome) -> dict:
    """Write what became of an attempt as what JSON knows."""
    error = outcome.error
    return {
        "values": [encode(value) for value in outcome.values],
        "error": error._asdict() if isinstance(error, Error) else error,
        "notices": list(outcome.notices),
        "code": outcome.code,
    }


def describe_banks() -> dict[str, dict[str, dict]]:
    """Import all banks, and describe each exercise by topic and name, without its answers.

    Raises:
        TypeError: an input can't be sent to a kernel.
    """
    _import_all(PACKAGE)
    own = {t: bank for t, bank in Exercise.bank.items() if _module_of(t) in sys.modules}
    return {t: {name: _described(e) for name, e in bank.items()} for t, bank in own.items()}


def _described(exercise: Exercise) -> dict:
    inputs = exercise.inputs
    return {
        "inputs": None if inputs is None else [list(map(encode_input, i)) for i in inputs],
        "without": list(exercise.without),
        "use_class": exercise.use_class.__name__ if exercise.use_class else "",
    }


def install(banks: Mapping[str, Mapping[str, Mapping]], seconds: float) -> None:
    """Put recorders in the place of the banks, and import all that checks them.

    Args:
        banks: what `describe_banks` returns in the grader.
        seconds: how long a call of an attempt may take.
    """
    package = ModuleType(PACKAGE)
    vars(package).update(Exercise=Exercise, progress=progress, __path__=[])
    sys.modules[PACKAGE] = package
    vars(importlib.import_module("lnorm_course")).update(exercises=package)
    for topic, bank in banks.items():
        module = ModuleType(_module_of(topic))
        recorders = {name: Recorder(name, **about, seconds=seconds) for name, about in bank.items()}
        vars(module).update(recorders, TOPIC=topic)
        sys.modules[module.__name__] = module
        setattr(package, topic, module)
        Exercise.bank[topic] = recorders  # type: ignore[assignment]
    _import_all("lnorm_course.checking")


def _module_of(topic: str) -> str:
    return f"{PACKAGE}.{topic}"


def _import_all(package: str) -> None:
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        importlib.import_module(module.name)
