"""Residual blocks, stacks, and what is measured on them, against formulas written out here."""

import pytest
import torch
import torch.nn.functional as F
from test_modules import filled
from torch.testing import assert_close

from lnorm_utils import ResidualBlock, ResidualStack
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.measures import gradient_norms

X = normal(2, 3, 8, seed=1, dtype=torch.float64)


def branch(block, x):
    hidden = F.relu(F.linear(x, block.f.first.weight, block.f.first.bias))
    return F.linear(hidden, block.f.second.weight, block.f.second.bias)


def norm(x, layer):
    return F.layer_norm(x, x.shape[-1:], layer.weight, layer.bias)


FORMULAS = {
    "post": lambda b, x: norm(x + branch(b, x), b.norm),
    "pre": lambda b, x: x + branch(b, norm(x, b.norm)),
    "none": lambda b, x: x + branch(b, x),
}


@pytest.mark.parametrize("placement", FORMULAS)
def test_a_block_is_its_formula(placement):
    block = filled(ResidualBlock(8, placement, dtype=torch.float64))
    assert_close(block(X), FORMULAS[placement](block, X))
    assert (block.norm is None) == (placement == "none")


@pytest.mark.parametrize("placement", FORMULAS)
@pytest.mark.parametrize("final_norm", [None, True, False])
def test_a_stack_is_its_blocks_and_the_final_norm(placement, final_norm):
    stack = filled(ResidualStack(3, 8, placement, final_norm, dtype=torch.float64))
    expected = X
    for block in stack.blocks:
        expected = FORMULAS[placement](block, expected)
    has_final = placement != "post" if final_norm is None else final_norm
    assert (stack.final_norm is not None) == has_final
    if has_final:
        expected = norm(expected, stack.final_norm)
    assert_close(stack(X), expected)


def test_a_stack_is_made_as_it_was_asked_for():
    assert ResidualStack(2, 4).blocks[1].placement == "post"
    stack = ResidualStack(2, 4, "pre", dtype=torch.bfloat16)
    assert {parameter.dtype for parameter in stack.parameters()} == {torch.bfloat16}


def test_a_stack_has_its_own_seed():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    stack = residual_stack(2, "post", seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    assert stack.blocks[0].f.first.weight.dtype == torch.float64
    assert residual_stack(1, "post", seed=3, final_norm=True).final_norm is not None


@pytest.mark.parametrize("slope", [X[0, 0], X.flip(0)])  # one for all rows, or one for each
def test_gradient_norms_are_those_that_backward_gives_and_leave_no_gradient(slope):
    stack = filled(residual_stack(3, "pre", seed=0, d_model=8))
    norms = gradient_norms(stack, X, slope)
    assert all(parameter.grad is None for parameter in stack.parameters())
    (stack(X) * slope).sum(-1).mean().backward()
    expected = [torch.cat([p.grad.flatten() for p in b.parameters()]).norm() for b in stack.blocks]
    assert_close(norms, torch.stack(expected))


def test_each_start_has_its_own_spread_and_the_blocks_of_a_shorter_stack():
    spreads = {"xavier": 64**-0.5, "default": (3 * 64) ** -0.5, "kaiming": (2 / 64) ** 0.5}
    for init, spread in spreads.items():
        first = residual_stack(2, "pre", seed=1, init=init).blocks[1].f.first
        assert first.weight.std().item() == pytest.approx(spread, rel=0.02)
        assert bool((first.bias != 0).any()) == (init == "default")
        shorter, longer = (residual_stack(n, "pre", seed=1, init=init) for n in (1, 2))
        assert_close(shorter.blocks[0].f.state_dict(), longer.blocks[0].f.state_dict())
