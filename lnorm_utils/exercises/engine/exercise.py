"""An exercise: a right answer, the mistakes that people make, and inputs that tell them apart."""

import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine import running
from lnorm_utils.exercises.engine.class_attempts import Observation, describe, observe
from lnorm_utils.exercises.engine.comparing import difference, kind_of, same
from lnorm_utils.exercises.engine.feedback import Feedback, State
from lnorm_utils.progress_files import RIGHT, WRONG, keep

__all__ = ["Exercise"]

ROUNDED = 6e-3  # to two decimals
CLOSED = Path(__file__).parents[1] / "solutions_are_closed"


class Exercise:
    """One question, for code or for a prediction.

    Answers and mistakes are functions. For a prediction they take nothing and return the value; for
    code they take the arguments in `inputs`. A student who makes a mistake reads its docstring, and
    a student who is right reads the docstring of the answer, if it has one.

    Args:
        topic: the bank that it belongs to, such as "mean".
        name: what the exercise is called in the lesson.
        hints: from the gentlest to the strongest; none gives the answer away.
        inputs: for a function, a tuple of arguments for each call.
        observations: for a class, what to look at in the layers made from it. An exercise with
            neither inputs nor observations is a prediction.
        within: how far a prediction, or an element of a tensor, may be from the answer; for
            tensors also relative to it.

    >>> legs = Exercise("example", "legs", hints=["Count them."])
    >>> @legs.answer
    ... def four():
    ...     return 4
    >>> @legs.mistake()
    ... def one_for_each_side():
    ...     "You counted the left side only."
    ...     return 2
    >>> legs.check(2)
    Not yet: one for each side. You counted the left side only.
    >>> legs.check(4)
    Right.
    """

    bank: dict[str, dict[str, "Exercise"]] = {}  # noqa: RUF012 - topic → name → exercise

    def __init__(
        self,
        topic: str,
        name: str,
        *,
        hints: Sequence[str],
        inputs: Sequence[tuple] | None = None,
        observations: Sequence[Observation] | None = None,
        within: float = 1e-6,
    ) -> None:
        self.topic, self.name = topic, name
        self.hints, self.within = list(hints), within
        self.observations = observations
        self.use_class = observe if observations else None
        self.inputs = [each.arguments() for each in observations] if observations else inputs
        self.answers: list[Callable] = []
        self.mistakes: list[Callable] = []
        self.beliefs: dict[Callable, Belief | None] = {}
        self._hints_given = 0
        self.bank.setdefault(topic, {})[name] = self

    def answer(self, function: Callable) -> Callable:
        """Take a function as right; `solution` shows the first one."""
        self.answers.append(function)
        return function

    def mistake(self, belief: Belief | None = None) -> Callable[[Callable], Callable]:
        """Take a function as a mistake, and the common belief it comes from, if any."""

        def take(function: Callable) -> Callable:
            self.mistakes.append(function)
            self.beliefs[function] = belief
            return function

        return take

    def check(self, attempt: object = ...) -> Feedback:
        """Say whether an attempt is right, and which mistake it is if it is not.

        Args:
            attempt: a value for a prediction, a function for code; `...` or None is no attempt.

        Returns:
            Feedback, with its `state` and its `message`.
        """
        feedback = self.judge(attempt)
        if feedback.state is not State.NOT_ATTEMPTED:
            keep(self.topic, self.name, RIGHT if feedback.state is State.RIGHT else WRONG)
        return feedback

    def judge(self, attempt: object) -> Feedback:
        """Do what `check` does and keep no record of it."""
        if attempt is None or attempt is ...:
            return Feedback(State.NOT_ATTEMPTED, "replace the three dots and run the cell again.")
        of_class = describe if self.use_class else None
        return self.judge_results(*running.results(attempt, self.inputs, self.use_class, of_class))

    def judge_results(self, results: list, remark: str) -> Feedback:
        """Judge what an attempt returned: one value, or one for each of the inputs.

        With fewer results the attempt has failed, and the remark says how. If the results before
        the failure show a known mistake, the feedback names that mistake instead.
        """
        try:
            if len(results) < len(self.inputs or [()]):
                return self._mistake_before_failing(results) or Feedback(State.WRONG, remark)
            feedback = self._judge_all(results)
        except KeyboardInterrupt:
            raise
        except BaseException:  # an object of the student's that raises when looked at
            kinds = ", ".join(sorted({kind_of(result) for result in results}))
            return Feedback(State.WRONG, f"your answer, {kinds}, cannot be compared with anything.")
        return replace(feedback, message=f"{feedback.message} {remark}".strip())

    def _judge_all(self, results: list) -> Feedback:
        if self.inputs is not None and all(r is None or r is ... for r in results):
            kind = "class" if self.use_class else "function"
            return Feedback(State.NOT_ATTEMPTED, f"your {kind} returns nothing yet.")
        for answer in self.answers:
            if _agree(results, self.expected(answer), self.within):
                return Feedback(State.RIGHT, inspect.getdoc(answer) or "")
        if mistake := self._known_mistake(results):
            return mistake
        right = self.expected(self.answers[0])
        first = next(n for n, r in enumerate(results) if not same(r, right[n], self.within))
        # In a class several things can be wrong, so name the one that shows first.
        if self.use_class and (mistake := self._known_mistake(results[: first + 1])):
            return mistake
        told = difference(results[first], right[first], self.within, self.inputs is not None)
        return Feedback(State.WRONG, self._place(first) + told)

    def _mistake_before_failing(self, results: list) -> Feedback | None:
        right = self.expected(self.answers[0])[: len(results)]
        return None if _agree(results, right, self.within) else self._known_mistake(results)

    def _place(self, number: int) -> str:
        """Begin a sentence with the call that it is about, if words can say which one it is."""
        if self.observations:
            return f"{self.observations[number].words}: "
        arguments = self.inputs[number] if self.inputs else ()
        if not arguments or any(isinstance(a, torch.Tensor) for a in arguments):
            return ""
        return f"called with {', '.join(map(repr, arguments))}: "

    def _known_mistake(self, results: list) -> Feedback | None:
        """Name the mistake that gives these results, of all inputs or of the first ones."""
        # A prediction may be rounded to two decimals, and its mistake is still recognized.
        within = max(self.within, ROUNDED) if self.inputs is None else self.within
        for mistake in self.mistakes:
            if _agree(results, self.expected(mistake)[: len(results)], within):
                name, message = mistake.__name__.replace("_", " "), inspect.getdoc(mistake) or ""
                return Feedback(State.WRONG, message, name, self.beliefs[mistake])
        return None

    def expected(self, function: Callable) -> list:
        """Compute what an answer or a mistake returns: one value, or one for each input."""
        if self.inputs is None:
            return [function()]
        call = functools.partial(self.use_class, function) if self.use_class else function
        return [call(*running.fresh(arguments)) for arguments in self.inputs]

    def hint(self) -> Feedback:
        """Give one more hint at each call."""
        if self._hints_given == len(self.hints):
            return Feedback(State.HINT, "there are no more hints. `.solution()` shows the answer.")
        self._hints_given += 1
        text = f"{self._hints_given} of {len(self.hints)}. {self.hints[self._hints_given - 1]}"
        return Feedback(State.HINT, text)

    def solution(self) -> Feedback:
        """Show the source of the answer."""
        if CLOSED.exists():
            return Feedback(State.SOLUTION, "closed by your instructor.")
        return Feedback(State.SOLUTION, "", code=self.source())

    def source(self) -> str:
        """Return the answer's own source, without the decorator."""
        lines = textwrap.dedent(inspect.getsource(self.answers[0])).splitlines()
        return "\n".join(line for line in lines if not line.startswith("@"))


def _agree(results: list, expected: list, within: float) -> bool:
    return all(same(r, e, within) for r, e in zip(results, expected, strict=True))
