"""What lessons say of training on the two rings, from more seeds and starts than they show."""

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

import pytest
import torch
from lesson_parts import parts_of
from ring_stacks import stack_for
from torch import nn

from lnorm_utils import LayerNorm
from lnorm_utils.data import ring_network, two_rings
from lnorm_utils.training import train

LONG = pytest.mark.usefixtures("with_all")
POINTS, RING = two_rings()
LESSON_4 = parts_of("04_gamma_beta")
LESSON_9, LESSON_12 = parts_of("09_rms_norm"), parts_of("12_backward_pass", "rules")
LESSON_17, WRONG = parts_of("17_find_the_bug"), ("Unbiased", "EpsOutside", "RawSquares")


def below(most):
    return lambda loss: bool(loss < most)


def above(least):
    return lambda loss: bool(loss > least)


def never_below(most):
    return lambda loss: not loss < most


class OneDivisor(nn.Identity):
    def forward(self, rows):
        return rows / (rows.square().mean() + 1e-5).sqrt()


class Runs(NamedTuple):
    """What is made from each seed, for how many, where the loss ends, and how it trains."""

    make: Callable[[int], nn.Module]
    seeds: int
    ends: Callable[[torch.Tensor], bool]
    training: dict = MappingProxyType({})
    points: int = 128


def rings(norm=None, **options):
    """Return what makes a ring network from a seed."""
    return lambda seed: ring_network(norm, seed=seed, **options)


def with_input_norm(seed):
    return nn.Sequential(LayerNorm(2).double(), ring_network(LayerNorm, seed=seed))


def from_he(change):
    """Return what makes one with layer norms and He's start, changed by `change(network, seed)`."""

    def make(seed):
        network = ring_network(LayerNorm, seed=seed, init="kaiming")
        change(network, seed)
        return network

    return make


def other_biases(of):
    def change(network, seed):
        network[of].bias.data.normal_(generator=torch.Generator().manual_seed(seed))

    return from_he(change)


def ruled(rule):
    """Return what makes the network of lesson 12 with one of its backward passes."""
    return rings(type("Ruled", (LESSON_12.RuledNorm,), {"rule": rule}), hidden_layers=4)


def without_residual(init):
    def make(seed):
        first, stack, last = stack_for(4, "none", False, init, seed)
        return nn.Sequential(first, *(block.f for block in stack.blocks), last)

    return make


def with_biases(factor, init):
    """Return what makes four blocks with the weights of a start, and PyTorch's biases or none."""

    def make(seed):
        network, other = (stack_for(4, "none", False, s, seed) for s in (init, "default"))
        for name, parameter in network[1].named_parameters():
            if name.endswith("bias"):
                parameter.data = factor * other[1].get_parameter(name).data
        return network

    return make


