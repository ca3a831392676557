"""Whatever a student hands in, one sentence comes back, and it is true."""

import contextlib
import math
import re
import signal

import numpy as np
import pytest
import torch
from exercise_banks import words_of

from lnorm_utils.exercises import Exercise
from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine import exercise
from lnorm_utils.exercises.engine import running as attempts
from lnorm_utils.exercises.engine.feedback import State


@pytest.fixture
def number():
    made = Exercise("00_test", "number", hints=["Count.", "Count again."], within=0.01)

    @made.answer
    def three():
        "One, two, three."
        return 3.0

    @made.mistake(Belief.ONE_MEAN_PER_SENTENCE)
    def one_too_few():
        "You began at zero."
        return 2.0

    return made


@pytest.fixture
def rows():
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    made = Exercise("00_test", "rows", hints=["Sum."], inputs=[(x,), (x + 1,)])

    @made.answer
    def sums(x):
        return x.sum(-1)

    @made.mistake()
    def columns(x):
        """You summed
        the columns."""
        return x.sum(0)

    return made


@pytest.mark.parametrize("attempt", [3, 3.0, 3.009, torch.tensor(3), np.float32(3), np.array(3)])
def test_a_number_is_right_in_any_form(number, attempt):
    feedback = number.check(attempt)
    assert (feedback.state, repr(feedback)) == (State.RIGHT, "Right: One, two, three.")


def test_a_known_mistake_is_named_with_its_belief(number):
    assert repr(number.check(2)) == (
        "Not yet: one too few. You began at zero. "
        "(A common belief: there is one mean for each sentence.)"
    )


@pytest.mark.parametrize("attempt", [..., None])
def test_no_attempt_is_not_a_wrong_one(number, rows, attempt):
    assert number.check(attempt).state is State.NOT_ATTEMPTED
    assert rows.check(attempt).state is State.NOT_ATTEMPTED
    assert rows.check(lambda x: attempt).state is State.NOT_ATTEMPTED
    assert number.check().state is State.NOT_ATTEMPTED


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


ODD = [Evil(), EvilFloat(3), "three", "", True, False, math.nan, math.inf, -3, 3j, b"3", {}, {3}]
ODD += [[], [3], (3.0,), [[3]], torch.ones(2), torch.ones(0), np.ones(3), range(3), object(), Evil]
ODD += [int, lambda: 3, {"a": 3}, 10**400, iter([3]), slice(3), NotImplemented, type]


@pytest.mark.parametrize("attempt", ODD, ids=lambda value: type(value).__name__)
def test_an_odd_attempt_gets_a_sentence_and_is_never_right(number, rows, attempt):
    for feedback in (number.check(attempt), rows.check(attempt), rows.check(lambda x: attempt)):
        assert feedback.state is State.WRONG
        assert repr(feedback).startswith("Not yet: ")
        assert repr(feedback).endswith(".")
        assert feedback._repr_html_()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x.sum(-1, keepdim=True), "shape (2, 1), and the right one (2,)"),
        (lambda x: x.sum(-1).float(), "dtype torch.float32, and the right one torch.float64"),
        (lambda x: x.sum(-1).numpy(), "the numbers are right, but a torch.Tensor is expected"),
        (lambda x: x.sum(-1).tolist(), "the numbers are right, but a torch.Tensor is expected"),
        (lambda x: x.tolist(), "a torch.Tensor is expected, but your function returned a list"),
        (lambda x: x.sum(-1) + torch.eye(2)[1], "[1]: you have 13, and 12 is right"),
        (lambda x: x.sum(0), "columns. You summed the columns."),
        (lambda x: x.add_(1).sum(-1), "changes its input"),
        (lambda x: x.resize_(3, 2).sum(-1), "changes its input"),
        (lambda x: x.missing, "AttributeError"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
        (lambda x, y: x, "TypeError"),
        (lambda: 3, "TypeError"),
        (lambda x: exit(), "SystemExit"),
        (lambda x: (_ for _ in ()).throw(BaseException("odd")), "BaseException"),
    ],
)
def test_what_is_wrong_with_a_function_is_told(rows, function, words):
    feedback = rows.check(function)
    assert feedback.state is State.WRONG
    assert words in repr(feedback)


