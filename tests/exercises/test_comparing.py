"""What means the same is the same, and a sentence tells what differs."""

import math

import numpy as np
import pytest
import torch

from lnorm_utils.exercises.engine.comparing import difference, kind_of, same, shown

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

    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        *((3, 3.0), (3.25, 3), (2.75, 3), (np.float64(3), 3), (np.array(3), 3)),
        *((torch.tensor(3), 3), (3, torch.tensor(3.0)), (math.nan, math.nan)),
        *((True, True), (np.False_, False)),
        *((" Row\n  means", "row means"), (Word("row"), "ROW")),
        *(([2, 3], (2, 3)), (torch.Size([2, 3]), (2, 3)), (np.array([2, 3]), (2, 3))),
        *((torch.tensor([2, 3]), (2, 3)), ([2, [3, "A"]], (2, (3, "a")))),
        *(((2.25, 3), (2, 3)), ((), ())),
        *((torch.nn.Parameter(TABLE), TABLE), (NAN.clone(), NAN)),
    ],
)
def test_what_means_the_same_is_the_same(attempt, expected):
    assert same(attempt, expected, 0.25) is True


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        *((3.26, 3), (math.nan, 3), (3, math.nan), (3j, 3), ("3", 3), (None, 3), ([3], 3)),
        *((1, True), (True, 1), (False, True)),
        *(("row", "rows"), (3, "3"), (["a"], "a"), (Word("column"), "row")),
        *(([2], (2, 3)), ([2, 3, 4], (2, 3)), ([2, 4], (2, 3)), ([4, 3], (2, 3)), ("23", (2, 3))),
        *(({2: 2, 3: 3}, (2, 3)), (np.array([[2, 2], [3, 3]]), (2, 3)), (1, (1,))),
        (np.array([2, 3, 4]), (2, 3)),
        *((TABLE.tolist(), TABLE), (TABLE.numpy(), TABLE), (TABLE[:1], TABLE)),
        *((TABLE.double(), TABLE), (TABLE.T, TABLE)),
        (torch.zeros(2).as_subclass(Liar), torch.ones(2)),
        ([1] * 100, (1,) * 100),
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


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (torch.tensor(3), ["single number", "(2, 2)"]),
        (TABLE[0], ["shape (2,)", "(2, 2)"]),
        (TABLE.double(), ["dtype torch.float64", "torch.float32"]),
        (TABLE.tolist(), ["numbers are right", "a list"]),
        (TABLE.numpy(), ["numbers are right", "a numpy array"]),
        ([[1, 2], [1000, 0.5]], ["torch.Tensor is expected", "a list"]),
        (3, ["torch.Tensor is expected", "an int"]),
        (TABLE + torch.tensor([[0, 0], [7, 5]]), ["[1, 0]", "1007", "1000"]),
        (torch.full((2, 2), math.nan), ["[0, 0]", "nan", "1"]),
        (TABLE + torch.tensor([[0, 0], [0, 1 / 3]]), ["[1, 1]", "0.3333333", "0"]),
        (TABLE + torch.tensor([[1e-7, 0], [0, 1e-5]]), ["[1, 1]"]),
    ],
)
def test_the_first_difference_to_a_tensor_is_told(attempt, words):
    sentence = difference(attempt, TABLE, 1e-6, True)
    assert all(word in sentence for word in words)
    assert sentence.endswith(".")


def test_a_missing_number_that_is_right_is_no_difference():
    attempt = torch.cat([NAN, NAN])
    assert "[2]" in difference(attempt, torch.cat([NAN, NAN + 1]), 1e-6, True)


def test_two_numbers_that_differ_are_written_differently():
    right = torch.tensor([12.0], dtype=torch.float64)
    assert "12.00002" in difference(right + 2e-5, right, 1e-6, True)


@pytest.mark.parametrize(
    ("attempt", "expected", "words"),
    [
        *(("two", 2, ["number", "a str"]), (2j, 2, ["a complex"]), (True, 1, ["a bool"])),
        *((1, True, ["True or False", "an int"]), (3, "rows", ["word", "an int"])),
        *((3, (2, 3), ["tuple", "an int"]), ([2], (2, 3), ["length 2", "length 1"])),
    ],
)
def test_of_a_value_of_another_kind_its_kind_is_told_and_not_the_answer(attempt, expected, words):
    for tell_answer in (True, False):
        sentence = difference(attempt, expected, 1e-6, tell_answer)
        assert all(word in sentence for word in words)
        assert " is right" not in sentence


@pytest.mark.parametrize(
    ("attempt", "expected"), [(3, 2), (False, True), ("Column", "row"), ([2, 4], (2, 3))]
)
def test_the_answer_is_told_only_where_it_may_be(attempt, expected):
    assert f"it is not {attempt!r}" in difference(attempt, expected, 1e-6, True)
    assert difference(attempt, expected, 1e-6, True).endswith(f" {expected!r} is right.")
    assert " is right" not in difference(attempt, expected, 1e-6, False)


def raising(error):
    def show(self):
        raise error

    return type("Odd", (), {"__repr__": show})()


@pytest.mark.parametrize(
    "value", ["r" * 100, ["r" * 40] * 3, type("Wordy", (), {"__repr__": lambda self: "w " * 99})()]
)
def test_a_long_object_is_shown_in_few_letters(value):
    assert 10 < len(shown(value)) <= 60


def test_an_object_that_cannot_be_shown_is_named_by_its_kind():
    assert shown(raising(SystemExit)) == "an Odd"
    with pytest.raises(KeyboardInterrupt):
        shown(raising(KeyboardInterrupt))


@pytest.mark.parametrize(
    ("value", "name"), [(3, "an int"), ("", "a str"), (np.ones(2), "a numpy array")]
)
def test_a_kind_has_its_article(value, name):
    assert kind_of(value) == name