BY_ADAM = {"lr": 0.001, "adam": True, "steps": 100}
TEN_TIMES, BIASED = {"init": "kaiming", "gain": 10.0}, {"init": "kaiming", "first_bias": True}
CHAIN, HE_CHAIN = {"hidden_layers": 24}, {"hidden_layers": 24, "init": "kaiming"}
TO_100, TO_300 = {"steps": 100}, {"steps": 300}
AT_0_01, AT_0_1, AT_0_3 = {"lr": 0.01, **TO_300}, {"lr": 0.1, **TO_100}, {"lr": 0.3, **TO_100}
RUNS = {
    # Lesson 1: each change alone trains the network that stays at guessing.
    "plain": Runs(rings(), 3, above(0.69)),
    "two hidden layers": Runs(rings(hidden_layers=2), 3, below(0.2)),
    "He's start": Runs(rings(init="kaiming"), 3, below(0.2)),
    "times 2": Runs(rings(parts_of("01_mean").Twice), 3, below(0.2)),
    "Adam": Runs(rings(), 3, below(0.2), {"lr": 0.001, "adam": True}),
    "batch norm": Runs(rings(nn.BatchNorm1d), 3, below(0.2)),
    "layer norm": Runs(rings(LayerNorm), 3, below(0.2)),
    # Lesson 4: a factor has to fit, and large weights need a norm and a first bias.
    "times 3": Runs(rings(LESSON_4.Times3), 6, torch.isnan, TO_100),
    "minus the mean": Runs(rings(LESSON_4.MinusMean), 6, above(0.69), TO_100),
    "10 times He's": Runs(rings(**TEN_TIMES), 3, torch.isnan, TO_100),
    "10 times He's, norms": Runs(rings(LayerNorm, **TEN_TIMES), 4, above(0.4), TO_100),
    "and a bias": Runs(rings(LayerNorm, **TEN_TIMES, first_bias=True), 4, below(0.05), TO_100),
    # Lesson 5: at a rate at which layer norm hardly ever does, batch norm learns.
    "batch norm at 0.2": Runs(rings(nn.BatchNorm1d), 6, below(0.01), {"lr": 0.2, **TO_100}),
    # Lesson 6: a norm on the two inputs leaves one bit.
    "on the inputs": Runs(with_input_norm, 4, above(0.68)),
    # Lesson 7: only different biases in front of the first norm mend He's start, or time.
    "a first bias": Runs(rings(LayerNorm, **BIASED), 4, below(0.05)),
    "one for all": Runs(from_he(lambda n, _: n[0].bias.data.add_(1)), 3, above(0.4), points=64),
    "bias 0": Runs(other_biases(of=0), 3, below(0.05), TO_100, points=64),
    "bias 3": Runs(other_biases(of=3), 3, above(0.4), TO_100, points=64),
    "last bias": Runs(other_biases(of=-1), 3, above(0.4), TO_100, points=64),
    "a tenth": Runs(
        from_he(lambda n, _: n[0].bias.data.normal_(0, 0.1)), 3, above(0.4), TO_100, 64
    ),
    "300 steps": Runs(rings(LayerNorm, init="kaiming"), 3, above(0.1), TO_300, points=64),
    "450 steps": Runs(rings(LayerNorm, init="kaiming"), 3, below(0.1), {"steps": 450}, points=64),
    "a third": Runs(from_he(lambda n, _: n[0].weight.data.div_(3)), 3, below(0.05), points=64),
    # Lesson 9: dividing is enough.
    "divides": Runs(rings(LESSON_9.DividesOnly), 6, below(0.01)),
    "divides from He's": Runs(rings(LESSON_9.DividesOnly, **BIASED), 6, below(0.01)),
    "divides, no bias": Runs(rings(LESSON_9.DividesOnly, init="kaiming"), 3, above(0.4)),
    "one divisor, no bias": Runs(rings(OneDivisor, init="kaiming"), 3, below(0.01)),
    "by Adam": Runs(rings(LayerNorm, init="kaiming"), 4, below(0.12), BY_ADAM, points=64),
    # Lesson 10: norms alone don't train 24 layers at every rate, nor from every start.
    "chain at 0.05": Runs(rings(nn.LayerNorm, **CHAIN), 8, above(0.2), TO_100),
    "batch norms": Runs(rings(nn.BatchNorm1d, **CHAIN), 5, below(0.1), TO_100),
    "He's at 0.05": Runs(rings(nn.LayerNorm, **HE_CHAIN), 4, above(0.5), TO_100),
    "He's at 0.01": Runs(rings(nn.LayerNorm, **HE_CHAIN), 4, above(0.5), AT_0_01),
    "with a bias": Runs(rings(nn.LayerNorm, **HE_CHAIN, first_bias=True), 4, below(0.1), AT_0_01),
    # Lesson 11: four blocks without norms need a residual or large weights, at 0.3 small ones.
    "no residual, PyTorch": Runs(without_residual("default"), 6, above(0.68), AT_0_1),
    "no residual, Xavier": Runs(without_residual("xavier"), 6, below(0.1), AT_0_1),
    "PyTorch's weights": Runs(with_biases(0, "default"), 4, below(0.1), AT_0_3),
    "PyTorch's, biases": Runs(with_biases(1, "default"), 4, below(0.1), AT_0_3),
    "Xavier's weights": Runs(with_biases(0, "xavier"), 4, never_below(0.1), AT_0_3),
    "Xavier's, biases": Runs(with_biases(1, "xavier"), 4, never_below(0.1), AT_0_3),
    # Lesson 12: four of the five wrong backward passes train.
    **{rule: Runs(ruled(rule), 8, below(0.05), TO_100) for rule in LESSON_12.rules},
    "sums for means": Runs(ruled("sums for means"), 8, above(0.6), TO_100),
    # Lesson 17: three of the four wrong layers train.
    **{name: Runs(rings(vars(LESSON_17)[name]), 6, below(0.01), points=64) for name in WRONG},
    "NotDivided": Runs(rings(LESSON_17.NotDivided), 6, above(0.69), points=64),
}


@LONG
@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
def test_the_loss_ends_where_a_lesson_says_with_each_seed(runs):
    x, ring = two_rings(runs.points)
    ends = [train(runs.make(seed), x, ring, **runs.training)[-1] for seed in range(runs.seeds)]
    assert all(map(runs.ends, ends)), ends