def test_a_mistake_that_shows_before_an_error_is_named(rows):
    made = Exercise("00_test", "both", hints=[], inputs=[*rows.inputs, (torch.ones(3),)])
    made.answer(lambda x: x.sum(-1))
    made.mistake()(rows.mistakes[0])
    feedback = made.check(lambda x: x.sum(dim=(0,)) if x.ndim == 2 else x.sum(dim=1))
    assert repr(feedback) == "Not yet: columns. You summed the columns."
    assert "IndexError" in repr(made.check(lambda x: x.sum(dim=1)))


def test_an_exception_is_told_with_its_line_and_no_line_of_ours(rows):
    def broken(x):
        y = x + 1
        return y.no_such_thing

    words = repr(rows.check(broken))
    line = broken.__code__.co_firstlineno + 2
    assert f"AttributeError in line {line} of your cell, `return y.no_such_thing`" in words
    assert "(called with (2, 3))" in words
    assert "lnorm_utils" not in words


def test_a_wrong_value_is_told_with_the_arguments_that_it_came_from():
    made = Exercise("00_test", "times", hints=[], inputs=[(2, "a"), (3, "b")])
    made.answer(lambda number, letter: number * letter)
    assert repr(made.check(lambda number, letter: "aa")) == (
        "Not yet: called with 3, 'b': it is not 'aa', and how you came to it is not known here. "
        "'bbb' is right."
    )


def test_of_a_wrong_prediction_and_of_a_call_with_nothing_no_arguments_are_told(number):
    assert repr(number.check(7)) == (
        "Not yet: it is not 7, and how you came to it is not known here. `.hint()` may help."
    )
    made = Exercise("00_test", "nothing", hints=[], inputs=[()])
    made.answer(lambda: 3)
    assert repr(made.check(lambda: 7)) == (
        "Not yet: it is not 7, and how you came to it is not known here. 3 is right."
    )


def test_a_tensor_among_the_arguments_is_not_written_out():
    made = Exercise("00_test", "mixed", hints=[], inputs=[(torch.ones(2), 3)])
    made.answer(lambda x, number: number)
    assert repr(made.check(lambda x, number: 7)) == (
        "Not yet: it is not 7, and how you came to it is not known here. 3 is right."
    )


def test_what_cannot_be_compared_is_named_by_its_kind(number, rows):
    assert repr(number.check(EvilFloat(3))) == (
        "Not yet: your answer, an EvilFloat, cannot be compared with anything."
    )
    kinds = iter([EvilFloat(3), 3])
    made = Exercise("00_test", "kinds", hints=[], inputs=[(1,), (2,)])
    made.answer(lambda x: 3)
    assert repr(made.check(lambda x: next(kinds))) == (
        "Not yet: your answer, an EvilFloat, an int, cannot be compared with anything."
    )


def test_an_interrupt_while_comparing_ends_the_check(number):
    class Interrupting(float):
        def __float__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        number.check(Interrupting(3))


def test_a_function_that_returns_nothing_yet_is_told_so(rows):
    assert repr(rows.check(lambda x: None)) == ("Not attempted: your function returns nothing yet.")
    assert repr(rows.check(...)) == (
        "Not attempted: replace the three dots and run the cell again."
    )


def test_a_function_that_returns_something_once_is_attempted(rows):
    found = iter([None, torch.ones(2)])
    assert rows.check(lambda x: next(found)).state is State.WRONG


def test_each_of_several_answers_is_right_and_the_first_is_shown_beside_a_wrong_one():
    made = Exercise("00_test", "several", hints=[], inputs=[(1,)])
    made.answer(lambda x: "one")
    made.answer(lambda x: "another")
    assert made.check(lambda x: "another").state is State.RIGHT
    assert repr(made.check(lambda x: "none")).endswith(" 'one' is right.")


def test_a_prediction_rounded_to_two_decimals_is_right_or_a_mistake_with_that_name():
    made = Exercise("00_test", "rounded", hints=[])
    made.answer(lambda: 1.0)

    @made.mistake()
    def a_third():
        "One, not three."
        return 1 / 3

    for attempt, mistake in ((0.33, "a third"), (0.3391, "a third"), (0.34, "")):
        assert made.check(attempt).mistake == mistake
    assert made.check(1.004).state is State.WRONG


def test_what_code_returns_is_a_mistake_only_if_it_is_not_rounded():
    made = Exercise("00_test", "exact", hints=[], inputs=[(1,)])
    made.answer(lambda x: 1.0)
    made.mistake()(lambda x: 1 / 3)
    assert made.check(lambda x: 1 / 3).mistake
    assert not made.check(lambda x: 0.33).mistake


