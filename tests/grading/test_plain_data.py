"""What a kernel that nobody trusts sends comes back as it was, or is refused."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from lnorm_course.checking.feedback import State
from lnorm_course.checking.running import Outcome
from lnorm_course.checking.sanitizing import Unknown
from lnorm_course.exercises.mean import how_many, row_means
from lnorm_diagnose.fewest_slips import Raised
from lnorm_staff.grading.run.judge import judge
from lnorm_staff.grading.run.kernel import ATTEMPTS, record
from lnorm_staff.grading.run.plain_data import decode, encode, write_outcome

VALUES = [
    *(None, ..., True, 7, -(2**70), 10**1000, 0.1, float("inf"), "a word", (2, 3), [1, (2.5, "b")]),
    *(torch.arange(6).reshape(2, 3).T, torch.ones(2, dtype=torch.bfloat16), torch.tensor(2.5)),
    *(torch.ones(0, 3), torch.tensor([True, False]), torch.tensor(1 + 2j).conj()),
    *(torch.ones(1).expand(3), torch.tensor([1 + 2j]).conj().imag),
    *(np.arange(6.0).reshape(2, 3)[:, ::2], np.ones((0, 2)), "x" * 10_000),
]


OF_PYTHON = [Fraction(1, 6), Decimal("0.1"), Decimal("-inf"), np.float32(2.5)]
UNKNOWN = [
    (object(), "an object"),
    (1j, "a complex number"),
    (Fraction(10**400), "a Fraction"),
    (torch.zeros(1).expand(2**40), "a Tensor with too many numbers"),
    (np.broadcast_to(0.0, 2**40), "a numpy array with too many numbers"),
    (torch.zeros(2).to_sparse(), "a tensor with layout torch.sparse_coo"),
    (torch.zeros(2).to(torch.float8_e5m2), "a Tensor of torch.float8_e5m2"),
    (torch.zeros(2, device="meta"), "a Tensor that can't be inspected"),
    (list(range(1000)), "a list"),
    (10**2000, "a whole number"),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, value) for value in VALUES),
        *((value, float(value)) for value in OF_PYTHON),
        *((value, Unknown(kind)) for value, kind in UNKNOWN),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_comes_out_as_it_is_and_of_what_is_too_much_or_unknown_the_kind(value, expected):
    back = decode(json.loads(json.dumps(encode(value))))
    if isinstance(expected, torch.Tensor):
        torch.testing.assert_close(back, expected, rtol=0, atol=0)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(back, expected, strict=True)
    else:
        assert (type(back), back) == (type(expected), expected)


def test_a_value_for_each_input_is_judged_or_the_error_that_came_before_the_last():
    right = row_means.right
    assert judge(row_means, write_outcome(Outcome(right))).state is State.RIGHT
    error = Raised("ValueError", "no row", "it raised: no\x1b\nrow.")
    for each, said in ((error, str(error).replace("\x1b\n", "� ")), ("a\x1b\nremark", "a� remark")):
        fewer = judge(row_means, write_outcome(Outcome(right[:-1], each)))
        assert fewer.state is State.WRONG
        assert fewer.message.casefold().endswith(said.casefold())


def recorded(exercise, attempt, *more):
    """Return the values and the error that a kernel would send."""
    record(exercise, 5, attempt, *more)
    sent = json.loads(ATTEMPTS.pop(exercise.name))
    return [decode(value) for value in sent["values"]], sent["error"]


def test_what_an_attempt_returns_for_each_input_is_sent_and_dots_for_none():
    number = len(row_means.inputs)
    assert recorded(how_many, (2, 3)) == ([(2, 3)], None)
    assert recorded(how_many, None) == ([...], None)
    assert recorded(row_means, ...) == ([...] * number, None)
    assert "parentheses" in recorded(how_many, 2, 3)[1]

    def blank(x): ...

    assert recorded(row_means, blank) == ([...] * number, None)
    assert "returns nothing" in recorded(row_means, lambda x: [][len(x) :].sort())[1]
    values, error = recorded(row_means, lambda x: x.mean(-1, True))
    torch.testing.assert_close(values, row_means.right)
    assert error is None
    first = row_means.inputs[0][0]
    values, error = recorded(row_means, lambda x: 1 if x.equal(first) else x.missing)
    assert (values, error["kind"]) == ([1], "AttributeError")


def test_an_answer_that_is_too_large_is_not_sent():
    assert recorded(how_many, ["a" * 9000] * 50)[0] == [["a" * 9000] * 50]
    assert recorded(how_many, ["a" * 9000] * 60) == ([], "your answer is too large to be judged.")
