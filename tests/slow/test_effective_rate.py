"""How the length of W changes in front of a norm, where ε or Adam take part (lesson 14)."""

import pytest
import torch

from lnorm_utils import standardize
from lnorm_utils.data import normal

INPUTS, READOUT = normal(256, 16, seed=1).double(), normal(8, 32, seed=4).double() / 8
START = normal(32, 16, seed=3).double()


def outputs(matrix, eps=0.0):
    return standardize(INPUTS @ matrix.T, eps=eps).relu() @ READOUT.T


TARGETS = outputs(normal(32, 16, seed=2).double())


def after(optimizer, matrix, rate, steps, eps=0.0):
    """Return W and the loss after so many steps."""
    matrix = matrix.clone().requires_grad_()
    optimizer = optimizer([matrix], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (outputs(matrix, eps) - TARGETS).square().mean()
        loss.backward()
        optimizer.step()
    return matrix.detach(), loss.item()


def test_without_eps_gradient_descent_makes_w_longer_and_with_a_large_eps_shorter():
    assert after(torch.optim.SGD, START, 100.0, 1)[0].norm() > START.norm() + 0.1
    assert after(torch.optim.SGD, START, 100.0, 1, eps=10.0)[0].norm() < START.norm() - 0.05


def test_with_adam_w_can_shrink():
    start = normal(32, 16, seed=6).double()
    assert after(torch.optim.Adam, start, 0.01, 10)[0].norm() < start.norm() - 0.01


def test_with_adam_ten_times_w_needs_ten_times_the_rate_and_not_a_hundred_times():
    _, usual = after(torch.optim.Adam, START, 0.01, 100)
    losses = [after(torch.optim.Adam, 10 * START, rate, 100)[1] for rate in (0.01, 0.1, 1.0)]
    assert losses[0] > 3 * usual
    assert losses[1] == pytest.approx(usual, rel=1e-2)
    assert losses[2] < usual / 2
