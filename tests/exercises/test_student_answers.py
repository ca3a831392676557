"""Each answer of a student gets the verdict that it deserves, and most mistakes are named."""

import math
from functools import partial

import pytest
import torch
from exercise_banks import BY_NAME, CODE, WITH_NORM
from student_answers import ANSWERS

from lnorm_course.checking.feedback import State
from lnorm_course.checking.search import Explanations
from lnorm_course.slips import models

ANSWERED = dict.fromkeys(answer.exercise for answer in ANSWERS)


def is_as_deserved(answer, feedback):
    """Tell whether feedback has the verdict of an answer, all of its words, and an end."""
    is_whole = answer.state is not State.WRONG or feedback.message.endswith((".", "?"))
    has_words = all(part in feedback.said for part in answer.words)
    return feedback.state is answer.state and has_words and is_whole


@pytest.mark.parametrize("exercise", ANSWERED)
def test_each_answer_gets_its_verdict_and_is_named_for_what_it_does(exercise):
    judged = [(answer, answer.judge()) for answer in ANSWERS if answer.exercise == exercise]
    assert [f"{a.source} → {told}" for a, told in judged if not is_as_deserved(a, told)] == []


# Here and not beside the models, because it looks through what the answers above have made run.
@pytest.mark.parametrize("exercise", WITH_NORM, ids=lambda exercise: exercise.name)
def test_what_a_wrong_piece_gives_is_explained_by_it_or_by_the_exercises_own_mistake(exercise):
    search: Explanations = exercise.search
    numbers = range(len(exercise.right))
    unexplained = []
    for piece in search.model_pieces:
        results = {n: search.result((piece,), n) for n in numbers}
        if all(search.equal(results[n], exercise.right[n]) for n in numbers):
            continue
        found = search.of(results, piece.has)
        is_own = found and found[0][0] in [*search.mistakes, *search.own_pieces]
        if not is_own and (piece,) not in found and piece.counts == 1:
            unexplained.append((piece.why, found))
    assert unexplained == []


def test_each_wrong_piece_changes_something_in_some_exercise():
    silent = {
        (name, piece.code)
        for name in models.__all__
        if isinstance(model := getattr(models, name), models.Model)
        for piece in model.pieces
    }
    silent = {code for _, code in silent}
    for exercise in WITH_NORM:
        search = exercise.search
        for piece in search.model_pieces:
            for n, right in enumerate(exercise.right):
                if not search.equal(search.result((piece,), n), right):
                    silent.discard(piece.code)
                    break
    assert silent == set()


def wrong_forms(exercise):
    """Make values that look like a right value and are not."""
    right = exercise.answers[0][0]
    yield from (1j, [[right]], {0: right}, lambda: right, math.inf, -math.inf, math.nan)
    yield from ("", "nothing", b"right", range(64), torch.full((2, 2), 7.0))
    if isinstance(right, str):
        yield from (f"not {right}", right[:-1], f"{right} {right}", [right], (right,))
    elif isinstance(right, tuple):
        yield from (right[:-1], (*right, 1), tuple(n + 0.5 for n in right))
        yield from (str(right), tuple(map(str, right)), (right,), (right[0], math.nan))
        yield from (set(right), (1j * right[0], *right[1:]))
    else:
        step = max(exercise.choices, default=0.1)  # with choices, the nearest one counts
        yield from (-right or 1, 10 * right or 10, right + step, right - step, 1j * (right or 1))
        yield from (str(right), [right], (right,), {right}, torch.tensor([right]), (right, right))
        yield right == 1


# A whole number, one that may be rounded, a tuple, a word, and one with choices.
@pytest.mark.parametrize("name", ["how_many", "narrow", "shape_left", "whose", "in_pairs"])
def test_a_value_that_only_looks_like_the_right_one_is_not_right(name):
    for value in wrong_forms(BY_NAME[name]):
        assert BY_NAME[name].judge(value).state is State.WRONG, value


WRONG_FORMS = {
    "another dtype": lambda y: y.half(),
    "a list": torch.Tensor.tolist,
    "an array": torch.Tensor.numpy,
    "a tuple": lambda y: (y,),
    "one axis more": lambda y: y[None],
    "without the last row": lambda y: y[:-1],
    "off by a thousandth": lambda y: y + 1e-3,
    "the other sign": lambda y: -y,
    "in place": lambda y: y,
}


@pytest.mark.parametrize("name", ["center", "folded_bias"])  # one knows the slips of layer norm
def test_a_result_that_only_looks_like_the_right_one_is_not_right(name):
    exercise = BY_NAME[name]

    def attempt(form, *arguments):
        y = exercise.answer(*arguments)
        if form == "in place":
            next(a for a in arguments if isinstance(a, torch.Tensor)).add_(1)
        return WRONG_FORMS[form](y)

    judged = {form: exercise.judge(partial(attempt, form)).state for form in WRONG_FORMS}
    assert judged == dict.fromkeys(WRONG_FORMS, State.WRONG)


def test_every_exercise_that_is_code_has_wrong_answers():
    missing = {e.name for e in CODE} - {a.exercise for a in ANSWERS if a.state is State.WRONG}
    assert not missing, "give each of these wrong answers in a file of the folder answers"
