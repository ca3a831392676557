"""The explorer's arrows are the gradients of autograd."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state

from lnorm_course.explorers import explore_gradient
from lnorm_utils.plotting.points import in_plane


@pytest.fixture
def explorer():
    explorer = explore_gradient()
    yield explorer
    explorer.close()


def vector(explorer, label):
    """Return where an arrow begins, and where it goes from there."""
    (arrow,) = (artist for artist in explorer.moving if artist.get_label() == label)
    points = arrow.get_xydata()
    return (points[0], points[1] - points[0]) if len(points) else (None, np.zeros(2))


def test_in_every_state_what_comes_out_is_the_gradient_of_autograd(explorer):
    for _ in every_state(explorer):
        values = explorer.values
        x = values["scale"] * torch.tensor([values["feature"], 1, -1], dtype=torch.float64)
        x.requires_grad_()
        y = F.layer_norm(x, (3,), eps=values["eps"])
        start, g = vector(explorer, "g")
        np.testing.assert_allclose(start, in_plane(y[None].detach().numpy())[0], atol=1e-12)
        assert math.degrees(math.atan2(g[1], g[0])) % 360 == pytest.approx(values["direction"])
        g = torch.tensor(g @ (np.array([[1, -1, 0], [1, 1, -2]]) / [[2**0.5], [6**0.5]]))
        (dx,) = torch.autograd.grad(y, x, g)
        _, drawn = vector(explorer, "∂x")
        np.testing.assert_allclose(drawn, in_plane(dx[None].numpy())[0], atol=0.01)


def test_what_arrives_is_the_sum_of_what_passes_and_what_is_lost(explorer):
    parts = [vector(explorer, label)[1] for label in ("g", "passes", "lost")]
    np.testing.assert_allclose(parts[0], parts[1] + parts[2])
    assert parts[1] @ parts[2] == pytest.approx(0, abs=1e-4)


def test_a_larger_row_gets_a_smaller_gradient_and_a_large_eps_lets_a_part_along_x_hat_pass(
    explorer,
):
    lengths = []
    for scale in (0.75, 1.0, 1.5):
        explorer.scale = scale
        lengths.append(np.hypot(*vector(explorer, "∂x")[1]))
    np.testing.assert_allclose(np.array(lengths) * [0.75, 1.0, 1.5], lengths[1], rtol=1e-4)
    explorer.preset = "along x̂"
    assert "Less than 0.01" in explorer.words
    explorer.eps = 1.0
    assert explorer.words.endswith("0° to x̂.")
