"""How a notebook is read, and how its lesson is known."""

import json
import time

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_course.lab.lesson_files import LessonError
from lnorm_staff.grading.collect.notebooks import exercises_for, read_submission

MEAN = "from lnorm_course.exercises.mean import how_many"


@pytest.mark.parametrize(
    ("cells", "topics"),
    [
        ([MEAN], ["mean"]),
        ([MEAN, "# from lnorm_course.exercises.variance import first"], ["mean"]),
        ([MEAN, "x = 1  # lnorm_course.exercises.variance"], ["mean"]),
        ([MEAN, "%timeit 1\nimport lnorm_course.exercises.variance as v"], ["mean", "variance"]),
        (["from lnorm_course.exercises import progress, variance, mean"], ["variance", "mean"]),
        (["if True:\n    import torch, lnorm_course.exercises.mean"], ["mean"]),
        (["from lnorm_course.exercises import mean  # and not variance"], ["mean"]),
        (["x = = 1  # from lnorm_course.exercises.mean import how_many"], ["variance"]),
    ],
)
def test_a_lesson_is_known_by_its_imports_and_otherwise_by_its_name(cells, topics):
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    found = exercises_for(notebook, "02_variance_of_ada")
    assert list(dict.fromkeys(exercise.topic for exercise in found)) == topics


@pytest.mark.parametrize("filler", ["1," * 5_000_000, "\n" * 5_000_000, " " * 5_000_000])
def test_a_cell_made_to_keep_the_grader_busy_does_not(filler):
    cell = f"{MEAN}\nx = [{filler}]"
    started = time.monotonic()
    found = exercises_for(new_notebook(cells=[new_code_cell(cell)]), "")
    assert {exercise.topic for exercise in found} == {"mean"}
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("sources", [["1"] * 200_000, ["1" + " " * 2_000_000]])
def test_more_than_anybody_writes_is_refused_in_a_sentence(tmp_path, sources):
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (tmp_path / "a.ipynb").write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
    with pytest.raises(LessonError, match=r"^it.* at most [\d,]+ are read\.$"):
        read_submission(tmp_path / "a.ipynb")
