"""Each exercise tells its mistakes apart, names each of them, and accepts its own solution."""

import ast
import importlib
import inspect
import itertools
import re

import pytest
import torch
from exercise_banks import BANK, BANK_MODULES, CODE, EXERCISES, PREDICTIONS, WITH_NORM, known
from project import NOTEBOOK_PATHS

from lnorm_utils.checking.causes import Cause
from lnorm_utils.checking.comparing import plain, same
from lnorm_utils.checking.exercise import Exercise
from lnorm_utils.checking.feedback import State, first_sentence
from lnorm_utils.checking.prediction import ROUNDED, Prediction
from lnorm_utils.lab.lesson_files import exercises, main_way, read, topics
from lnorm_utils.slips.beliefs import Belief

# Rounding to float16 changes a number by 1/2000 at most, and where that's the mistake, so be it.
APART = {"careful_norm": 50}
NUMBERS = dict(zip(["zero", "one", "two", "three", "four", "five"], range(6), strict=True))
NUMBERS |= dict(zip(["six", "seven", "eight", "nine", "ten"], range(6, 11), strict=True))
NUMBERS |= {"once": 1, "twice": 2, "half": 0.5, "quarter": 0.25, "none": 0, "hundred": 100}
KNOWN = [(exercise, one) for exercise in EXERCISES for one in known(exercise)]


def label(value):
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    return name or first_sentence(getattr(value, "message", str(value)))


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


def test_every_choice_is_a_value_that_the_bank_knows():
    with_choices = [exercise for exercise in PREDICTIONS if exercise.choices]
    for exercise in with_choices:
        values = [value for value, *_ in (*exercise.answers, *exercise.wrong)]
        assert set(exercise.choices) <= set(values)
    assert with_choices


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=label)
def test_the_values_of_a_prediction_differ_even_if_they_are_rounded(exercise):
    values = [exercise.answers[0][0], *(wrong.value for wrong in exercise.wrong)]
    for one, other in itertools.combinations(values, 2):
        assert not same(one, other, 1.5 * max(exercise.within, ROUNDED)), f"{one}, {other}"


@pytest.mark.parametrize("module", BANK_MODULES, ids=label)
def test_no_value_is_written_down_twice(module):
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Dict):
            keys = [ast.unparse(key) for key in node.value.keys if key]
            assert len({eval(key, vars(module)) for key in keys}) == len(keys), keys


@pytest.mark.parametrize("module", BANK_MODULES, ids=label)
def test_every_exercise_of_a_file_is_in_a_bank_under_the_name_of_its_variable(module):
    exercises = {n: value for n, value in vars(module).items() if isinstance(value, Exercise)}
    assert exercises == {name: BANK[e.topic][e.name] for name, e in exercises.items()}
    assert all(name == exercise.name for name, exercise in exercises.items())


@pytest.mark.parametrize("topic", BANK)
def test_every_exercise_of_a_bank_can_be_imported_from_the_file_of_its_topic(topic):
    module = importlib.import_module(f"lnorm_utils.exercises.{topic}")
    assert [name for name in BANK[topic] if vars(module).get(name) is not BANK[topic][name]] == []


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
    return not same(one, other, APART.get(exercise.name, 1000) * exercise.within)


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


def gives_away(name, answer):
    """Tell whether all words of an answer, or all its numbers, stand in a name."""
    parts = name.split("_")
    if isinstance(answer, str):
        return {*re.findall(r"\w+", answer.lower())} <= {*parts}
    said = {float(number) for number in re.findall(r"\d+", name)}
    said |= {float(number.replace("_", ".")) for number in re.findall(r"\d+_\d+", name)}
    said |= {NUMBERS[part] for part in parts if part in NUMBERS}
    numbers = answer if isinstance(answer, tuple) else (answer,)
    return {round(abs(number), 2) for number in numbers} <= said


def test_the_name_of_a_prediction_does_not_give_its_answer_away():
    told = [("ten", 10), ("at_0_71", 0.5**0.5), ("minus_3", -3), ("two_by_4", (2, 4))]
    told += [("half_left", 0.5), ("still_nan", "NaN"), ("post_ln_wins", "post-LN")]
    assert all(gives_away(*one) for one in told)
    named = [(e.name, plain(value)) for e in PREDICTIONS for value, _ in e.answers]
    assert [one for one in named if gives_away(*one)] == []


@pytest.mark.parametrize("path", NOTEBOOK_PATHS, ids=lambda path: path.stem)
def test_the_exercises_that_a_lesson_asks_after_its_recap_are_those_marked_further(path):
    lesson = read(path)
    main = exercises(main_way(lesson))
    asked = {name: name not in main for name in exercises(lesson)}
    assert asked == {e.name: e.further for topic in topics(lesson) for e in BANK[topic].values()}


@pytest.mark.parametrize("lesson", BANK)
def test_a_lesson_has_three_predictions_and_two_code_exercises_at_least(lesson):
    predictions = [isinstance(exercise, Prediction) for exercise in BANK[lesson].values()]
    assert sum(predictions) >= 3
    assert len(predictions) - sum(predictions) >= 2


def test_all_misconceptions_are_recognized_by_name():
    recognized = {one.belief for _, one in KNOWN}
    recognized |= {slip.belief for exercise in WITH_NORM for slip in exercise.search.slips}
    assert set(Belief) - recognized == set()
