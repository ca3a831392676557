"""The explorer of lesson 5 shows what nn.BatchNorm1d and nn.functional.layer_norm give."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course.explorers.batch import explore_batch
from lnorm_utils.data import normal

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
CLOUD, NOW, LAYER = "batch norm, 40 batches", "batch norm, this batch", "layer norm"


X = 2 * normal(12, 3, seed=1).double() + 1


def drawn(x):
    """Draw the batches as the explorer says it does: row 0, and company from the others."""
    generator = torch.Generator().manual_seed(5)
    company = torch.randint(1, len(x), (40, 255), generator=generator)
    return [torch.cat([x[:1], x[rows]]) for rows in company]


def drawn_without(x):
    """Draw the batches of the running statistics: from all rows but row 0."""
    generator = torch.Generator().manual_seed(8)
    return x[torch.randint(1, len(x), (40, 256), generator=generator)]


def by_torch(x, size):
    """Let nn.BatchNorm1d see 40 batches with row 0, for its outputs, and let another see 40
    without it, for what that keeps of feature 0."""
    layer, other = (nn.BatchNorm1d(x.shape[1], affine=False).double().train() for _ in range(2))
    outputs, kept = [], [(0.0, 1.0)]
    for batch, without in zip(drawn(x), drawn_without(x), strict=True):
        outputs.append(layer(batch[:size])[0].numpy())
        other(without[:size])
        kept.append((other.running_mean[0].item(), other.running_var[0].item()))
    return np.array(outputs), np.array(kept).T


def dots(explorer, label):
    (line,) = [a for a in explorer.moving if a.get_label() == label]
    return line.get_ydata()


def kept(explorer):
    """The two running statistics, each up to now."""
    return [ax.lines[0] for ax in explorer.picture.axes[1:]]


def to_come(explorer):
    """The two running statistics, each from now on."""
    return [ax.lines[1] for ax in explorer.picture.axes[1:]]


def numbers(words):
    return [float(n.replace("−", "-")) for n in re.findall(r"−?\d+(?:\.\d+)?", words)]


@pytest.fixture(scope="module")
def explorer():
    explorer = explore_batch(x=X)
    yield explorer
    explorer.close()


@pytest.mark.parametrize("size", [2, 4, 8, 256])
def test_outputs_and_running_statistics_are_those_of_batch_norm_in_train_mode(explorer, size):
    explorer.batch_size = size
    outputs, running = by_torch(X, size)
    for draws in (0, 1, 39, 40, 57):
        explorer.draws = draws
        np.testing.assert_allclose(dots(explorer, CLOUD), outputs.ravel(), atol=1e-10)
        np.testing.assert_allclose(dots(explorer, NOW), outputs[draws % 40], atol=1e-10)
        seen = draws % 40 + 1
        for line, values in zip(kept(explorer), running, strict=True):
            np.testing.assert_allclose(line.get_ydata(), values[: seen + 1], atol=1e-10)
            assert list(line.get_xdata()) == list(range(seen + 1))
        for line, values in zip(to_come(explorer), running, strict=True):
            np.testing.assert_allclose(line.get_ydata(), values[seen:], atol=1e-10)
            assert list(line.get_xdata()) == list(range(seen, 41))
        assert {*kept(explorer), *to_come(explorer)} < {*explorer.moving}


def test_layer_norm_stands_still_at_every_batch_size_and_in_all_company(explorer):
    expected = F.layer_norm(X[0], (3,)).numpy()
    for size in SIZES:
        explorer.batch_size = size
        for draws in (0, 7, 39):
            explorer.draws = draws
            np.testing.assert_allclose(dots(explorer, LAYER), expected, atol=1e-12)


def test_in_a_batch_of_one_batch_norm_has_no_dot_and_the_words_say_why(explorer):
    explorer.preset = "batch of one"
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(3).double()(X[:1])
    assert np.isnan(dots(explorer, CLOUD)).all()
    assert np.isnan(dots(explorer, NOW)).all()
    assert all(np.isnan(line.get_ydata()).all() for line in kept(explorer))
    assert all(np.isnan(line.get_ydata()).all() for line in to_come(explorer))
    assert "nn.BatchNorm1d" in explorer.words
    assert f"into {F.layer_norm(X[0], (3,))[0]:.2f}." in explorer.words.replace("−", "-")
    explorer.batch_size = 2
    assert np.isfinite(dots(explorer, NOW)).all()


@pytest.mark.parametrize(("size", "draws"), [(2, 0), (8, 3), (256, 39), (64, 85)])
def test_the_words_give_the_numbers_of_the_picture(explorer, size, draws):
    outputs, running = by_torch(X, size)
    batch, of_0, others = draws % 40, outputs[:, 0], X[1:, 0].numpy()
    expected = [0, of_0[batch], 40]
    expected += [of_0.min(), of_0.max()] if size > 2 else [1, -1]
    expected += [0] * (size == 2 and bool((abs(outputs) < 0.9).any()))
    expected += [F.layer_norm(X[0], (3,))[0]]
    expected += [batch + 1, running[0, batch + 1], others.mean()]
    expected += [running[1, batch + 1], others.var()]
    explorer.batch_size, explorer.draws = size, draws
    words = explorer.words
    assert numbers(words) == pytest.approx([float(e) for e in expected], abs=0.00501)
    assert ("anything from" in words) == (size > 2)
