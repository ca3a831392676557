"""What a kernel runs to send an attempt to the grader: as plain data, without a verdict.

The kernel runs this file, and the files of the package that it needs, by their paths. So it doesn't
meet modules that a student has changed.
"""

from collections.abc import Callable
from pathlib import Path
from runpy import run_path

__all__ = ["Answer", "fetch"]

ENGINE = Path(__file__).parents[1] / "exercises" / "engine"


class Answer:
    """The encoded values of an attempt and a remark, which IPython sends as JSON."""

    def __init__(self, values: list, remark: str) -> None:
        self.json = {"values": values, "remark": remark}

    def _repr_json_(self) -> dict:
        return self.json


def fetch(
    attempt_of: Callable, inputs: list[list] | None, seconds: float, use_class: str = ""
) -> Answer:
    """Return an attempt, or what it returns for each input, as `Exercise.check` would see it.

    Args:
        attempt_of: a function without arguments that returns the attempt.
        inputs: encoded arguments for each call; None for a prediction.
        seconds: how long a call may take.
        use_class: for a class, the name of the function of `class_attempts.py` that uses it.
    """
    plain_data = run_path(str(Path(__file__).with_name("plain_data.py")))
    encode, decode = plain_data["encode"], plain_data["decode"]
    attempt = attempt_of()
    if attempt is None or attempt is ...:
        return Answer([encode(None)] * len(inputs or [[]]), "")
    results = run_path(str(ENGINE / "running.py"))["results"]
    calls = None if inputs is None else [tuple(map(decode, values)) for values in inputs]
    classes = run_path(str(ENGINE / "class_attempts.py")) if use_class else {}
    use, describe = classes.get(use_class), classes.get("describe")
    values, remark = results(attempt, calls, use, describe, seconds)
    return Answer([encode(value) for value in values], remark)
