"""The modules behave as PyTorch's own, and say what is wrong with an input."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from lnorm_utils import LayerNorm, PositionalEncoding

SWITCHES = [{}, {"bias": False}, {"elementwise_affine": False}, {"eps": 0.1}]


def tensor(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def filled(layer, seed=5):
    for index, parameter in enumerate(layer.parameters()):
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(seed + index))
    return layer


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("shape", [4, [4], (3, 4), torch.Size([2, 3, 4])])
def test_the_layer_gives_the_numbers_of_pytorch_after_exchanging_state_dicts(shape, switches):
    ours = filled(LayerNorm(shape, dtype=torch.float64, **switches))
    theirs = nn.LayerNorm(shape, dtype=torch.float64, **switches)
    theirs.load_state_dict(ours.state_dict())
    x = tensor(2, 3, 4)
    assert_close(ours(x), theirs(x), atol=1e-12, rtol=0.0)
    back = LayerNorm(shape, dtype=torch.float64, **switches)
    back.load_state_dict(filled(theirs, seed=8).state_dict())
    assert_close(back(x), theirs(x), atol=1e-12, rtol=0.0)


@pytest.mark.parametrize("switches", SWITCHES)
def test_the_layer_has_the_parameters_and_the_text_of_pytorch(switches):
    ours, theirs = LayerNorm((3, 4), **switches), nn.LayerNorm((3, 4), **switches)
    shapes = [{n: p.shape for n, p in m.named_parameters()} for m in (ours, theirs)]
    assert shapes[0] == shapes[1]
    assert ours.normalized_shape == theirs.normalized_shape
    bias = f", bias={ours.bias is not None}"  # which older releases of PyTorch don't say
    assert ours.extra_repr() == theirs.extra_repr().removesuffix(bias) + bias


def test_weight_starts_at_one_and_bias_at_zero():
    layer = LayerNorm((2, 3))
    assert torch.equal(layer.weight, torch.ones(2, 3))
    assert torch.equal(layer.bias, torch.zeros(2, 3))


def test_training_and_evaluation_are_the_same():
    layer, x = filled(LayerNorm(4, dtype=torch.float64)), tensor(3, 4)
    assert torch.equal(layer.train()(x), layer.eval()(x))


def test_one_training_step_moves_weight_and_bias():
    layer = LayerNorm(4, dtype=torch.float64)
    (layer(tensor(3, 4)) - 1).square().sum().backward()
    assert (layer.weight.grad != 0).all()
    assert (layer.bias.grad != 0).all()


def test_a_wrong_trailing_shape_is_named_beside_the_right_one():
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(2, 5\)"):
        LayerNorm((3, 4))(torch.ones(2, 5))


@pytest.mark.parametrize("d_model", [1, 2, 5, 6])
def test_the_encoding_is_the_published_formula(d_model):
    length = 7
    added = PositionalEncoding(max_len=9, d_model=d_model)(torch.zeros(1, length, d_model))[0]
    for position in range(length):
        for i in range(d_model):
            angle = position / 10_000 ** ((i - i % 2) / d_model)
            expected = math.cos(angle) if i % 2 else math.sin(angle)
            assert added[position, i].item() == pytest.approx(expected, abs=1e-6)


def test_the_encoding_scales_its_input_by_the_root_of_the_number_of_features():
    encode, x = PositionalEncoding(max_len=3, d_model=4), torch.ones(2, 3, 4)
    assert_close(encode(x) - encode(0 * x), 2 * x)


def test_the_encoding_has_nothing_to_learn_and_nothing_to_save():
    encode = PositionalEncoding(max_len=3, d_model=4)
    assert list(encode.parameters()) == []
    assert encode.state_dict() == {}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_encoding_keeps_the_dtype_of_its_input(dtype):
    assert PositionalEncoding(max_len=3, d_model=4)(torch.ones(3, 4, dtype=dtype)).dtype == dtype


def test_a_layer_without_parameters_allocates_none():
    assert list(LayerNorm(5 * 10**10, elementwise_affine=False).parameters()) == []


@pytest.mark.parametrize("shape", [(1, 4, 6), (1, 3, 5), (6,), ()])
def test_the_encoding_names_the_limit_and_the_input_that_does_not_fit(shape):
    with pytest.raises(ValueError, match="at most 3 positions of 6 features") as error:
        PositionalEncoding(max_len=3, d_model=6)(torch.ones(shape))
    assert str(shape) in str(error.value)
