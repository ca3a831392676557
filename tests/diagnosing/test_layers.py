"""Wrong layers are named, right ones never are, and what can't be judged gets a sentence."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_diagnose import diagnose
from lnorm_diagnose.diagnosing import Verdict
from lnorm_utils import LayerNorm


def mean(x):
    return x.mean(-1, keepdim=True)


def var(x):
    return x.var(-1, keepdim=True, correction=0)


def around(x, m):
    return (x - m) / (mean((x - m).square()) + 1e-5).sqrt()


def norm(x, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


def trained(layer):
    """Return a layer whose γ and β aren't those that it starts with."""
    for seed, p in enumerate(layer.parameters()):
        p.data += torch.randn(8, generator=torch.Generator().manual_seed(seed))
    return layer


def careful(function):
    """Let a function compute in float32 what comes in half precision."""
    half = (torch.float16, torch.bfloat16)
    return lambda x: function(x.float() if x.dtype in half else x).to(x.dtype)


class Affine(nn.Module):
    """A module with γ and β, of which each test says what it does."""

    def __init__(self, forward, start=1.0, names=("weight", "bias")):
        super().__init__()
        self.names, self.function, self.eps = names, forward, 1e-3
        for name, value in zip(names, (start, 0.0), strict=False):
            setattr(self, name, nn.Parameter(torch.full((8,), value)))

    def forward(self, x):
        return self.function(x, *(getattr(self, name) for name in self.names))


class EpsSquared(nn.LayerNorm):
    def forward(self, x):
        return norm(x, self.eps**2) * self.weight + self.bias


class BatchNormInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(x.reshape(-1, 8)).reshape(x.shape)


class Keeps(nn.Module):
    """What it keeps of earlier calls: a share of each, or all of the first of a shape."""

    def __init__(self, first):
        super().__init__()
        self.first, self.kept = first, torch.zeros(8) if not first else {}

    def forward(self, x):
        if self.first:
            return x - self.kept.setdefault((x.shape, x.dtype), mean(x).detach())
        self.kept = 0.9 * self.kept + 0.1 * x.detach().reshape(-1, 8).mean(0)
        return x - self.kept


class OnlyInTrain(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) * (1.1 if self.training else 1)


class OfImages(Affine):
    """γ and β for channels along axis 1, as in ConvNeXt."""

    def __init__(self, eps=1e-5):
        super().__init__(None)
        self.eps = eps

    def forward(self, x):
        y = F.layer_norm(x.movedim(1, -1), (8,), self.weight, self.bias, self.eps)
        return y.movedim(-1, 1)


