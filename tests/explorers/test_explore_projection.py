"""The explorer of lesson 7 shows what least squares recovers behind nn.Linear and layer norm."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course.explorers import explore_projection
from lnorm_course.explorers.projection import SEED, SIZES, on_rays, points, recovered


def least_squares(x, others, size, scale):
    """Return R² on the second half of x, and what becomes of others, with numpy's solver."""
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        linear = nn.Linear(2, size)
    weight, bias = linear.weight.detach().double(), scale * linear.bias.detach().double()
    code, other = (F.layer_norm(F.linear(v, weight, bias), (size,)).numpy() for v in (x, others))
    x, half = x.numpy(), len(x) // 2
    target, middle = x[:half].mean(0), code[:half].mean(0)
    fit = np.linalg.lstsq(code[:half] - middle, x[:half] - target, rcond=1e-4)[0]
    wrong = x[half:] - target - (code[half:] - middle) @ fit
    r2 = 1 - (wrong**2).sum() / ((x[half:] - x[half:].mean(0)) ** 2).sum()
    return r2, (other - middle) @ fit + target


@pytest.mark.parametrize("size", [2, 3, 64])
@pytest.mark.parametrize("scale", [0, 0.1, 1.0, 10.0])
def test_what_is_recovered_is_what_least_squares_recovers(size, scale):
    found, back = recovered(size, scale > 0, scale or 1.0)
    r2, places = least_squares(points(), on_rays(), size, scale)
    assert found == pytest.approx(r2, abs=1e-8)
    np.testing.assert_allclose(back, places, atol=1e-7)


def test_the_curves_and_the_points_are_drawn_and_the_words_measure_them():
    explorer = explore_projection(preset="six features, no bias")
    words, (r2, back) = explorer.words, recovered(6, False, 1.0)
    (star,), rays = explorer.panels.values()
    *_, with_bias, without, _ = star.axes.lines
    for curve, scale in ((with_bias, 1), (without, 0)):
        expected = [least_squares(points(), on_rays(), size, scale)[0] for size in SIZES]
        np.testing.assert_allclose(curve.get_ydata(), expected, atol=1e-8)
    np.testing.assert_array_equal(star.get_xydata(), [[6, r2]])
    drawn = np.concatenate([ray.get_xydata() for ray in rays])
    np.testing.assert_array_equal(drawn, back)
    assert "come back 0.00 apart" in words
    explorer.preset = "six features as in the lesson"
    before, after = (v.reshape(4, 4, 2) for v in (on_rays(), recovered(6, True, 1.0)[1]))
    ends = [(v[:, -1] - v[:, 0]).norm(dim=-1).mean() for v in (before, after)]
    assert f"a ray, {ends[0]:.2f} apart, come back {ends[1]:.2f} apart" in explorer.words
