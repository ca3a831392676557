"""What a kernel that nobody trusts sends comes back as it was, or is refused."""

import numpy as np
import pytest
import torch

from lnorm_utils.exercises import probe
from lnorm_utils.exercises.lesson_01 import how_many
from lnorm_utils.exercises.submissions import judged

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


@pytest.mark.parametrize("answer", [None, [], {}, {"values": [], "remark": ""}, "RIGHT"])
def test_an_answer_that_is_none_is_refused(answer):
    with pytest.raises(ValueError, match=r"\w"):
        judged(how_many, answer)
