"""The op gives PyTorch's numbers, on ordinary and on awkward input."""

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lnorm_utils import layer_norm, layer_norm_steps, mean, standardize, variance

EXACT = {"atol": 1e-12, "rtol": 0.0}

SHAPES = [
    ((5,), (5,)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (3, 4)),
    ((2, 3, 4), (2, 3, 4)),
    ((2, 3, 2, 5), (2, 5)),
    ((2, 1, 3, 2, 2), (3, 2, 2)),
    ((3, 1), (1,)),
]


def tensor(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("affine", ["", "weight", "bias", "weight and bias"])
@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
def test_layer_norm_gives_the_numbers_and_gradients_of_pytorch(shape, normalized, affine):
    eps = 0.1 if "weight" in affine else 1e-5
    x = (1.5 * tensor(*shape) + 0.7).requires_grad_()
    w = (tensor(*normalized, seed=1) + 2).requires_grad_() if "weight" in affine else None
    b = tensor(*normalized, seed=2).requires_grad_() if "bias" in affine else None
    given = [t for t in (x, w, b) if t is not None]
    ours = layer_norm(x, normalized, w, b, eps)
    theirs = F.layer_norm(x, normalized, w, b, eps)
    assert_close(ours, theirs, **EXACT)
    upstream = tensor(*shape, seed=3)
    for mine, reference in zip(
        torch.autograd.grad(ours, given, upstream),
        torch.autograd.grad(theirs, given, upstream),
        strict=True,
    ):
        assert_close(mine, reference, **EXACT)


def test_eps_is_that_of_pytorch_where_it_is_left_out():
    x = 1e-3 * tensor(3, 4)
    expected = F.layer_norm(x, (4,))
    assert_close(standardize(x), expected, **EXACT)
    assert_close(layer_norm_steps(x, 4).y, expected, **EXACT)
    assert_close(layer_norm(x, 4), expected, **EXACT)


def test_the_steps_are_the_formula():
    x, w, b = tensor(2, 3, 4), tensor(4, seed=1), tensor(4, seed=2)
    steps = layer_norm_steps(x, 4, w, b, eps=0.1)
    assert steps._fields == ("mean", "var", "rstd", "x_hat", "y")
    assert steps.mean.shape == steps.var.shape == steps.rstd.shape == (2, 3, 1)
    assert_close(steps.mean, x.mean(-1, keepdim=True), **EXACT)
    assert_close(steps.var, x.var(-1, correction=0, keepdim=True), **EXACT)
    assert_close(steps.rstd, 1 / (steps.var + 0.1).sqrt(), **EXACT)
    assert_close(steps.x_hat, (x - steps.mean) * steps.rstd, **EXACT)
    assert_close(steps.y, w * steps.x_hat + b, **EXACT)


@pytest.mark.parametrize("dim", [0, -1, (1, 2), (0, 2), (0, 1, 2)])
def test_mean_variance_and_standardize_take_any_axes_and_keep_them(dim):
    x = tensor(2, 3, 4) + 5
    assert_close(mean(x, dim), x.mean(dim, keepdim=True), **EXACT)
    assert_close(variance(x, dim), x.var(dim, correction=0, keepdim=True), **EXACT)
    expected = (x - mean(x, dim)) / (variance(x, dim) + 0.1).sqrt()
    assert_close(standardize(x, dim, eps=0.1), expected, **EXACT)


def test_a_constant_row_becomes_exactly_zero_in_float32():
    for value in (0.1, 333.3, 1000.1, 10_000.1, -7e6):
        for length in (2, 3, 6, 17, 256):
            x = torch.full((2, length), value)
            assert (variance(x) == 0).all()
            assert (layer_norm(x, length) == 0).all()
            assert layer_norm(x, length, eps=0.0).isnan().all()
