"""What the table of today's models shows."""

import re

from lnorm_course.lessons.todays_models import MODELS


def test_a_place_is_a_formula_of_a_branch_its_norms_and_the_stream():
    for each in MODELS:
        steps = re.findall(r"norm|f(?=\()", each.place)
        assert steps.count("f") == 1
        assert len(steps) <= 3
        plain = {"norm": lambda x: x, "f": lambda x: 2 * x, "x": 1}
        assert eval(each.place, {}, plain) == 3