class WithoutBias(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.register_buffer("bias", torch.zeros(size))

    def forward(self, x):
        return norm(x) * self.weight + self.bias


class InATuple:
    """No module: γ and β are in a tuple."""

    def __init__(self):
        self.params = (torch.ones(8), torch.zeros(8))

    def __call__(self, x):
        return norm(x) * self.params[0] + self.params[1]


class CopiedAsClones(nn.LayerNorm):
    """Parameters of a copy are no leaves, as in TorchScript."""

    def __deepcopy__(self, memo):
        other = nn.LayerNorm(8)
        other._parameters.update({name: p.clone() for name, p in self.named_parameters()})
        return other


class Workspace(nn.LayerNorm):
    """What it returns is overwritten by its next call."""

    kept = None

    def forward(self, x):
        y = super().forward(x)
        if y.requires_grad:
            return y
        if self.kept is None or self.kept.shape != y.shape or self.kept.dtype != y.dtype:
            self.kept = torch.empty_like(y)
        return self.kept.copy_(y)


class Halves(torch.autograd.Function):
    """What comes in, and half of its gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 2


def in_place(x):
    x -= mean(x)
    x /= (mean(x * x) + 1e-5).sqrt()
    return x


def detached(x):
    with torch.no_grad():
        m, v = mean(x), var(x)
    return (x - m) / (v + 1e-5).sqrt()


class Detached(nn.LayerNorm):
    def forward(self, x):
        return detached(x) * self.weight + self.bias


class Shards(nn.LayerNorm):
    def forward(self, x):
        return norm(x.unflatten(-1, (2, -1)), self.eps).flatten(-2) * self.weight + self.bias


def of_halves(x):
    spread = torch.cat([var(half) for half in x.chunk(2, -1)], -1)
    return (x - mean(x)) / (mean(spread) + 1e-5).sqrt()


def of_the_last_row(x):
    rows = x.reshape(-1, x.shape[-1])
    return ((rows - mean(rows)[-1:]) / (var(rows)[-1:] + 1e-5).sqrt()).reshape(x.shape)


def in_fours(x):
    parts = x[..., : x.shape[-1] // 4 * 4]
    c = x - parts.sum(-1, keepdim=True) / x.shape[-1]
    squares = c[..., : parts.shape[-1]].square().sum(-1, keepdim=True)
    return c / (squares / x.shape[-1] + 1e-5).sqrt()


def in_blocks(x):
    rows = norm(x).reshape(-1, x.shape[-1])
    return torch.where(torch.arange(len(rows))[:, None] < len(rows) // 4 * 4, rows, 0).view_as(x)


def of_several_rows(x):
    a, b = mean(x), var(x).roll(1, -2) if x.ndim > 1 else var(x)
    return (x - a) / (a.square().flip(-2) + b).sqrt() if x.ndim > 1 else norm(x)


def padded(x):
    wide = F.pad(x, (0, 16 - x.shape[-1])) if x.shape[-1] < 16 else x
    away = wide - mean(wide)
    return (away / (mean(away.square()) + 1e-5).sqrt())[..., : x.shape[-1]]


GAMMA_MINUS_ONE = Affine(lambda x, w: x * (mean(x * x) + 1e-6).rsqrt() * (1 + w), 0.0, ("weight",))
TRAINED = trained(nn.RMSNorm(8, eps=1e-6))
TRAINED.weight.data[0] = 0.1  # of which float32 can't hold all digits of γ − 1
GAMMA_MINUS_ONE.weight.data = TRAINED.weight.data - 1
WRONG = [
    (lambda x, w, eps: w * x * (mean(x * x) + eps).rsqrt(), None, ["RMSNorm"]),
    (lambda x, weight, bias: norm(x, 1e-6) * (weight + 1) + bias, None, ["1 + γ", "1e-6"]),
    (EpsSquared(8, eps=1e-3), nn.LayerNorm(8, eps=1e-3), ["Your ε is squared"]),
    (lambda x: norm(x, 3e-4), None, ["ε is 0.0003"]),
    (
        lambda x, w, b: norm(x.flip(-1)).flip(-1) * w.flip(0),
        None,
        ["γ are at other features", "β is 0"],
    ),
    (lambda x: norm(x) + F.one_hot(torch.tensor(0), x.shape[-1]), None, ["β = (1, 0"]),
    (lambda x: (x - x.mean(-1)) / (x.var(-1, correction=0) + 1e-5).sqrt(), None, ["their axis"]),
    (lambda x: norm(x.half()).to(x.dtype), None, ["computes in float16", "fewer digits"]),
    (lambda x: norm(x.float(), 1e-3).to(x.dtype), None, ["Your ε is 1e-3"]),
    (detached, None, ["constants for PyTorch"]),
    (Affine(lambda x, w, b: norm(x) * w.detach() + b), None, ["No gradient reaches γ"]),
    (lambda x, w, b: norm(x) * Halves.apply(w) + b, None, ["gradient of γ is 0.5 times"]),
    (lambda x: Halves.apply(norm(x)), None, ["gradient of x is 0.5 times"]),
    (in_place, None, ["in place"]),
    (lambda x: norm(x).flatten(1), None, ["it returns (2, 24)"]),
    (lambda x: F.group_norm(x.reshape(-1, 8), 2).reshape(x.shape), None, ["2 groups"]),
    (BatchNormInside(), None, ["all axes but", "changes `norm.running_mean`"]),
    (OnlyInTrain(8), None, ["1.1 times", "only in `train`"]),
    (OfImages(1e-6), None, ["ε is 1e-6"]),
    (nn.GroupNorm(2, 8), None, ["in 2 groups"]),
    (lambda x: norm(x).roll(3, -1), None, ["For shape (2, 3, 8): in place of features"]),
    (Affine(lambda x, w, b: norm(x) * w + b, 0.0), nn.LayerNorm(8), ["γ is smaller by 1"]),
    (lambda x: norm(x).clamp(-1, 1), None, ["cut off at ±1"]),
    (lambda x: norm(x) + 0.7 * x, None, ["The input, times 0.7, is added"]),
    (lambda x: (x - mean(x)) / (1.25 * var(x) + 1e-5).sqrt(), None, ["variance is 1.25 times"]),
    (lambda x: x + norm(norm(x)), None, ["normalized twice"]),
    (Keeps(first=False), None, ["Each call changes `kept`"]),
    (Keeps(first=True), None, ["keeps `kept` from an earlier input"]),
    (of_the_last_row, None, ["rows are mixed", "row 5 changes 0, 1, 2, 3, and 4"]),
    (of_several_rows, None, ["rows are mixed"]),
    (lambda x: norm(x.clamp(-1e5, 1e5)), None, ["was seen", "Perhaps digits are lost"]),
    # Only in some shapes do all rows of an entry affect each other.
    (
        lambda x: norm(x.mT.reshape(x.shape)),
        None,
        ["For shape (2, 3, 8): a row changes all others"],
    ),
    (lambda x: (x - mean(x[..., 1:])) / var(x[..., 1:]).sqrt(), None, ["feature 0", "counted"]),
    (lambda x: 0 * x, None, ["doesn't depend"]),
    (in_fours, None, ["7 features", "4, 5, and 6"]),
    (padded, None, ["run over 16 numbers, with zeros after"]),
    (in_blocks, None, ["16 of 48 numbers are 0, and all others"]),
    (lambda x: norm(x) * (1 + mean(x).square()), None, ["cause unknown", "up to a factor"]),
    (lambda x: norm(x.as_strided(x.shape, torch.empty(x.shape).stride())), None, ["contiguous"]),
    (lambda x: norm(x.squeeze()), None, ["shape (1, 3, 8) it returns (3, 8)"]),
    (lambda x: norm(x.to(torch.promote_types(x.dtype, torch.float32))), None, ["returns float32"]),
    (Affine(lambda x, w, b: norm(x) * w.roll(2) + b), None, ["γ are at other features"]),
    (lambda x, w, b: norm(x) * w + w, None, ["In place of β there's γ"]),
    (LayerNorm(8), trained(nn.LayerNorm(8)), ["γ is 1 everywhere", "β is 0 everywhere"]),
    (EpsSquared(8), trained(nn.LayerNorm(8)), ["Your ε is squared", "γ is 1 everywhere"]),
    (Workspace(8), nn.LayerNorm(8), ["each call overwrites"]),
    (Affine(lambda x, w, b: norm(x) * w * w + b), nn.LayerNorm(8), ["γ is squared"]),
    (Affine(lambda x, w, b: norm(x), 0.0), nn.LayerNorm(8), ["γ and β are left out"]),
    (lambda x: norm(x) if len(x) > 1 else x, None, ["(1, 3, 8)"]),
    (trained(Detached(8)), trained(nn.LayerNorm(8)), ["constants for PyTorch"]),
    (lambda x: norm(x.unflatten(-1, (4, 2)).mT).mT.flatten(-2), None, ["in 2 groups, each of"]),
    (Shards(384), nn.LayerNorm(384), ["normalized in 2 groups"]),
    (lambda x: around(x, x.sum(-1, True) / 9), None, ["Your mean is 0.8889 times"]),
    (of_halves, None, ["a row's two halves"]),
    (Affine(lambda x, w, b: norm(x) * w + b), nn.LayerNorm(8, bias=False), ["It has a β"]),
    # Which features change others depends on which is the largest.
    (lambda x: x / x.abs().amax(-1, True).clamp(min=1e-5), None, ["cause unknown"]),
    # Rows of zeros stay zeros, and no rounding does that.
    (lambda x, w, b: (norm(x) * w + b) * x.any(-1, True), None, ["on constant rows"]),
]


@pytest.mark.parametrize(("layer", "like", "words"), WRONG, ids=[str(row[-1]) for row in WRONG])
def test_a_wrong_layer_is_named(layer, like, words):
    diagnosis = diagnose(layer, like=like)
    said = repr(diagnosis).partition("Tried:")[0]
    assert diagnosis.right is False
    assert all(word in said for word in words), diagnosis
    known = diagnosis.verdict in (Verdict.KNOWN, Verdict.SEEN)
    assert known == bool(diagnosis.slips)
    assert known or diagnosis.verdict is Verdict.UNKNOWN


def test_a_mean_that_stays_in_loses_no_digits():
    diagnosis = diagnose(lambda x: x / (var(x) + 1e-5).sqrt())
    assert diagnosis.slips == ("You didn't subtract the mean",)


def with_einsum(x):
    c = x - torch.einsum("...d->...", x)[..., None] / x.shape[-1]
    return c / (torch.einsum("...d,...d->...", c, c)[..., None] / x.shape[-1] + 1e-5).sqrt()


def with_numpy(x):
    a = x.detach().numpy()
    a = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)
    return torch.from_numpy(a)


def with_two_axes_only(x):
    rows, features = x.shape
    c = x - x.sum(1).div(features).view(rows, 1)
    return c / (c.pow(2).sum(1).view(rows, 1) / features + 1e-5).sqrt()


RIGHT = [
    (careful(with_einsum), None, ""),
    (with_einsum, None, "overflows in float16"),
    (careful(with_two_axes_only), None, "raises an error on"),
    (careful(with_numpy), None, "No gradient"),
    (lambda x: norm(x.float()).to(x.dtype), None, "in float32"),
    (lambda x: norm(x) * (torch.tensor(0.1).to(x.dtype) * 10), None, "or rounds as coarsely"),
    (lambda x, *_, **__: norm(x), None, ""),
    (lambda x, w, b, eps: F.group_norm(x.reshape(-1, 8), 1, w, b, eps).view_as(x), None, ""),
    (lambda x: F.layer_norm(x, (768,)), None, ""),
    (lambda x: (norm(x), mean(x)), None, "2 things"),
    (lambda x, params, eps: F.layer_norm(x, (8,), *params, eps), None, ""),
    (LayerNorm((3, 4)), nn.LayerNorm((3, 4)), ""),
    (Affine(lambda x, g, b: norm(x) * g + b, names=("a_2", "b_2")), None, "`a_2`"),
    # Its own ε isn't what it uses.
    (Affine(lambda x, g, b: norm(x, 1e-3) * g + b), nn.LayerNorm(8, eps=1e-3), ""),
    (Affine(lambda x, g, b: norm(x) * g + b, names=("one", "two")), None, "`one`"),
    (InATuple(), None, "No optimizer"),
    (CopiedAsClones(8), None, ""),
    # It holds a β, but learns none, or uses none.
    (WithoutBias(8), nn.LayerNorm(8, bias=False), ""),
    (Affine(lambda x, w, b: w * x * (mean(x * x) + 1e-3).rsqrt()), nn.RMSNorm(8, eps=1e-3), ""),
    (OfImages(), None, "axis 1"),
    (lambda x: F.rms_norm(x, (8,)), nn.RMSNorm(8), "No γ was found in it"),
    (GAMMA_MINUS_ONE, TRAINED, "would differ. It multiplies by 1"),
    (Affine(lambda x, w, b: norm(x) * (1 + w) + b, 0.0), nn.LayerNorm(8), "would differ. It mult"),
    (trained(LayerNorm(8)), nn.LayerNorm(8), "holds different numbers than `like`"),
]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(("layer", "like", "note"), RIGHT, ids=range(len(RIGHT)))
def test_a_right_layer_is_not_refused(layer, like, note):
    diagnosis = diagnose(layer, like=like)
    assert diagnosis.right, diagnosis
    assert diagnosis.verdict is Verdict.NO_DIFFERENCE
    assert note in repr(diagnosis)


def test_a_layer_of_one_width_can_be_tried_in_that_width_alone():
    assert diagnose(careful(in_fours), shape=8).right


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (lambda x: F.dropout(norm(x)), "random"),
        (lambda x: [norm(x)], "returned a list"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
    ],
    ids=range(3),
)
def test_what_cannot_be_judged_gets_a_sentence(layer, words):
    diagnosis = diagnose(layer)
    assert diagnosis.right is None
    assert diagnosis.verdict is Verdict.NOT_JUDGED
    assert words in diagnosis.summary


def test_what_is_no_layer_is_refused():
    for layer in (nn.LayerNorm, 3, lambda x, other: x):
        with pytest.raises(TypeError, match="diagnose"):
            diagnose(layer)
    for like in (nn.LayerNorm, nn.GroupNorm(2, 8), 8):
        with pytest.raises(TypeError, match="`like` must be"):
            diagnose(norm, like=like)


def test_the_layer_itself_stays_as_it_was():
    layer = BatchNormInside()
    diagnose(layer)
    assert layer.training
    assert layer.norm.running_mean.eq(0).all()
    assert layer.norm.weight.dtype == torch.float32


def test_it_shows_itself_as_html():
    page = diagnose(InATuple())._repr_html_()
    assert page.startswith('<div role="status"><strong>✓</strong> No difference found')
    assert "<code>params.0</code>" in page
