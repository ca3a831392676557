"""In a program with gaps, what is marked as wrong is wrong, and whatever isn't is right."""

import pytest
from exercise_banks import CODE

from lnorm_utils.checking.choosing import FOLDER, templates_in


@pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)
def test_one_wrong_piece_makes_a_program_wrong_and_none_makes_it_right(exercise):
    template = exercise.template
    marked = {chosen: len(template.marked(chosen)) for chosen in template.programs}
    few = {chosen: not wrong for chosen, wrong in marked.items() if wrong < 2}
    judged = {chosen: exercise.is_right_with(chosen) for chosen in few}
    assert [template.program(chosen) for chosen in few if judged[chosen] != few[chosen]] == []


def test_each_template_belongs_to_an_exercise():
    templates = {(f.stem, name) for f in FOLDER.iterdir() for name in templates_in(f)}
    assert templates == {(exercise.topic, exercise.name) for exercise in CODE}
