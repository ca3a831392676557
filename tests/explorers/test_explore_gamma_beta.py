"""The explorer of lesson 4 shows what γ and β do, whatever its controls stand at."""

import re

import numpy as np
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, moved_by_tests

from lnorm_course.explorers import explore_gamma_beta

explorer = moved_by_tests(explore_gamma_beta)


def default_rows():
    z = torch.randn(8, 6, generator=torch.Generator().manual_seed(4)).double().numpy()
    spread = np.exp(z[:, 4:5] / 2)
    return (z[:, :4] + [-1.0, 0.0, 0.5, 1.5]) * spread + 2 * z[:, 5:]


def torchs(rows, feature="all", weight=1.0, bias=0.0):
    """Return the outputs (N, D), and those of the chosen features."""
    rows = torch.as_tensor(rows, dtype=torch.float64)
    features = rows.shape[1]
    chosen = range(features) if feature == "all" else [int(feature.split()[1])]
    gamma, beta = torch.ones(features).double(), torch.zeros(features).double()
    for d in chosen:
        gamma[d], beta[d] = weight, bias
    y = F.layer_norm(rows, (features,), gamma, beta).numpy()
    return y, y[:, list(chosen)]


def check_groups(dots, means, values):
    """The dots are the outputs (each, groups), each over its group, and the dashes their means."""
    at = np.arange(values.shape[1])
    np.testing.assert_array_equal(dots.get_xdata(), np.tile(at, len(values)))
    np.testing.assert_allclose(dots.get_ydata(), values.ravel(), atol=1e-12)
    if means is not None:
        np.testing.assert_array_equal(means.get_xdata(), at)
        np.testing.assert_allclose(means.get_ydata(), values.mean(0), atol=1e-12)


def check_picture(explorer, rows, *state):
    feature_dots, feature_means, row_dots, row_means = explorer.moving
    y, _ = torchs(rows, *state)
    check_groups(feature_dots, feature_means, y)
    check_groups(row_dots, row_means, y.T)


def test_in_every_state_the_picture_is_that_of_layer_norm(explorer):
    for values in every_state(explorer):
        check_picture(explorer, default_rows(), *values.values())


def test_the_words_give_the_moments_of_the_feature_and_of_the_rows(explorer):
    state = ("feature 2", -2.0, 1.5)
    explorer.feature, explorer.weight, explorer.bias = state
    words = explorer.words
    y, those = torchs(default_rows(), *state)
    assert "γ = −2 and β = 1.5, feature 2 has" in words
    numbers = [float(n.replace("−", "-")) for n in re.findall(r"−?\d+\.\d+", words)]
    moments = [those.mean(), those.std()]
    ends = [end for values in (y.mean(1), y.std(1)) for end in (values.min(), values.max())]
    np.testing.assert_allclose(numbers, [1.5, *moments, *ends], atol=0.006)
