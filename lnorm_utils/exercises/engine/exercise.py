"""What predictions and exercises in code have in common: `check`, `hint`, and `solution`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lnorm_utils.exercises.engine import running
from lnorm_utils.exercises.engine.comparing import kind_of, trusted
from lnorm_utils.exercises.engine.feedback import Feedback, State, show
from lnorm_utils.exercises.engine.lesson_names import put_back
from lnorm_utils.progress_files import RIGHT, WRONG, keep

__all__ = ["Exercise"]

ONE_ANSWER = (
    "you gave more than one answer. A tuple needs its own parentheses, `check((2, 3))`, and a "
    "decimal number has a point, `check(0.5)`."
)
CLOSED = Path(__file__).parents[1] / "solutions_are_closed"


class Exercise(ABC):
    """One question of a lesson; see `Prediction` and `CodeExercise`.

    Args:
        topic: the bank that it belongs to, such as "mean".
        name: what the exercise is called in the lesson.
        hints: from the gentlest to the strongest; none gives the answer away.
        within: how far a number may be from the right one.
    """

    bank: dict[str, dict[str, "Exercise"]] = {}  # noqa: RUF012 - topic → name → exercise
    inputs: Sequence[tuple] | None = None  # the arguments of each call; None for a prediction
    use_class: Callable | None = None  # what is called with a class and each of the inputs
    describe: Callable[..., str] | None = None

    def __init__(self, topic: str, name: str, hints: Sequence[str], within: float) -> None:
        self.topic, self.name = topic, name
        self.hints, self.within = list(hints), within
        self._hints_given = 0
        self.bank.setdefault(topic, {})[name] = self

    def __dir__(self) -> list[str]:
        """Let tab completion offer only what a student needs, and no answers."""
        return ["check", "hint", "solution"]

    def check(self, attempt: object = ..., *more: object) -> None:
        """Show whether an attempt is right, and if not, which mistake it is.

        Args:
            attempt: a value for a prediction, a function or a class for code; `...` or None is no
                attempt.
            more: further arguments, which are a mistake that students make.
        """
        notice = put_back()  # first, for the attempt may use what the lesson imports
        feedback = Feedback(State.WRONG, ONE_ANSWER) if more else self.judge(attempt)
        if feedback.state is not State.NOT_ATTEMPTED:
            keep(self.topic, self.name, RIGHT if feedback.state is State.RIGHT else WRONG)
        show(replace(feedback, message=f"{feedback.message} {notice}".strip()))

    def judge(self, attempt: object) -> Feedback:
        """Return what `check` shows, without keeping a record of it."""
        if attempt is None or attempt is ...:
            return Feedback(State.NOT_ATTEMPTED, "replace the three dots and run the cell again.")
        return self.judge_results(
            *running.results(attempt, self.inputs, self.use_class, self.describe)
        )

    def judge_results(self, results: list, remark: str) -> Feedback:
        """Judge what an attempt returned: one value, or one for each of the inputs.

        With fewer results the attempt has failed, and the remark says how.
        """
        try:
            values = [trusted(result) for result in results]
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an object of the student's that raises when looked at
            kinds = ", ".join(sorted({kind_of(result) for result in results}))
            told = f"comparing your answer, {kinds}, raised an error: {type(error).__name__}."
            return Feedback(State.WRONG, told)
        return self._judge_values(values, remark)

    @abstractmethod
    def _judge_values(self, values: list, remark: str) -> Feedback:
        """Do what `judge_results` does, with values that can be trusted."""

    def hint(self) -> None:
        """Show one more hint at each call."""
        if self._hints_given == len(self.hints):
            more = "" if CLOSED.exists() else " `.solution()` shows the answer."
            show(Feedback(State.HINT, f"there are no more hints.{more}"))
            return
        self._hints_given += 1
        text = f"{self._hints_given} of {len(self.hints)}. {self.hints[self._hints_given - 1]}"
        show(Feedback(State.HINT, text))

    def solution(self) -> None:
        """Show the answer."""
        closed = Feedback(State.SOLUTION, "closed by your instructor.")
        show(closed if CLOSED.exists() else self.shown_solution())

    @abstractmethod
    def shown_solution(self) -> Feedback:
        """Return what `solution` shows."""
