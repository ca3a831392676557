"""Feedback for a student, with the same words in plain text and in HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from lnorm_diagnose.fewest_slips import Explanation
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_utils.words import inline

__all__ = ["Feedback", "State", "show", "with_remark"]


class State(Enum):
    """The state of an attempt, or the kind of help given, as the words that begin the feedback."""

    NOT_ATTEMPTED = "Not attempted"
    RIGHT = "Right"
    CHOSEN = "Chosen but not yet written"
    WRONG = "Not yet"
    HINT = "Hint"
    SOLUTION = "Solution"


SIGNS = dict(zip(State, "○✓◐✗?→", strict=True))


@dataclass(frozen=True)
class Feedback:
    """What a student is told about an attempt, or is given as a hint or a solution.

    Args:
        state: the state of the attempt, or the kind of help given.
        message: what the student reads, one to three sentences.
        mistake: a short name for the mistake, if it is known.
        misconceptions: the misconceptions that the mistake may come from.
        found: the explanations, each a group of wrong parts; for a right prediction, the known
            value that it matches.
        code: the source or the value of a solution.
        table: HTML that shows the student's numbers beside the right ones.
        first: the message that is shown the first time, which only names the mistake; empty if
            `message` is shown right away.
    """

    state: State
    message: str
    mistake: str = ""
    misconceptions: tuple[Misconception, ...] = ()
    found: Sequence[Explanation] = ()
    code: str = ""
    table: str = ""
    first: str = ""

    @property
    def _words(self) -> str:
        """The full text that the student reads, on one line."""
        said, behind = " ".join(self.message.split()), [m.value for m in self.misconceptions]
        which = "Common beliefs that are" if len(behind) > 1 else "A common belief that is"
        return f"{said} ({which} wrong: {'; '.join(behind)}.)" if behind else said

    def __repr__(self) -> str:
        head = f"{self.state.value}: {self._words}" if self._words else f"{self.state.value}."
        return f"{head}\n{self.code}" if self.code else head

    def _repr_html_(self) -> str:
        words, sign = inline(self._words), f"{SIGNS[self.state]} {self.state.value}"
        head = f"<strong>{sign}:</strong> {words}" if words else f"<strong>{sign}.</strong>"
        code = f"<pre>{html.escape(self.code)}</pre>" if self.code else ""
        return f'<div role="status">{head}{code}{self.table}</div>'


def show(told: object) -> None:
    """Show feedback or a widget below the cell, or print it if this isn't a notebook."""
    from IPython.display import display

    display(told)


def with_remark(feedback: Feedback, remark: str) -> Feedback:
    """Return feedback with a remark appended to its message."""
    message, first = (f"{told} {remark}".strip() for told in (feedback.message, feedback.first))
    return replace(feedback, message=message, first=first if feedback.first else "")
