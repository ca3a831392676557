"""Why the plain network of the two rings is still guessing: forward and backward taken apart."""

import pytest
import torch
from lesson_parts import parts_of
from ring_stacks import stack_for
from torch import nn
from torch.nn import functional as F

from lnorm_utils.data import ring_network, two_rings
from lnorm_utils.training import train

LONG = pytest.mark.usefixtures("with_all")
POINTS, RING = two_rings()
LESSON_2, LESSON_10 = parts_of("02_variance"), parts_of("10_add_and_norm", "(points, ring)")
APART = LESSON_10.apart


class ForwardOnly(nn.Module):
    """The numbers of a norm on the way forward, and the slope of the identity on the way back."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, h):
        return h + (self.norm(h) - h).detach()


NORMS = {
    "times 2": lambda h: 2 * h,
    "layer norm": lambda h: F.layer_norm(h, h.shape[-1:]),
    "batch norm": lambda h: F.batch_norm(h, None, None, training=True),
    "RMSNorm": lambda h: F.rms_norm(h, h.shape[-1:], eps=1e-5),
    "one divisor": lambda h: h / (h.square().mean() + 1e-5).sqrt(),
}
# What the network is like, how it trains, and from how many seeds.
SETTINGS = {
    "as in the lessons": ({}, {}, 10),
    "twelve layers": ({"hidden_layers": 12}, {"steps": 300}, 4),
    "a smaller rate": ({}, {"lr": 0.02, "steps": 400}, 4),
    "normal weights": ({"init": "kaiming", "gain": 0.4, "first_bias": True}, {}, 3),
}


def ends(norm, network, training, seeds):
    """Return where the loss ends from each seed."""
    made = (ring_network(norm, seed=seed, **network) for seed in range(seeds))
    return torch.stack([train(each, POINTS, RING, **training)[-1] for each in made])


@LONG
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_keeping_the_points_apart_on_the_way_forward_is_enough(setting):
    network, training, seeds = setting
    assert (ends(None, network, training, min(seeds, 4)) > 0.69).all()
    for name, norm in NORMS.items():
        losses = ends(lambda _, norm=norm: ForwardOnly(norm), network, training, seeds)
        assert (losses < 0.1).all(), (name, losses)


@LONG
def test_larger_gradients_alone_are_enough_for_some_seeds_and_rates_only():
    for steps, learn in ((200, 2), (300, 5)):
        losses = ends(LESSON_2.Backward, {}, {"steps": steps}, 10)
        assert abs((losses < 0.1).sum() - learn) <= 1, losses
    assert not (ends(LESSON_2.Backward, *SETTINGS["twelve layers"]) < 0.1).any()
    assert (ends(LESSON_2.Backward, *SETTINGS["a smaller rate"]) < 0.1).all()


@LONG
def test_the_distances_help_and_not_the_size_of_the_numbers():
    def of_shared(h):
        return h + h.mean(0)

    def of_distances(h):
        return 2 * h - h.mean(0)

    assert (ends(lambda _: ForwardOnly(of_shared), {}, {}, 6) > 0.69).all()
    assert (ends(lambda _: ForwardOnly(of_distances), {}, {}, 6) < 0.1).all()


def gradients(network):
    """Return the gradients of all parameters."""
    return torch.autograd.grad(loss(network), [*network.parameters()])


def lengths(network):
    """Return how long these gradients are."""
    return [each.norm() for each in gradients(network)]


def stepped(network, steps, change):
    """Return a network after steps, each of `change(gradient, number of the parameter)`."""
    for _ in range(steps):
        pairs = zip(network.parameters(), gradients(network), strict=True)
        for number, (parameter, gradient) in enumerate(pairs):
            parameter.data -= change(gradient, number)
    return network


def loss(network):
    return F.cross_entropy(network(POINTS), RING)


@LONG
@pytest.mark.parametrize("seed", range(6))
def test_with_gradients_held_down_to_the_plain_network_s_it_isn_t_enough_within_200_steps(seed):
    most = lengths(ring_network(seed=seed))

    def held_down(gradient, number):
        return 0.05 * gradient * (most[number] / gradient.norm()).clamp(max=1)

    assert loss(stepped(ring_network(LESSON_2.Forward, seed=seed), 200, held_down)) > 0.35


@LONG
def test_the_plain_network_leaves_its_plateau_after_1_000_to_2_100_steps():
    for seed in range(12):
        losses = train(ring_network(seed=seed), POINTS, RING, steps=3000)
        assert 900 < (losses < 0.35).nonzero()[0] < 2200
        assert losses[-1] < 0.01


def distances(network):
    """Return how far apart the points are after each hidden layer."""
    places = [n + 1 for n, layer in enumerate(network) if isinstance(layer, nn.ReLU)]
    return torch.stack([APART(nn.Sequential(*network[:n], nn.Identity())) for n in places])


@pytest.mark.parametrize("seed", range(4))
def test_the_points_of_the_plain_network_fall_together_and_stay_apart_with_each_change(seed):
    plain = distances(ring_network(seed=seed))
    at_first = (POINTS - POINTS.mean(0)).norm(dim=1).square().mean().sqrt()
    assert at_first == pytest.approx(1.6, abs=0.05)
    assert plain[0] == pytest.approx(3, abs=0.4)  # the first layer spreads them
    assert ((plain[:-1] / plain[1:] - 2.6).abs() < 0.8).all()
    assert (plain[0] / plain[-1]) ** (1 / 7) == pytest.approx(2.6, abs=0.2)
    changes = [{"hidden_layers": 2}, {"init": "kaiming"}, {"norm": LESSON_2.Forward}]
    changes += [{"norm": nn.BatchNorm1d}, {"norm": nn.LayerNorm}]
    for change in changes:
        assert APART(ring_network(seed=seed, **change)) > 0.5, change


@pytest.mark.parametrize("seed", range(4))
def test_rows_reach_all_layer_norms_but_the_first_with_a_spread_of_about_0_4(seed):
    network, spreads = ring_network(nn.LayerNorm, seed=seed), []
    for norm in filter(lambda part: isinstance(part, nn.LayerNorm), network):
        norm.register_forward_pre_hook(
            lambda _, x: spreads.append(x[0].std(1, correction=0).mean())
        )
    network(POINTS)
    assert torch.tensor(spreads[1:]).mean().item() == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_points_that_arrive_apart_are_not_enough_with_a_factor_of_4_or_next_to_he_s_weights(seed):
    def end(forward, backward):
        network = ring_network(lambda size: Halves(1 / forward, 1 / backward), seed=seed)
        return APART(network), train(network, POINTS, RING, steps=100)[-1]

    (at_3, learned), (at_4, lost) = end(3, 1), end(4, 1)
    assert 10 < at_3 < at_4
    assert learned < 0.1
    assert lost.isnan()
    assert not end(1, 3)[1] < 0.5
    assert not end(3, 3)[1] < 0.5
    # That it doesn't learn is held for lesson 7.
    assert APART(ring_network(nn.LayerNorm, init="kaiming", seed=seed)) > 1.5


@pytest.mark.parametrize("seed", range(4))
def test_adam_pulls_the_points_apart_within_twenty_steps(seed):
    for steps, least in ((20, 0.1), (40, 2)):
        network = ring_network(seed=seed)
        train(network, POINTS, RING, lr=0.001, adam=True, steps=steps)
        assert APART(network) > least


@LONG
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_one_size_pull_the_points_apart_as_adam_s_do(seed):
    network = stepped(ring_network(seed=seed), 20, lambda gradient, _: 0.001 * gradient.sign())
    assert APART(network) > 0.1


@LONG
@pytest.mark.parametrize("seed", range(4))
def test_gradients_of_the_doubled_network_s_lengths_are_not_enough_and_five_times_these_are(seed):
    of_doubled = lengths(ring_network(LESSON_2.Forward, seed=seed))

    def end(times):
        def stretched(gradient, number):
            return 0.05 * times * gradient * of_doubled[number] / gradient.norm()

        return loss(stepped(ring_network(seed=seed), 200, stretched))

    assert end(1) > 0.2
    assert end(5) < 0.1


@LONG
@pytest.mark.parametrize("seed", range(4))
def test_steps_of_one_size_in_every_map_are_enough(seed):
    def of_one_size(gradient, _):
        return 0.001 * gradient.numel() ** 0.5 * gradient / gradient.norm()

    assert loss(stepped(ring_network(seed=seed), 100, of_one_size)) < 0.1


class Halves(nn.Module):
    """Does one thing on the way forward, and another one on the way back; numbers are divisors."""

    def __init__(self, *both):
        super().__init__()
        self.both = [each if callable(each) else lambda h, n=each: h / n for each in both]

    def forward(self, h):
        forward, backward = (each(h) for each in self.both)
        return backward + (forward - backward).detach()


@LONG
@pytest.mark.parametrize("seed", range(4))
def test_a_divisor_can_do_what_the_final_norm_of_pre_ln_does(seed):
    def end(both, init="kaiming", steps=100):
        first, stack, last = stack_for(4, "pre", False, init, seed)
        network = nn.Sequential(first, stack, Halves(*both), last)
        return train(network, POINTS, RING, lr=0.3, steps=steps)[-1]

    assert end((3, 3), "xavier") < 0.1
    assert end((3, 3)) < 0.1
    assert end((1, 10)) < 0.1
    assert end((10, 1), steps=300) < 0.1
    halves = [(3, 1), (1, 3)]
    if seed < 3:
        halves += [(NORMS["layer norm"], 1), (1, NORMS["layer norm"])]
    for both in halves:
        assert end(both).isnan(), both


@LONG
def test_from_pytorch_s_weights_twelve_blocks_without_norms_need_the_residual():
    for seed in range(3):
        first, stack, last = stack_for(12, "none", False, "default", seed)
        network = nn.Sequential(first, *(block.f for block in stack.blocks), last)
        assert train(network, POINTS, RING, steps=300)[-1] > 0.5


@LONG
@pytest.mark.parametrize("seed", range(3))
def test_24_layers_with_norms_keep_the_points_apart(seed):
    assert APART(ring_network(nn.LayerNorm, hidden_layers=24, seed=seed)) > 0.3


def ring_part(network):
    """Return how long that part of the last map's gradient is which inputs give that differ."""
    hidden = network[:-1](POINTS).detach()
    back = network(POINTS).softmax(1).detach() - F.one_hot(RING)
    return (back.T @ (hidden - hidden.mean(0)) / len(hidden)).norm()


