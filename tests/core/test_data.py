"""The tensors of the course are the published ones."""

import math

import published
import pytest
import torch
from torch.testing import assert_close

from lnorm_utils import (
    LayerNorm,
    PositionalEncoding,
    layer_norm,
    layer_norm_steps,
    mean,
    measures,
    variance,
)
from lnorm_utils import data as ex


def test_encoded_points_and_their_statistics_are_the_published_ones():
    steps = layer_norm_steps(ex.encoded_points(), 4)
    assert_close(ex.encoded_points(), published.ENCODED_POINTS, **published.SEEDED)
    assert_close(steps.mean.squeeze(-1), published.ENCODED_POINTS_MEAN, **published.SEEDED)
    assert_close(steps.var.squeeze(-1), published.ENCODED_POINTS_VARIANCE, **published.SEEDED)
    assert_close(steps.x_hat, published.ENCODED_POINTS_STANDARDIZED, **published.SEEDED)


def test_dummy_points_are_the_published_ones_before_and_after():
    points = ex.dummy_points()
    normed = layer_norm(points, 256)
    assert points.shape == (4, 1, 256)
    assert_close(points[:, 0, :3], published.DUMMY_POINTS_FIRST3, **published.SEEDED)
    assert_close(points[:, 0, -3:], published.DUMMY_POINTS_LAST3, **published.SEEDED)
    assert_close(normed[:, 0, :3], published.DUMMY_POINTS_NORMED_FIRST3, **published.SEEDED)
    assert_close(normed[:, 0, -3:], published.DUMMY_POINTS_NORMED_LAST3, **published.SEEDED)


def test_the_two_corners_collapse_as_published():
    encoded = PositionalEncoding(max_len=2, d_model=2)(ex.source_sequence())
    assert_close(ex.source_sequence(), published.SOURCE_SEQUENCE)
    assert_close(encoded, published.SOURCE_SEQUENCE_ENCODED, **published.ROUNDED)
    assert_close(layer_norm(encoded, 2), published.SOURCE_SEQUENCE_NORMED, **published.ROUNDED)


def test_the_projected_corners_are_the_published_ones():
    projected = ex.projected_sequence()
    assert not projected.requires_grad
    assert_close(projected, published.PROJECTED_SEQUENCE, **published.ROUNDED)
    assert_close(layer_norm(projected, 6), published.PROJECTED_SEQUENCE_NORMED, **published.ROUNDED)


def test_two_words_are_the_published_ones():
    steps = layer_norm_steps(ex.two_words(), 3)
    assert_close(ex.two_words(), published.TWO_WORDS)
    assert_close(steps.mean.squeeze(-1), published.TWO_WORDS_MEAN, **published.SEEDED)
    assert_close(1 / steps.rstd.squeeze(-1), published.TWO_WORDS_STD_WITH_EPS, **published.SEEDED)
    assert_close(steps.y, published.TWO_WORDS_NORMED, **published.ROUNDED)


def test_nine_sentences_rows_and_their_torch_std_are_the_published_ones():
    steps = layer_norm_steps(ex.nine_sentences(), 8)
    assert_close(steps.mean.squeeze(-1), published.NINE_SENTENCES_MEAN, **published.ROUNDED)
    std = 1 / steps.rstd.squeeze(-1)
    assert_close(std, published.NINE_SENTENCES_STD_WITH_EPS, **published.ROUNDED)
    assert_close(steps.y, published.NINE_SENTENCES_NORMED, **published.ROUNDED)
    assert steps.y.std().item() == pytest.approx(published.NINE_SENTENCES_TORCH_STD, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_eps_outside_the_root_misses_by_the_published_order_of_magnitude(seed):
    x = torch.rand(4, 20, generator=torch.Generator().manual_seed(seed))
    outside = (x - mean(x)) / (variance(x).sqrt() + 1e-5)
    reference = torch.nn.LayerNorm(20)(x).detach()
    difference = (outside - reference).abs().max().item()
    assert 1 / 3 < difference / published.EPS_OUTSIDE_MAX_DIFFERENCE < 3
    assert (layer_norm(x, 20) - reference).abs().max() < 1e-6


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


def test_a_projection_is_what_linear_makes_from_the_global_seed():
    torch.manual_seed(11)
    linear = torch.nn.Linear(2, 6)
    projection = ex.projection(2, 6, seed=11)
    assert torch.equal(projection.weight, linear.weight)
    assert torch.equal(projection.bias, linear.bias)
    assert ex.projection(2, 6, seed=11, bias=False).bias is None


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


def test_the_recovered_share_by_projection_size_is_the_measured_one():
    x = ex.normal(2000, 2, seed=0)

    def recovered(size, bias):
        projections = [ex.projection(2, size, seed, bias) for seed in range(20)]
        scores = sorted(measures.decoder_r2(layer_norm(p(x), size), x) for p in projections)
        return (scores[9] + scores[10]) / 2

    with_bias = [recovered(size, True) for size in (2, 3, 4, 6, 8, 16)]
    without = [recovered(size, False) for size in (2, 3, 4, 6, 8, 16)]
    assert with_bias == pytest.approx([0.25, 0.52, 0.85, 0.87, 0.90, 0.92], abs=0.01)
    assert without == pytest.approx([0.32, 0.65, 0.74, 0.76, 0.77, 0.78], abs=0.01)


def test_a_decoder_of_four_points_gives_back_what_they_were():
    points = ex.normal(4, 2, seed=0).double()
    codes = 3 * points[:, :1] + 1
    decode, r2 = measures.linear_decoder(codes, points[:, :1])
    assert_close(decode(codes), points[:, :1])
    assert r2 == pytest.approx(1.0)


def test_a_decoder_says_why_it_has_no_score():
    points = ex.normal(8, 2, seed=0)
    with pytest.raises(ValueError, match=r"^A decoder needs finite .* NaN or infinity\.$"):
        measures.decoder_r2(points * float("nan"), points)
    with pytest.raises(ValueError, match=r"^A decoder needs .* is constant\.$"):
        measures.decoder_r2(points, torch.ones(8, 1))


def test_a_first_bias_changes_nothing_else_of_a_start_without_biases():
    without, with_one = (ex.ring_network(start=2.0, first_bias=b) for b in (False, True))
    for name, value in without.state_dict().items():
        assert name == "0.bias" or torch.equal(value, with_one.state_dict()[name])
        assert name.endswith("weight") or not value.any()
    pytorch = ex.ring_network()[0].bias
    assert_close(with_one[0].bias, 2 * 6**0.5 * pytorch)


def test_the_ring_networks_start_with_the_same_weights():
    plain, normed = ex.ring_network(), ex.ring_network(LayerNorm)
    linears = [[m for m in n if isinstance(m, torch.nn.Linear)] for n in (plain, normed)]
    for one, other in zip(*linears, strict=True):
        assert_close(one.weight, other.weight, rtol=0, atol=0)
