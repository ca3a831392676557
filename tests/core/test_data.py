"""The tensors of the course are the published ones."""

import math

import pytest
import torch
from torch.testing import assert_close

from lnorm_utils import LayerNorm, layer_norm, measures
from lnorm_utils import data as ex

# What layer norm makes of them, to the four decimals that were published. Where the inputs were
# themselves rounded to four decimals, the last digit may differ by two.
PUBLISHED = {
    ex.encoded_points: [
        [[-1.3671, 0.9279, -0.5464, 0.9857], [1.1953, 0.4438, -0.1015, -1.5376]],
        [[-1.6706, 0.2010, 0.9458, 0.5238], [0.4782, 0.0485, -1.6106, 1.0839]],
        [[-1.6129, 0.2116, 1.1318, 0.2695], [0.2520, 1.5236, -1.0272, -0.7484]],
    ],
    lambda: ex.dummy_points()[0]: [[-0.9210, 0.5911, -0.5127]],
    lambda: ex.dummy_points()[3].flip(-1): [[0.2611, -1.0183, -0.1761]],
    ex.projected_sequence: [
        [
            [-1.9061, 0.6287, 0.8896, -0.3868, -0.2172, 0.9917],
            [-0.7362, 1.2864, 0.0694, 1.0670, -1.6299, -0.0568],
        ]
    ],
    ex.two_words: [[[0.0, -1.2238, 1.2238], [1.414, -0.707, -0.707]]],
    ex.nine_sentences: [
        [1.2639, -1.1324, 0.5252, -1.0152, 1.0662, 0.2586, -1.5183, 0.5520],
        [-1.0793, -0.1222, 0.7828, 0.7094, 0.8252, 0.4931, 0.5158, -2.1246],
        [2.1576, 0.1638, -0.3613, -1.7135, -0.1612, 0.3167, -0.0527, -0.3495],
    ],
}


@pytest.mark.parametrize("make", PUBLISHED)
def test_the_examples_are_the_published_ones(make):
    x, expected = make(), torch.tensor(PUBLISHED[make])
    found = layer_norm(x, x.shape[-1])[..., : expected.shape[-1]]
    assert_close(found, expected, atol=2e-4, rtol=0.0)


@pytest.mark.parametrize(
    "make",
    [
        ex.encoded_points,
        ex.dummy_points,
        ex.source_sequence,
        ex.projected_sequence,
        ex.two_words,
        ex.nine_sentences,
        lambda: ex.normal(2, 3, seed=1),
        lambda: ex.projection(2, 6, seed=1).weight,
    ],
)
def test_an_example_is_the_same_each_time_and_leaves_the_global_random_state_alone(make):
    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    first = make()
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(1)
    assert torch.equal(make(), first)
    first.data.zero_()
    assert not torch.equal(make(), first)


def test_r2_of_a_decoder_is_that_of_ordinary_least_squares():
    targets = ex.normal(50, 2, seed=1)
    codes = torch.cat([targets[:, :1], ex.normal(50, 1, seed=2)], dim=1)
    design = torch.cat([codes, torch.ones(50, 1)], dim=1).double()
    fit = torch.linalg.pinv(design[:25]) @ targets[:25].double()
    residual = targets[25:] - design[25:] @ fit
    spread = targets[25:].double() - targets[25:].double().mean(0)
    expected = 1 - residual.square().sum() / spread.square().sum()
    assert measures.decoder_r2(codes, targets) == pytest.approx(expected.item(), abs=1e-9)


def test_a_decoder_does_not_learn_from_rounding():
    points = ex.normal(2000, 2, seed=0)
    normed = layer_norm(points, 2)
    exact = measures.decoder_r2(normed[:, :1], points)
    assert measures.decoder_r2(normed, points) == pytest.approx(exact, abs=1e-6)
    assert exact == pytest.approx(1 / math.pi, abs=0.01)
    seen, secret = ex.normal(200, 2, seed=1).double().split(1, dim=1)
    assert measures.decoder_r2(torch.cat([seen, seen + 1e-6 * secret], dim=1), secret) < 0.1


@pytest.mark.parametrize(("init", "first", "last"), [("kaiming", 2, 64), ("xavier", 66, 66)])
def test_a_first_bias_changes_nothing_else_of_a_start_without_biases(init, first, last):
    without, with_one = (ex.ring_network(init=init, gain=2, first_bias=b) for b in (False, True))
    for name, value in without.state_dict().items():
        assert name == "0.bias" or torch.equal(value, with_one.state_dict()[name])
        assert name.endswith("weight") or not value.any()
    assert with_one[-1].weight.std().item() == pytest.approx(2 * (2 / last) ** 0.5, rel=0.1)
    assert_close(with_one[0].bias, 2 * (12 / first) ** 0.5 * ex.ring_network()[0].bias)


def test_the_ring_networks_start_with_the_same_weights():
    plain, normed = ex.ring_network(), ex.ring_network(LayerNorm)
    linears = [[m for m in n if isinstance(m, torch.nn.Linear)] for n in (plain, normed)]
    for one, other in zip(*linears, strict=True):
        assert_close(one.weight, other.weight, rtol=0, atol=0)