@pytest.mark.parametrize("seed", range(4))
def test_with_points_apart_the_first_gradient_begins_as_small_and_the_last_is_larger(seed):
    plain, forward, backward = (
        lengths(ring_network(norm, seed=seed))[::2]
        for norm in (None, LESSON_2.Forward, LESSON_2.Backward)
    )
    assert forward[0] < 2 * plain[0]
    assert forward[-1] > 10 * plain[-1]
    assert backward[0] > 100 * plain[0]
    doubled, same = (ring_network(norm, seed=seed) for norm in (LESSON_2.Forward, None))
    assert 150 < ring_part(doubled) / ring_part(same) < 700


@LONG
@pytest.mark.parametrize(
    ("norm", "options", "rate", "learns"),
    [
        (None, {"hidden_layers": 2}, 0.005, False),
        (None, {"hidden_layers": 2}, 0.5, True),
        (None, {"init": "kaiming"}, 0.005, False),
        (None, {"init": "kaiming"}, 0.5, False),
        (nn.BatchNorm1d, {}, 0.005, True),
        (nn.BatchNorm1d, {}, 2.0, True),
        (nn.LayerNorm, {}, 0.005, True),
        (nn.LayerNorm, {}, 0.5, False),
    ],
    ids=str,
)
def test_each_change_has_learning_rates_that_fit(norm, options, rate, learns):
    losses = ends(norm, options, {"lr": rate}, 3)
    assert ((losses < 0.2) == learns).all(), losses
    assert losses.isnan().all() == (rate == 0.5 and options == {"init": "kaiming"})
