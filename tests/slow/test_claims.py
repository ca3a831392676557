"""What lessons claim about training and about the start, with other seeds and from other starts."""

import pytest
import torch

from lnorm_utils import data as ex
from lnorm_utils import standardize
from lnorm_utils.data import normal, residual_stack
from lnorm_utils.measures import gradient_norms
from lnorm_utils.training import train

ROWS, SLOPES = (
    normal(64, 64, seed=1, dtype=torch.float64),
    normal(64, 64, seed=2, dtype=torch.float64),
)


def typical(depth, placement, slope, start="Xavier"):
    stacks = [residual_stack(depth, placement, seed, start=start) for seed in range(5)]
    return torch.stack([gradient_norms(s, ROWS, slope) for s in stacks]).median(0).values


def test_with_one_slope_for_all_rows_the_last_block_of_post_ln_gets_most():
    post, pre = typical(12, "post", SLOPES[0]), typical(12, "pre", SLOPES[0])
    assert post[-1] > 2 * post[0]
    assert pre[-1] < 0.95 * pre[0]
    assert post[-1] > 1.3 * typical(2, "post", SLOPES[0])[-1]
    assert pre[-1] < 0.8 * typical(2, "pre", SLOPES[0])[-1]


def test_with_a_slope_for_each_row_the_last_gradient_follows_theorem_1_of_xiong_et_al():
    last = {p: [typical(d, p, SLOPES)[-1].item() for d in (2, 6, 24)] for p in ("post", "pre")}
    assert max(last["post"]) < 1.15 * min(last["post"])  # at every depth about the same
    assert last["pre"][2] / last["pre"][1] == pytest.approx(4**-0.5, rel=0.25)  # 1 / √depth


def test_from_pytorch_s_start_the_first_and_the_last_block_of_post_ln_get_about_the_same():
    deep = typical(24, "post", SLOPES, "PyTorch")
    assert deep[0].item() == pytest.approx(deep[-1].item(), rel=0.1)
    assert typical(2, "post", SLOPES, "PyTorch")[-1].item() == pytest.approx(
        deep[-1].item(), rel=0.1
    )


def test_the_scale_of_a_pre_ln_stream_depends_on_the_start():
    for start, low, high in (("PyTorch", 2.3, 2.6), ("Xavier", 10.8, 13.1), ("He", 40, 70)):
        for seed in range(6):
            stream = ROWS
            for block in residual_stack(24, "pre", seed, start=start).blocks:
                stream = block(stream)
            assert low < stream.var(-1, correction=0).mean() < high


def test_the_training_of_the_lesson_goes_the_same_way_in_a_smaller_stack():
    inputs = normal(32, 32, seed=10, dtype=torch.float64)
    targets = standardize(inputs).roll(1, dims=-1) + 3 * normal(32, seed=11, dtype=torch.float64)

    def loss_after_training(placement, warm_up):
        stack = residual_stack(12, placement, seed=1, d_model=32)
        for step in range(81):
            loss = (stack(inputs) - targets).square().mean()
            loss.backward()
            with torch.no_grad():
                for parameter in stack.parameters():
                    parameter -= min(1.0, (step + 1) / warm_up) * parameter.grad
                    parameter.grad = None
        return loss.item()

    assert loss_after_training("post", 1) > 0.9
    assert loss_after_training("post", 50) < 0.7
    assert loss_after_training("pre", 1) < 0.7


@pytest.mark.parametrize("seed", [0, 1])
def test_asking_batch_norm_in_training_mode_spoils_what_eval_says_later(seed):
    network = ex.ring_network(torch.nn.BatchNorm1d, seed=seed)
    train(network, *ex.two_rings())
    new, ring = ex.two_rings(seed=1)

    def right():
        return (network.eval()(new).argmax(dim=1) == ring).double().mean()

    assert right() > 0.99
    network.train()
    for pair in new.split(2):
        network(pair)
    assert right() < 0.95
