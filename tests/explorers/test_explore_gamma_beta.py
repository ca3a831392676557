"""The explorer of lesson 4 shows what γ and β do, whatever its controls stand at."""

import re

import numpy as np
import torch
import torch.nn.functional as F
from explorer_fixtures import every_state, made_by_tests, moved_by_tests

from lnorm_utils.examples import encoded_points
from lnorm_utils.explorers import explore_gamma_beta

explorer = moved_by_tests(explore_gamma_beta)
explore = made_by_tests(explore_gamma_beta)


def default_rows():
    z = torch.randn(8, 6, generator=torch.Generator().manual_seed(4)).double().numpy()
    spread = np.exp(z[:, 4:5] / 2)
    return (z[:, :4] + [-1.0, 0.0, 0.5, 1.5]) * spread + 2 * z[:, 5:]


def torchs(rows, feature="all features", weight=1.0, bias=0.0):
    """Return the outputs (N, D), and those of the chosen features."""
    rows = torch.as_tensor(rows, dtype=torch.float64)
    features = rows.shape[1]
    chosen = range(features) if feature == "all features" else [int(feature.split()[1])]
    gamma, beta = torch.ones(features).double(), torch.zeros(features).double()
    for d in chosen:
        gamma[d], beta[d] = weight, bias
    y = F.layer_norm(rows, (features,), gamma, beta).numpy()
    return y, y[:, list(chosen)]


def check_counts(stairs, values):
    counts, edges, _ = stairs.get_data()
    np.testing.assert_array_equal(np.nan_to_num(counts), np.histogram(values, edges)[0])
    assert np.nansum(counts) == values.size


def check_moments(bars, dots, values, axis):
    mean = values.mean(axis)
    np.testing.assert_array_equal(dots.get_xdata(), np.arange(mean.size))
    np.testing.assert_allclose(dots.get_ydata(), mean, atol=1e-12)
    check_bars(bars, values, axis)


def check_bars(bars, values, axis):
    mean, std = values.mean(axis), values.std(axis)
    ends = np.array(bars.get_ydata()).reshape(-1, 3)
    np.testing.assert_array_equal(np.array(bars.get_xdata())[::3], np.arange(mean.size))
    np.testing.assert_allclose(ends[:, :2], np.stack([mean - std, mean + std], 1), atol=1e-12)
    assert np.isnan(ends[:, 2]).all()


def check_picture(explorer, rows, *state):
    every, chosen, feature_bars, feature_dots, row_bars, row_dots = explorer.moving
    y, those = torchs(rows, *state)
    check_counts(every, y)
    check_counts(chosen, those)
    check_moments(feature_bars, feature_dots, y, 0)
    check_moments(row_bars, row_dots, y, 1)


def test_in_every_state_the_picture_is_that_of_layer_norm(explorer):
    for values in every_state(explorer):
        check_picture(explorer, default_rows(), *values.values())


def test_the_words_give_the_moments_of_the_outputs_and_of_the_rows(explore):
    state = ("feature 2", -2.0, 1.5)
    words = explore(*state).words
    y, those = torchs(default_rows(), *state)
    plain = torchs(default_rows(), "feature 2")[1]
    ends = [moment(y, 1) for moment in (np.mean, np.std)]
    before = [moment(default_rows(), 1) for moment in (np.mean, np.std)]
    true = [-2, 1.5, those.mean(), those.std(), plain.mean(), plain.std()]
    true += [end for m in (*ends, *before) for end in (m.min(), m.max())]
    numbers = [float(n.replace("−", "-")) for n in re.findall(r"−?\d+\.\d+", words)]
    np.testing.assert_allclose(numbers, true[1:], atol=0.006)
    assert "feature 2 has γ = −2 and β = 1.5. Its 8 outputs" in words


def test_the_picture_at_gamma_one_and_beta_zero_stays_in_the_background(explorer):
    explorer.preset = "all stretched and moved"
    histogram, features, rows = explorer.picture.axes
    x_hat = torchs(default_rows())[0]
    check_counts(histogram.patches[0], x_hat)
    for ax, axis in ((features, 0), (rows, 1)):
        zero, bars = ax.lines[:2]
        assert list(zero.get_ydata()) == [0, 0]
        check_bars(bars, x_hat, axis)
        assert not {bars, zero} & {*explorer.moving}


def test_the_means_of_the_rows_before_are_marked_where_they_fit(explorer, explore):
    triangles = explorer.picture.axes[2].lines[-1]
    assert triangles.get_marker() == "^"
    np.testing.assert_allclose(triangles.get_ydata(), default_rows().mean(1), atol=1e-6)
    far = explore(x=default_rows() + 100)
    assert [line for line in far.picture.axes[2].lines if line.get_marker() == "^"] == []
    assert "(before layer norm: means from 97.12 to 102.86 and" in far.words


def test_positions_are_rows_as_well(explore):
    x = encoded_points().requires_grad_()
    explorer = explore(x=x, feature="feature 3", weight=-2.0, bias=3.0)
    rows = x.detach().reshape(6, 4).double().numpy()
    check_picture(explorer, rows, "feature 3", -2.0, 3.0)
