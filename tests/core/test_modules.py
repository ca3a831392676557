"""The modules behave as PyTorch's own, and say what is wrong with an input."""

import math

import pytest
import torch
from test_functional import tensor
from torch import nn
from torch.testing import assert_close

from lnorm_utils import LayerNorm, PositionalEncoding

SWITCHES = [{}, {"bias": False}, {"elementwise_affine": False}, {"eps": 0.1}]


def filled(layer, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, generator=generator)
    return layer


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("shape", [4, [4], (3, 4), torch.Size([2, 3, 4])])
def test_the_layer_starts_computes_learns_and_exchanges_state_dicts_as_that_of_pytorch(
    shape, switches
):
    x = tensor(2, 3, 4)
    ours, theirs = (kind(shape, dtype=x.dtype, **switches) for kind in (LayerNorm, nn.LayerNorm))
    assert_close(ours.state_dict(), theirs.state_dict())
    for seed, (one, other) in enumerate([(ours, theirs), (theirs, ours)]):
        other.load_state_dict(filled(one, seed).state_dict())
        assert_close(ours(x), theirs(x), atol=1e-12, rtol=0.0)
    for layer in (ours, theirs):
        (layer(x.clone().requires_grad_()) - 1).square().sum().backward()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert_close(one.grad, other.grad)


@pytest.mark.parametrize("switches", SWITCHES)
def test_the_layer_has_the_text_of_pytorch(switches):
    ours, theirs = LayerNorm((3, 4), **switches), nn.LayerNorm((3, 4), **switches)
    assert ours.normalized_shape == theirs.normalized_shape
    bias = f", bias={ours.bias is not None}"  # which older releases of PyTorch don't say
    assert ours.extra_repr() == theirs.extra_repr().removesuffix(bias) + bias


@pytest.mark.parametrize("d_model", [1, 2, 5, 6])
def test_the_encoding_is_the_published_formula(d_model):
    length = 7
    encoded = PositionalEncoding(max_len=9, d_model=d_model)(torch.ones(1, length, d_model))[0]
    for position in range(length):
        for i in range(d_model):
            angle = position / 10_000 ** ((i - i % 2) / d_model)
            added = math.cos(angle) if i % 2 else math.sin(angle)
            expected = math.sqrt(d_model) + added
            assert encoded[position, i].item() == pytest.approx(expected, abs=1e-6)


def test_the_encoding_has_nothing_to_learn_and_nothing_to_save():
    encode = PositionalEncoding(max_len=3, d_model=4)
    assert list(encode.parameters()) == []
    assert encode.state_dict() == {}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_encoding_keeps_the_dtype_of_its_input(dtype):
    assert PositionalEncoding(max_len=3, d_model=4)(torch.ones(3, 4, dtype=dtype)).dtype == dtype


def test_a_layer_without_parameters_allocates_none():
    assert list(LayerNorm(5 * 10**10, elementwise_affine=False).parameters()) == []
