"""`first_wrong` names the module that goes wrong first, and finds nothing in sound models."""

import copy

import pytest
import torch
from torch import nn

from lnorm_course.lessons.file_types import as_codes, magika, sample_files
from lnorm_course.lessons.transformer import Transformer
from lnorm_diagnose import first_wrong
from lnorm_utils.data import normal

X = normal(5, 16, seed=0)
IDS = torch.randint(37, (2, 16), generator=torch.Generator().manual_seed(0))
WIDE = normal(9, 64, seed=0)
DTYPES = torch.float32, torch.bfloat16, torch.float16, torch.float64


class InOrder(nn.Linear):
    """Adds one term after the other, as the simplest kernel does, in the worst order there is."""

    def forward(self, x):
        terms = x[:, None, :] * self.weight
        return terms.sort(dim=-1).values.cumsum(dim=-1)[..., -1] + self.bias


torch.manual_seed(0)  # the models below have weights of their own
IN_ORDER = nn.Sequential(nn.Linear(64, 768), nn.ReLU(), InOrder(768, 3))
# Each with an input, and of how many modules the output is compared.
SOUND = [
    (
        nn.Sequential(nn.BatchNorm1d(16), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(16, 3)),
        *(X, 5),
    ),
    (nn.Sequential(nn.LayerNorm(16), nn.RMSNorm(16), nn.GELU(), nn.Softmax(dim=-1)), X, 5),
    (nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 3)), X, 3),
    (nn.Linear(16, 3), X.where(X < 2, torch.nan), 1),
    (Transformer(37, depth=2), IDS, 24),
    (
        nn.Sequential(
            *(nn.Conv2d(32, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3, groups=64)),
            *(nn.GroupNorm(4, 64), nn.SiLU(), nn.InstanceNorm2d(64), nn.AvgPool2d(3)),
            nn.LogSoftmax(1),
        ),
        *(normal(2, 32, 16, 16, seed=0), 10),
    ),
    (
        nn.Sequential(nn.Conv1d(32, 16, 5), nn.Tanh(), nn.LSTM(28, 8, 2, dropout=0.5)),
        *(normal(2, 32, 32, seed=0), 4),
    ),
    (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, batch_first=True), 2),
        *(normal(2, 5, 16, seed=0), 19),
    ),
    (magika(), as_codes(*list(sample_files().values())[:4]), 6),
    (IN_ORDER, WIDE, 4),
    (IN_ORDER, WIDE + 100, 4),
    (InOrder(64, 3), WIDE.index_fill(1, torch.tensor([5]), 1000.0), 1),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("model", "x", "compared"), SOUND)
def test_a_sound_model_is_sound_in_every_dtype(model, x, compared, dtype):
    found = first_wrong(copy.deepcopy(model).to(dtype), x.to(dtype) if x.is_floating_point() else x)
    assert (found.not_finite, found.off, found.skipped) == (None, None, ())
    assert found.compared == compared


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


def with_first_weight(value):
    layer = nn.Linear(16, 16)
    with torch.no_grad():
        layer.weight[0, 0] = value
    return layer


@pytest.mark.parametrize(
    ("found_as", "wrong", "x", "words"),
    [
        ("off", OnePass(), X + 100, "is off by"),
        ("off", HalfInside(), X, "is off by"),
        ("off", Block(), X, "is off by"),
        ("off", Truncates(16, 16), X, "is off by"),
        ("not_finite", Softmax(), 300 * X, "nan"),
        ("not_finite", Divides(), X, "as it does in float64"),
        ("not_finite", with_first_weight(100.0), 3e38 * X.sign(), "float32 ends at 3.403e38"),
        ("not_finite", with_first_weight(1e6), X.half(), "its `weight` has infinity"),
    ],
)
def test_the_first_that_is_off_or_not_finite_is_named(found_as, wrong, x, words):
    model = nn.Sequential(nn.Identity(), wrong, nn.LayerNorm(16), nn.Linear(16, 3)).to(x.dtype)
    found = first_wrong(model, x)
    assert found_as == "not_finite" or found.not_finite is None
    first = getattr(found, found_as)
    assert (first.name, first.kind) == ("1", type(wrong).__name__)
    assert words in first.words
    assert "1 (" in str(found)


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
    pair, batch = (normal(2, 4, seed=0), normal(2, 4, seed=1)), {"ids": torch.arange(4)}
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
    found = first_wrong(nn.Sequential(Noise(), OnlySingle()), X)
    assert (found.off, found.not_finite) == (None, None)
    noise, single = found.skipped
    assert noise == "0 (Noise): in float64 it gives different numbers each time"
    assert single == "1 (OnlySingle): in float64 it raises TypeError: float32 only"


def test_without_inputs_it_says_so():
    with pytest.raises(ValueError, match="needs the inputs that the model is called with"):
        first_wrong(nn.Linear(4, 4))
