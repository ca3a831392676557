"""What lessons 2 to 7 say of the ring network with more seeds than the one that they show."""

import pytest
import torch
from torch import nn

from lnorm_utils import LayerNorm, mean
from lnorm_utils.data import normal, ring_network, two_rings
from lnorm_utils.training import train

pytestmark = pytest.mark.usefixtures("with_all")
SEEDS = range(4)
RINGS = POINTS, RING = two_rings()
FEWER = two_rings(256)  # those of lesson 7


class Moved(nn.Module):
    """k · z, moved by a multiple of the mean row that comes in first."""

    def __init__(self, k, by=0.0):
        super().__init__()
        self.k, self.by, self.mean = k, by, None

    def forward(self, z):
        if self.mean is None:
            self.mean = z.detach().mean(dim=0)
        return self.k * z + self.by * self.mean


class MinusMean(nn.Identity):
    def forward(self, row):
        return row - mean(row)


def losses(network, rate=0.05, steps=200, rings=RINGS):
    return train(network, *rings, rate, steps)


def ends(networks, **training):
    return torch.stack([losses(network, **training)[-1] for network in networks])


def alike(network):
    """How far the points differ in the last hidden layer, as a share of the size of a number."""
    hidden = network[:-1](POINTS).detach()
    return (hidden.var(dim=0, correction=0).mean() / hidden.square().mean()).sqrt()


def with_at_the_end(seed, module):
    """A plain network with a module in front of its last ReLU: there, a factor may stand, too."""
    plain = ring_network(seed=seed)
    return nn.Sequential(*plain[:-2], module, *plain[-2:])


def without_biases(seed):
    network = ring_network(seed=seed)
    for linear in network[::2]:
        nn.init.zeros_(linear.bias)
    return network


@pytest.mark.parametrize("seed", SEEDS)
def test_what_stops_the_plain_network_is_no_size_and_no_likeness_but_small_differences(seed):
    found = {}  # of a factor, and by how many of the first mean rows all rows are moved
    # As it is; as alike; rows as large, with the old differences; rows as small, with larger ones.
    for k, by in ((1.0, 0.0), (12.0, 0.0), (1.0, 11.0), (12.0, -11.0)):
        *hidden, last = ring_network(seed=seed)
        found[k, by] = losses(nn.Sequential(*hidden, Moved(k, by), last), steps=300)[-1]
    assert {key: bool(end < 0.01) for key, end in found.items()} == {
        (1.0, 0.0): False,
        (12.0, 0.0): True,
        (1.0, 11.0): False,
        (12.0, -11.0): True,
    }


def test_one_norm_at_the_end_trains_the_network_too_and_a_factor_there_leaves_points_as_alike():
    for seed in SEEDS:
        plain, factor = ring_network(seed=seed), with_at_the_end(seed, Moved(12))
        assert alike(factor) == pytest.approx(alike(plain).item())
    norm = [with_at_the_end(seed, LayerNorm(64).double()) for seed in SEEDS]
    assert ends(norm, steps=300).max() < 0.02


def test_without_biases_points_differ_by_much_of_their_size_and_aren_t_learned():
    bare = [without_biases(seed) for seed in SEEDS]
    assert min(map(alike, bare)) > 0.3
    assert ends(bare, steps=300).min() > 0.69


def test_ten_layers_need_more_than_one_norm():
    for seed in range(2):
        deep = ring_network(hidden_layers=10, seed=seed)
        one_norm = nn.Sequential(*deep[:-2], LayerNorm(64).double(), *deep[-2:])
        in_all = ring_network(LayerNorm, hidden_layers=10, seed=seed)
        one, each = ends([one_norm, in_all], steps=300)
        assert one > 0.6
        assert each < 0.05


def gradient(network):
    """The length of the gradient of the first weights before training."""
    nn.functional.cross_entropy(network(POINTS), RING).backward()
    return network[0].weight.grad.norm().item()


@pytest.mark.parametrize("seed", SEEDS)
def test_five_of_the_six_changes_make_the_first_gradients_a_hundred_times_as_large_or_more(seed):
    plain = gradient(ring_network(seed=seed))
    changes = [
        {"hidden_layers": 2},
        {"start": 1.0},
        {"norm": lambda _: Moved(2)},
        {"norm": nn.BatchNorm1d},
        {"norm": LayerNorm},
    ]
    for change in changes:
        assert gradient(ring_network(seed=seed, **change)) > 100 * plain, change
    assert 6 < gradient(with_at_the_end(seed, Moved(12))) / plain < 15


@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0, 2.0, 4.0])
def test_a_larger_rate_alone_does_not_train_the_plain_network(rate):
    assert not (ends([ring_network(seed=seed) for seed in SEEDS], rate=rate) < 0.5).any()


def test_neither_tripling_nor_subtracting_the_mean_trains_the_rings():
    tripled = ends(ring_network(lambda _: Moved(3), seed=seed) for seed in range(6))
    centered = ends(ring_network(MinusMean, seed=seed) for seed in range(6))
    assert tripled.isnan().all()
    assert centered.min() > 0.69


@pytest.mark.parametrize(("start", "rings"), [(1.0, FEWER), (10.0, RINGS)], ids=["1", "10"])
def test_with_layer_norm_large_weights_need_a_bias_in_the_first_map(start, rings):
    for first_bias, learns in ((False, False), (True, True)):
        networks = [
            ring_network(LayerNorm, seed=s, start=start, first_bias=first_bias) for s in SEEDS
        ]
        end = ends(networks, rings=rings)
        assert end.max() < 0.05 if learns else end.min() > 0.4


def test_only_different_biases_in_front_of_the_first_layer_norm_mend_he_s_start():
    for seed in range(3):
        a, b, c, d = (ring_network(LayerNorm, seed=seed, start=1.0) for _ in "abcd")
        a[0].bias.data += 1
        for linear in (b[0], c[3], d[-1]):
            linear.bias.data += normal(len(linear.bias), seed=seed).double()
        same, different, *behind = ends([a, b, c, d], rings=FEWER)
        assert different < 0.05
        assert min(same, *behind) > 0.4


def test_the_biases_of_he_s_start_move_in_time_with_more_steps_or_smaller_first_weights():
    longer, smaller = (
        [ring_network(LayerNorm, seed=seed, start=1.0) for seed in range(3)] for _ in range(2)
    )
    assert ends(longer, steps=600, rings=FEWER).max() < 0.05
    for network in smaller:
        network[0].weight.data /= 3
    assert ends(smaller, rings=FEWER).max() < 0.05


def test_batch_norm_s_loss_falls_in_each_step_and_layer_norm_s_jumps_less_at_a_tenth_of_the_rate():
    for seed in SEEDS:
        assert (losses(ring_network(nn.BatchNorm1d, seed=seed)).diff() < 0).all()
        fast, slow = (ring_network(LayerNorm, seed=seed) for _ in range(2))
        rises = (losses(fast).diff() > 0).sum(), (losses(slow, 0.005, 600).diff() > 0).sum()
        assert rises[0] > rises[1], rises


def test_at_rate_0_2_batch_norm_trains_the_rings_and_layer_norm_hardly_ever():
    batch, layer = (
        ends((ring_network(norm, seed=seed) for seed in range(6)), rate=0.2, steps=100)
        for norm in (nn.BatchNorm1d, LayerNorm)
    )
    assert (batch < 0.01).all()
    assert (layer < 0.1).sum() <= 2
