"""The base class of predictions and code exercises, with `check`, `hint`, and `solution`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lnorm_course.checking import running
from lnorm_course.checking.feedback import Feedback, State, show, with_remark
from lnorm_course.checking.lesson_names import put_back
from lnorm_course.progress_files import RIGHT, WRONG, keep

__all__ = ["Exercise", "one_answer"]

CHECK_AGAIN = "Fix it, or check it once more to read what to do instead."
CLOSED_FOR_NOW = Feedback(State.SOLUTION, "closed by your instructor.")
CLOSED = Path(__file__).parents[1] / "exercises" / "solutions_are_closed"


def one_answer(exercise: Any) -> str:
    """Tell a student who passed more than one argument to `check` what to do instead."""
    if exercise.inputs is not None:
        return "you gave more than one argument. Pass only the name of what you wrote."
    return (
        "you gave more than one answer. A tuple needs its own parentheses, `check((2, 3))`, and a "
        "decimal number is written with a point, `check(0.5)`."
    )


class Exercise(ABC):
    """One question of a lesson; see `Prediction` and `CodeExercise`.

    Args:
        hints: from the gentlest to the strongest; none gives the answer away.
        tol: the absolute tolerance; for a tensor, both the absolute and the relative tolerance.
    """

    bank: dict[str, dict[str, "Exercise"]] = {}  # noqa: RUF012 - exercises by topic, then name
    topic = name = ""  # empty until `put_in_bank` sets them
    further = False  # whether it's part of a side trip, which isn't needed to finish a lesson
    inputs: Sequence[tuple] | None = None  # the arguments of each call; None for a prediction
    use_class: Callable | None = None  # called with a class and each of the inputs
    last_help = "`.solution()` shows the answer."  # shown after the last hint
    without: Sequence[str] = ()  # functions that an attempt must not call

    def __init__(self, hints: Sequence[str], tol: float) -> None:
        self.hints, self.tol = list(hints), tol
        self._hints_given = 0
        self._mistakes_told: set[str] = set()

    def put_in_bank(self, topic: str, name: str, further: bool = False) -> None:
        """Store the exercise's name and topic, such as "mean", and add it to that topic's bank."""
        self.topic, self.name, self.further = topic, name, further
        Exercise.bank.setdefault(topic, {})[name] = self

    def __dir__(self) -> list[str]:
        """Let tab completion offer only what a student needs, not the answers."""
        return ["check", "hint", "solution"]

    def check(self, attempt: object = ..., *more: object) -> None:
        """Show whether an attempt is right or what mistake it contains, and record the result.

        Args:
            attempt: for a prediction, a value; for a code exercise, a function or a class. `...` or
                None means that there is no attempt yet.
            more: further arguments, which students pass by mistake.
        """
        notice = put_back()  # called first, because the attempt may use what the lesson imports
        feedback = Feedback(State.WRONG, one_answer(self)) if more else self.judge(attempt)
        if self.name and feedback.state is not State.NOT_ATTEMPTED:
            keep(self.topic, self.name, RIGHT if feedback.state is State.RIGHT else WRONG)
        if feedback.first and feedback.mistake not in self._mistakes_told:
            self._mistakes_told.add(feedback.mistake)
            told = f"{feedback.first} {CHECK_AGAIN}"
            feedback = replace(feedback, message=told, misconceptions=())
        show(with_remark(feedback, notice))

    def judge(self, attempt: object) -> Feedback:
        """Return what `check` shows, without recording the result."""
        if attempt is None or attempt is ...:
            return Feedback(State.NOT_ATTEMPTED, "replace the three dots and run the cell again.")
        outcome = running.results(attempt, self.inputs, self.use_class, without=self.without)
        return self.judge_outcome(outcome)

    @abstractmethod
    def judge_outcome(self, outcome: running.Outcome) -> Feedback:
        """Judge an attempt by its value or, if it's code, by its results on the inputs."""

    def hint(self) -> None:
        """Show one more hint with each call."""
        given, most = self._hints_given, len(self.hints)
        self._hints_given = min(given + 1, most)
        more = "" if CLOSED.exists() else f" {self.last_help}"
        last = f"there are no more hints.{more}"
        told = f"{given + 1} of {most}. {self.hints[given]}" if given < most else last
        show(Feedback(State.HINT, told))

    def choose(self) -> None:
        """Show the program with gaps, and let a student choose an option for each gap."""
        show(CLOSED_FOR_NOW if CLOSED.exists() else self.shown_choices())

    def solution(self) -> None:
        """Show the answer."""
        show(CLOSED_FOR_NOW if CLOSED.exists() else self.shown_solution())

    def shown_choices(self) -> Any:
        """Return what `choose` shows: the program, or a message that there is none."""
        told = "there is no program to choose from here. Give your answer to `check`."
        return Feedback(State.HINT, told)

    @abstractmethod
    def shown_solution(self) -> Feedback:
        """Return what `solution` shows."""
