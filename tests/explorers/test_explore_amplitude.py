"""What layer norm makes of a small row is what PyTorch makes of it."""

import numpy as np
import pytest
import torch.nn.functional as F

from lnorm_course.explorers.amplitude import DRAWN, explore_amplitude, normed, shape


@pytest.mark.parametrize("eps", [1e-8, 1e-5, 1.0])
@pytest.mark.parametrize("sigma", [0, 1e-4, 0.00316, 1.0])
def test_the_row_and_the_curves_are_those_of_pytorch(sigma, eps):
    found, row = normed(sigma, eps), shape()
    assert (row.mean().item(), row.std(correction=0).item()) == pytest.approx((0, 1))
    expected = F.layer_norm(sigma * row, (64,), eps=eps)
    np.testing.assert_allclose(found.y, expected, atol=1e-12)
    assert found.sigma == pytest.approx(expected.std(correction=0).item())
    np.testing.assert_allclose(found.inside, DRAWN / np.sqrt(DRAWN**2 + eps), atol=1e-12)


def test_what_is_drawn_is_what_was_computed():
    explorer = explore_amplitude(preset="as small as √ε")
    words, found = explorer.words, normed(0.00316, 1e-5)
    (exact, before, after, *_), (outside, inside, here) = explorer.panels.values()
    for artist, values in ((before, found.x), (after, found.y), (here, [0.00316])):
        np.testing.assert_array_equal(artist.get_xdata(), values)
    for artist, values in ((inside, found.inside), (outside, found.outside)):
        np.testing.assert_array_equal(artist.get_ydata(), values)
    assert f"it is {found.sigma:.2f}" in words
    assert exact.get_visible()
    explorer.preset = "constant row"
    assert "divide 0 by 0" in explorer.words
    assert not exact.get_visible()
