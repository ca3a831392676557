"""Each patient of the clinic is right on paper. Lesson 13 shows what it has in half precision."""

import pytest
import torch
import torch.nn.functional as F

from lnorm_course.lessons.clinic import patient


@pytest.mark.parametrize("number", range(1, 7))
def test_in_float64_a_norm_is_that_of_pytorch_and_a_softmax_too(number):
    network, x = patient(number)
    seen = {}
    for name, module in network.double().named_children():
        module.register_forward_hook(
            lambda _, given, y, name=name: seen.update({name: (*given, y)})
        )
    network(x.double())
    rows, normed = seen["norm"]
    eps = 1e-12 if number == 2 else 1e-5
    torch.testing.assert_close(normed, F.layer_norm(rows, (16,), eps=eps))
    if number == 5:
        x, attended = seen["attention"]
        torch.testing.assert_close(attended, (x @ x.T / 4).softmax(-1) @ x)
    if number == 6:
        assert len(rows.unique(dim=0)) == len(x)


def test_each_call_makes_a_network_of_its_own():
    (one, _), (other, _) = patient(4), patient(4)
    one.widen.weight.zero_()
    assert other.widen.weight.any()
