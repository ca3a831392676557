"""What layer norm leaves of few features is what PyTorch leaves, and is counted rightly."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnorm_course.explorers.collapse import explore_collapse, near_corners, normed, points
from lnorm_utils.plotting.points import in_plane


@pytest.mark.parametrize("eps", [1e-8, 1e-3, 0.1])
@pytest.mark.parametrize("difference", [0, 1e-3, 1.0])
@pytest.mark.parametrize("features", [1, 2, 3, 4])
def test_the_points_are_those_of_pytorch(features, difference, eps):
    x, y = normed(features, difference, eps)
    mean = points()[:, :features].mean(1, keepdim=True)
    np.testing.assert_allclose(x, mean + difference * (points()[:, :features] - mean))
    np.testing.assert_allclose(y, F.layer_norm(x, (features,), eps=eps), atol=1e-12)


def test_points_at_the_corners_are_counted_and_all_are_drawn():
    explorer = explore_collapse(preset="almost equal")
    words, (_, y) = explorer.words, normed(2, 1e-3, 1e-5)
    first, second = ((y - torch.tensor([s, -s])).abs().amax(1) < 0.01 for s in (1, -1))
    assert near_corners(y) == [first.sum(), second.sum()]
    assert f"{first.sum()} points lie within" in words
    (*before, _, _), (_, *after, _, _, _, _) = explorer.panels.values()
    for dots, values in ((before, points()[:, :2]), (after, y)):
        assert sum(len(those.get_xdata()) for those in dots) == len(values) + 1
        assert len(dots[0].get_xdata()) == (points()[:, 0] > points()[:, 1]).sum()
    np.testing.assert_allclose(after[3].get_xydata(), in_plane(y[:1].numpy()))


@pytest.mark.parametrize(("features", "said"), [(1, "lie at 0"), (3, "√3"), (4, "√4")])
def test_a_circle_and_a_sphere_are_named_and_one_feature_becomes_zero(features, said):
    explorer = explore_collapse(features=features)
    assert said in explorer.words
