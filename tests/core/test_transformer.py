"""The transformer agrees with PyTorch's, and its grid says what made it."""

import hashlib
import itertools
import json
import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn

from lnorm_course.lessons.transformer import grid
from lnorm_course.lessons.transformer.model import (
    PLACES,
    Transformer,
    TransformerBlock,
)
from lnorm_course.lessons.transformer.text import austen
from lnorm_course.lessons.transformer.training import train_transformer, validation_loss, write
from lnorm_utils import LayerNorm
from lnorm_utils.data import normal, ring_network, two_rings
from lnorm_utils.training import train

FILE = Path(grid.__file__).with_name("grid.json")
RUNS = [
    (place, rate, warm_up, seed, embeddings)
    for place, rate, (warm_up, embeddings), seed in itertools.product(
        PLACES, grid.RATES, grid.BEGINNINGS, grid.SEEDS
    )
]


@pytest.mark.parametrize("place", ["post-LN", "pre-LN"])
def test_a_block_with_trained_weights_is_pytorch_s_encoder_layer(place):
    block = TransformerBlock(12, 3, place).double()
    first = place == "pre-LN"
    layer = nn.TransformerEncoderLayer(12, 3, 48, 0.0, batch_first=True, norm_first=first).double()
    with torch.no_grad():
        for seed, (p, q) in enumerate(zip(block.parameters(), layer.parameters(), strict=True)):
            q.copy_(p.copy_(normal(*p.shape, seed=seed)))
    x = normal(2, 5, 12, seed=100).double()
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=x.dtype)
    torch.testing.assert_close(block(x), layer(x, src_mask=mask, is_causal=True))


def test_each_place_has_its_own_number_of_norms():
    kinds = (LayerNorm, nn.RMSNorm)
    counts = {
        place: sum(isinstance(m, kinds) for m in Transformer(37, place).modules())
        for place in PLACES
    }
    assert counts == {"no norm": 0, "post-LN": 12, "pre-LN": 13, "pre-RMSNorm": 13}


@pytest.mark.parametrize(
    ("adam", "optimizer"), [(True, torch.optim.AdamW), (False, torch.optim.SGD)]
)
def test_weight_decay_is_pytorch_s(adam, optimizer):
    ours, theirs = (ring_network(LayerNorm, hidden_layers=1, width=8) for _ in range(2))
    x, ring = two_rings(32)
    train(ours, x, ring, lr=0.01, steps=10, adam=adam, decay=2.0)
    pytorch = optimizer(theirs.parameters(), lr=0.01, weight_decay=2.0)
    for _ in range(10):
        pytorch.zero_grad()
        torch.nn.functional.cross_entropy(theirs(x), ring).backward()
        pytorch.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_a_small_model_learns_a_text_that_repeats_and_writes_it_on():
    codes = torch.arange(3000) % 5
    model = Transformer(5, depth=1, d_model=16, heads=2, length=10)
    state = torch.get_rng_state()
    losses = train_transformer(model, codes, lr=0.01, warm_up=10, steps=80)
    assert losses[0] > 1.5
    assert validation_loss(model, codes) < 0.05
    assert write(model, codes[:3], length=12).tolist() == [n % 5 for n in range(3, 15)]
    assert torch.equal(torch.get_rng_state(), state)


def test_the_first_steps_of_a_warm_up_are_small():
    moved = []
    for warm_up in (1, 100):
        model = Transformer(5, depth=1, d_model=8, heads=2, length=10)
        before = model.embedding.weight.detach().clone()
        train_transformer(model, torch.arange(500) % 5, lr=0.01, warm_up=warm_up, steps=1)
        moved.append((model.embedding.weight - before).abs().max().item())
    assert moved[0] == pytest.approx(0.01, rel=0.01)
    assert moved[1] == pytest.approx(0.0001, rel=0.01)


def test_a_model_whose_numbers_are_not_finite_stops_to_write():
    model = Transformer(5, depth=1, d_model=8, heads=2, length=10)
    with torch.no_grad():
        model.to_characters.bias[0] = math.nan
    assert write(model, torch.tensor([1])).tolist() == []


def test_the_grid_belongs_to_this_text_and_has_every_run():
    made = json.loads(FILE.read_text(encoding="utf-8"))["provenance"]
    assert made["sha256 of the text"] == hashlib.sha256(austen().encode()).hexdigest()
    for run in (grid.run(*of) for of in RUNS):
        assert len(run.losses) == grid.STEPS // grid.EVERY
        assert math.isnan(run.validation) or len(run.text) == 200


def test_a_table_of_which_character_follows_which_two_beats_every_run_of_the_grid():
    training, validation = (codes.tolist() for codes in grid.split())
    single = Counter(training)
    pairs = Counter(itertools.pairwise(training))
    triples = Counter(zip(training, training[1:], training[2:], strict=False))

    def loss(a, b, c):  # each table is smoothed with the one for fewer characters
        after_one = (pairs[b, c] + 5 * single[c] / len(training)) / (single[b] + 5)
        return -math.log((triples[a, b, c] + 5 * after_one) / (pairs[a, b] + 5))

    new = zip(validation, validation[1:], validation[2:], strict=False)
    mean = sum(loss(*three) for three in new) / (len(validation) - 2)
    assert mean == pytest.approx(1.83, abs=0.005)
    assert not any(grid.run(*of).validation < mean for of in RUNS)


def test_embeddings_start_as_many_times_as_large_and_nothing_else_changes():
    one, eight = Transformer(37, depth=1), Transformer(37, depth=1, embeddings=8)
    for (name, p), q in zip(one.named_parameters(), eight.parameters(), strict=True):
        torch.testing.assert_close(8 * p if name == "embedding.weight" else p, q)
