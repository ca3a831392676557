"""The explorer of lesson 7 shows what least squares recovers behind nn.Linear and layer norm."""

import itertools
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from explorer_fixtures import moved_by_tests
from torch import nn

from lnorm_course.explorers import explore_projection
from lnorm_utils.data import normal

SIZES = [2, 3, 4, 6, 8, 16, 32, 64]


explorer = moved_by_tests(explore_projection)


def default_points():
    return normal(400, 2, seed=399).double().numpy()


def pytorch_weights(size):
    """Return weight and bias as PyTorch initializes them."""
    with torch.random.fork_rng():
        torch.manual_seed(2634)
        linear = nn.Linear(2, size)
    return linear.weight.detach().double(), linear.bias.detach().double()


def codes(x, size, scale):
    """Project and normalize with PyTorch's own functions."""
    weight, bias = pytorch_weights(size)
    return F.layer_norm(F.linear(torch.tensor(x), weight, scale * bias), (size,)).numpy()


def least_squares(x, others, size, scale):
    """Return R² on the second half of x, and what becomes of others, with numpy's solver."""
    half = len(x) // 2
    code, target = codes(x, size, scale), x[:half].mean(0)
    middle = code[:half].mean(0)
    fit = np.linalg.lstsq(code[:half] - middle, x[:half] - target, rcond=1e-4)[0]
    wrong = x[half:] - target - (code[half:] - middle) @ fit
    r2 = 1 - (wrong**2).sum() / ((x[half:] - x[half:].mean(0)) ** 2).sum()
    return r2, (codes(others, size, scale) - middle) @ fit + target


def lines(explorer, label):
    found = [line for ax in explorer.picture.axes for line in ax.lines if line.get_label() == label]
    return [np.stack(line.get_data(), axis=1).astype(float) for line in found]


def on_rays(explorer):
    return np.concatenate(lines(explorer, "point on a ray"))


def assert_shows(explorer, x, size, bias, bias_scale):
    r2, recovered = least_squares(x, on_rays(explorer), size, bias_scale * bias)
    ((at, height),) = lines(explorer, "R² now")[0]
    assert (at, height) == (size, pytest.approx(r2, abs=1e-8))
    np.testing.assert_allclose(
        np.concatenate(lines(explorer, "point recovered")), recovered, atol=1e-7
    )
    assert ("can't read all" in explorer.words) == (bias and size > 3)
    said = re.search(r"^With (\d+) features .*?R² = (−?\d+\.\d\d)\.", explorer.words)
    assert int(said[1]) == size
    assert float(said[2].replace("−", "-")) == pytest.approx(r2, abs=0.00501)


@pytest.mark.parametrize("size", [2, 3, 64])
def test_at_every_size_and_bias_the_picture_shows_what_least_squares_recovers(explorer, size):
    explorer.size = size
    for bias, bias_scale in itertools.product((True, False), (0.1, 1.0, 10.0)):
        explorer.bias = bias
        explorer.bias_scale = bias_scale
        assert_shows(explorer, default_points(), size, bias, bias_scale)


def test_the_curves_are_r2_by_size_with_the_bias_and_without(explorer):
    for scale, label in ((1, "R² with the bias"), (0, "R² without a bias")):
        expected = [
            [size, least_squares(default_points(), np.ones((1, 2)), size, scale)[0]]
            for size in SIZES
        ]
        np.testing.assert_allclose(lines(explorer, label)[0], expected, atol=1e-8)


def test_without_a_bias_points_on_one_ray_coincide_and_with_it_they_separate(explorer):
    explorer.size, explorer.bias = 6, False
    for ray in lines(explorer, "point recovered"):
        assert np.ptp(ray, axis=0).max() < 0.001
    explorer.bias = True
    lengths = []
    for scale in (0.1, 1.0, 10.0):
        explorer.bias_scale = scale
        rays = np.array(lines(explorer, "point recovered"))
        lengths.append(np.linalg.norm(rays[:, -1] - rays[:, 0], axis=1).min())
    assert 0.01 < lengths[0] < lengths[1] / 2 < lengths[2] / 4


def test_the_words_measure_the_rays_or_count_the_places_if_they_are_few(explorer):
    for name, values in explorer.presets.items():
        explorer.preset = name
        before, after = (
            np.array(lines(explorer, f"point {on}")) for on in ("on a ray", "recovered")
        )
        ends = [np.linalg.norm(rays[:, -1] - rays[:, 0], axis=1).mean() for rays in (before, after)]
        distances = np.linalg.norm(after.reshape(-1, 1, 2) - after.reshape(1, -1, 2), axis=-1)
        places = len({tuple(near) for near in distances <= 0.0185})
        few = not values["bias"] or values["size"] == 2
        assert (f"come back at {places} places" in explorer.words) == few
        said = re.findall(r"(\d\.\d\d) apart", explorer.words)
        assert said == ([] if few else [f"{end:.2f}" for end in ends])
