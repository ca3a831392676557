"""What means the same is the same, and a sentence tells what differs."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from exercise_banks import words_of

from lnorm_course.checking.comparing import same
from lnorm_course.checking.prediction import Prediction
from lnorm_course.checking.sanitizing import sanitized, shown
from lnorm_course.checking.unrecognized import difference
from lnorm_diagnose.fewest_slips import Mistake

TABLE = torch.tensor([[1.0, 2.0], [1000.0, 0.0]])
ADDED = torch.tensor([[0, 0], [7, 5]])
NAN = torch.tensor([1.0, math.nan])


class Liar(torch.Tensor):
    """A tensor that answers for PyTorch whatever it is asked."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        return torch.strided if function == torch.Tensor.layout.__get__ else torch.ones(2)


class Word(str):
    def split(self, *arguments):
        return ["right"]


class LyingNumber(np.float64):
    def item(self):
        return 3


SAME = [
    *((3, 3.0), (3.25, 3), (2.75, 3), (np.array(3), 3), (torch.tensor(3), 3), (math.nan, math.nan)),
    *((True, True), (np.False_, False), (np.longdouble(3), 3), (Decimal("2.75"), 3)),
    *((math.nan, "NaN"), ("nan", math.nan), (Decimal("nan"), "nan"), (math.inf, "infinity")),
    *(("ε", "eps"), ("post_ln", "post-LN"), ("3 * y", "3 × Y"), ("3 x 4", "3 × 4")),
    *((" Row\n  means", "row means"), (Word("row"), "ROW")),
    *((torch.Size([2, 3]), (2, 3)), (np.array([2, 3]), (2, 3)), ([2, [3, "A"]], (2, (3, "a")))),
    *((torch.tensor([2, 3]), (2, 3)), ((2.25, 3), (2, 3)), ((), ()), ((Fraction(2), 3), (2, 3))),
    *((torch.nn.Parameter(TABLE), TABLE), (NAN.clone(), NAN), (TABLE.double(), TABLE)),
]
OTHER = [
    *((3.26, 3), (math.nan, 3), (3, math.nan), (3j, 3), ("3", 3), (None, 3), (3, None)),
    *((1, True), (True, 1), (False, True), ("row", "rows"), (3, "3"), (Word("column"), "row")),
    *(([2], (2, 3)), ([2, 3, 4], (2, 3)), ([4, 3], (2, 3)), ("23", (2, 3)), (1, (1,))),
    *(({2: 2, 3: 3}, (2, 3)), (np.array([[2, 2], [3, 3]]), (2, 3)), ([1] * 100, (1,) * 100)),
    *((Fraction(10**400), 3), (LyingNumber(2), 3), (np.array(Word(), object), 3)),
    *((math.inf, "nan"), ("inf", math.nan), (3.0, "nan"), ("1/6", 1 / 6), (10**400, 3)),
    *((b"row", "row"), (["row"], "row"), ("row row", "row"), ([3], 3), (torch.tensor([3]), 3)),
    *((-3, 3), (math.inf, 3), (3j + 3, 3), ({3}, 3), (lambda: 3, 3), (range(2), (0, 1))),
    *((("2", "3"), (2, 3)), ((2, math.nan), (2, 3)), ((2j, 3), (2, 3)), ({2, 3}, (2, 3))),
    *((TABLE.tolist(), TABLE), (TABLE.numpy(), TABLE), (TABLE[:1], TABLE), ((TABLE,), TABLE)),
    *((TABLE.int(), TABLE), (TABLE.half(), TABLE), (TABLE.T, TABLE), (TABLE[None], TABLE)),
    (torch.zeros(2).as_subclass(Liar), torch.ones(2)),
]


@pytest.mark.parametrize(("pairs", "expected"), [(SAME, True), (OTHER, False)], ids=["yes", "no"])
def test_what_means_the_same_is_the_same_and_nothing_else_is(pairs, expected):
    judged = [(attempt, right, same(sanitized(attempt), right, 0.25)) for attempt, right in pairs]
    assert [one for one in judged if one[-1] is not expected] == []


