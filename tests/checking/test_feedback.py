"""Feedback is a sentence in a terminal and the same sentence, set in HTML, in a notebook."""

import pytest

from lnorm_utils.checking.feedback import Feedback, State, first_sentence
from lnorm_utils.slips.beliefs import Belief

TWO = (
    "Common beliefs that are wrong: "
    f"{Belief.ONE_FEATURE_GIVES_1.value}; {Belief.TRAINING_MODE.value}."
)
BOTH = [
    (Feedback(State.RIGHT, ""), "Right.", "<strong>✓ Right.</strong>"),
    (
        Feedback(State.RIGHT, "Each `row`\n  has one."),
        "Right: Each `row` has one.",
        "<strong>✓ Right:</strong> Each <code>row</code> has one.",
    ),
    (
        Feedback(State.WRONG, "You used `a < b` and `c`.", "You used"),
        "Not yet: You used `a < b` and `c`.",
        "<strong>✗ Not yet:</strong> You used <code>a &lt; b</code> and <code>c</code>.",
    ),
    (
        Feedback(State.WRONG, "One.", "One", (Belief.ONE_FEATURE_GIVES_1,)),
        "Not yet: One. (A common belief that is wrong: one feature gives 1.)",
        "<strong>✗ Not yet:</strong> One. (A common belief that is wrong: one feature gives 1.)",
    ),
    (
        Feedback(State.WRONG, "One.", "One", (Belief.ONE_FEATURE_GIVES_1, Belief.TRAINING_MODE)),
        f"Not yet: One. ({TWO})",
        f"<strong>✗ Not yet:</strong> One. ({TWO})",
    ),
    (
        Feedback(State.WRONG, "One.", table="<table></table>"),
        "Not yet: One.",
        "<strong>✗ Not yet:</strong> One.<table></table>",
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


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("You added 1e-5. It is not asked for.", "You added 1e-5"),
        ("Two things: one,\n and two. Layer norm does not.", "Two things: one, and two"),
        ("Is it `x.T`? It is.", "Is it `x.T`? It is"),
        ("", ""),
    ],
)
def test_the_first_sentence_has_all_that_was_done_in_it(text, first):
    assert first_sentence(text) == first
