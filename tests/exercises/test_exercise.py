"""Whatever a student hands in, one sentence comes back, and it is true."""

import math
import re

import numpy as np
import pytest
import torch
from exercise_banks import words_of

from lnorm_utils.exercises import Exercise
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine import exercise
from lnorm_utils.exercises.engine.feedback import State


@pytest.fixture(autouse=True)
def open_solutions(monkeypatch, tmp_path):
    monkeypatch.setattr(exercise, "CLOSED", tmp_path / "not there")


def made(answer, inputs=None, mistakes=(), **options):
    """Make an exercise from its answer, its inputs and functions that are mistakes."""
    new = Exercise("00_test", "made", hints=["Count.", "Count again."], inputs=inputs, **options)
    new.answer(answer)
    for mistake in mistakes:
        new.mistake()(mistake)
    return new


@pytest.fixture
def number():
    new = Exercise("00_test", "number", hints=["Count.", "Count again."], within=0.01)

    @new.answer
    def three():
        "One, two, three."
        return 3.0

    @new.mistake(Belief.ONE_MEAN_PER_SENTENCE)
    def one_too_few():
        "You began at zero."
        return 2.0

    return new


def sums(x):
    return x.sum(-1)


def columns(x):
    """You summed
    the columns."""
    return x.sum(0)


@pytest.fixture
def rows():
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    return made(sums, [(x,), (x + 1,)], [columns])


def test_a_right_attempt_is_told_the_words_of_the_answer(number, rows):
    assert rows.check(lambda x: torch.stack([sum(row) for row in x])).state is State.RIGHT
    assert rows.check(lambda x: torch.nn.Parameter(x.sum(-1))).state is State.RIGHT
    feedback = number.check(3)
    assert (feedback.state, feedback.message) == (State.RIGHT, "One, two, three.")


def test_a_known_mistake_is_named_with_its_message_and_belief(number, rows):
    feedback = number.check(2)
    assert (feedback.state, feedback.mistake) == (State.WRONG, "one too few")
    assert feedback.message == "You began at zero."
    assert feedback.belief is Belief.ONE_MEAN_PER_SENTENCE
    assert rows.check(columns).mistake == "columns"
    assert rows.check(columns).belief is None


@pytest.mark.parametrize("attempt", [..., None])
def test_no_attempt_is_not_a_wrong_one(number, rows, attempt):
    assert number.check(attempt).state is State.NOT_ATTEMPTED
    assert rows.check(attempt).state is State.NOT_ATTEMPTED
    assert rows.check(lambda x: attempt).state is State.NOT_ATTEMPTED
    assert number.check().state is State.NOT_ATTEMPTED


def test_a_function_that_returns_something_once_is_attempted(rows):
    found = iter([None, torch.ones(2)])
    assert rows.check(lambda x: next(found)).state is State.WRONG


class Evil:
    def __repr__(self):
        return repr(self)

    def __eq__(self, other):
        raise ValueError

    def __bool__(self):
        raise ValueError

    def __len__(self):
        raise ValueError

    __hash__ = None


class EvilFloat(float):
    def __float__(self):
        raise ValueError


class AlwaysEqual:
    def __eq__(self, other):
        return True

    __hash__ = None


ODD = [Evil(), EvilFloat(3), AlwaysEqual(), "three", "", True, False, math.nan, math.inf, -3, 3j]
ODD += [b"3", {}, {3}, [], [3], (3.0,), [[3]], torch.ones(2), torch.ones(0), np.ones(3), range(3)]
ODD += [
    object(),
    Evil,
    int,
    lambda: 3,
    {"a": 3},
    10**400,
    iter([3]),
    slice(3),
    NotImplemented,
    type,
]


@pytest.mark.parametrize("attempt", ODD, ids=lambda value: type(value).__name__)
def test_an_odd_attempt_gets_a_sentence_and_is_never_right(number, rows, attempt):
    for feedback in (number.check(attempt), rows.check(attempt), rows.check(lambda x: attempt)):
        assert feedback.state is State.WRONG
        assert repr(feedback).endswith(".")
        assert feedback._repr_html_()


def forever(x):
    return forever(x)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x.sum(-1, keepdim=True), "shape (2, 1)"),
        (lambda x: x.sum(-1).float(), "dtype torch.float32"),
        (lambda x: x.sum(-1).tolist(), "a torch.Tensor is expected"),
        (lambda x: x.sum(-1) + torch.eye(2)[1], "[1]: you have 13"),
        (lambda x: x.add_(1).sum(-1), "changes its input"),
        (lambda x: x.missing, "AttributeError"),
        (lambda: 3, "TypeError"),
        (lambda x: exit(), "SystemExit"),
        (lambda x: (_ for _ in ()).throw(BaseException("odd")), "BaseException"),
        (forever, "RecursionError"),
    ],
)
def test_what_is_wrong_with_a_function_is_told(rows, function, words):
    feedback = rows.check(function)
    assert (feedback.state, feedback.mistake) == (State.WRONG, "")
    assert words in feedback.message


