"""An exercise whose answer is a value: a number, a shape, or a word."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from lnorm_course.checking.comparing import as_float, plain, same
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback, State
from lnorm_course.checking.running import Outcome
from lnorm_course.checking.sanitizing import kind_of, shown
from lnorm_diagnose.fewest_slips import Mistake
from lnorm_utils.words import first_sentence

__all__ = ["Prediction"]

ROUNDED = 6e-3  # tolerance for rounding to two decimals
CUT_OFF = 0.01  # tolerance for truncating to two decimals
NEARLY = 0.05 + 1e-6  # tolerance for rounding to one decimal
CLOSEST = "Of the choices, {} is the closest to yours."


class Prediction(Exercise):
    """A question that is answered with a value.

    Args:
        hints: as for every `Exercise`.
        right: pairs of a right value and the reason why it's right; the solution shows the first
            pair. A tuple also matches a list or an array with the same numbers.
        wrong: wrong values that people give.
        tol: the absolute tolerance for each number.
        choose: the numbers to choose from, if the question says "Choose the closest". A number
            that is in neither `right` nor `wrong` counts as the choice nearest to it, so a measured
            value near the right choice is right, too. If no choice is near enough, the student is
            shown the choices.

    >>> legs = Prediction(
    ...     right=[(4, "Two on each side.")],
    ...     wrong=[Mistake(2, "You counted the left side only.")],
    ...     hints=["Count them."],
    ... )
    >>> legs.check(2)
    Not yet: You counted the left side only.
    >>> legs.check(4)
    Right: Two on each side.
    """

    def __init__(
        self,
        *,
        right: Sequence[tuple[object, str]],
        wrong: Sequence[Mistake],
        hints: Sequence[str],
        tol: float = 1e-6,
        choose: Sequence[float] = (),
    ) -> None:
        super().__init__(hints, tol)
        self.choices = list(choose)
        # A right value has the fields of a wrong one, so that both can be compared in the same way.
        self.answers, self.wrong = [Mistake(*each) for each in right], list(wrong)

    def judge_outcome(self, outcome: Outcome) -> Feedback:
        if outcome.error:
            return Feedback(State.WRONG, outcome.remark)
        (value,) = outcome.values
        if feedback := self._known(value):
            return feedback
        answer, number = self.answers[0][0], plain(value)
        if self.choices and isinstance(number, Real) and not isinstance(number, bool):
            choice = _nearest(as_float(number), self.choices)
            if choice is None or not (feedback := self._known(choice)):
                return Feedback(State.WRONG, self.asked_to_choose)
            return replace(feedback, message=f"{CLOSEST.format(choice)} {feedback.message}")
        is_near = self.tol > 1e-3 and same(value, answer, NEARLY)
        if is_near and (_is_short(number) or same(value, answer, CUT_OFF)):
            return Feedback(State.WRONG, "that's close. Round it to two decimals.")
        return Feedback(State.WRONG, self._difference(value))

    def _known(self, value: object) -> Feedback | None:
        """Return the feedback on a known right or wrong value, or None for any other value."""
        for known in self.answers:
            if same(value, known.answer, self.tol):
                return Feedback(State.RIGHT, known.why, found=((known,),))
        for known in self.wrong:
            # Values rounded to two decimals are recognized, too.
            if same(value, known.answer, max(self.tol, ROUNDED)):
                name = first_sentence(known.why)
                return Feedback(State.WRONG, known.why, name, known.misconceptions, ((known,),))
        return None

    @property
    def asked_to_choose(self) -> str:
        """The message that asks for one of the choices."""
        *most, last = self.choices
        return f"choose the closest of {', '.join(map(str, most))}, and {last}."

    @property
    def words(self) -> list[str]:
        """The words among the known right and wrong values."""
        values = [value for value, *_ in (*self.answers, *self.wrong)]
        return sorted({value for value in values if isinstance(value, str)})

    def _difference(self, attempt: object) -> str:
        """Say that an answer isn't right, without giving the right one away."""
        given, wanted = plain(attempt), plain(self.answers[0][0])
        if isinstance(wanted, str):
            words = ", ".join(map(repr, self.words))
            return f"choose one of the words {words}. You gave {shown(attempt)}."
        kinds = {bool: "True or False", tuple: "a tuple of numbers such as (2, 3)"}
        known = type(wanted) if type(wanted) in kinds else Real
        if isinstance(given, known) and isinstance(given, bool) == isinstance(wanted, bool):
            value = shown(given if known is Real else attempt).replace("-", "−")
            return f"it's not {value}. `.hint()` may help."
        expected = ", or ".join([kinds.get(type(wanted), "a number"), *map(repr, self.words)])
        yours = shown(attempt) if isinstance(given, bool) else kind_of(attempt)
        is_quoted = isinstance(given, str) and any(map(str.isdigit, given))
        quotes = " Take the quotes off." if is_quoted else ""
        return f"the answer is {expected}, but you gave {yours}.{quotes}"

    def shown_solution(self) -> Feedback:
        first = self.answers[0]
        return Feedback(State.SOLUTION, first.why, code=shown(first.answer))


def _nearest(number: float, choices: Sequence[float]) -> float | None:
    """Return the choice nearest to a number; None if two are about equally near, or if all are far.

    >>> [_nearest(number, [0, 0.5, 1]) for number in (0.6, 0.75, 1.2, 1.3, -7)]
    [0.5, None, 1, None, None]
    """
    one, other = sorted(choices, key=lambda choice: abs(choice - number))[:2]
    return one if abs(one - number) < abs(one - other) / 2 - 1e-9 else None


def _is_short(given: Any) -> bool:
    """Tell whether a number, or each number of a tuple, has at most one decimal."""
    numbers = given if isinstance(given, tuple) else (given,)
    return all(round(float(each), 1) == float(each) for each in numbers)
