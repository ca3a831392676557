"""`first_wrong` names the module that goes wrong first, and finds nothing in sound models."""

import copy

import pytest
import torch
from torch import nn

from lnorm_course import first_wrong
from lnorm_course.lessons.file_types import as_codes, magika, sample_files
from lnorm_course.lessons.transformer import Transformer


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def codes():
    return torch.randint(37, (2, 16), generator=torch.Generator().manual_seed(0))


def layers(*modules):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), *modules)


class OnePass(nn.Module):
    """E[x²] − E[x]², lesson 2's trap."""

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / ((x * x).mean(-1, keepdim=True) - mean * mean + 1e-5).sqrt()


class HalfInside(nn.Module):
    """Float32 comes in and goes out; the square is taken in float16, which ends at 65,504."""

    def forward(self, x):
        return x / x.half().square().mean(-1, keepdim=True).sqrt().float()


class Softmax(nn.Module):
    """A softmax without the largest number subtracted."""

    def forward(self, x):
        return x.exp() / x.exp().sum(-1, keepdim=True)


class Divides(nn.Module):
    def forward(self, x):
        return x / (x - x)


class Truncates(nn.Linear):
    """Cuts ten bits off before it multiplies, as some kernels do when they're allowed to."""

    def forward(self, x):
        def short(x):
            return x if x.dtype == torch.float64 else (x.view(torch.int32) & -1024).view(x.dtype)

        return nn.functional.linear(short(x), short(self.weight), self.bias)


