"""The gradient that comes back is the one that autograd finds, and what is lost lies along x̂."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnorm_course.explorers.gradient import back, explore_gradient, place


@pytest.mark.parametrize("eps", [1e-5, 1.0])
@pytest.mark.parametrize("direction", [0, 30, 90, 240])
@pytest.mark.parametrize(("feature", "scale"), [(-1.0, 1.0), (0.0, 0.75), (2.0, 1.5)])
def test_the_gradient_is_that_of_autograd(feature, scale, direction, eps):
    found = back(feature, scale, direction, eps)
    x = (scale * torch.tensor([feature, 1.0, -1.0]).double()).requires_grad_()
    y = F.layer_norm(x, (3,), eps=eps)
    y.backward(found.g)
    np.testing.assert_allclose(found.dx, x.grad, atol=1e-12)
    np.testing.assert_allclose(found.x_hat, y.detach(), atol=1e-12)
    assert (found.g.norm().item(), found.g.sum().item()) == pytest.approx((1.5, 0))
    np.testing.assert_allclose(found.dx, found.rstd * (found.g - found.along), atol=1e-12)


def test_arrows_begin_at_the_row_and_end_where_the_gradients_do():
    explorer = explore_gradient(preset="at an angle")
    words, found = explorer.words, back(-1.0, 1.0, 30, 1e-5)
    (_, star, passes, lost, arrives, *_), (_, leaves, *_) = explorer.panels.values()
    for arrow, start, way in (
        (passes, found.x_hat, found.g - found.along),
        (lost, found.x_hat, found.along),
        (arrives, found.x_hat, found.g),
        (leaves, found.centered, found.dx),
    ):
        np.testing.assert_allclose(arrow.get_xydata()[:2], [place(start), place(start + way)])
    np.testing.assert_allclose(star.get_xydata(), [place(found.x_hat)])
    assert f"it has length {found.dx.norm():.2f}" in words
