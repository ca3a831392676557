"""Each exercise tells its mistakes apart, names each of them, and accepts its own solution."""

import itertools
import re

import pytest
import torch
from exercise_banks import BANK, EXERCISES, MISTAKES, attempt_of, is_prediction

from lnorm_utils.exercises.beliefs import Belief
from lnorm_utils.exercises.engine.comparing import plain, same
from lnorm_utils.exercises.engine.exercise import CLOSED, ROUNDED
from lnorm_utils.exercises.engine.feedback import State


def label(value):
    return getattr(value, "name", None) or getattr(value, "__name__", str(value))


every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=label)


@every_exercise
def test_the_answer_is_right(exercise):
    for answer in exercise.answers:
        assert exercise.judge(attempt_of(exercise, answer)).state is State.RIGHT


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES, ids=label)
def test_a_mistake_is_named_with_its_own_message(exercise, mistake):
    feedback = exercise.judge(attempt_of(exercise, mistake))
    assert feedback.state is State.WRONG
    assert feedback.mistake == mistake.__name__.replace("_", " ")
    assert feedback.message.split() == mistake.__doc__.split()
    assert feedback.belief is exercise.beliefs[mistake]


@every_exercise
def test_answer_and_mistakes_are_far_more_than_the_tolerance_apart(exercise):
    known = {label(f): exercise.expected(f) for f in (exercise.answers[0], *exercise.mistakes)}
    assert len(known) == 1 + len(exercise.mistakes)
    far = 1000 * exercise.within if exercise.inputs else 1.5 * max(exercise.within, ROUNDED)
    for one, other in itertools.combinations(known, 2):
        results = zip(known[one], known[other], strict=True)
        assert any(not same(a, b, far) for a, b in results), f"{one}, {other}"


@every_exercise
def test_the_solution_as_it_is_shown_is_right(exercise):
    names = {"torch": torch}
    exec(exercise.source(), names)
    function = names[exercise.answers[0].__name__]
    assert exercise.judge(attempt_of(exercise, function)).state is State.RIGHT
    if not CLOSED.exists():  # in a copy for students it does
        assert exercise.source() in repr(exercise.solution())


@every_exercise
def test_there_are_hints_and_none_contains_the_answer(exercise):
    assert len(exercise.hints) >= 2
    body = exercise.source().rsplit("return ", 1)[1].strip()
    answer = plain(exercise.answers[0]()) if is_prediction(exercise) else body
    for hint in exercise.hints:
        assert not re.search(rf"(?<![\w.]){re.escape(str(answer))}(?![\w.])", hint, re.IGNORECASE)
        assert body not in hint


@every_exercise
def test_every_mistake_of_an_exercise_has_a_message_of_its_own(exercise):
    messages = [" ".join(mistake.__doc__.split()) for mistake in exercise.mistakes]
    assert len(set(messages)) == len(messages) >= 2
    assert all(message.endswith(".") and "!" not in message for message in messages)


def test_no_two_exercises_have_the_same_name():
    assert len({exercise.name for exercise in EXERCISES}) == len(EXERCISES)


@pytest.mark.parametrize("lesson", BANK)
def test_a_lesson_has_three_predictions_and_two_code_exercises_at_least(lesson):
    predictions = [is_prediction(exercise) for exercise in BANK[lesson].values()]
    assert sum(predictions) >= 3
    assert len(predictions) - sum(predictions) >= 2


def test_all_misconceptions_are_recognized_by_name():
    recognized = {exercise.beliefs[mistake] for exercise, mistake in MISTAKES}
    assert set(Belief) - recognized == set()
