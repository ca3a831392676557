"""Whatever a student hands in, one sentence comes back, and it is true."""

import pytest
import torch

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.feedback import State
from lnorm_course.checking.prediction import Prediction
from lnorm_course.checking.search import Mistake
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.notation import parse

HINTS = ["Count.", "Count again."]


def made(program, inputs, mistakes=(), **options):
    """Make an exercise from its program, its inputs and functions that are mistakes."""
    given = {f"input {number}": arguments for number, arguments in enumerate(inputs)}
    known = [Mistake.of(mistake, Belief.OVER_THE_BATCH) for mistake in mistakes]
    return CodeExercise(parse(program), hints=HINTS, inputs=given, mistakes=known, **options)


def predicted(answer, *wrong, **options):
    wrong = {value: f"It is not {value}. Count." for value in wrong}
    return Prediction(answer=answer, reason="One, two.", wrong=wrong, hints=HINTS, **options)


@pytest.fixture
def number():
    return Prediction(
        answer=3.0,
        reason="One, two, three.",
        wrong={2: Belief.ONE_MEAN_PER_SENTENCE("You began at zero. Begin at one.")},
        hints=HINTS,
        within=0.01,
    )


SUMS = """def sums(x):
    return ⟨x.sum(-1) ¦ x.prod(-1) ⇒ You multiplied the numbers. Add them.⟩"""


def columns(x):
    """You summed
    the columns. Sum the rows."""
    return x.sum(0)


X = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)


@pytest.fixture
def rows():
    return made(SUMS, [(X,), (X + 1,)], [columns])


def test_a_right_attempt_is_told_the_words_of_the_answer(number, rows):
    assert rows.judge(lambda x: torch.stack([sum(row) for row in x])).state is State.RIGHT
    assert rows.judge(lambda x: torch.nn.Parameter(x.sum(-1))).state is State.RIGHT
    feedback = number.judge(3)
    assert (feedback.state, feedback.message) == (State.RIGHT, "One, two, three.")


def test_a_known_mistake_is_named_with_its_message_and_belief(number, rows):
    feedback = number.judge(2)
    assert (feedback.state, feedback.mistake) == (State.WRONG, "You began at zero")
    assert feedback.message == "You began at zero. Begin at one."
    assert feedback.beliefs == (Belief.ONE_MEAN_PER_SENTENCE,)
    feedback = rows.judge(columns)
    assert feedback.mistake == "You summed the columns"
    assert feedback.beliefs == (Belief.OVER_THE_BATCH,)


def blank(x): ...


def with_words_only(x):
    """Return the sums."""


def without_return(x):
    x.sum(-1)


def returning_once(x):
    return x.sum(-1) if x[0, 0] else None


def test_a_blank_body_is_no_attempt_and_one_without_return_is_asked_about_it(rows):
    assert rows.judge(None).state is State.NOT_ATTEMPTED
    assert rows.judge(blank).state is rows.judge(with_words_only).state is State.NOT_ATTEMPTED
    for attempt in (without_return, returning_once):
        feedback = rows.judge(attempt)
        assert (feedback.state, "forget `return`" in feedback.message) == (State.WRONG, True)


def test_a_mistake_that_shows_before_an_error_is_named_and_the_error_told(rows):
    both = made(SUMS, [*rows.inputs, (torch.ones(3),)], [columns])
    feedback = both.judge(lambda x: x.sum(dim=(0,)) if x.ndim == 2 else x.sum(dim=1))
    assert feedback.mistake == "You summed the columns"
    assert "And your function raised IndexError" in feedback.message
    later = both.judge(lambda x: x.sum(dim=1)).message
    assert all(words in later for words in ("right on input 0", "on input 2 your function raised"))


def test_an_interrupt_while_comparing_ends_the_check(number):
    class Interrupting(torch.Tensor):
        def detach(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        number.judge(torch.ones(2).as_subclass(Interrupting))


def test_a_prediction_may_be_rounded_to_two_decimals_to_be_a_known_mistake():
    rounded = predicted(1.0, 1 / 3)
    known = [bool(rounded.judge(attempt).mistake) for attempt in (0.33, 0.3391, 0.34)]
    assert known == [True, True, False]
    assert rounded.judge(1.004).state is State.WRONG
    wide = predicted(3.0, 2.0, within=0.01)
    assert [bool(wide.judge(attempt).mistake) for attempt in (2.009, 2.011)] == [True, False]


@pytest.mark.parametrize(
    ("number", "state", "words"),
    [
        (0.5, State.RIGHT, "One, two."),
        (0.6, State.RIGHT, "Of the choices, 0.5 is the closest to yours. One, two."),
        (0.9, State.WRONG, "Of the choices, 1 is the closest to yours. It is not 1. Count."),
        (0.75, State.WRONG, "closest of 0, 0.5, and 1."),
        (1.3, State.WRONG, "closest of 0, 0.5, and 1."),
        (0.3, State.WRONG, "It is not 0.3. Count."),
        (True, State.WRONG, "gave True"),
        ([0.5], State.WRONG, "gave a list"),
    ],
)
def test_with_choices_a_number_counts_as_the_nearest_one(number, state, words):
    feedback = predicted(0.5, 0, 1, 0.3, choices=[0, 0.5, 1]).judge(number)
    assert feedback.state is state
    assert words in feedback.message


def test_one_more_hint_is_shown_at_each_call(number, capsys):
    for _ in range(4):
        number.hint()
    first, second, *more = capsys.readouterr().out.splitlines()
    assert [first, second] == ["Hint: 1 of 2. Count.", "Hint: 2 of 2. Count again."]
    assert ["no more hints" in said for said in more] == [True, True]


def test_the_solution_is_a_value_with_its_reason_or_source(rows, capsys):
    predicted((2, 3)).solution()
    rows.solution()
    source = "Solution.\ndef sums(x):\n    return x.sum(-1)\n"
    assert capsys.readouterr().out == f"Solution: One, two.\n(2, 3)\n{source}"


def test_code_with_a_second_argument_is_told_to_be_passed_by_its_name(rows, capsys):
    rows.check(lambda x: x, 1e-5)
    assert "only the name" in capsys.readouterr().out
