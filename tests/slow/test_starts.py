"""What lessons say of other seeds and starts than those that they show, trained here."""

import pytest
import torch
from torch import nn

from lnorm_course.lessons.transformer import Transformer, split, train_transformer
from lnorm_course.lessons.transformer.training import validation_loss
from lnorm_utils import LayerNorm, layer_norm_steps, mean, standardize
from lnorm_utils.data import normal, projection, residual_stack, ring_network, two_rings
from lnorm_utils.measures import gradient_norms
from lnorm_utils.training import train

SEEDS = range(4)
LONG = pytest.mark.usefixtures("with_all")
POINTS, RING = two_rings()
INPUTS = normal(128, 64, seed=3, dtype=torch.float64)
TARGETS = standardize(INPUTS).roll(1, dims=-1) + 3 * normal(64, seed=4, dtype=torch.float64)


class Doubled(nn.Module):
    def forward(self, z):
        return 2 * z


CHANGES = {
    "more steps": {"steps": 2500},
    "two hidden layers": {"hidden_layers": 2},
    "He start": {"start": 1.0},
    "times 2": {"norm": lambda _: Doubled()},
    "Adam": {"rate": 0.001, "adam": True},
    "batch norm": {"norm": nn.BatchNorm1d},
    "layer norm": {"norm": LayerNorm},
}


def last_loss(rate=0.05, steps=200, adam=False, **network):
    return train(ring_network(**network), POINTS, RING, rate, steps, adam)[-1]


@LONG
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_change_alone_trains_the_ring_network_that_stays_at_guessing(seed):
    assert last_loss(seed=seed) > 0.69
    ends = {name: last_loss(**change, seed=seed) for name, change in CHANGES.items()}
    assert max(ends.values()) < 0.2, ends


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_start_ten_times_too_large_ends_in_nan_and_without_biases_norms_end_near_guessing(
    seed, request
):
    if seed:
        request.getfixturevalue("with_all")
    assert last_loss(start=10.0, seed=seed).isnan()
    assert last_loss(start=10.0, seed=seed, rate=0.001, adam=True) > 1000
    assert last_loss(start=10.0, seed=seed, norm=nn.BatchNorm1d) < 0.01
    for adam in ({}, {"rate": 0.001, "adam": True}):
        assert 0.4 < last_loss(start=10.0, seed=seed, norm=LayerNorm, **adam) < 1.5


def deep_chain(seed, start):
    he = {"start": 1.0, "first_bias": start == "He, a first bias"} if "He" in start else {}
    return ring_network(LayerNorm, hidden_layers=24, seed=seed, **he)


def end_on_the_rings(network, rate, steps):
    return train(network, POINTS, RING, rate, steps)[-1].item()


@LONG
@pytest.mark.parametrize(
    ("start", "rate", "steps", "learns"),
    [
        ("PyTorch", 0.05, 300, False),
        ("PyTorch", 0.01, 300, True),
        ("He", 0.05, 100, False),
        ("He", 0.01, 300, False),
        ("He, a first bias", 0.01, 300, True),
    ],
)
def test_24_layers_with_norms_learn_by_rate_and_start(start, rate, steps, learns):
    ends = [end_on_the_rings(deep_chain(seed, start), rate, steps) for seed in SEEDS]
    assert all(end < 0.1 if learns else end > 0.5 for end in ends)


def ring_stack(blocks, placement, seed, start, final_norm=None):
    first, last = projection(2, 64, seed).double(), projection(64, 2, seed).double()
    stack = residual_stack(blocks, placement, seed, final_norm=final_norm, start=start)
    return nn.Sequential(first, stack, last)


def count(blocks, placement, start, rate, steps, final_norm=None, seeds=SEEDS):
    """Count the seeds from which a stack learns the rings."""
    networks = (ring_stack(blocks, placement, seed, start, final_norm) for seed in seeds)
    return sum(end_on_the_rings(network, rate, steps) < 0.1 for network in networks)


NO_NORMS = ("none", False)
LEARN = [  # blocks, placement, final norm, rate, steps, and for each start from how many seeds
    (12, *NO_NORMS, 0.01, 60, {"Xavier": 4}),
    # At a small rate norms don't widen the range of four blocks. At a large one they need one norm,
    # or small weights.
    *((4, *NO_NORMS, 0.01, 100, {"Xavier": 4}), (4, "pre", None, 0.01, 100, {"Xavier": 3})),
    (4, "post", None, 0.01, 100, {"Xavier": 1}),
    (4, *NO_NORMS, 0.3, 100, {"PyTorch": 4, "Xavier": 0, "He": 0}),
    (4, "pre", None, 0.3, 100, {"PyTorch": 4, "Xavier": 4, "He": 4}),
    (4, "none", True, 0.3, 100, {"PyTorch": 4, "Xavier": 4}),
    # The nine runs of lesson 11, of which three stand above.
    *((4, *NO_NORMS, 0.1, 100, {"Xavier": 4}), (4, *NO_NORMS, 1.0, 100, {"Xavier": 0})),
    *((4, "post", None, rate, 100, {"Xavier": 4}) for rate in (0.1, 0.3)),
    *((4, "post", None, 1.0, 100, {"Xavier": 0}), (4, "pre", None, 0.1, 100, {"Xavier": 4})),
    (4, "pre", None, 1.0, 100, {"Xavier": 0}),
]


