"""Make submissions for lesson 1, and compare their grades with those listed after each cell."""

from lnorm_course.checking.exercise import Exercise
from lnorm_course.exercises import mean

BANK = Exercise.bank[mean.TOPIC]
MAIN = [name for name, exercise in BANK.items() if not exercise.further]
FURTHER = next(name for name in BANK if BANK[name].further)
PREDICTIONS = [exercise for exercise in BANK.values() if exercise.inputs is None]
CODE = [exercise for exercise in BANK.values() if exercise.inputs is not None]
IMPORTS = "import torch\nfrom lnorm_course.exercises.mean import *"


def checked(exercise, attempt, before=""):
    """Write a cell that checks an attempt."""
    return f"{before}\nattempt = {attempt}\n{exercise.name}.check(attempt)"


def solved(exercise, before=""):
    """Write a cell that checks the right answer."""
    code = exercise.shown_solution().code
    if exercise.inputs is None:
        return checked(exercise, code, before)
    return checked(exercise, exercise.answer.__name__, f"{code}\n{before}")


def assert_graded(found, cells):
    """Compare grades with those listed after each cell: an exercise, its state, and a reason.

    The reason is part of the text "mistake: message". All main exercises must have a grade.
    """
    rows = {grade.exercise: grade for grade in found}
    assert [name for name in rows if name in MAIN] == MAIN
    expected = {each.name: (state, why) for _, *grades in cells for each, state, why in grades}
    for name, grade in rows.items():
        state, why = expected.get(name, ("missing", "no cell checks it."))
        assert grade.state == state, grade
        assert why in f"{grade.mistake}: {grade.message}"