def test_a_function_cannot_change_the_inputs_of_the_exercise(rows):
    rows.check(lambda x: x.zero_())
    assert rows.check(sums).state is State.RIGHT


def test_a_right_function_that_prints_is_right_and_told_so(rows, capsys):
    feedback = rows.check(lambda x: (print("noise"), x.sum(-1))[1])
    assert feedback.state is State.RIGHT
    assert "printed" in feedback.message
    assert capsys.readouterr().out == ""


def test_a_mistake_that_shows_before_an_error_is_named(rows):
    both = made(sums, [*rows.inputs, (torch.ones(3),)], [columns])
    columns_then_error = both.check(lambda x: x.sum(dim=(0,)) if x.ndim == 2 else x.sum(dim=1))
    assert columns_then_error.mistake == "columns"
    assert "IndexError" in both.check(lambda x: x.sum(dim=1)).message


def test_a_wrong_value_is_told_with_the_arguments_that_words_can_say(number):
    times = made(lambda number, letter: number * letter, [(2, "a"), (3, "b")])
    assert times.check(lambda number, letter: "aa").message.startswith("called with 3, 'b': ")
    for inputs in ([()], [(torch.ones(2), 3)]):
        assert "called with" not in made(lambda *_: 3, inputs).check(lambda *_: 7).message
    assert "called with" not in number.check(7).message


def test_what_cannot_be_compared_is_named_by_its_kind(number):
    assert "an EvilFloat" in number.check(EvilFloat(3)).message
    kinds = iter([EvilFloat(3), 3])
    assert (
        "an EvilFloat, an int"
        in made(lambda x: 3, [(1,), (2,)]).check(lambda x: next(kinds)).message
    )


def test_an_interrupt_while_comparing_ends_the_check(number):
    class Interrupting(float):
        def __float__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        number.check(Interrupting(3))


def test_each_of_several_answers_is_right_and_the_first_is_shown():
    several = made(lambda x: "one", [(1,)])
    several.answer(lambda x: "another")
    assert several.check(lambda x: "another").state is State.RIGHT
    assert several.check(lambda x: "none").message.endswith(" 'one' is right.")


def test_a_prediction_may_be_rounded_to_two_decimals_to_be_a_known_mistake():
    rounded = made(lambda: 1.0, None, [lambda: 1 / 3])
    known = [bool(rounded.check(attempt).mistake) for attempt in (0.33, 0.3391, 0.34)]
    assert known == [True, True, False]
    assert rounded.check(1.004).state is State.WRONG
    wide = made(lambda: 3.0, None, [lambda: 2.0], within=0.01)
    assert [bool(wide.check(attempt).mistake) for attempt in (2.009, 2.011)] == [True, False]


def test_what_code_returns_is_a_known_mistake_only_if_it_is_not_rounded():
    exact = made(lambda x: 1.0, [(1,)], [lambda x: 1 / 3])
    assert exact.check(lambda x: 1 / 3).mistake
    assert not exact.check(lambda x: 0.33).mistake


def test_one_more_hint_is_given_at_each_call(number):
    said = [repr(number.hint()) for _ in range(4)]
    assert said[:2] == ["Hint: 1 of 2. Count.", "Hint: 2 of 2. Count again."]
    assert "no more hints" in said[2]
    assert said[3] == said[2]


def test_the_solution_is_the_source_of_the_answer_without_decorator(number):
    assert number.solution().code.splitlines()[0] == "def three():"


def test_the_solution_can_be_closed(number, monkeypatch, tmp_path):
    monkeypatch.setattr(exercise, "CLOSED", tmp_path)
    assert number.solution().code == ""


def test_html_says_the_same_words_as_text_and_needs_no_color(number, rows):
    def letters(text):
        return re.sub(r"[^\w]", "", text).replace("gtlt", "")

    for feedback in (number.check(2), rows.check(lambda x: 1 / 0), number.hint(), rows.solution()):
        page = feedback._repr_html_()
        assert letters(words_of(page)) == letters(repr(feedback))
        assert "color" not in page
        assert 'role="status"' in page


def test_what_a_student_writes_cannot_become_html(number):
    assert "<b>" not in number.check("<b>bold</b>")._repr_html_()
    assert "<b>" not in number.check([1, "<b>"])._repr_html_()
