"""The transformer agrees with PyTorch's, its text is clean, and its grid says what made it."""

import hashlib
import itertools
import json
import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lnorm_course.lessons.transformer import grid
from lnorm_course.lessons.transformer.model import (
    PLACES,
    CausalAttention,
    Transformer,
    TransformerBlock,
    attention,
)
from lnorm_course.lessons.transformer.text import alphabet, austen, decode, encode, entropies
from lnorm_course.lessons.transformer.training import train_transformer, validation_loss, write
from lnorm_utils import LayerNorm
from lnorm_utils.data import normal, ring_network, two_rings
from lnorm_utils.training import Adam, train

FILE = Path(grid.__file__).with_name("grid.json")


@pytest.mark.parametrize("shape", [(5, 4), (2, 3, 7, 9), (1, 1, 3)])
def test_attention_and_its_gradients_are_those_of_pytorch(shape):
    ours, theirs = [], []
    for function, kept in ((attention, ours), (F.scaled_dot_product_attention, theirs)):
        parts = [5 * normal(*shape, seed=seed).double() for seed in (1, 2, 3)]
        options = {} if function is attention else {"is_causal": True}
        y = function(*(part.requires_grad_() for part in parts), **options)
        kept += [y, *torch.autograd.grad(y.square().sum(), parts)]
    torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


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


@pytest.mark.parametrize("place", PLACES)
def test_no_place_lets_a_model_read_what_it_predicts(place):
    model = Transformer(7, place, depth=2, d_model=8, heads=2, length=6)
    codes = torch.randint(7, (3, 6), generator=torch.Generator().manual_seed(1))
    other = codes.clone()
    other[:, 4] = (codes[:, 4] + 1) % 7
    torch.testing.assert_close(model(codes)[:, :4], model(other)[:, :4], rtol=0, atol=0)
    assert (model(codes)[:, 4:] != model(other)[:, 4:]).any(dim=-1).all()


def test_each_place_has_its_own_number_of_norms():
    kinds = (LayerNorm, nn.RMSNorm)
    counts = {
        place: sum(isinstance(m, kinds) for m in Transformer(37, place).modules())
        for place in PLACES
    }
    assert counts == {"no norm": 0, "post-LN": 12, "pre-LN": 13, "pre-RMSNorm": 13}


def test_an_unknown_place_and_heads_that_do_not_divide_are_named():
    with pytest.raises(ValueError, match=r"'no norm', 'post-LN'.*'sandwich' was given"):
        TransformerBlock(8, 2, "sandwich")
    with pytest.raises(ValueError, match="divide d_model = 8, but 3 was given"):
        CausalAttention(8, 3)
    with pytest.raises(ValueError, match="at most 4 positions"):
        Transformer(5, d_model=8, heads=2, length=4)(torch.zeros(1, 5, dtype=torch.int64))


def test_adam_is_pytorch_s_adam_over_many_steps():
    ours, theirs = normal(3, 4, seed=1).double(), normal(3, 4, seed=1).double().requires_grad_()
    adam, pytorch = Adam([ours]), torch.optim.Adam([theirs], lr=0.1)
    for step in range(50):
        theirs.grad = normal(3, 4, seed=step).double() * 10.0 ** (step % 5)
        adam.step([theirs.grad], rate=0.1)
        pytorch.step()
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("adam", "optimizer"), [(True, torch.optim.AdamW), (False, torch.optim.SGD)]
)
def test_weight_decay_is_pytorch_s(adam, optimizer):
    ours, theirs = (ring_network(LayerNorm, hidden_layers=1, width=8) for _ in range(2))
    x, ring = two_rings(32)
    train(ours, x, ring, rate=0.01, steps=10, adam=adam, decay=2.0)
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
    losses = train_transformer(model, codes, rate=0.01, warm_up=10, steps=80)
    assert losses[0] > 1.5
    assert validation_loss(model, codes) < 0.05
    assert write(model, codes[:3], length=12).tolist() == [n % 5 for n in range(3, 15)]
    assert torch.equal(torch.get_rng_state(), state)


def test_the_first_steps_of_a_warm_up_are_small():
    moved = []
    for warm_up in (1, 100):
        model = Transformer(5, depth=1, d_model=8, heads=2, length=10)
        before = model.embedding.weight.detach().clone()
        train_transformer(model, torch.arange(500) % 5, rate=0.01, warm_up=warm_up, steps=1)
        moved.append((model.embedding.weight - before).abs().max().item())
    assert moved[0] == pytest.approx(0.01, rel=0.01)
    assert moved[1] == pytest.approx(0.0001, rel=0.01)


