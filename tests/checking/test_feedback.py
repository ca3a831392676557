"""Feedback is a sentence in a terminal and the same sentence, set in HTML, in a notebook."""

import pytest

from lnorm_course.checking.feedback import Feedback, State
from lnorm_diagnose.slips.misconceptions import Misconception

TWO = (Misconception.ONE_FEATURE_GIVES_1, Misconception.TRAINING_MODE)


@pytest.mark.parametrize(
    ("feedback", "text", "inner"),
    [
        (Feedback(State.RIGHT, ""), "Right.", "<strong>✓ Right.</strong>"),
        (
            Feedback(State.WRONG, "You  used\n`a < b`.", table="<table></table>"),
            "Not yet: You used `a < b`.",
            "<strong>✗ Not yet:</strong> You used <code>a &lt; b</code>.<table></table>",
        ),
        (
            Feedback(State.SOLUTION, "", code="return a < b"),
            "Solution.\nreturn a < b",
            "<strong>→ Solution.</strong><pre>return a &lt; b</pre>",
        ),
    ],
    ids=["no message", "code and a table", "a solution"],
)
def test_text_and_html_say_the_same(feedback, text, inner):
    assert repr(feedback) == text
    assert feedback._repr_html_() == f'<div role="status">{inner}</div>'


def test_every_misconception_behind_a_mistake_is_told():
    said = repr(Feedback(State.WRONG, "One.", "One", TWO))
    assert all(misconception.value in said for misconception in TWO)
