"""Feedback is a sentence in a terminal and the same sentence, set in HTML, in a notebook."""

import pytest

from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.feedback import Feedback, State

BOTH = [
    (Feedback(State.RIGHT, ""), "Right.", "<strong>✓ Right.</strong>"),
    (
        Feedback(State.RIGHT, "Each `row`\n  has one."),
        "Right: Each `row` has one.",
        "<strong>✓ Right:</strong> Each <code>row</code> has one.",
    ),
    (
        Feedback(State.WRONG, "You used `a < b` and `c`.", "one for all"),
        "Not yet: one for all. You used `a < b` and `c`.",
        "<strong>✗ Not yet:</strong> <em>one for all</em>. "
        "You used <code>a &lt; b</code> and <code>c</code>.",
    ),
    (
        Feedback(State.WRONG, "One.", "one for all", Belief.ONE_FEATURE_GIVES_1),
        "Not yet: one for all. One. (A common belief: one feature gives 1.)",
        "<strong>✗ Not yet:</strong> <em>one for all</em>. "
        "One. (A common belief: one feature gives 1.)",
    ),
    (
        Feedback(State.NOT_ATTEMPTED, "replace the dots."),
        "Not attempted: replace the dots.",
        "<strong>○ Not attempted:</strong> replace the dots.",
    ),
    (
        Feedback(State.HINT, "1 of 2. Count."),
        "Hint: 1 of 2. Count.",
        "<strong>? Hint:</strong> 1 of 2. Count.",
    ),
    (
        Feedback(State.SOLUTION, "", code="return a < b"),
        "Solution.\nreturn a < b",
        "<strong>→ Solution.</strong><pre>return a &lt; b</pre>",
    ),
]


@pytest.mark.parametrize(("feedback", "text", "inner"), BOTH)
def test_text_and_html_say_the_same(feedback, text, inner):
    assert repr(feedback) == text
    assert feedback._repr_html_() == f'<div role="status">{inner}</div>'
