"""What a student reads, with the same words as plain text and as HTML."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from lnorm_course.slips.beliefs import Belief

__all__ = ["Feedback", "State", "as_html", "first_sentence", "inline", "show", "with_remark"]


class State(Enum):
    """The result of an attempt, in the words that its feedback begins with."""

    NOT_ATTEMPTED = "Not attempted"
    RIGHT = "Right"
    CHOSEN = "Chosen, and not yet written"
    WRONG = "Not yet"
    HINT = "Hint"
    SOLUTION = "Solution"


SIGNS = dict(zip(State, "○✓◐✗?→", strict=True))
UNKNOWN = "I don't recognize this mistake."


@dataclass(frozen=True)
class Feedback:
    """An answer to an attempt.

    Args:
        state: the result.
        message: what the student reads, one to three sentences.
        mistake: the mistake in a few plain words, if it is known.
        beliefs: the common beliefs that it may come from.
        code: the source, or the value, of a solution.
        table: HTML that shows the student's numbers beside the right ones.
        is_unknown: whether the student reads first that nothing names the mistake.
    """

    state: State
    message: str
    mistake: str = ""
    beliefs: tuple[Belief, ...] = ()
    code: str = ""
    table: str = ""
    is_unknown: bool = False

    @property
    def said(self) -> str:
        """All that the student reads besides beliefs."""
        return f"{UNKNOWN} {self.message}" if self.is_unknown else self.message

    def __repr__(self) -> str:
        message = _with_beliefs(self.said, [belief.value for belief in self.beliefs])
        head = f"{self.state.value}: {message}" if message else f"{self.state.value}."
        return f"{head}\n{self.code}" if self.code else head

    def _repr_html_(self) -> str:
        code = f"<pre>{html.escape(self.code)}</pre>" if self.code else ""
        beliefs = [belief.value for belief in self.beliefs]
        return as_html(self.state, self.said, beliefs, f"{code}{self.table}")


def as_html(state: State, message: str, beliefs: Sequence[str] = (), more: str = "") -> str:
    """Return as HTML what a student reads.

    Args:
        state: the result.
        message: one to three sentences.
        beliefs: the common beliefs that a mistake may come from, in words.
        more: HTML to show below it.
    """
    head = f"<strong>{SIGNS[state]} {state.value}{':' if message else '.'}</strong>"
    words = f" {inline(_with_beliefs(message, beliefs))}" if message else ""
    return f'<div role="status">{head}{words}{more}</div>'


def _with_beliefs(message: str, beliefs: Sequence[str]) -> str:
    text = " ".join(message.split())
    which = "Common beliefs that are wrong" if len(beliefs) > 1 else "A common belief that is wrong"
    return f"{text} ({which}: {'; '.join(beliefs)}.)" if beliefs else text


def show(feedback: Feedback) -> None:
    """Show feedback below the cell, or print it if this isn't a notebook."""
    from IPython.display import display

    display(feedback)


def with_remark(feedback: Feedback, remark: str) -> Feedback:
    """Let a remark stand behind the message."""
    return replace(feedback, message=f"{feedback.message} {remark}".strip())


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without its period: a mistake in a few words.

    >>> first_sentence("You added 1e-5. It belongs under the root.")
    'You added 1e-5'
    """
    return re.split(r"(?<=[^.])[.;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


def inline(text: str) -> str:
    """Return a text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
