"""Each exercise accepts its own solution, and its mistakes are far apart.

What else a text has to hold, `lnorm_staff.check_lesson` tells and `test_check_lesson` tests.
"""

import itertools

import pytest
import torch
from exercise_banks import BANK, CODE, EXERCISES, WITH_NORM, known
from project import NOTEBOOK_PATHS

from lnorm_course.checking.comparing import same
from lnorm_course.checking.feedback import State
from lnorm_course.checking.prediction import Prediction
from lnorm_course.checking.running import tensors
from lnorm_course.lab.lesson_files import exercises, main_way, read, topics
from lnorm_diagnose.slips.misconceptions import Misconception

# Rounding to float16 changes a number by 1/2000 at most, and where that's the mistake, so be it.
APART = {"careful_norm": 50}


def of_code(exercise):
    """Return the solution of an exercise, as it is shown and run anew."""
    code = exercise.shown_solution().code
    if isinstance(exercise, Prediction):
        return eval(code)
    names = {"torch": torch, "nn": torch.nn}  # as the lessons import them
    exec(code, names)
    return [*names.values()][-1]


def test_the_solutions_as_they_are_shown_are_right():
    judged = {e.name: e.judge(of_code(e)).state for e in EXERCISES}
    assert judged == dict.fromkeys(judged, State.RIGHT)


each_in_code = pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)


@each_in_code
def test_answer_and_mistakes_are_far_more_than_the_tolerance_apart(exercise):
    inputs = range(len(exercise.inputs))
    results = {"right": exercise.right} | {
        mistake.why: [exercise.search.result((mistake,), n) for n in inputs]
        for mistake in exercise.search.mistakes
    }
    broken = {"AttributeError", "NameError"}  # a mistake of this bank, not of a student
    assert not [why for why, r in results.items() if {getattr(v, "kind", "") for v in r} & broken]
    tol = APART.get(exercise.name, 1000) * exercise.tol
    for one, other in itertools.combinations(results, 2):
        pairs = zip(results[one], results[other], strict=True)
        assert not all(same(a, b, tol) for a, b in pairs), f"{one} {other}"


def test_the_exercises_that_a_lesson_asks_after_its_recap_are_those_marked_further():
    for lesson in map(read, NOTEBOOK_PATHS):
        main = exercises(main_way(lesson))
        asked = {name: name not in main for name in exercises(lesson)}
        assert asked == {e.name: e.further for t in topics(lesson) for e in BANK[t].values()}


def test_all_misconceptions_are_recognized_by_name():
    recognized = {each for e in EXERCISES for one in known(e) for each in one.misconceptions}
    recognized |= {
        m for e in WITH_NORM for o in e.search.model_distractors for m in o.misconceptions
    }
    assert set(Misconception) - recognized == set()


# Sizes that all inputs share, as (exercise, number of the argument, axis), and why.
FIXED = {
    ("rescue", 0, 1): "the text fixes `nn.Linear(2, 6)`",
    ("rescue", 1, 0): "the text fixes `nn.Linear(2, 6)`",
    ("rescue", 1, 1): "the text fixes `nn.Linear(2, 6)`",
    ("rescue", 2, 0): "the text fixes `nn.Linear(2, 6)`",
    ("point_back", 1, 1): "the text fixes points with two numbers",
    ("bring_back", 2, 2): "it's 1, from `keepdim=True`",
    ("way_back", 3, 2): "it's 1, from `keepdim=True`",
    ("way_back", 4, 2): "it's 1, from `keepdim=True`",
}


def test_no_size_is_the_same_in_all_inputs():
    # A class gets its sizes when it is made, and the names of a dict have sizes of their own.
    sizes = {}
    for exercise in (e for e in CODE if not e.use_class and e.name != "first_wrong"):
        for place, argument in ((n, a) for given in exercise.inputs for n, a in enumerate(given)):
            for axis, size in (
                pair for each in tensors(argument) for pair in enumerate(each.shape)
            ):
                sizes.setdefault((exercise.name, place, axis), set()).add(size)
    stuck = {key for key, found in sizes.items() if len(found) == 1}
    assert stuck <= {*FIXED}, "give it an input with other sizes, or say in FIXED why it has none"
