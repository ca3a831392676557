"""What lessons say of other seeds and starts than those that they show, trained here."""

import pytest
import torch
from lesson_parts import parts_of

from lnorm_course.lessons.transformer import Transformer, run, split, train_transformer
from lnorm_course.lessons.transformer.training import validation_loss
from lnorm_utils import LayerNorm, mean, variance
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.measures import gradient_norms
from lnorm_utils.training import Adam

SEEDS = range(4)
LONG = pytest.mark.usefixtures("with_all")
STACKS = parts_of("11_train_it", "rows", "v_own", "inputs", "common", "targets")


def fit(placement, seed, init="xavier", final_norm=None, depth=8, **options):
    """Return the losses of lesson 11's task."""
    stack = residual_stack(depth, placement, seed=seed, final_norm=final_norm, init=init)
    return STACKS.fit(stack, STACKS.targets, **options)


@LONG
def test_how_long_post_ln_waits_depends_on_the_seed_and_on_the_start():
    waits = [(fit("post", seed, steps=600) > 0.9).sum().item() for seed in range(10)]
    assert min(waits) == pytest.approx(115, abs=10)
    assert max(waits) == 600
    for seed in SEEDS:
        assert fit("post", seed, warm_up=30)[-1] < 0.75
        assert 0.55 < fit("post", seed=seed, init="default")[-1] < 0.85


def test_without_norms_twelve_blocks_overflow_from_xavier_s_start_only():
    for init, is_finite in (("xavier", False), ("default", True)):
        for seed in SEEDS:
            bare = fit("none", seed, init, final_norm=False, depth=12, steps=6, lr=0.01)
            assert bool(bare.isfinite().all()) == is_finite
            ended = fit("none", seed, init, depth=12, steps=31)[-1]
            assert ended.item() == pytest.approx(1.02, abs=0.05)


def ends_of(depth, init, seeds):
    """Return the gradient norms of the first and of the last block of post-LN with each seed."""
    stacks = (residual_stack(depth, "post", seed=seed, init=init) for seed in range(seeds))
    found = [gradient_norms(stack, STACKS.rows, STACKS.v_own) for stack in stacks]
    return torch.stack(found)[:, [0, -1]].unbind(dim=1)


def test_with_a_direction_for_each_row_it_depends_on_the_seed_which_block_of_post_ln_gets_more():
    first, last = ends_of(24, "xavier", seeds=20)
    assert (first / last).min().item() == pytest.approx(0.6, abs=0.05)
    assert (first / last).max().item() == pytest.approx(1.8, abs=0.1)


def test_from_pytorch_s_start_the_first_and_the_last_block_of_post_ln_get_about_the_same():
    first, last = (norms.median().item() for norms in ends_of(24, "default", seeds=5))
    assert first == pytest.approx(last, rel=0.1)
    assert ends_of(2, "default", seeds=5)[1].median().item() == pytest.approx(last, rel=0.1)


def test_the_final_norm_makes_the_last_gradients_of_deeper_pre_ln_stacks_smaller():
    for final_norm, low, high in ((None, 0.35, 0.45), (False, 0.95, 1.05)):
        last = []
        for depth in (2, 24):
            made = [residual_stack(depth, "pre", seed=n, final_norm=final_norm) for n in range(20)]
            found = [gradient_norms(stack, STACKS.rows, STACKS.v_own)[-1] for stack in made]
            last.append(torch.stack(found).median().item())
        assert low < last[1] / last[0] < high


def test_a_warm_up_helps_the_pre_ln_transformer_at_large_rates_only():
    for rate, helps in ((0.001, False), (0.003, False), (0.01, True), (0.03, True)):
        for seed in (0, 1):
            without, with_one = (run("pre-LN", rate, n, seed).validation for n in (1, 100))
            assert (with_one < without) == helps


def test_the_scale_of_a_pre_ln_stream_depends_on_the_start():
    variance_after = parts_of("10_add_and_norm").variance_after
    for init, low, high in (("default", 2.3, 2.6), ("xavier", 10.8, 13.1), ("kaiming", 40, 70)):
        for seed in range(6):
            stack = residual_stack(24, "pre", seed=seed, init=init)
            assert low < variance_after(stack, STACKS.rows) < high


def test_with_adam_the_weights_in_front_of_a_norm_can_shrink():
    lesson = parts_of("14_invariances", "inputs", "readout", "targets")
    start = normal(32, 16, seed=6).double()
    adam = Adam([weights := start.clone()])
    for _ in range(10):
        adam.step([lesson.loss_and_gradient(weights)[1]], lr=0.01)
    assert weights.norm() < start.norm() - 0.01


class ShrinksOnly(LayerNorm):
    """Subtracts the mean, but divides by the root of the mean square, as RMSNorm does."""

    def forward(self, x):
        return self.weight * (x - mean(x)) / (mean(x.square()) + self.eps).sqrt() + self.bias


class OffsetOnly(LayerNorm):
    """Keeps the mean, as RMSNorm does, but divides by the standard deviation."""

    def forward(self, x):
        return self.weight * x / (variance(x) + self.eps).sqrt() + self.bias


def hold_what_is_said_of_the_mean(seed):
    """Train lesson 9's transformer from a seed, and hold what the lesson says of its means."""
    lesson = parts_of("09_rms_norm", "(training, validation)", "pieces")
    lesson.model = model = Transformer(37, "pre-LN", depth=2, seed=seed).double()
    lesson.norms = norms = [each for each in model.modules() if isinstance(each, LayerNorm)]
    assert all(0.255 < share < 0.29 for share in lesson.shares())
    train_transformer(model, lesson.training, lr=0.003, steps=100)
    shares = lesson.shares()
    assert all(0.15 < share < 0.2 for share in shares[:2])
    assert all(0.035 < share < 0.105 for share in shares[2:])

    def loss(kind, moved=0.0, of=norms):
        for norm in of:
            norm.__class__ = kind
        model.embedding.weight.data += moved
        found = validation_loss(model, lesson.validation)
        model.embedding.weight.data -= moved
        for norm in of:
            norm.__class__ = LayerNorm
        return found

    least = loss(LayerNorm)
    assert loss(LayerNorm, 1 / 8) == pytest.approx(least, abs=1e-3)
    assert all(loss(lesson.KeepsMean, of=[norm]) < least + 0.02 for norm in norms)
    assert 0.0005 < loss(lesson.KeepsMean) - least < 0.035
    assert 0.155 < loss(lesson.KeepsMean, 1 / 8) - least < 0.255
    assert 0.12 < loss(ShrinksOnly, 1 / 8) - least < 0.195
    assert 0.035 < loss(OffsetOnly, 1 / 8) - least < 0.27


@pytest.mark.parametrize("seed", range(2))
def test_the_mean_s_share_shrinks_and_an_offset_matters_to_rms_norm_in_two_ways(seed):
    hold_what_is_said_of_the_mean(seed)


@LONG
@pytest.mark.parametrize("seed", range(2, 8))
def test_it_does_so_from_more_seeds(seed):
    hold_what_is_said_of_the_mean(seed)


@LONG
def test_no_norm_leads_pre_ln_after_300_steps_from_large_embeddings_and_not_after_900():
    training, validation = split()

    def end(place, steps):
        model = Transformer(37, place, embeddings=8)
        train_transformer(model, training, lr=0.003, steps=steps)
        return validation_loss(model, validation)

    assert end("pre-LN", 300) - end("no norm", 300) > 0.08
    long = [end(place, 900) for place in ("no norm", "pre-LN")]
    assert abs(long[1] - long[0]) < 0.05
    assert max(long) < 1.7
