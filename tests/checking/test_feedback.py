"""Feedback is a sentence in a terminal and the same sentence, set in HTML, in a notebook."""

import pytest

from lnorm_course.checking.feedback import Feedback, State, first_sentence
from lnorm_course.slips.beliefs import Belief

TWO = (Belief.ONE_FEATURE_GIVES_1, Belief.TRAINING_MODE)


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


@pytest.mark.parametrize("beliefs", [TWO[:1], TWO])
def test_every_belief_behind_a_mistake_is_told(beliefs):
    said = repr(Feedback(State.WRONG, "One.", "One", beliefs))
    assert all(belief.value in said for belief in beliefs)


def test_the_first_sentence_has_all_that_was_done_in_it():
    assert first_sentence("You added 1e-5. It is not asked for.") == "You added 1e-5"
    assert first_sentence("Two things: one,\n and two. That's all.") == "Two things: one, and two"
    assert first_sentence("Is it `x.T`? It is.") == "Is it `x.T`? It is"
