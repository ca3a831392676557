"""γ and β move the outputs of a feature, in every row, as in PyTorch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnorm_course.explorers.gamma_beta import CHOSEN, explore_gamma_beta, outputs, rows


@pytest.mark.parametrize("feature", CHOSEN)
@pytest.mark.parametrize(("weight", "bias"), [(-2.0, 3.0), (0.0, 0.0), (1.0, -3.0)])
def test_the_outputs_are_those_of_pytorch(feature, weight, bias):
    gamma, beta = torch.ones(4).double(), torch.zeros(4).double()
    those = slice(None) if feature == "all" else int(feature[-1])
    gamma[those], beta[those] = weight, bias
    expected = F.layer_norm(rows(), (4,), gamma, beta)
    np.testing.assert_allclose(outputs(feature, weight, bias), expected, atol=1e-12)


def test_they_are_drawn_by_feature_and_by_row():
    explorer = explore_gamma_beta(preset="one feature moved")
    words, y = explorer.words, outputs("feature 1", 1.0, 3.0)
    for (dots, means), values in zip(explorer.panels.values(), (y, y.T), strict=True):
        np.testing.assert_array_equal(dots.get_ydata(), values.ravel())
        np.testing.assert_array_equal(means.get_ydata(), values.mean(0))
    assert f"feature 1 has mean {y[:, 1].mean():.2f}" in words
