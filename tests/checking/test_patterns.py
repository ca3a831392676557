"""What a loop, `reshape`, or rounding did to right numbers is told, if it is sure."""

import pytest
import torch
from exercise_banks import CODE

from lnorm_utils.checking.feedback import State
from lnorm_utils.checking.patterns import unfinished
from lnorm_utils.checking.sizes import only_these_fit, perhaps_only_these_fit, shapes_in
from lnorm_utils.exercises.mean import center, row_means

RIGHT = torch.arange(1.0, 13).reshape(2, 2, 3).double() / 7
CUBE = [RIGHT, 2 * RIGHT]


def alone(part):
    """Keep a part of the numbers, as a loop does that writes into zeros and ends too early."""
    return lambda right: torch.zeros_like(right).index_put((torch.tensor([part]),), right[part])


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda right: right[0], "first part"),
        (alone(0), "loop end too early"),
        (alone(1), "loop end too early"),
        (lambda right: right.transpose(0, 1), "in the wrong places"),
        (lambda right: right.flip(-1), "in the wrong places"),
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


def looped(sizes):
    """Center a tensor in a loop over fixed sizes."""

    def attempt(x):
        y = torch.zeros_like(x)
        for i in range(sizes[0]):
            for j in range(sizes[1]):
                y[i, j] = x[i, j] - x[i, j].mean()
        return y

    return attempt


@pytest.mark.parametrize(
    ("exercise", "attempt", "words"),
    [
        (row_means, lambda x: x.sum(-1, keepdim=True) / 4, "fits only sizes such as"),
        (row_means, lambda x: x.reshape(6, 4).mean(-1).reshape(3, 2, 1), "fits only sizes"),
        (center, lambda x: x - x.mean(-1).reshape(3, 2, 1), "fits only sizes"),
        (center, looped((3, 2)), "a fixed number"),
        (center, lambda x: x - (x.mean(-1, keepdim=True) + x.shape[0] - 3), "a fixed number"),
        (center, lambda x: x - 1 / (x.shape[0] - 5), "ZeroDivisionError"),
    ],
)
def test_an_answer_that_is_right_for_the_sizes_of_the_first_input_alone_is_told_so(
    exercise, attempt, words
):
    feedback = exercise.judge(attempt)
    assert feedback.state is State.WRONG
    assert words in feedback.message


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


def shapes_of(exercise):
    """Yield the shapes of all tensors that the exercise gives, with the number of the argument."""
    for arguments in exercise.inputs:
        for place, argument in enumerate(arguments):
            yield from ((place, shape) for shape in shapes_in(argument))


@pytest.mark.parametrize(
    "exercise",
    # A class gets its sizes when it is made, and the names of a dict have sizes of their own.
    [e for e in CODE if not e.use_class and e.name != "first_wrong"],
    ids=lambda exercise: exercise.name,
)
def test_no_size_is_the_same_in_all_inputs(exercise):
    sizes = {}
    for place, shape in shapes_of(exercise):
        for axis, size in enumerate(shape):
            sizes.setdefault((exercise.name, place, axis), set()).add(size)
    stuck = {key for key, found in sizes.items() if len(found) == 1}
    assert stuck <= {*FIXED}, "give it an input with other sizes, or say in FIXED why it has none"
