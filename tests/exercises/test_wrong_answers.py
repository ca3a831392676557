"""No wrong answer is called right, also none that the banks have never seen."""

import pytest
import torch
import torch.nn.functional as F
from exercise_banks import EXERCISES
from wrong_answers import FOOLING, WRONG

from lnorm_utils.examples import normal
from lnorm_utils.exercises.engine.feedback import State

BY_NAME = {exercise.name: exercise for exercise in EXERCISES}
CASES = [
    pytest.param(name, attempt, id=f"{name}-{number}")
    for name, attempts in WRONG.items()
    for number, attempt in enumerate(attempts)
]
FOOLING_CASES = [
    pytest.param(name, attempt, id=f"{name}-{number}")
    for name, attempts in FOOLING.items()
    for number, attempt in enumerate(attempts)
]

ROWS = normal(4, 8, 256, seed=0)
ONES, ZEROS = torch.ones(256), torch.zeros(256)
MEAN = ROWS.mean(-1, keepdim=True)
ROOT = (ROWS.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
NORMED = F.layer_norm(ROWS, (256,))
WORDS = normal(16, 16, 256, seed=0)
OTHER = normal(4, 8, 256, seed=1)
IMAGES = normal(2, 256, 4, 4, seed=0)

DEEPER = normal(256, 256, seed=2) / 16


def branch(x):
    return (x @ DEEPER).relu()


# What a check would compare with: an input of variance 1 with 256 features, and the right result.
CHECKS = {
    "row_means": ((ROWS,), MEAN),
    "center": ((ROWS,), ROWS - MEAN),
    "row_vars": ((ROWS,), ROWS.var(-1, unbiased=False, keepdim=True)),
    "far_std": ((ROWS,), ROWS.std(-1, unbiased=False, keepdim=True)),
    "formula": ((ROWS, 1e-5), NORMED),
    "add_norm": ((ROWS, OTHER), F.layer_norm(ROWS + OTHER, (256,))),
    "rescale": ((NORMED, ONES, ZEROS), NORMED),
    "way_back": ((NORMED, ONES, ZEROS, MEAN, ROOT), ROWS),
    "words": ((WORDS,), F.batch_norm(WORDS.mT, None, None, training=True).mT),
    "pixels": ((IMAGES,), F.layer_norm(IMAGES.movedim(1, -1), (256,)).movedim(-1, 1)),
    "sphere": ((ROWS,), F.normalize(ROWS - MEAN, dim=-1) * 16),
    "equal_bias": ((ROWS[0],), ROWS[0] / 16),
    "post_ln": ((ROWS, branch), F.layer_norm(ROWS + branch(ROWS), (256,))),
    "pre_ln": ((ROWS, branch), ROWS + branch(NORMED)),
    "ending": ((ROWS, [branch]), F.layer_norm(ROWS + branch(NORMED), (256,))),
}


@pytest.mark.parametrize(("name", "attempt"), CASES)
def test_a_wrong_answer_is_not_right_and_is_told_so_in_a_sentence(name, attempt):
    feedback = BY_NAME[name].judge(attempt)
    assert feedback.state is State.WRONG
    assert feedback.message.strip()
    assert feedback.message.endswith(".")


@pytest.mark.parametrize(("name", "attempt"), FOOLING_CASES)
def test_a_fooling_answer_passes_a_loose_check_on_data_of_variance_1(name, attempt):
    arguments, right = CHECKS[name]
    result = attempt(*(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments))
    assert torch.allclose(result, right, rtol=1e-3, atol=1e-3)


def test_there_are_many_wrong_answers_for_every_exercise_and_for_nothing_else():
    assert len(CASES) >= 90
    assert len(FOOLING_CASES) >= 25
    assert min(len(attempts) for attempts in WRONG.values()) >= 2
    assert sorted(WRONG) == sorted(exercise.name for exercise in EXERCISES)
