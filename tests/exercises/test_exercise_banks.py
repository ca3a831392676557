"""Each exercise tells its mistakes apart, names each of them, and accepts its own solution."""

import itertools
import re

import pytest
import torch
from exercise_banks import BANK, CODE, EXERCISES, PREDICTIONS, WITH_NORM, known

from lnorm_utils.beliefs import Belief
from lnorm_utils.exercises.engine.comparing import plain, same
from lnorm_utils.exercises.engine.diagnosis import Cause
from lnorm_utils.exercises.engine.feedback import State, first_sentence
from lnorm_utils.exercises.engine.prediction import ROUNDED, Prediction

KNOWN = [(exercise, one) for exercise in EXERCISES for one in known(exercise)]


def label(value):
    return getattr(value, "name", None) or first_sentence(getattr(value, "message", str(value)))


every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=label)


@every_exercise
def test_the_solution_as_it_is_shown_is_right(exercise):
    code = exercise.shown_solution().code
    if isinstance(exercise, Prediction):
        attempt = eval(code)
    else:
        names = {"torch": torch}
        exec(code, names)
        attempt = list(names.values())[-1]
    assert exercise.judge(attempt).state is State.RIGHT


def test_every_other_right_value_is_right_and_told_its_own_words():
    others = [(p, *answer) for p in PREDICTIONS for answer in p.answers[1:]]
    for exercise, value, reason in others:
        feedback = exercise.judge(value)
        assert (feedback.state, feedback.message) == (State.RIGHT, reason)
    assert others


@pytest.mark.parametrize(("exercise", "one"), KNOWN, ids=label)
def test_a_mistake_is_named_with_its_own_message(exercise, one):
    feedback = exercise.judge(one.attempt)
    assert feedback.state is State.WRONG
    assert feedback.message.startswith(one.message)  # and then maybe of an error
    assert feedback.mistake == first_sentence(one.message)
    assert feedback.beliefs == ((one.belief,) if one.belief else ())


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=label)
def test_the_values_of_a_prediction_differ_even_if_they_are_rounded(exercise):
    values = [exercise.answers[0][0], *(wrong.value for wrong in exercise.wrong)]
    for one, other in itertools.combinations(values, 2):
        assert not same(one, other, 1.5 * max(exercise.within, ROUNDED)), f"{one}, {other}"


@pytest.mark.parametrize("exercise", CODE, ids=label)
def test_answer_and_mistakes_are_far_more_than_the_tolerance_apart(exercise):
    inputs = range(len(exercise.inputs))
    results = {"right": exercise.right} | {
        mistake.__doc__: [exercise.search.result(Cause(mistake, ()), n) for n in inputs]
        for mistake in exercise.mistakes
    }
    for one, other in itertools.combinations(results, 2):
        pairs = zip(results[one], results[other], strict=True)
        assert any(differ(exercise, a, b) for a, b in pairs), f"{one} {other}"


def differ(exercise, one, other):
    return not same(one, other, 1000 * exercise.within)


@every_exercise
def test_there_are_hints_and_none_contains_the_answer(exercise):
    assert len(exercise.hints) >= 2
    code = exercise.shown_solution().code
    answer = plain(eval(code)) if isinstance(exercise, Prediction) else code.rsplit("return ")[-1]
    for hint in exercise.hints:
        assert not re.search(rf"(?<![\w.]){re.escape(str(answer))}(?![\w.])", hint, re.IGNORECASE)


@every_exercise
def test_every_wrong_answer_has_a_message_of_its_own(exercise):
    messages = [one.message for one in known(exercise)]
    assert len(set(messages)) == len(messages)
    assert len(messages) >= 2 or exercise in WITH_NORM  # there the slips of layer norm are known
    assert all(message.endswith(".") and "!" not in message for message in messages)


def test_no_two_exercises_have_the_same_name():
    assert len({exercise.name for exercise in EXERCISES}) == len(EXERCISES)


@pytest.mark.parametrize("lesson", BANK)
def test_a_lesson_has_three_predictions_and_two_code_exercises_at_least(lesson):
    predictions = [isinstance(exercise, Prediction) for exercise in BANK[lesson].values()]
    assert sum(predictions) >= 3
    assert len(predictions) - sum(predictions) >= 2


def test_all_misconceptions_are_recognized_by_name():
    recognized = {one.belief for _, one in KNOWN}
    recognized |= {slip.belief for exercise in WITH_NORM for slip in exercise.search.slips}
    assert set(Belief) - recognized == set()
