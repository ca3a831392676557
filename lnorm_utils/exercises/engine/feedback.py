"""What a student reads: plain text in a terminal, HTML in a notebook, the same words in both."""

import html
import re
from dataclasses import dataclass
from enum import Enum

from lnorm_utils.exercises.beliefs import Belief

__all__ = ["Feedback", "State"]


class State(Enum):
    """What became of an attempt, in the words that open its feedback."""

    NOT_ATTEMPTED = "Not attempted"
    RIGHT = "Right"
    WRONG = "Not yet"
    HINT = "Hint"
    SOLUTION = "Solution"


SIGNS = {
    State.NOT_ATTEMPTED: "○",
    State.RIGHT: "✓",
    State.WRONG: "✗",
    State.HINT: "?",
    State.SOLUTION: "→",
}


@dataclass(frozen=True)
class Feedback:
    """An answer to an attempt: its state and message, and the mistake and belief that it shows."""

    state: State
    message: str
    mistake: str = ""
    belief: Belief | None = None
    code: str = ""

    def __repr__(self) -> str:
        text = ". ".join(part for part in (self.mistake, self._message()) if part)
        head = f"{self.state.value}: {text}" if text else f"{self.state.value}."
        return f"{head}\n{self.code}" if self.code else head

    def _message(self) -> str:
        belief = f" (A common belief: {self.belief.value}.)" if self.belief else ""
        return " ".join(self.message.split()) + belief

    def _repr_html_(self) -> str:
        more = ":" if self.mistake or self.message else "."
        parts = [f"<strong>{SIGNS[self.state]} {self.state.value}{more}</strong>"]
        if self.mistake:
            parts.append(f"<em>{_inline(self.mistake)}</em>.")
        if self.message:
            parts.append(_inline(self._message()))
        code = f"<pre>{html.escape(self.code)}</pre>" if self.code else ""
        return f'<div role="status">{" ".join(parts)}{code}</div>'


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
