"""What wrong numbers alone show is told if it's sure, and nothing else."""

import pytest
import torch
from exercise_banks import BY_NAME

from lnorm_course.checking.patterns import only_these_fit, pattern

RIGHT = torch.arange(1.0, 13).reshape(2, 2, 3).double() / 7
CUBE = [RIGHT, 2 * RIGHT]


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda right: right[0], "first index"),
        (lambda right: right[0, 0], "first index"),
        (lambda right: right.flip(-1), "in the wrong places"),
        (lambda right: right.transpose(0, 1), "axes 0 and 1 are swapped"),
        (lambda right: right.transpose(1, 2), "axes 1 and 2 are swapped"),
        (lambda right: -right, "−1 times the right one"),
        (lambda right: 3 * right, "3 times the right one"),
        (lambda right: 1.0003 * right + 1e-4 * torch.rand(right.shape).double(), ""),
        *((lambda right, f=f: f(right), "") for f in (
            torch.sign, torch.sum, torch.zeros_like, torch.Tensor.int, torch.Tensor.tolist,
            lambda r: r.flip(-1) * 2, lambda r: r[..., None], lambda r: 1e-17 * r.flip(-1),
            lambda r: torch.full_like(r, torch.nan),
        )),
    ],
)  # fmt: skip
def test_what_was_done_to_right_numbers_is_told_and_nothing_else(attempt, words):
    said = pattern([attempt(right) for right in CUBE], CUBE, 1e-6)
    assert words in said
    assert bool(words) is bool(said)


def test_what_holds_for_one_result_or_for_few_numbers_tells_nothing():
    assert pattern([RIGHT[0], RIGHT], CUBE, 1e-6) == ""
    assert pattern([RIGHT.flip(0), 3 * RIGHT], CUBE, 1e-6) == ""
    assert pattern([torch.full((3, 4), 3.0)], [torch.full((3, 4), 2.0)], 1e-6) == ""
    assert pattern([torch.eye(2).bool()], [~torch.eye(2).bool()], 1e-6) == ""


def test_right_numbers_in_another_shape_are_told_so():
    feedback = BY_NAME["row_means"].judge(lambda x: x.mean(-1).unsqueeze(-1).unsqueeze(-1))
    assert "numbers are right, but your tensor has shape" in feedback.message


SIZES = [(torch.ones(3, 4),), (torch.ones(2, 4),), (torch.ones(5, 6),), (torch.ones(2, 8),)]


def test_sizes_are_in_question_only_where_they_tell_right_from_wrong():
    assert "(3, 4), not (5, 6)" in only_these_fit(SIZES[:3], [2])
    assert only_these_fit(SIZES, [2, 3]) != ""
    other_axes = [*SIZES[:2], (torch.ones(4),)]
    for inputs, wrong in ((SIZES[:2], [0]), (other_axes, [2]), (SIZES, [1, 3])):
        assert only_these_fit(inputs, wrong) == ""
