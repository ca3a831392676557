"""What a loop, `reshape`, or rounding did to right numbers is told, if it is sure."""

import pytest
import torch
from exercise_banks import CODE

from lnorm_course.checking.factors import sizes_of
from lnorm_course.checking.patterns import off_by_slices, unfinished
from lnorm_course.checking.sizes import only_these_fit, perhaps_only_these_fit, shapes_in
from lnorm_course.exercises.mean import row_means

RIGHT = torch.arange(1.0, 13).reshape(2, 2, 3).double() / 7
CUBE = [RIGHT, 2 * RIGHT]
COUNTED = torch.arange(12).reshape(3, 4).T.reshape(-1)


def alone(part):
    """Keep a part of the numbers, as a loop does that writes into zeros and ends too early."""
    return lambda right: torch.zeros_like(right).index_put((torch.tensor([part]),), right[part])


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda right: right[0], "first part"),
        (alone(0), "loop end too early"),
        (alone(1), "loop end too early"),
        (lambda right: right.reshape(-1)[COUNTED].reshape(2, 2, 3), "in the wrong places"),
        (lambda right: right.transpose(0, 1), "axes 0 and 1 have changed places"),
        (lambda right: right.transpose(1, 2), "axes 1 and 2 have changed places"),
        (lambda right: right.permute(1, 2, 0), "axes are in another order"),
        (lambda right: right.flip(-1), "in reverse order along the last axis"),
        (lambda right: right.roll(1, -1), "in another order along the last axis"),
        (lambda right: right.flip(0), "in reverse order along axis 0"),
        (lambda right: right[..., None], ""),
        (lambda right: -right, "−1 times the right one"),
        (lambda right: right.flip(-1) * 2, ""),
        (lambda right: right + 2, "the right one plus 2"),
        (lambda right: 3 * right, "3 times the right one"),
        (lambda right: right.round(decimals=2), "to 2 decimals"),
        (lambda right: right.round(), "to whole numbers"),
        (lambda right: right + 3e-5, "plus 3e"),
        (lambda right: right + 3e-5 * torch.rand(right.shape).double(), ""),
        (lambda right: right.float().half().double(), "to float16"),
        (lambda right: right.clamp(min=right.median()) - right.median(), ""),
        (lambda right: right * (torch.arange(12).reshape(2, 2, 3) % 5 > 1), ""),
        (lambda right: 1.0003 * right + 1e-4 * torch.rand(right.shape).double(), ""),
        (lambda right: right.clamp(0.5, 1.2), "none is below 0.5 or above 1.2"),
        (lambda right: right.clamp(max=1), "none is above 1."),
        (lambda right: right.clamp(0.5, 1.2) * 1.01, ""),
        (lambda right: right.tanh(), "is tanh of the right one"),
        (lambda right: right.square(), "is the square of the right one"),
        (lambda right: right.sign(), ""),
        (lambda right: 0 * right, ""),
        (lambda right: right.sum(), ""),
        (lambda right: right.int(), ""),
        (lambda right: right.tolist(), ""),
    ],
)
def test_what_was_done_to_right_numbers_is_told_and_nothing_else(attempt, words):
    said = unfinished([attempt(right) for right in CUBE], CUBE, 1e-6)
    assert words in said
    assert bool(words) is bool(said)


def test_right_numbers_in_one_result_of_two_tell_nothing():
    assert unfinished([RIGHT[0], RIGHT], CUBE, 1e-6) == ""
    assert unfinished([RIGHT.flip(0), 3 * RIGHT], CUBE, 1e-6) == ""