class Block(nn.Module):
    """Its own lines are wrong; the norm inside is right."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        return self.norm(x) + x.bfloat16().float()


@pytest.mark.parametrize(
    "model",
    [
        layers(nn.BatchNorm1d(16), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(16, 3)),
        layers(nn.LayerNorm(16), nn.RMSNorm(16), nn.GELU(), nn.Softmax(dim=-1)),
        layers(nn.LayerNorm(16), nn.Linear(16, 3)).bfloat16(),
        layers(nn.LayerNorm(16), nn.Linear(16, 3)).half(),
        layers(nn.LayerNorm(16), nn.Linear(16, 3)).double(),
    ],
)
def test_a_sound_model_is_sound(model):
    dtype = next(model.parameters()).dtype
    found = first_wrong(model, normal(5, 8).to(dtype))
    assert (found.not_finite, found.off, found.skipped) == (None, None, ())
    assert found.compared == len(list(model.modules()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_transformer_is_sound_in_every_dtype(dtype):
    found = first_wrong(Transformer(37, depth=2).to(dtype), codes())
    assert (found.not_finite, found.off, found.skipped) == (None, None, ())


class InOrder(nn.Linear):
    """Adds one term after the other, as the simplest kernel does, in the worst order there is."""

    def forward(self, x):
        terms = x[:, None, :] * self.weight
        return terms.sort(dim=-1).values.cumsum(dim=-1)[..., -1] + self.bias


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("offset", [0, 100])
def test_the_order_of_additions_is_no_fault(dtype, offset):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 768), nn.ReLU(), InOrder(768, 3))
    found = first_wrong(model.to(dtype), (normal(9, 64) + offset).to(dtype))
    assert (found.off, found.compared) == (None, 4)
    with_largest = normal(9, 64).index_fill(1, torch.tensor([5]), 1000.0)
    assert first_wrong(InOrder(64, 3).to(dtype), with_largest.to(dtype)).off is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_convolutions_their_norms_and_recurrent_networks_are_sound(dtype):
    torch.manual_seed(0)
    images = nn.Sequential(
        *(nn.Conv2d(32, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3, groups=64)),
        *(nn.GroupNorm(4, 64), nn.SiLU(), nn.InstanceNorm2d(64), nn.AvgPool2d(3), nn.LogSoftmax(1)),
    )
    words = nn.Sequential(nn.Conv1d(32, 16, 5), nn.Tanh(), nn.LSTM(28, 8, 2))
    for model, x in ((images, normal(2, 32, 16, 16)), (words, normal(2, 32, 32))):
        found = first_wrong(model.to(dtype), x.to(dtype))
        assert (found.not_finite, found.off, found.skipped) == (None, None, ())
        assert found.compared == len(list(model.modules()))


def test_magika_is_sound_and_an_encoder_of_pytorch_is():
    found = first_wrong(magika(), as_codes(*list(sample_files().values())[:4]))
    assert (found.not_finite, found.off, found.compared) == (None, None, 6)
    torch.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, batch_first=True), 2)
    for model in (encoder, encoder.eval()):
        found = first_wrong(model, normal(2, 5, 16))
        assert (found.not_finite, found.off, found.skipped) == (None, None, ())


@pytest.mark.parametrize(
    ("wrong", "offset"), [(OnePass(), 100), (HalfInside(), 0), (Block(), 0), (Truncates(16, 16), 0)]
)
def test_the_first_that_is_off_is_named(wrong, offset):
    model = layers(nn.Identity(), wrong, nn.Linear(16, 3))
    with torch.no_grad():
        model[0].bias.add_(offset)
    found = first_wrong(model, normal(5, 8))
    assert found.not_finite is None
    assert (found.off.name, found.off.kind) == ("2", type(wrong).__name__)
    assert "is off by" in found.off.words
    assert "2 (" in str(found)


@pytest.mark.parametrize(
    ("wrong", "scale", "words"),
    [
        (Softmax(), 300, "nan"),
        (Divides(), 1, "and so it has in float64"),
        (nn.Linear(16, 16), 5e37, "float32 ends at 3.403e38"),
    ],
)
def test_the_first_that_is_not_finite_is_named(wrong, scale, words):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Identity(), wrong, nn.LayerNorm(16), nn.Linear(16, 3))
    if isinstance(wrong, nn.Linear):
        nn.init.ones_(wrong.weight)
    x = scale * normal(5, 16).abs()
    found = first_wrong(model, x)
    assert (found.not_finite.name, found.not_finite.kind) == ("1", type(wrong).__name__)
    assert words in found.not_finite.words


def test_weights_that_a_cast_made_infinite_are_named():
    model = layers(nn.Linear(16, 16))
    with torch.no_grad():
        model[1].weight[0, 0] = 1e6
    found = first_wrong(model.half(), normal(2, 8).half())
    assert found.not_finite.name == "1"
    assert "its `weight` has infinity" in found.not_finite.words


class Several(nn.Module):
    def __init__(self, wrong):
        super().__init__()
        self.twice, self.wrong = nn.Linear(4, 4), wrong

    def forward(self, pair, batch, *, mask=None):
        x = self.twice(pair[0]) + self.twice(pair[1]) + batch["ids"]
        if mask is not None:
            x = (x + mask).softmax(-1)
        return {"y": (self.wrong(x), None, "words"), "n": 3}


def test_tuples_dicts_and_several_inputs_work_and_a_mask_is_no_nan():
    mask = torch.zeros(4).index_fill(0, torch.tensor([3]), -torch.inf)
    pair, batch = (normal(2, 4), normal(2, 4, seed=1)), {"ids": torch.arange(4)}
    found = first_wrong(Several(nn.Identity()), pair, batch, mask=mask)
    assert (found.not_finite, found.off, found.skipped) == (None, None, ())
    assert first_wrong(Several(HalfInside()), pair, batch).off.name == "wrong"
    assert first_wrong(Several(Divides()), pair, batch, mask=mask).not_finite.name == "wrong"


class Noise(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


class OnlySingle(nn.Module):
    def forward(self, x):
        if x.dtype != torch.float32:
            raise TypeError("float32 only")
        return x


def test_what_cannot_be_compared_is_said():
    found = first_wrong(layers(Noise(), OnlySingle()), normal(5, 8))
    assert (found.off, found.not_finite) == (None, None)
    noise, single = found.skipped
    assert noise == "1 (Noise): in float64 it gives other numbers each time"
    assert single == "2 (OnlySingle): in float64 it raises TypeError: float32 only"


def test_the_model_the_default_dtype_and_the_random_state_stay_as_they_are():
    model = layers(nn.BatchNorm1d(16), nn.Dropout(0.5), Block(), nn.ReLU(inplace=True))
    x = normal(5, 8)
    before, state, kept = copy.deepcopy(model.state_dict()), torch.get_rng_state(), x.clone()
    first_wrong(model, x)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert torch.equal(x, kept)
    assert torch.get_default_dtype() == torch.float32
    for each in model.modules():
        assert each.training
        assert not each._forward_hooks
        assert not each._forward_pre_hooks
        assert "forward" not in vars(each)
        assert all(p.grad is None for p in each.parameters())


def test_bad_input_gets_one_sentence():
    with pytest.raises(TypeError, match=r"first_wrong needs a module such as .*, but got list\."):
        first_wrong([nn.Linear(4, 4)], torch.ones(4))
    with pytest.raises(ValueError, match="needs the inputs that the model is called with"):
        first_wrong(nn.Linear(4, 4))
    model = nn.Linear(4, 4)
    model.kept = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(TypeError, match="works on a copy of the model, and this one can't be"):
        first_wrong(model, torch.ones(4))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        first_wrong(nn.Linear(4, 4), torch.ones(1, 3))