def test_a_model_whose_numbers_are_not_finite_stops_to_write():
    model = Transformer(5, depth=1, d_model=8, heads=2, length=10)
    with torch.no_grad():
        model.to_characters.bias[0] = math.nan
    assert write(model, torch.tensor([1])).tolist() == []


def test_the_entropies_are_those_counted_by_hand():
    text = austen()[:5000]
    single, pairs = Counter(text), Counter(itertools.pairwise(text))
    before = Counter(text[:-1])
    letters = -sum(n * math.log(n / 5000) for n in single.values()) / 5000
    given = -sum(n * math.log(n / before[a]) for (a, _), n in pairs.items()) / 4999
    found = entropies(encode(text))
    assert found.letters == pytest.approx(letters, abs=1e-4)
    assert found.pairs == pytest.approx(given, abs=1e-4)


def test_the_text_is_the_novel_s_first_volume_and_nothing_else():
    text = austen()
    assert text.startswith("it is a truth universally acknowledged, that a single man")
    assert text.endswith('"i leave it to yourself to determine," said mr. bennet.\n')
    assert len(alphabet()) == 37
    assert not any(word in text for word in ("gutenberg", "chapter ", "license", "ebook"))
    assert decode(encode(text[:500])) == text[:500]
    with pytest.raises(ValueError, match="'É' is not one of the 37"):
        encode("É")


def test_the_grid_belongs_to_this_text_and_has_every_run():
    made = json.loads(FILE.read_text(encoding="utf-8"))["provenance"]
    assert made["sha256 of the text"] == hashlib.sha256(austen().encode()).hexdigest()
    training, validation = grid.split()
    assert made["characters"] == {"training": len(training), "validation": len(validation)}
    assert made["entropies of the validation text"] == entropies(validation)._asdict()
    for place in PLACES:
        for rate in grid.RATES:
            for warm_up, embeddings in grid.BEGINNINGS:
                for seed in grid.SEEDS:
                    run = grid.run(place, rate, warm_up, seed, embeddings)
                    assert len(run.losses) == grid.STEPS // grid.EVERY
                    assert math.isnan(run.validation) or len(run.text) == 200


def test_a_run_that_the_grid_does_not_have_is_named():
    with pytest.raises(
        ValueError, match=r"rates 0\.0003, 0\.001.*0\.5, 0, and \(1, 1\) were given"
    ):
        grid.run("pre-LN", 0.5)
    with pytest.raises(
        ValueError, match=r"embeddings \(1, 1\), \(100, 1\), .* and \(100, 8\) were given"
    ):
        grid.run("pre-LN", 0.01, warm_up=100, embeddings=8)


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
    assert all(not end < mean for place in PLACES for end in ends(place, *grid.RATES))


def ends(place, *rates, beginnings=grid.BEGINNINGS):
    """List the losses on new text of all runs with these rates and beginnings."""
    return [
        grid.run(place, rate, warm_up, seed, size).validation
        for rate in rates
        for warm_up, size in beginnings
        for seed in grid.SEEDS
    ]


def test_with_a_norm_in_front_of_each_branch_every_run_learns_more_than_the_letters():
    for place in ("pre-LN", "pre-RMSNorm"):
        assert max(ends(place, *grid.RATES)) < 2.9
    assert all(map(math.isnan, ends("no norm", 3e-2)))
    assert min(ends("post-LN", 3e-2)) > 2.9


def test_from_the_largest_embeddings_all_learn_at_0_01_and_up_to_0_003_no_norm_is_the_best():
    largest = [(1, 8)]
    assert all(max(ends(place, 1e-2, beginnings=largest)) < 2.9 for place in PLACES)
    for rate in (3e-4, 1e-3, 3e-3):
        for seed in grid.SEEDS:
            found = {p: ends(p, rate, beginnings=largest)[seed] for p in PLACES}
            assert min(found, key=found.get) == "no norm"


def test_embeddings_start_as_many_times_as_large_and_nothing_else_changes():
    one, eight = Transformer(37, depth=1), Transformer(37, depth=1, embeddings=8)
    for (name, p), q in zip(one.named_parameters(), eight.parameters(), strict=True):
        torch.testing.assert_close(8 * p if name == "embedding.weight" else p, q)
