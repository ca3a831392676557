"""What wrong numbers alone show is told if it's sure, and nothing else."""

import pytest
import torch
from exercise_banks import BY_NAME

from lnorm_course.checking.patterns import only_these_fit, pattern, perhaps_only_these_fit

RIGHT = torch.arange(1.0, 13).reshape(2, 2, 3).double() / 7
CUBE = [RIGHT, 2 * RIGHT]
COUNTED = torch.arange(12).reshape(3, 4).T.reshape(-1)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda right: right[0], "first part"),
        (lambda right: right[0, 0], "first part"),
        (lambda right: right.reshape(-1)[COUNTED].reshape(2, 2, 3), "in the wrong places"),
        (lambda right: right.flip(-1), "in the wrong places"),
        (lambda right: right.transpose(0, 1), "axes 0 and 1 have changed places"),
        (lambda right: right.transpose(1, 2), "axes 1 and 2 have changed places"),
        (lambda right: right[..., None], ""),
        (lambda right: -right, "−1 times the right one"),
        (lambda right: right.flip(-1) * 2, ""),
        (lambda right: right + 2, "the right one plus 2"),
        (lambda right: 3 * right, "3 times the right one"),
        (lambda right: right.round(decimals=2), "to 2 decimals"),
        (lambda right: right.round(), "to whole numbers"),
        (lambda right: right.float().half().double(), "to float16"),
        (lambda right: right.bfloat16().double(), "to bfloat16"),
        (lambda right: right + 3e-5, "plus 3e"),
        (lambda right: right + 3e-5 * torch.rand(right.shape).double(), ""),
        (lambda right: 1.0003 * right + 1e-4 * torch.rand(right.shape).double(), ""),
        (lambda right: right.sign(), ""),
        (lambda right: 0 * right, ""),
        (lambda right: right.sum(), ""),
        (lambda right: right.int(), ""),
        (lambda right: right.tolist(), ""),
    ],
)
def test_what_was_done_to_right_numbers_is_told_and_nothing_else(attempt, words):
    said = pattern([attempt(right) for right in CUBE], CUBE, 1e-6)
    assert words in said
    assert bool(words) is bool(said)


def test_right_numbers_in_one_result_of_two_tell_nothing():
    assert pattern([RIGHT[0], RIGHT], CUBE, 1e-6) == ""
    assert pattern([RIGHT.flip(0), 3 * RIGHT], CUBE, 1e-6) == ""


def test_what_could_be_two_things_is_told_as_both_or_not_at_all():
    alike = [1000 + torch.arange(4.0) / 100]
    said = pattern([alike[0] + 500], alike, 1e-6)
    assert "1.5 times the right one or the right one plus 500" in said
    i, j, k = torch.meshgrid(*3 * [torch.arange(3.0)], indexing="ij")
    volume = (i - j) * (j - k) * (k - i)  # each two of its axes can have changed places
    assert "two axes have changed places" in pattern([-volume], [volume], 1e-6)
    assert pattern([torch.full((3, 4), 3.0)], [torch.full((3, 4), 2.0)], 1e-6) == ""


def test_numbers_alone_are_compared_as_well():
    assert "−2 times the right one" in pattern([-2.0, -3.0, -5.0], [1.0, 1.5, 2.5], 1e-6)
    assert pattern([True, 2.0, 2.0], [1.0, 1.0, 1.0], 1e-6) == ""
    assert pattern([2.0], [1.0], 1e-6) == ""


def test_right_numbers_in_another_shape_are_told_so():
    feedback = BY_NAME["row_means"].judge(lambda x: x.mean(-1).unsqueeze(-1).unsqueeze(-1))
    assert "numbers are right, but your tensor has shape" in feedback.message


SIZES = [(torch.ones(3, 4),), (torch.ones(2, 4),), (torch.ones(5, 6),), (torch.ones(2, 8),)]


@pytest.mark.parametrize(
    ("attempt", "is_told"),
    [
        (lambda x: x.sum(-1) / 4, True),
        (lambda x: (x.sum(-1) / 4).sqrt(), True),
        (lambda x: x.sum(-1)[:, None].expand(-1, 4) / x.shape[1], False),
        (lambda x: 1.2 * x.sum(-1) / 4, False),
        (lambda x: x.sum(-1) / x.shape[0], False),
    ],
)
def test_an_answer_is_told_of_sizes_if_it_has_those_of_the_first_input(attempt, is_told):
    results = [attempt(*each) for each in SIZES]
    right = [torch.ones(len(each)) for (each,) in SIZES]
    assert bool(only_these_fit(SIZES, [2, 3], results, right)) is is_told
    assert only_these_fit(SIZES, [1, 2, 3], results, right) == ""


def test_sizes_are_in_question_only_where_they_tell_right_from_wrong():
    assert perhaps_only_these_fit(SIZES, [2, 3]) != ""
    assert perhaps_only_these_fit(SIZES, [1, 3]) == perhaps_only_these_fit(SIZES, [0, 1]) == ""
    assert "(3, 4), not (5, 6)" in only_these_fit(SIZES[:3], [2], [], [], failed=True)
    assert only_these_fit(SIZES[:2], [0], [], [], failed=True) == ""
    other_axes = [*SIZES[:2], (torch.ones(4),)]
    assert only_these_fit(other_axes, [2], [], [], failed=True) == ""
