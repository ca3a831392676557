"""What means the same is the same, and what differs is told in a sentence that is true."""

import math

import numpy as np
import pytest
import torch

from lnorm_utils.exercises.engine.comparing import difference, kind_of, plain, same, shown

TABLE = torch.tensor([[1.0, 2.0], [1000.0, 0.0]])
NAN = torch.tensor([1.0, math.nan])


class Liar(torch.Tensor):
    """A tensor that answers for PyTorch whatever it is asked."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        return torch.ones(2)


class Word(str):
    def split(self, *arguments):
        return ["right"]


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (3, 3.0),
        (3.25, 3),
        (2.75, 3),
        (np.float64(3), 3),
        (np.array(3), 3),
        (torch.tensor(3), 3),
        (3, torch.tensor(3.0)),
        (math.nan, math.nan),
        (True, True),
        (np.False_, False),
        (" Row\n  means", "row means"),
        (Word("row"), "ROW"),
        ([2, 3], (2, 3)),
        (torch.Size([2, 3]), (2, 3)),
        (np.array([2, 3]), (2, 3)),
        (torch.tensor([2, 3]), (2, 3)),
        ([2, [3, "A"]], (2, (3, "a"))),
        ((2.25, 3), (2, 3)),
        ((), ()),
        (torch.nn.Parameter(TABLE), TABLE),
        (NAN.clone(), NAN),
    ],
)
def test_what_means_the_same_is_the_same(attempt, expected):
    assert same(attempt, expected, 0.25) is True


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (3.26, 3),
        (math.nan, 3),
        (3, math.nan),
        (3j, 3),
        ("3", 3),
        (None, 3),
        ([3], 3),
        (1, True),
        (True, 1),
        (False, True),
        ("row", "rows"),
        (3, "3"),
        (["a"], "a"),
        ([2], (2, 3)),
        ([2, 3, 4], (2, 3)),
        ([2, 4], (2, 3)),
        ([4, 3], (2, 3)),
        ("23", (2, 3)),
        ({2: 2, 3: 3}, (2, 3)),
        (np.array([[2, 2], [3, 3]]), (2, 3)),
        (np.array([2, 3, 4]), (2, 3)),
        (1, (1,)),
        (TABLE.tolist(), TABLE),
        (TABLE.numpy(), TABLE),
        (TABLE[:1], TABLE),
        (TABLE.double(), TABLE),
        (TABLE.T, TABLE),
        (torch.zeros(2).as_subclass(Liar), torch.ones(2)),
        ([1] * 100, tuple([1] * 100)),
    ],
)
def test_what_means_something_else_is_not_the_same(attempt, expected):
    assert same(attempt, expected, 0.25) is False


@pytest.mark.parametrize(
    ("moved", "expected"), [(0.75, True), (1.25, False), (-0.75, True), (-1.25, False)]
)
def test_a_small_element_may_be_off_by_a_fixed_amount_and_a_large_one_by_a_share(moved, expected):
    zero, thousand = torch.zeros(1), torch.full((1,), 1000.0)
    assert same(zero + 0.01 * moved, zero, 0.01) is expected
    assert same(thousand + 10 * moved, thousand, 0.01) is expected


def test_a_long_list_is_not_looked_through():
    assert plain([" A"] * 99) == ("a",) * 99
    assert plain([" A"] * 100) == [" A"] * 100


def test_a_tensor_loses_its_graph_and_its_class():
    parameter = torch.nn.Parameter(TABLE)
    assert not plain(parameter).requires_grad
    assert type(plain(parameter)) is torch.Tensor
    assert type(plain(torch.zeros(2).as_subclass(Liar))) is torch.Tensor


def test_words_are_the_same_in_any_case_and_with_any_space_between_them():
    assert plain(" Row\n  MEANS ") == "row means"


@pytest.mark.parametrize("value", [None, {1: 2}, {"A"}, b"A", 3j, range(3), np.ones(2), np.add])
def test_what_is_of_another_kind_stays_as_it_is(value):
    assert plain(value) is value


UNKNOWN = "how you came to this is not known here. The first difference is at "


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (torch.tensor(3), "your tensor is a single number, and the right one has shape (2, 2)."),
        (TABLE[0], "your tensor has shape (2,), and the right one (2, 2)."),
        (TABLE.double(), "your tensor has dtype torch.float64, and the right one torch.float32."),
        (
            TABLE.tolist(),
            "the numbers are right, but a torch.Tensor is expected, and your function returned a "
            "list.",
        ),
        (
            TABLE.numpy(),
            "the numbers are right, but a torch.Tensor is expected, and your function returned a "
            "numpy array.",
        ),
        ([[1, 2], [1000, 0.5]], "a torch.Tensor is expected, but your function returned a list."),
        ("word", "a torch.Tensor is expected, but your function returned a str."),
        (3, "a torch.Tensor is expected, but your function returned an int."),
        (
            TABLE + torch.tensor([[0, 0], [7, 5]]),
            UNKNOWN + "[1, 0]: you have 1007, and 1000 is right.",
        ),
        (
            torch.full((2, 2), math.nan),
            UNKNOWN + "[0, 0]: you have nan, and 1 is right.",
        ),
        (
            TABLE + torch.tensor([[0, 0], [0, 1 / 3]]),
            UNKNOWN + "[1, 1]: you have 0.3333333, and 0 is right.",
        ),
    ],
)
def test_the_first_difference_to_a_tensor_is_told(attempt, sentence):
    assert difference(attempt, TABLE, 1e-6, True) == sentence


@pytest.mark.parametrize("within", [1e-2, 1e-5])
def test_what_is_close_enough_is_no_difference(within):
    right = torch.tensor([1.0, 1.0, 1.0])
    attempt = right + within * torch.tensor([1.5, -1.5, 7])
    assert difference(attempt, right, within, True).startswith(UNKNOWN + "[2]: ")


def test_a_missing_number_that_is_right_is_no_difference():
    attempt = NAN + torch.tensor([0, 1])
    assert difference(torch.cat([attempt, attempt]), torch.cat([NAN, NAN + 1]), 1e-6, True) == (
        UNKNOWN + "[2]: you have 1, and 2 is right."
    )


def test_two_numbers_that_differ_are_written_differently():
    right = torch.tensor([12.0], dtype=torch.float64)
    assert difference(right + 2e-5, right, 1e-6, True) == (
        UNKNOWN + "[0]: you have 12.00002, and 12 is right."
    )


@pytest.mark.parametrize(
    ("attempt", "expected", "sentence"),
    [
        ("two", 2, "a number is expected, but you gave a str."),
        ([2], 2, "a number is expected, but you gave a list."),
        (2j, 2, "a number is expected, but you gave a complex."),
        (True, 1, "a number is expected, but you gave a bool."),
        (1, True, "True or False is expected, but you gave an int."),
        ("True", True, "True or False is expected, but you gave a str."),
        (3, "rows", "a word is expected, but you gave an int."),
        (3, (2, 3), "a tuple of numbers such as (2, 3) is expected, but you gave an int."),
        ("2, 3", (2, 3), "a tuple of numbers such as (2, 3) is expected, but you gave a str."),
        ([2], (2, 3), "a tuple of length 2 is expected, and yours has length 1."),
        ((2, 3, 4), (2, 3), "a tuple of length 2 is expected, and yours has length 3."),
    ],
)
@pytest.mark.parametrize("reveal", [True, False])
def test_a_value_of_another_kind_is_told_by_its_kind(attempt, expected, sentence, reveal):
    assert difference(attempt, expected, 1e-6, reveal) == sentence


@pytest.mark.parametrize(
    ("attempt", "expected", "not_it", "right"),
    [
        (3, 2, "3", "2"),
        (np.float64(2.5), 2, "np.float64(2.5)", "2"),
        (False, True, "False", "True"),
        ("Column", "row", "'Column'", "'row'"),
        ([2, 4], (2, 3), "[2, 4]", "(2, 3)"),
    ],
)
def test_of_a_wrong_value_the_right_one_is_told_only_if_it_may_be(attempt, expected, not_it, right):
    begin = f"it is not {not_it}, and how you came to it is not known here."
    assert difference(attempt, expected, 1e-6, True) == f"{begin} {right} is right."
    assert difference(attempt, expected, 1e-6, False) == f"{begin} `.hint()` may help."


class Unwritable:
    def __repr__(self):
        raise SystemExit


class Interrupted:
    def __repr__(self):
        raise KeyboardInterrupt


class Wordy:
    def __repr__(self):
        return "wordy " * 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ("row", "'row'"),
        ("r" * 100, "'rrrrrrrrrrrrrrrrrrrrrr...rrrrrrrrrrrrrrrrrrrrrrr'"),
        ("r" * 48, f"'{'r' * 48}'"),
        ("r" * 49, "'rrrrrrrrrrrrrrrrrrrrrr...rrrrrrrrrrrrrrrrrrrrrrr'"),
        (["r" * 40] * 3, f"['{'r' * 40}', '{'r' * 14}"),
        (Wordy(), "wordy wordy wordy wordy...wordy wordy wordy wordy "),
        (Unwritable(), "an Unwritable"),
    ],
    ids=["number", "word", "long word", "49 letters", "50 letters", "list", "object", "none"],
)
def test_any_object_can_be_shown_in_few_letters(value, text):
    assert shown(value) == text


def test_an_interrupt_is_no_part_of_an_object():
    with pytest.raises(KeyboardInterrupt):
        shown(Interrupted())


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (3, "an int"),
        (3.0, "a float"),
        ("", "a str"),
        (None, "a NoneType"),
        (np.ones(2), "a numpy array"),
        (TABLE, "a Tensor"),
        (object(), "an object"),
        (Interrupted(), "an Interrupted"),
        (type("Own", (), {})(), "an Own"),
        (type("ae", (), {})(), "an ae"),
        (type("ea", (), {})(), "an ea"),
        (type("Xo", (), {})(), "a Xo"),
    ],
)
def test_a_kind_has_its_article(value, name):
    assert kind_of(value) == name