def test_a_tolerance_wider_than_rounding_holds_for_mistakes_too(number):
    assert number.check(2.009).mistake == "one too few"
    assert number.check(2.011).mistake == ""


def test_endless_recursion_is_told(rows):
    def forever(x):
        return forever(x)

    assert "RecursionError" in repr(rows.check(forever))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.stack([sum(row) for row in x]),
        lambda x: (x @ torch.ones(3, 1, dtype=x.dtype)).squeeze(-1),
        lambda x: x.sum(-1).requires_grad_(),
        lambda x: torch.nn.Parameter(x.sum(-1)),
        lambda x: x.t().contiguous().t().sum(-1),
    ],
)
def test_another_route_to_the_answer_is_right(rows, function):
    assert rows.check(function).state is State.RIGHT


def test_what_is_printed_is_kept_back_and_told(rows, capsys):
    feedback = rows.check(lambda x: (print("noise"), x.sum(-1))[1])
    assert repr(feedback) == "Right: What your function printed is not shown."
    assert capsys.readouterr().out == ""


def test_a_slow_function_is_told_so(rows, monkeypatch):
    monkeypatch.setattr(attempts, "SLOW", -1.0)
    assert "without a loop" in repr(rows.check(lambda x: x.sum(-1)))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing stops it on this system")
def test_a_function_that_does_not_end_is_stopped(rows, monkeypatch):
    monkeypatch.setattr(attempts, "SECONDS", 0.2)

    def endless(x):
        while True:
            with contextlib.suppress(Exception):
                x = x + 1

    assert "did not finish" in repr(rows.check(endless))


def test_a_function_cannot_change_the_inputs_of_the_exercise(rows):
    rows.check(lambda x: x.zero_())
    assert rows.check(lambda x: x.sum(-1)).state is State.RIGHT


def test_one_more_hint_is_given_at_each_call(number):
    said = [repr(number.hint()) for _ in range(3)]
    assert said[:2] == ["Hint: 1 of 2. Count.", "Hint: 2 of 2. Count again."]
    assert said[2] == "Hint: there are no more hints. `.solution()` shows the answer."
    assert repr(number.hint()) == said[2]


@pytest.fixture(autouse=True)
def open_solutions(monkeypatch, tmp_path):
    monkeypatch.setattr(exercise, "CLOSED", tmp_path / "not there")


def test_the_solution_is_the_source_of_the_answer_without_decorator(rows):
    assert repr(rows.solution()) == "Solution.\ndef sums(x):\n    return x.sum(-1)"


def test_the_solution_can_be_closed(rows, monkeypatch, tmp_path):
    closed = tmp_path / "closed"
    closed.touch()
    monkeypatch.setattr(exercise, "CLOSED", closed)
    assert repr(rows.solution()) == "Solution: closed by your instructor."


def test_html_says_the_same_words_as_text_and_needs_no_color(number, rows):
    for feedback in (number.check(2), rows.check(lambda x: 1 / 0), number.hint(), rows.solution()):
        words = words_of(feedback._repr_html_())
        letters = re.sub(r"[^\w]", "", words)
        assert letters == re.sub(r"[^\w]", "", re.sub("`", "", repr(feedback))).replace("gtlt", "")
        assert "color" not in feedback._repr_html_()
        assert 'role="status"' in feedback._repr_html_()


def test_what_a_student_writes_cannot_become_html(number):
    assert "<b>" not in number.check("<b>bold</b>")._repr_html_()
    assert "<b>" not in number.check([1, "<b>"])._repr_html_()


@pytest.mark.parametrize(
    ("value", "rights", "wrongs"),
    [
        (
            (3, 2, 1),
            [[3, 2, 1], torch.Size([3, 2, 1]), np.array([3, 2, 1])],
            [(3, 2), (3, 2, 2)],
        ),
        ("rows", ["Rows", " rows "], ["columns", "row s"]),
        (True, [np.True_, torch.tensor(True)], [1, "True", False, 1.0]),
        (2, [2.0, np.int64(2)], [True, "2", 2.1]),
        (math.nan, [float("nan"), torch.tensor(math.nan)], [0.0]),
    ],
)
def test_predictions_of_every_kind_are_read_as_they_are_meant(value, rights, wrongs):
    made = Exercise("00_test", "kind", hints=[])
    made.answer(lambda: value)
    assert all(made.check(right).state is State.RIGHT for right in [value, *rights])
    assert all(made.check(wrong).state is State.WRONG for wrong in wrongs)
