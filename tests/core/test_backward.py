"""The backward pass gives autograd's gradients, and its own function passes both grad checks."""

import pytest
import torch
import torch.nn.functional as F
from test_functional import EXACT, SHAPES, tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close

from lnorm_utils import layer_norm_steps
from lnorm_utils.backward import LayerNormFunction, layer_norm_backward


def of_autograd(g, x, normalized, weight, eps):
    leaves = [t.clone().requires_grad_() for t in (x, weight, torch.zeros_like(weight))]
    y = F.layer_norm(leaves[0], normalized, *leaves[1:], eps)
    return torch.autograd.grad(y, leaves, g)


@pytest.mark.parametrize("eps", [1e-5, 0.1])
@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
def test_the_gradients_are_those_of_autograd(shape, normalized, eps):
    x, g = 1.5 * tensor(*shape) + 0.7, tensor(*shape, seed=3)
    weight = tensor(*normalized, seed=1) + 2
    ours = layer_norm_backward(g, x, normalized, weight, eps)
    for mine, reference in zip(ours[3:], of_autograd(g, x, normalized, weight, eps), strict=True):
        assert_close(mine, reference, **EXACT)
    plain = layer_norm_backward(g, x, normalized, eps=eps)
    ones = torch.ones_like(weight)
    assert_close(plain.dx, of_autograd(g, x, normalized, ones, eps)[0], **EXACT)
    assert_close((plain.dweight, plain.dbias), (ours.dweight, ours.dbias))


def test_every_intermediate_is_the_formula():
    x, g, weight = tensor(2, 3, 4), tensor(2, 3, 4, seed=3), tensor(4, seed=1)
    found = layer_norm_backward(g, x, 4, weight, 0.1)
    x_hat = layer_norm_steps(x, 4, eps=0.1).x_hat
    assert found._fields == ("g_hat", "g_mean", "g_slope", "dx", "dweight", "dbias")
    assert found.g_mean.shape == found.g_slope.shape == (2, 3, 1)
    assert_close(found.g_hat, weight * g, **EXACT)
    assert_close(found.g_mean, (weight * g).mean(-1, keepdim=True), **EXACT)
    assert_close(found.g_slope, (weight * g * x_hat).mean(-1, keepdim=True), **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("parameters", ["same", "float32"])
def test_half_precision_is_within_one_rounding_of_float64(dtype, parameters):
    x, g = (100 * tensor(16, 300)).to(dtype), tensor(16, 300, seed=3).to(dtype)
    weight = tensor(300, seed=1).to(dtype if parameters == "same" else torch.float32)
    ours = layer_norm_backward(g, x, 300, weight)
    exact = of_autograd(g.double(), x.double(), (300,), weight.double(), 1e-5)
    assert ours.g_mean.dtype == torch.float32
    for mine, reference, kind in zip(ours[3:], exact, (x, weight, weight), strict=True):
        assert mine.dtype == kind.dtype
        assert_close(mine.double(), reference, atol=1e-5, rtol=torch.finfo(mine.dtype).eps)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("has_weight", [False, True])
def test_the_function_passes_both_grad_checks(has_weight, has_bias):
    weight = (tensor(3, 4, seed=1) + 1).requires_grad_() if has_weight else None
    bias = tensor(3, 4, seed=2).requires_grad_() if has_bias else None
    arguments = (tensor(2, 3, 4).requires_grad_(), (3, 4), weight, bias, 0.1)
    assert gradcheck(LayerNormFunction.apply, arguments)
    assert gradgradcheck(LayerNormFunction.apply, arguments)
