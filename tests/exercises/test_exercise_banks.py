"""Each exercise tells its mistakes apart, names each of them, and accepts its own solution."""

import ast
import inspect
import itertools
import re

import pytest
import torch
from exercise_banks import BANK, BANK_MODULES, CODE, EXERCISES, PREDICTIONS, WITH_NORM, known
from project import NOTEBOOK_PATHS

from lnorm_course.checking.causes import Cause
from lnorm_course.checking.choosing import FOLDER, templates_in
from lnorm_course.checking.comparing import plain, same
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import Feedback, State, first_sentence
from lnorm_course.checking.prediction import ROUNDED, Prediction
from lnorm_course.lab.lesson_files import exercises, main_way, read, topics
from lnorm_course.slips.beliefs import Belief

# Rounding to float16 changes a number by 1/2000 at most, and where that's the mistake, so be it.
APART = {"careful_norm": 50}


def of_code(exercise):
    """Return the solution of an exercise, as it is shown and run anew."""
    code = exercise.shown_solution().code
    if isinstance(exercise, Prediction):
        return eval(code)
    names = {"torch": torch}
    exec(code, names)
    return [*names.values()][-1]


def test_the_solutions_as_they_are_shown_are_right():
    judged = {e.name: e.judge(of_code(e)).state for e in EXERCISES}
    assert judged == dict.fromkeys(judged, State.RIGHT)


def test_every_other_right_value_is_right_and_told_its_own_words():
    others = [(p, *answer) for p in PREDICTIONS for answer in p.answers[1:]]
    for exercise, value, reason in others:
        assert exercise.judge(value) == Feedback(State.RIGHT, reason)
    assert others


def unnamed(exercise):
    """List the mistakes that an exercise knows and doesn't name: each with what is said."""
    judged = [(one, exercise.judge(one.attempt)) for one in known(exercise)]
    return [(one.message, told) for one, told in judged if not is_named(one, told)]


def is_named(one, feedback):
    return (
        feedback.state is State.WRONG
        and feedback.message.startswith(one.message)  # and then maybe of an error
        and feedback.mistake == first_sentence(one.message)
        and feedback.beliefs == ((one.belief,) if one.belief else ())
    )


each_in_code = pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)


@each_in_code
def test_the_mistakes_in_code_are_named_with_their_own_messages(exercise):
    assert unnamed(exercise) == []


def test_the_wrong_values_of_the_predictions_are_named_with_their_own_messages():
    assert {e.name: told for e in PREDICTIONS if (told := unnamed(e))} == {}


def test_every_choice_is_a_value_that_the_bank_knows():
    with_choices = [exercise for exercise in PREDICTIONS if exercise.choices]
    for exercise in with_choices:
        values = [value for value, *_ in (*exercise.answers, *exercise.wrong)]
        assert set(exercise.choices) <= set(values)
    assert with_choices


def test_the_values_of_a_prediction_differ_even_if_they_are_rounded():
    for exercise in PREDICTIONS:
        values = [exercise.answers[0][0], *(wrong.value for wrong in exercise.wrong)]
        within = 1.5 * max(exercise.within, ROUNDED)
        pairs = itertools.combinations(values, 2)
        assert [pair for pair in pairs if same(*pair, within)] == [], exercise.name


def test_no_value_is_written_down_twice():  # of a text, its reader sees to that
    for module in (module for module in BANK_MODULES if module.__file__.endswith(".py")):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.keyword) and isinstance(node.value, ast.Dict):
                keys = [ast.unparse(key) for key in node.value.keys if key]
                assert len({eval(key, vars(module)) for key in keys}) == len(keys), keys


def test_every_exercise_of_a_file_is_in_a_bank_under_the_name_of_its_variable():
    for module in BANK_MODULES:
        found = {n: value for n, value in vars(module).items() if isinstance(value, Exercise)}
        assert found == {name: BANK[e.topic][e.name] for name, e in found.items()}
        assert all(name == exercise.name for name, exercise in found.items())


@each_in_code
def test_answer_and_mistakes_are_far_more_than_the_tolerance_apart(exercise):
    inputs = range(len(exercise.inputs))
    results = {"right": exercise.right} | {
        mistake.__doc__: [exercise.search.result(Cause(mistake, ()), n) for n in inputs]
        for mistake in exercise.mistakes
        if mistake not in exercise.of_pieces
    }
    within = APART.get(exercise.name, 1000) * exercise.within
    for one, other in itertools.combinations(results, 2):
        pairs = zip(results[one], results[other], strict=True)
        assert not all(same(a, b, within) for a, b in pairs), f"{one} {other}"


@each_in_code
def test_one_wrong_piece_makes_a_program_with_gaps_wrong_and_none_makes_it_right(exercise):
    template = exercise.template
    marked = {chosen: len(template.marked(chosen)) for chosen in template.programs}
    few = {chosen: not wrong for chosen, wrong in marked.items() if wrong < 2}
    judged = {chosen: exercise.is_right_with(chosen) for chosen in few}
    assert [template.program(chosen) for chosen in few if judged[chosen] != few[chosen]] == []


def test_every_exercise_in_code_has_a_program_with_gaps():
    assert [exercise.name for exercise in CODE if not exercise.template] == []
    templates = {(f.stem, name) for f in FOLDER.iterdir() for name in templates_in(f)}
    assert templates <= {(exercise.topic, exercise.name) for exercise in CODE}


def test_there_are_hints_and_none_contains_the_answer():
    for exercise in EXERCISES:
        assert len(exercise.hints) >= 2, exercise.name
        code = exercise.shown_solution().code
        is_value = isinstance(exercise, Prediction)
        answer = str(plain(eval(code)) if is_value else code.rsplit("return ")[-1])
        if answer.isidentifier() and not is_value:  # such as `y`, which gives nothing away
            continue
        given = re.compile(rf"(?<![\w.]){re.escape(answer)}(?!\w|\.\d)", re.IGNORECASE)
        assert [hint for hint in exercise.hints if given.search(hint)] == [], exercise.name


def test_every_wrong_answer_has_a_message_of_its_own():
    for exercise in EXERCISES:
        messages = [one.message for one in known(exercise)]
        assert len(set(messages)) == len(messages), exercise.name
        pieces = exercise.of_pieces if exercise in CODE else ()
        # Where there's a norm, its slips are known.
        assert len(messages) + len(pieces) >= 2 or exercise in WITH_NORM
        assert [m for m in messages if not m.endswith(".") or "!" in m] == []


def test_no_two_exercises_have_the_same_name():
    assert len({exercise.name for exercise in EXERCISES}) == len(EXERCISES)


def test_the_exercises_that_a_lesson_asks_after_its_recap_are_those_marked_further():
    for lesson in map(read, NOTEBOOK_PATHS):
        main = exercises(main_way(lesson))
        asked = {name: name not in main for name in exercises(lesson)}
        assert asked == {e.name: e.further for t in topics(lesson) for e in BANK[t].values()}


def test_all_misconceptions_are_recognized_by_name():
    recognized = {one.belief for exercise in EXERCISES for one in known(exercise)}
    recognized |= {slip.belief for exercise in WITH_NORM for slip in exercise.search.slips}
    assert set(Belief) - recognized == set()