def test_a_small_element_may_be_off_by_a_fixed_amount_and_a_large_one_by_a_share():
    for moved, expected in ((0.75, True), (1.25, False), (-0.75, True), (-1.25, False)):
        for size, off in ((0.0, 0.01), (1000.0, 10.0)):
            right = torch.full((1,), size)
            assert same(right + off * moved, right, 0.01) is expected


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (torch.tensor(3), ["single number", "(2, 2)"]),
        (TABLE[0], ["shape (2,)", "(2, 2)"]),
        (TABLE.int(), ["dtype torch.int32", "torch.float32"]),
        (TABLE.numpy(), ["numbers are right", "a numpy array"]),
        ([[1, 2], [1000, 0.5]], ["torch.Tensor", "a list"]),
        (TABLE + ADDED, ["right, and so are the numbers in 1 of 2 rows", "[1, 0]", "1,007"]),
        (torch.full((2, 2), math.nan), ["are right. The", "[0, 0]", "nan", "1"]),
        (TABLE + ADDED * 2e-6, ["[1, 1]"]),
        (TABLE + ADDED * 6e-4, ["[1, 0]", "1,000.004"]),
    ],
)
def test_the_first_difference_to_a_tensor_is_told(attempt, words):
    sentence, _ = difference(sanitized(attempt), TABLE, 1e-6)
    assert all(word in sentence for word in words)
    assert sentence.endswith(".")
    assert "[2]" in difference(torch.cat([NAN, NAN]), torch.cat([NAN, NAN + 1]), 1e-6)[0]


@pytest.mark.parametrize(
    ("attempt", "expected", "words"),
    [
        *(("two", 2, ["number", "text"]), (2j, 2, ["a complex number"]), (True, 1, ["gave True"])),
        *((1, True, ["True or False"]), (3, (2, 3), ["tuple of numbers", "a whole number"])),
        *((3, "rows", ["'columns', 'rows'"]), ("row", "rows", ["'columns', 'rows'", "'row'"])),
        *(("6", 7, ["a number", "quotes off"]), ("(2, 3)", (2, 4), ["quotes off"])),
        *((3, 2, ["not 3", "hint"]), ([2], (2, 3), ["not [2]"])),
    ],
)
def test_of_a_wrong_value_what_was_given_is_told_and_not_the_answer(attempt, expected, words):
    other = [Mistake("columns", "No.")] * isinstance(expected, str)
    question = Prediction(right=[(expected, "")], wrong=other, hints=[])
    sentence = question.judge(attempt).message
    assert all(word in sentence for word in words)
    assert f"{expected!r} is right" not in sentence


def test_numbers_beside_the_right_ones_are_marked_where_they_differ_by_more_than_color():
    right = torch.arange(1.0, 13).reshape(2, 2, 3)
    _, page = difference(right + 9 * (right == 9), right, 1e-6)
    told = "yours at [1] right at [1] 7 8 ≠ 18 10 11 12 7 8 9 10 11 12"
    assert words_of(page).split() == told.split()
    assert (page.count("<strong>≠"), page.count("scope='col'")) == (1, 2)
    for attempt in (torch.ones(50, 20), torch.eye(50)[:, :20]):
        _, page = difference(attempt, torch.zeros(50, 20), 1e-6)
        assert (page.count("<tr>"), "≠" in page) == (2 + 2 * 6, True)
    pairs = [(3, TABLE), (TABLE, 3), (TABLE[0], TABLE), (torch.tensor(1), torch.tensor(2))]
    pairs += [(TABLE + 1j, TABLE), (TABLE.int(), TABLE)]
    assert [difference(*pair, 1e-6)[1] for pair in pairs] == [""] * len(pairs)


def test_a_value_is_shown_in_few_letters_or_named_by_its_kind():
    assert all(10 < len(shown(value)) <= 60 for value in ("r" * 100, [["r" * 40] * 3]))
    assert shown((*range(15),)) == str((*range(15),))
    assert shown((*range(40),)) == "a tuple with 40 items"
    assert shown(10**5000) == "a whole number"
    assert shown(sanitized([object()])) == "[an object]"
