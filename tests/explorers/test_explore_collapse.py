"""The explorer of lesson 6: its dots are where the formula puts them."""

import math
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, moved_by_tests

from lnorm_course.explorers import explore_collapse
from lnorm_utils.data import normal

POINTS = normal(30, 4, seed=9).double()
POINTS[0] = torch.tensor([0.5, -0.5, 0.0, 0.0])  # the point that is marked


explorer = moved_by_tests(lambda: explore_collapse(points=POINTS))


def drawn(explorer, panel):
    """Return what one of the two panels shows: circles, triangles, squares, the marked point."""
    ax = explorer.picture.axes[panel]
    lines = [line for line in explorer.moving if getattr(line, "axes", None) is ax]
    return {line.get_marker(): line.get_xydata() for line in lines if line in ax.lines}


def flat(rows):
    """Compute where a point is drawn, one direction at a time."""
    rows = rows.numpy()
    if rows.shape[1] == 1:
        return np.stack([rows[:, 0], 0 * rows[:, 0]], axis=1)
    if rows.shape[1] == 2:
        return rows
    right = (rows[:, 0] - rows[:, 1]) / math.sqrt(2)
    up = (rows[:, 0] + rows[:, 1] - 2 * rows[:, 2]) / math.sqrt(6)
    return np.stack([right, up], axis=1)


def expected(features, difference, eps):
    rows = POINTS[:, :features]
    mean = rows.mean(1, keepdim=True)
    before = mean + difference * (rows - mean)
    return before, F.layer_norm(before, (features,), eps=eps)


def assert_shows(explorer):
    values = explorer.values
    before, after = expected(**values)
    second = POINTS[:, min(1, values["features"] - 1)]
    first, second = POINTS[:, 0].numpy(), second.numpy()
    differs = values["difference"] > 0
    for panel, rows in ((0, before), (1, after)):
        dots = drawn(explorer, panel)
        places = flat(rows)
        kinds = {"o": differs & (first > second), "^": differs & (first < second)}
        kinds["s"] = ~kinds["o"] & ~kinds["^"]
        for marker, those in kinds.items():
            assert dots[marker] == pytest.approx(places[those].reshape(-1, 2), abs=1e-12)
        assert dots["*"] == pytest.approx(places[:1], abs=1e-12)


def test_in_every_state_the_dots_are_those_of_pytorchs_layer_norm(explorer):
    for _ in every_state(explorer):
        assert_shows(explorer)


def test_the_marked_point_of_two_features_follows_the_formula(explorer):
    explorer.features = 2
    for difference, eps in ((1.0, 1e-5), (0.01, 1e-3), (1e-4, 0.1), (0, 1e-5)):
        explorer.difference = difference
        explorer.eps = eps
        half = difference / 2
        value = half / math.sqrt(half**2 + eps)
        assert f"becomes ({value:.5f}, {-value + 0.0:.5f})".replace("-", "−") in explorer.words


def test_the_difference_of_one_feature_does_nothing_and_is_gray(explorer):
    explorer.values = {"features": 1, "difference": 1.0}
    shown = drawn(explorer, 0)["s"]
    assert not explorer.controls["difference"].when(explorer.values)
    explorer.difference = 0
    np.testing.assert_array_equal(drawn(explorer, 0)["s"], shown)
    np.testing.assert_array_equal(shown[:, 0], POINTS[:, 0])
    explorer.features = 2
    assert explorer.controls["difference"].when(explorer.values)


@pytest.mark.parametrize(("features", "shape"), [(3, "circle"), (4, "sphere")])
def test_three_and_four_features_lie_on_a_circle_and_a_sphere_whose_outline_is_drawn(
    explorer, features, shape
):
    explorer.values = {"features": features, "difference": 1.0, "eps": 1e-5}
    radius = math.sqrt(features)
    assert re.search(rf"all lie on .*{shape} of radius √{features} = {radius:.2f}", explorer.words)
    outline = explorer.moving[0].get_xydata()
    assert np.hypot(*outline.T) == pytest.approx(np.full(len(outline), radius))
    explorer.features = 2
    assert len(explorer.moving[0].get_xydata()) == 0