RAGGED = [torch.rand(shape).double() + 1 for shape in ((2, 5, 4), (3, 2, 7), (4, 3, 6))]
SIZES = [sizes_of(["g", "fs"], (w, (0,) * n)) for n, w in zip((9, 8, 5), RAGGED, strict=True)]
FIRST_FLIPPED = {4: [-1, 1, 1, 1], 7: [-1, 1, 1, 1, 1, 1, 1], 6: [-1, 1, 1, 1, 1, 1]}


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda right, n: right / right.shape[0], "divided by `g.shape[0]`"),
        (lambda right, n: -right / right.shape[1], "minus the right one divided by `g.shape[1]`"),
        (lambda right, n: right * right.shape[-1] ** 0.5, "times the root of `g.shape[-1]`"),
        (lambda right, n: right * (1 - 1 / right.shape[-1]), "times (n − 1) / n, where n is"),
        (
            lambda right, n: right / (right.shape[0] * right.shape[1]),
            "divided by `(g.shape[1] * g.shape[0])`",
        ),
        (
            lambda right, n: right * right.shape[-1] / right.shape[0],
            "times `(g.shape[-1] / g.shape[0])`",
        ),
        (lambda right, n: right * n, "times `len(fs)`"),
        (lambda right, n: right * (n + 1), ""),
        (lambda right, n: right / right.shape[0] + 1e-3, ""),
    ],
)
def test_a_factor_that_a_size_gives_is_told_with_that_size(attempt, words):
    said = unfinished(
        [attempt(w, n) for n, w in zip((9, 8, 5), RAGGED, strict=True)], RAGGED, 1e-6, SIZES
    )
    assert words in said
    assert bool(words) is bool(said)


def own_factors(right, axes):
    return 2 + torch.rand([n if axis in axes else 1 for axis, n in enumerate(right.shape)])


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda right: right * own_factors(right, (0, 1)), "In each row, all of your numbers"),
        (lambda right: right + own_factors(right, (0, 1)), "off by an amount"),
        (lambda right: right * own_factors(right, (2,)), "each index of the last axis"),
        (lambda right: right * own_factors(right, (1,)), "each index of axis 1"),
        (
            lambda right: right * torch.tensor(FIRST_FLIPPED[right.shape[-1]]),
            "index of the last axis is 0, each of your numbers is −1 times the right one",
        ),
        (lambda right: right * own_factors(right, (0, 2)), ""),
        (lambda right: right * torch.rand(right.shape), ""),
    ],
)
def test_numbers_that_are_off_in_each_slice_by_one_number_are_told_so(attempt, words):
    said = off_by_slices([attempt(right) for right in RAGGED], RAGGED)
    assert words in said
    assert bool(words) is bool(said)
    assert off_by_slices([attempt(RAGGED[0]), *(w.sin() for w in RAGGED[1:])], RAGGED) == ""


def test_numbers_alone_are_compared_as_well():
    assert "−2 times the right one" in unfinished([-2.0, -3.0, -5.0], [1.0, 1.5, 2.5], 1e-6)
    assert unfinished([True, 2.0, 2.0], [1.0, 1.0, 1.0], 1e-6) == ""
    assert unfinished([2.0], [1.0], 1e-6) == ""


def test_right_numbers_in_another_shape_are_told_so():
    feedback = row_means.judge(lambda x: x.mean(-1).unsqueeze(-1).unsqueeze(-1))
    assert "numbers are right, but your tensor has shape" in feedback.message


def test_an_answer_that_is_wrong_for_the_sizes_of_the_first_input_too_is_not_told_of_sizes():
    inputs = [(torch.ones(3, 4),), (torch.ones(3, 4),), (torch.ones(5, 6),)]
    assert perhaps_only_these_fit(inputs, [2]) != ""
    assert perhaps_only_these_fit(inputs, [1, 2]) == ""
    result, right = 1.5 * torch.ones(5), torch.ones(5)
    assert only_these_fit(inputs, [2], result, right, "") != ""
    assert only_these_fit(inputs, [1, 2], result, right, "") == ""
    assert only_these_fit(inputs, [2], 1.2 * result, right, "") == ""


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
            for axis, size in (pair for shape in shapes_in(argument) for pair in enumerate(shape)):
                sizes.setdefault((exercise.name, place, axis), set()).add(size)
    stuck = {key for key, found in sizes.items() if len(found) == 1}
    assert stuck <= {*FIXED}, "give it an input with other sizes, or say in FIXED why it has none"
