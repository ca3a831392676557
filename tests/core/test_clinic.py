"""Each patient of the clinic is right on paper, and its one fault shows in half precision."""

import copy
import re

import pytest
import torch
import torch.nn.functional as F

from lnorm_course.lessons.clinic import patient

HALF, BFLOAT = torch.float16, torch.bfloat16
NUMBERS = range(1, 7)
# Number: (dtype, rows with a NaN, rows of zeros, first module that is far off).
SYMPTOMS = {
    1: (HALF, [], [2, 5], "norm.variance"),
    2: (HALF, [6, 7], [], "norm.divide"),
    3: (BFLOAT, [2, 7], [], "norm.variance"),
    4: (HALF, [1, 4], [], "narrow"),
    5: (HALF, [3], [], "attention.exp"),
    6: (BFLOAT, [], [], "positions"),
}
HEALTHY_IN = {HALF: [6], BFLOAT: [1, 2, 4, 5], torch.float32: [1, 2, 3, 4, 5, 6]}


def outputs_of(network, x):
    outputs = {}
    hooks = [
        module.register_forward_hook(lambda _, given, y, name=name: outputs.update({name: y}))
        for name, module in network.named_modules()
    ]
    network(x)
    for hook in hooks:
        hook.remove()
    return outputs


def on_paper(number):
    network, x = patient(number)
    return outputs_of(copy.deepcopy(network).double(), x.double())


def is_far_off(y, right):
    error = (y.double() - right).abs().max()
    return not error <= 0.1 * right.abs().max()


@pytest.mark.parametrize("number", NUMBERS)
def test_in_float64_a_norm_is_that_of_pytorch_and_a_softmax_too(number):
    network, x = patient(number)
    given = {}
    network.norm.register_forward_pre_hook(lambda _, inputs: given.update(x=inputs[0]))
    outputs = outputs_of(network.double(), x.double())
    eps = 1e-12 if number == 2 else 1e-5
    torch.testing.assert_close(outputs["norm"], F.layer_norm(given["x"], (16,), eps=eps))
    if number == 5:
        x = x.double()
        torch.testing.assert_close(outputs["attention"], (x @ x.T / 4).softmax(-1) @ x)
    if number == 6:
        assert len(given["x"].unique(dim=0)) == len(x)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_patient_shows_its_symptom_and_its_first_wrong_tensor(number):
    dtype, nan, zero, first = SYMPTOMS[number]
    network, x = patient(number)
    outputs, right = outputs_of(network, x), on_paper(number)
    y = outputs[""]
    assert {x.dtype, y.dtype, *(p.dtype for p in network.parameters())} == {dtype}
    assert y.isnan().any(-1).nonzero().flatten().tolist() == nan
    assert (y == 0).all(-1).nonzero().flatten().tolist() == zero
    assert next(name for name in outputs if is_far_off(outputs[name], right[name])) == first


@pytest.mark.parametrize("dtype", HEALTHY_IN)
def test_another_dtype_cures_some_patients(dtype):
    healthy = []
    for number in NUMBERS:
        network, x = patient(number)
        if not is_far_off(network.to(dtype)(x.to(dtype)), on_paper(number)[""]):
            healthy.append(number)
    assert healthy == HEALTHY_IN[dtype]


def test_each_call_makes_a_network_of_its_own():
    (one, _), (other, _) = patient(4), patient(4)
    one.widen.weight.zero_()
    assert other.widen.weight.any()


@pytest.mark.parametrize("number", [0, 7, "1", True, 1.0, [1]])
def test_an_unknown_patient_is_named(number):
    with pytest.raises(
        ValueError, match=re.escape(f"number must be one of 1 to 6, but {number!r} was given")
    ):
        patient(number)
