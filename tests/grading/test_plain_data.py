"""What a kernel that nobody trusts sends comes back as it was, or is refused."""

import json

import numpy as np
import pytest
import torch

from lnorm_utils.exercises.engine.class_attempts import OUTPUT
from lnorm_utils.exercises.mean import how_many
from lnorm_utils.grading import plain_data as probe
from lnorm_utils.grading.grade import judged

VALUES = [
    *(None, True, 7, -(2**70), 0.1, float("inf"), "a word", (2, 3), [1, (2.5, "b")]),
    *(torch.arange(6).reshape(2, 3).T, torch.ones(2, dtype=torch.bfloat16), torch.tensor(2.5)),
    *(torch.ones(0, 3), torch.tensor([True, False]), torch.tensor(1 + 2j).conj()),
    *(np.arange(6.0).reshape(2, 3)[:, ::2], np.float32(2.5), np.ones((0, 2))),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_out_of_the_kernel_as_it_is(value):
    back = probe.decode(probe.encode(value))
    if isinstance(value, torch.Tensor):
        torch.testing.assert_close(back, value, rtol=0, atol=0)
    elif isinstance(value, np.ndarray | np.generic):
        np.testing.assert_array_equal(back, value, strict=True)
    else:
        assert (type(back), back) == (type(value), value)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        (torch.zeros(1).expand(2**40), "Tensor with too many numbers"),
        (np.broadcast_to(0.0, 2**40), "ndarray with too many numbers"),
        (list(range(1000)), "list"),
    ],
)
def test_of_what_is_too_much_or_unknown_only_the_kind_comes_out(value, name):
    assert type(probe.decode(probe.encode(value))).__name__ == name


LIES = [
    *(None, 0, "Right.", [], ["right"], ["bool", "yes"], ["int", 7], ["float", "x"], ["str", []]),
    *(["tensor"], ["tensor", "torch.load", [1], ""], ["tensor", "torch.float32", [2], "AAAA"]),
    *(["tensor", "torch.float32", [-1], "AAAAAA=="], ["tensor", "torch.float32", "22", "AAAA"]),
    *(["array", "O", [1], "AAAAAAAAAAA="], ["array", "V4", [1], "AAAAAA=="], ["list", 3]),
]


@pytest.mark.parametrize("lie", LIES, ids=repr)
def test_what_no_probe_sends_is_refused(lie):
    with pytest.raises(ValueError, match=r"\w"):
        judged(how_many, {"values": [lie], "remark": ""})


ROWS = torch.arange(6.0).reshape(2, 3)
INPUTS = [[probe.encode(ROWS)], [probe.encode(ROWS + 1)]]


def answered(attempt, inputs=INPUTS, seconds=5, trial=""):
    """Return the values and the remark that the kernel would send."""
    sent = probe.answer(lambda: attempt, inputs, seconds, trial)._repr_json_()
    assert list(json.loads(json.dumps(sent))) == ["values", "remark"]
    return [probe.decode(value) for value in sent["values"]], sent["remark"]


def test_a_prediction_is_sent_as_it_is():
    assert answered((2, 3), None) == ([(2, 3)], "")


@pytest.mark.parametrize("attempt", [..., None])
def test_no_attempt_is_sent_as_nothing_for_each_call(attempt):
    assert answered(attempt, None) == ([None], "")
    assert answered(attempt) == ([None, None], "")


def test_a_function_is_called_with_each_input():
    values, remark = answered(lambda x: x.sum(-1))
    assert [value.tolist() for value in values] == [[3, 12], [6, 15]]
    assert remark == ""


def test_of_a_function_that_fails_later_the_first_value_is_sent_with_the_remark():
    values, remark = answered(lambda x: x.sum(-1) if x[0, 0] == 0 else x.missing)
    assert [value.tolist() for value in values] == [[3, 12]]
    assert remark.startswith("your function raised AttributeError in line ")


def test_a_class_is_tried_as_the_exercise_tries_it():
    inputs = [[probe.encode(value) for value in (OUTPUT, 3, (0.1,), ROWS.double())]]
    ((value,), remark) = answered(torch.nn.LayerNorm, inputs, trial="module")
    torch.testing.assert_close(value, torch.nn.LayerNorm(3, 0.1).double()(ROWS.double()).detach())
    assert remark == ""


@pytest.mark.parametrize("answer", [None, [], {}, {"values": [], "remark": ""}, "RIGHT"])
def test_an_answer_that_is_none_is_refused(answer):
    with pytest.raises(ValueError, match=r"\w"):
        judged(how_many, answer)