NONE, POST, PRE = ("none", False), ("post", None), ("pre", None)
FEWER_SEEDS = range(4)  # of four; some losses end next to the limit
# Blocks, the places of norms, rate, steps, of how many seeds, and from each start how many learn.
STACKS = [
    # Lesson 10. At a smaller rate twelve blocks need no norm.
    (12, NONE, 0.05, 60, 8, {"default": 8, "xavier": 0, "kaiming": 0}),
    (12, POST, 0.05, 60, 8, {"default": 8, "xavier": 8, "kaiming": 7}),
    (12, PRE, 0.05, 60, 8, {"default": 8, "xavier": 8, "kaiming": 8}),
    (12, NONE, 0.01, 60, 4, {"xavier": 4}),
    # The final norm of pre-LN matters at a larger rate.
    (12, ("pre", False), 0.05, 60, 3, {"default": 3, "xavier": 3, "kaiming": 3}),
    (4, ("pre", False), 0.3, 100, 3, {"default": 3, "xavier": 0, "kaiming": 0}),
    # Lesson 11. Norms let four blocks train at larger rates, and not at smaller ones.
    (4, NONE, 0.01, 100, 4, {"xavier": 4}),
    (4, POST, 0.01, 100, 4, {"xavier": FEWER_SEEDS}),
    (4, PRE, 0.01, 100, 4, {"xavier": FEWER_SEEDS}),
    (4, NONE, 0.1, 100, 6, {"default": 6, "xavier": 6}),
    (4, POST, 0.1, 100, 4, {"xavier": 4}),
    (4, PRE, 0.1, 100, 4, {"xavier": 4}),
    (4, NONE, 0.3, 100, 4, {"default": 4, "xavier": 0, "kaiming": 0}),
    (4, ("none", True), 0.3, 100, 4, {"default": 4, "xavier": 4}),
    (4, POST, 0.3, 100, 4, {"xavier": 4}),
    (4, PRE, 0.3, 100, 4, {"default": 4, "xavier": 4, "kaiming": 4}),
    *((4, places, 1.0, 100, 4, {"xavier": 0}) for places in (NONE, POST, PRE)),
]


@LONG
@pytest.mark.parametrize("row", STACKS, ids=lambda row: "-".join(map(str, row[:4])))
def test_from_how_many_seeds_a_stack_learns_the_rings(row):
    blocks, places, rate, steps, seeds, learn = row
    found = dict.fromkeys(learn, 0)
    for init in learn:
        for seed in range(seeds):
            network = stack_for(blocks, *places, init, seed)
            found[init] += bool(train(network, POINTS, RING, rate, steps)[-1] < 0.1)
    assert all(found[s] in (n if isinstance(n, range) else [n]) for s, n in learn.items()), found


@LONG
def test_at_a_fifth_of_the_rate_most_seeds_learn_with_norms_in_24_layers():
    networks = [ring_network(nn.LayerNorm, seed=seed, **CHAIN) for seed in range(8)]
    ends = [train(network, POINTS, RING, **AT_0_01)[-1] for network in networks]
    assert sum(end < 0.1 for end in ends) >= 5, ends


@LONG
def test_batch_norm_s_loss_falls_in_each_step_and_layer_norm_s_jumps_less_at_a_tenth_of_the_rate():
    for seed in range(4):
        assert (train(ring_network(nn.BatchNorm1d, seed=seed), POINTS, RING).diff() < 0).all()
        fast = train(ring_network(LayerNorm, seed=seed), POINTS, RING, steps=100)
        slow = train(ring_network(LayerNorm, seed=seed), POINTS, RING, lr=0.005, steps=600)
        rises, slow_rises = ((losses.diff() > 0).double().mean() for losses in (fast, slow))
        assert rises > 2 * slow_rises


@LONG
def test_a_larger_rate_alone_hardly_ever_trains_the_plain_network():
    rates = [(rate, seed) for rate in (0.2, 0.5, 1.0, 2.0, 4.0) for seed in range(6)]
    ends = [train(ring_network(seed=seed), POINTS, RING, rate)[-1] for rate, seed in rates]
    assert sum(end < 0.2 for end in ends) <= 2, ends


@LONG
def test_at_rate_0_2_layer_norm_hardly_ever_learns_the_rings():
    networks = [ring_network(LayerNorm, seed=seed) for seed in range(6)]
    ends = [train(network, POINTS, RING, lr=0.2, steps=100)[-1] for network in networks]
    assert sum(end < 0.1 for end in ends) <= 2


@pytest.mark.parametrize(("decay", "mean"), [(0.0, 1.01), (1.0, 0.83)])
@pytest.mark.parametrize("init", ["default", "kaiming"])
def test_gamma_follows_weight_decay_and_the_rings_are_learned_all_the_same(init, decay, mean):
    for seed in range(3):
        network = ring_network(LayerNorm, hidden_layers=4, seed=seed, init=init)
        loss = train(network, POINTS, RING, lr=0.001, adam=True, decay=decay)[-1]
        gamma = torch.cat([norm.weight for norm in network[1:-1:3]]).mean()
        assert gamma.item() == pytest.approx(mean, abs=0.006)
        assert loss < 0.01


def test_asking_batch_norm_in_training_mode_spoils_what_eval_says_later():
    new, ring = two_rings(512, seed=1)
    for seed in range(2):
        network = ring_network(nn.BatchNorm1d, seed=seed)
        train(network, POINTS, RING, steps=100)
        before = network.eval()(new).argmax(dim=1) == ring
        network.train()
        for pair in new.split(2):
            network(pair)
        after = network.eval()(new).argmax(dim=1) == ring
        assert before.double().mean() > 0.99
        assert after.double().mean() < 0.95
