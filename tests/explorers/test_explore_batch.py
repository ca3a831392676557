"""The explorer of lesson 5 shows what nn.BatchNorm1d and nn.functional.layer_norm give."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course.explorers.batch import course, explore_batch, points


def by_torch(size):
    """Let nn.BatchNorm1d see 40 batches with point 0, for its outputs, and let another see 40
    without it, for what that keeps of feature 0."""
    x = points()
    with_it, without = (torch.Generator().manual_seed(seed) for seed in (5, 8))
    company = x[torch.randint(1, len(x), (40, 255), generator=with_it)]
    others = x[torch.randint(1, len(x), (40, 256), generator=without)]
    layer, other = (nn.BatchNorm1d(4, affine=False).double().train() for _ in range(2))
    outputs, kept = [], [(0.0, 1.0)]
    for some, rest in zip(company, others, strict=True):
        outputs.append(layer(torch.cat([x[:1], some])[:size])[0].numpy())
        other(rest[:size])
        kept.append((other.running_mean[0].item(), other.running_var[0].item()))
    return np.array(outputs), np.array(kept).T


@pytest.mark.parametrize("size", [2, 4, 8, 256])
def test_outputs_and_running_statistics_are_those_of_batch_norm_in_train_mode(size):
    found, (outputs, (mean, variance)) = course(size), by_torch(size)
    np.testing.assert_allclose(found.outputs, outputs, atol=1e-10)
    np.testing.assert_allclose(found.mean, mean, atol=1e-10)
    np.testing.assert_allclose(found.variance, variance, atol=1e-10)


def test_a_batch_of_one_has_no_batch_norm_and_the_words_say_why():
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(4).double()(points()[:1])
    explorer = explore_batch(preset="batch of one")
    words, found = explorer.words, course(1)
    for values in found:
        assert np.isnan(values).all()
    assert "nn.BatchNorm1d refuses" in words
    assert f"into {F.layer_norm(points()[0], (4,))[0]:.2f}." in words


def test_the_batch_that_is_chosen_is_shown_and_what_was_kept_up_to_it():
    explorer = explore_batch(preset="after 40 batches of two", batch=7)
    words, found = explorer.words, course(2)
    (cloud, now), (_, mean, _, variance) = explorer.panels.values()
    np.testing.assert_array_equal(cloud.get_ydata(), found.outputs.ravel())
    np.testing.assert_array_equal(now.get_ydata(), found.outputs[6])
    layer = cloud.axes.lines[-1].get_ydata()
    np.testing.assert_allclose(layer, F.layer_norm(points()[0], (4,)), atol=1e-12)
    assert {len(mean.get_xdata()), len(variance.get_xdata())} == {8}
    assert f"After batch 7, the running mean is {found.mean[7]:.2f}" in words