@LONG
@pytest.mark.parametrize("row", LEARN, ids=lambda row: "-".join(map(str, row[:5])))
def test_from_how_many_seeds_a_stack_learns_the_rings(row):
    blocks, placement, final_norm, rate, steps, learn = row
    found = {start: count(blocks, placement, start, rate, steps, final_norm) for start in learn}
    assert found == learn


@LONG
@pytest.mark.parametrize(
    ("start", "learn"), [("PyTorch", [8, 8, 8]), ("Xavier", [0, 8, 8]), ("He", [0, 7, 8])]
)
def test_from_how_many_of_eight_seeds_twelve_blocks_learn_by_start_and_place(start, learn):
    places = (NO_NORMS, ("post", None), ("pre", None))
    assert [count(12, p, start, 0.05, 60, final, range(8)) for p, final in places] == learn


def fit(stack, warm_up, steps, rate=1.0):
    losses = []
    for step in range(steps):
        loss = (stack(INPUTS) - TARGETS).square().mean()
        gradients = torch.autograd.grad(loss, list(stack.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(stack.parameters(), gradients, strict=True):
                parameter -= rate * min(1.0, (step + 1) / warm_up) * gradient
        losses.append(loss.item())
    return losses


@LONG
def test_how_long_post_ln_waits_depends_on_the_seed_and_on_the_start():
    waits = []
    for seed in range(10):
        losses = fit(residual_stack(8, "post", seed), warm_up=1, steps=600)
        waits.append(sum(loss > 0.9 for loss in losses))
    assert min(waits) == pytest.approx(115, abs=10)
    assert max(waits) == 600
    for seed in SEEDS:
        assert fit(residual_stack(8, "post", seed), warm_up=30, steps=100)[-1] < 0.75
        small = residual_stack(8, "post", seed, start="PyTorch")
        assert 0.55 < fit(small, warm_up=1, steps=100)[-1] < 0.85


def test_without_norms_twelve_blocks_overflow_from_xavier_s_start_only():
    for start, is_finite in (("Xavier", False), ("PyTorch", True)):
        for seed in SEEDS:
            bare = residual_stack(12, "none", seed, final_norm=False, start=start)
            losses = torch.tensor(fit(bare, warm_up=1, steps=6, rate=0.01))
            assert bool(losses.isfinite().all()) == is_finite
            ended = fit(residual_stack(12, "none", seed, start=start), warm_up=1, steps=31)[-1]
            assert ended == pytest.approx(1.02, abs=0.05)


@pytest.mark.parametrize(("decay", "mean"), [(0.0, 1.01), (1.0, 0.83)])
@pytest.mark.parametrize("start", [None, 1.0])
def test_gamma_follows_weight_decay_and_the_rings_are_learned_all_the_same(start, decay, mean):
    for seed in range(3):
        network = ring_network(LayerNorm, hidden_layers=4, seed=seed, start=start)
        loss = train(network, POINTS, RING, rate=0.001, adam=True, decay=decay)[-1]
        gamma = torch.cat([norm.weight for norm in network[1:-1:3]]).mean()
        assert gamma.item() == pytest.approx(mean, abs=0.006)
        assert loss < 0.01


@LONG
def test_without_norms_four_blocks_need_the_residual_or_xavier_s_weights():
    for seed in range(6):
        for start, residual, learns in (
            ("PyTorch", False, False),
            ("PyTorch", True, True),
            ("Xavier", False, True),
            ("Xavier", True, True),
        ):
            first, stack, last = ring_stack(4, "none", seed, start, final_norm=False)
            inner = [stack] if residual else [block.f for block in stack.blocks]
            end = end_on_the_rings(nn.Sequential(first, *inner, last), 0.1, 100)
            assert end < 0.1 if learns else end > 0.68


@LONG
@pytest.mark.parametrize(("start", "trains"), [("PyTorch", True), ("Xavier", False)])
@pytest.mark.parametrize("with_biases", [True, False])
def test_at_0_3_without_norms_it_is_the_size_of_the_weights_and_not_the_biases(
    start, trains, with_biases
):
    for seed in SEEDS:
        network = ring_stack(4, "none", seed, start, final_norm=False)
        biases_of = ring_stack(4, "none", seed, "PyTorch", final_norm=False)[1]
        for module, drawn in zip(network[1].modules(), biases_of.modules(), strict=True):
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
                if with_biases:
                    module.load_state_dict({"bias": drawn.bias}, strict=False)
        assert (end_on_the_rings(network, 0.3, 100) < 0.1) == trains


class DividesOnly(nn.Identity):
    def forward(self, row):
        return row / (mean(row.square()) + 1e-5).sqrt()


@LONG
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("start", [{}, {"start": 1.0, "first_bias": True}])
def test_a_norm_that_only_divides_trains_the_rings(start, seed):
    assert last_loss(norm=DividesOnly, seed=seed, **start) < 0.01


class KeepsMean(LayerNorm):
    def forward(self, x):
        return nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.eps) + self.bias


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_mean_s_share_of_a_transformer_s_rows_shrinks_and_matters_to_rms_norm_only(seed):
    training, validation = split()
    pieces = validation[:640].reshape(10, 64)
    model = Transformer(37, "pre-LN", depth=2, seed=seed).double()

    def share_and_loss():
        stream = model.blocks(model.position(model.embedding(pieces)))
        share = mean(stream).square().mean() / stream.square().mean()
        return share.item(), validation_loss(model, validation)

    assert 0.27 < share_and_loss()[0] < 0.29
    train_transformer(model, training, rate=0.003, steps=100)
    share, loss = share_and_loss()
    assert 0.035 < share < 0.055
    losses = {}
    for norm in ("layer norm", "RMSNorm"):
        if norm == "RMSNorm":
            for each in model.modules():
                if isinstance(each, LayerNorm):
                    each.__class__ = KeepsMean
        losses[norm, 0] = share_and_loss()[1]
        model.embedding.weight.data += 1 / 8
        losses[norm, 1] = share_and_loss()[1]
        model.embedding.weight.data -= 1 / 8
    assert losses["layer norm", 0] == loss
    assert losses["layer norm", 1] == pytest.approx(loss, abs=1e-3)
    assert 0.005 < losses["RMSNorm", 0] - loss < 0.035
    assert 0.15 < losses["RMSNorm", 1] - loss < 0.25


def test_with_a_direction_for_each_row_it_depends_on_the_seed_which_block_of_post_ln_gets_more():
    rows = normal(64, 64, seed=1, dtype=torch.float64)
    slopes = normal(64, 64, seed=2, dtype=torch.float64)
    stacks = [residual_stack(24, "post", seed) for seed in range(20)]
    found = torch.stack([gradient_norms(stack, rows, slopes) for stack in stacks])
    first, last = found[:, 0], found[:, -1]
    assert first.median().item() == pytest.approx(last.median().item(), rel=0.1)
    assert (first / last).min().item() == pytest.approx(0.6, abs=0.05)
    assert (first / last).max().item() == pytest.approx(1.8, abs=0.1)


WRONG = {  # the rules of lesson 12, up to the factor 1/√(var + ε)
    "both as constants": lambda g, x_hat, w: w * g,
    "only the mean": lambda g, x_hat, w: w * g - mean(w * g),
    "only the variance": lambda g, x_hat, w: w * g - x_hat * mean(w * g * x_hat),
    "γ forgotten": lambda g, x_hat, w: g - mean(g) - x_hat * mean(g * x_hat),
    "sums for means": lambda g, x_hat, w: (
        w * g - len(w) * (mean(w * g) + x_hat * mean(w * g * x_hat))
    ),
}


class WithRule(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, rule):
        steps = layer_norm_steps(x, x.shape[-1], weight, bias)
        ctx.save_for_backward(steps.x_hat, steps.rstd, weight)
        ctx.rule = rule
        return steps.y

    @staticmethod
    def backward(ctx, g):
        x_hat, rstd, weight = ctx.saved_tensors
        dx = rstd * ctx.rule(g, x_hat, weight)
        return dx, (g * x_hat).sum(dim=0), g.sum(dim=0), None


@LONG
@pytest.mark.parametrize("name", WRONG)
def test_which_wrong_backward_passes_train_four_layers_with_every_seed(name):
    class Ruled(LayerNorm):
        def forward(self, x):
            return WithRule.apply(x, self.weight, self.bias, WRONG[name])

    ends = [last_loss(norm=Ruled, hidden_layers=4, steps=100, seed=seed) for seed in range(8)]
    if name == "sums for means":
        assert min(ends) > 0.6
    else:
        assert max(ends) < 0.05


@LONG
def test_no_norm_leads_pre_ln_after_300_steps_from_large_embeddings_and_not_after_900():
    training, validation = split()

    def end(place, steps):
        model = Transformer(37, place, embeddings=8)
        train_transformer(model, training, rate=0.003, steps=steps)
        return validation_loss(model, validation)

    assert end("pre-LN", 300) - end("no norm", 300) > 0.08
    long = [end(place, 900) for place in ("no norm", "pre-LN")]
    assert abs(long[1] - long[0]) < 0.05
    assert max(long) < 1.7
