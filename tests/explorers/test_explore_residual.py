"""The explorers of the residual stream show what autograd gives, one stack at a time."""

import numpy as np
import pytest
import torch

from lnorm_course.explorers.residual import (
    PLACEMENTS,
    explore_residual,
    explore_stream,
    gradients,
    number,
    scales,
)
from lnorm_course.explorers.residual import measured as of_all
from lnorm_utils.data import normal, residual_stack

ROWS = normal(64, 64, seed=1, dtype=torch.float64)  # as in the lesson


def measured(depth, placement, final_norm, own_directions):
    """Compute the gradient norms (seeds, depth) and scales (seeds, depth + 1) by backward."""
    slope = normal(*ROWS.shape[0 if own_directions else 1 :], seed=2, dtype=torch.float64)
    norms, scales = [], []
    for seed in range(5):
        stack = residual_stack(depth, PLACEMENTS[placement], seed, 64, final_norm)
        (stack(ROWS) * slope).sum(-1).mean().backward()
        each = [torch.cat([p.grad.flatten() for p in b.parameters()]) for b in stack.blocks]
        norms.append([gradient.norm().item() for gradient in each])
        stream = [ROWS]
        for block in stack.blocks:
            stream.append(block(stream[-1]))
        scales.append([h.var(-1, correction=0).mean().sqrt().item() for h in stream])
    return np.array(norms), np.array(scales)


@pytest.mark.parametrize(
    ("placement", "final_norm", "own"),
    [
        *(("post-LN", False, False), ("pre-LN", True, False), ("pre-LN", False, True)),
        *(("no norm", True, True),),
    ],
)
@pytest.mark.parametrize("depth", [2, 24])
def test_gradients_and_scales_are_those_of_autograd(depth, placement, final_norm, own):
    found = of_all(depth, placement, final_norm, own)
    for values, expected in zip(found, measured(depth, placement, final_norm, own), strict=True):
        np.testing.assert_allclose(values[placement], expected, rtol=1e-9)


def test_medians_and_ends_of_seeds_are_drawn_and_said():
    explorer = explore_residual(preset="24 blocks, pre-LN, no final norm")
    words, norms = explorer.words, gradients(24, "pre-LN", False, False)
    shown = zip(explorer.panels.values(), (norms, scales("pre-LN")), strict=True)
    for (low, high, _, median, _), values in shown:
        for end, course in ((low, values.min(0)), (high, values.max(0))):
            np.testing.assert_array_equal(end.get_ydata(), course)
        np.testing.assert_array_equal(median.get_ydata(), np.median(values, 0))
    assert f"is {number(np.median(norms, 0)[0])} in block 1" in words


def test_the_stream_begins_and_ends_with_the_scales_that_are_said():
    explorer = explore_stream(preset="24 blocks, post-LN")
    course = np.median(scales("post-LN"), 0)
    assert f"goes from {number(course[0])} to {number(course[-1])}." in explorer.words
