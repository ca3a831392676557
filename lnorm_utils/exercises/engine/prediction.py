"""A question whose answer is a value: a number, a shape, a word."""

from collections.abc import Sequence
from numbers import Real
from typing import NamedTuple

from lnorm_utils.beliefs import Belief
from lnorm_utils.exercises.engine.comparing import difference_of_values, plain, same, shown
from lnorm_utils.exercises.engine.exercise import Exercise
from lnorm_utils.exercises.engine.feedback import Feedback, State, first_sentence

__all__ = ["Prediction", "Wrong"]

ROUNDED = 6e-3  # to two decimals
NEARLY = 0.05 + 1e-6  # to one decimal


class Wrong(NamedTuple):
    """A wrong value that people give, the message to them, and the common belief behind it."""

    value: object
    message: str
    belief: Belief | None = None


class Prediction(Exercise):
    """A question that is answered by a value.

    Args:
        topic, name, hints: as for every `Exercise`.
        answer: the right value.
        reason: why it is right.
        wrong: the values that a single slip or a common belief leads to. A value that two of them
            lead to stands once, with a message that says "either … or …".
        also: further right values, each with what to read then.
        within: how far a number may be from the answer.

    >>> legs = Prediction(
    ...     "example", "legs", answer=4, reason="Two on each side.", hints=["Count them."],
    ...     wrong=[Wrong(2, "You counted the left side only.")],
    ... )
    >>> legs.check(2)
    Not yet: You counted the left side only.
    >>> legs.check(4)
    Right: Two on each side.
    """

    def __init__(
        self,
        topic: str,
        name: str,
        *,
        answer: object,
        reason: str,
        wrong: Sequence[Wrong],
        hints: Sequence[str],
        also: Sequence[tuple[object, str]] = (),
        within: float = 1e-6,
    ) -> None:
        super().__init__(topic, name, hints, within)
        self.answers = [(answer, reason), *also]
        self.wrong = list(wrong)

    def _judge_values(self, results: list, remark: str) -> Feedback:
        if not results:
            return Feedback(State.WRONG, remark)
        (value,) = results
        for answer, reason in self.answers:
            if same(value, answer, self.within):
                return Feedback(State.RIGHT, reason)
        for wrong, message, belief in self.wrong:
            # A value that is rounded to two decimals is recognized too.
            if same(value, wrong, max(self.within, ROUNDED)):
                beliefs = (belief,) if belief else ()
                return Feedback(State.WRONG, message, first_sentence(message), beliefs)
        answer = self.answers[0][0]
        if self.within > 1e-3 and same(value, answer, NEARLY) and _is_short(value):
            return Feedback(State.WRONG, "that's close. Give it to two decimals.")
        return Feedback(State.WRONG, difference_of_values(value, answer, self.words))

    @property
    def words(self) -> list[str]:
        """All values of the bank, as text: the words to choose from, if the answer is one."""
        return sorted({str(value) for value, *_ in (*self.answers, *self.wrong)})

    def shown_solution(self) -> Feedback:
        answer, reason = self.answers[0]
        return Feedback(State.SOLUTION, reason, code=shown(answer))


def _is_short(value: object) -> bool:
    """Tell whether a number, or each of several, has at most one decimal."""
    given = plain(value)
    if isinstance(given, tuple):
        return all(map(_is_short, given))
    return isinstance(given, Real) and round(float(given), 1) == float(given)
