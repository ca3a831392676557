"""In a program with gaps, what is marked as wrong is wrong, and whatever isn't is right."""

import pytest
from exercise_banks import CODE

from lnorm_utils.checking.choosing import FOLDER, templates_in


def named(exercise):
    return exercise.name


@pytest.mark.parametrize("exercise", CODE, ids=named)
def test_one_wrong_piece_makes_a_program_wrong_and_none_makes_it_right(exercise):
    template = exercise.template
    for chosen in template.programs:
        marked = template.marked(chosen)
        if len(marked) < 2:
            is_right = exercise.is_right_with(chosen)
            assert is_right != bool(marked), template.program(chosen)


def test_each_template_belongs_to_an_exercise():
    templates = {(f.stem, name) for f in FOLDER.iterdir() for name in templates_in(f)}
    assert templates == {(exercise.topic, exercise.name) for exercise in CODE}
