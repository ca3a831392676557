"""Wrong layers are named, also those that the search wasn't tuned to, and right ones never are."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course import diagnose
from lnorm_utils import LayerNorm


def mean(x):
    return x.mean(-1, keepdim=True)


def var(x):
    return x.var(-1, keepdim=True, correction=0)


def norm(x, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


class Affine(nn.Module):
    """A module with γ and β, of which each test says what it does."""

    def __init__(self, forward, start=1.0, names=("weight", "bias")):
        super().__init__()
        self.names, self.function = names, forward
        for name, value in zip(names, (start, 0.0), strict=False):
            setattr(self, name, nn.Parameter(torch.full((8,), value)))

    def forward(self, x):
        return self.function(x, *(getattr(self, name) for name in self.names))


class BatchNormInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(x.reshape(-1, 8)).reshape(x.shape)


class KeepsStatistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(8))

    def forward(self, x):
        if self.training:
            self.kept = 0.9 * self.kept + 0.1 * x.detach().reshape(-1, 8).mean(0)
        return x - self.kept


class OnlyInTrain(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) * (1.1 if self.training else 1)


class Unregistered(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma, self.beta = torch.ones(8), torch.zeros(8)

    def forward(self, x):
        return norm(x) * self.gamma + self.beta


def one_pass(x):
    return (x - mean(x)) / (mean(x * x) - mean(x) ** 2 + 1e-5).sqrt()


def in_place(x):
    x -= mean(x)
    x /= (mean(x * x) + 1e-5).sqrt()
    return x


def detached(x):
    with torch.no_grad():
        m, v = mean(x), var(x)
    return (x - m) / (v + 1e-5).sqrt()


RMS = nn.RMSNorm(8, eps=1e-6)
WRONG = [
    (lambda x, w, eps: w * x * (mean(x * x) + eps).rsqrt(), None, ["RMSNorm"]),
    (lambda x, weight, bias: norm(x, 1e-6) * (weight + 1) + bias, None, ["1 + γ", "1e-6"]),
    (lambda x, weight, bias, eps: norm(x, eps) * weight, None, ["β is left out"]),
    (one_pass, None, ["E[x²]"]),
    (lambda x, w, eps: x * w.flip(0) * (mean(x * x) + eps).rsqrt(), RMS, ["reverse order"]),
    (lambda x: norm(x) + F.one_hot(torch.tensor(0), x.shape[-1]), None, ["Only feature 0 of"]),
    (lambda x: (x - x.mean(-1)) / (x.var(-1, correction=0) + 1e-5).sqrt(), None, ["axis"]),
    (lambda x: F.layer_norm(x, x.shape[1:]), None, ["all axes but the first"]),
    (lambda x: norm(x.half()).to(x.dtype), None, ["float16"]),
    (detached, None, ["gradient", "detached"]),
    (in_place, None, ["in place"]),
    (lambda x: norm(x).mT, None, ["transposed"]),
    (lambda x: norm(x).flatten(1), None, ["flattened"]),
    (lambda x: norm(x.mT).mT if x.ndim > 1 else x, None, ["axis"]),
    (lambda x: F.group_norm(x.reshape(-1, 8), 2).reshape(x.shape), None, ["2 groups"]),
    (Affine(lambda x, w, b: norm(x) * (1 + w) + b, 0.0), None, ["1 + γ"]),
    (BatchNormInside(), None, ["all axes but"]),
    (OnlyInTrain(8), None, ["only in `train`"]),
    (Unregistered(), None, ["No optimizer finds"]),
    (lambda x: x * (mean(x * x) * 8 / 7 + 1e-6).rsqrt(), RMS, ["D − 1"]),
    (lambda x: F.group_norm(x, 4), nn.GroupNorm(2, 8), ["4 groups"]),
    (lambda x: F.batch_norm(x, None, None, training=True), nn.InstanceNorm1d(8), ["the batch"]),
    (
        lambda x: F.batch_norm(x, None, None, training=True),
        nn.BatchNorm1d(8).eval(),
        ["as in `train`"],
    ),
    (nn.LayerNorm(8), nn.LayerNorm(8, eps=1e-12), ["ε = 1e-12"]),
    (lambda x, w, b: (x - mean(x) + b) / (var(x) + 1e-5).sqrt() * w, None, ["β is divided by"]),
    (lambda x, w, b: (x - mean(x)) / (var(x) + 1e-5 + b).sqrt() * w, None, ["β is added to ε"]),
    (lambda x, w, b: norm(x) * (w + b), None, ["γ + β"]),
    (lambda x, w, b: norm(x).clamp(-1, 1) * w + b, None, []),
    (lambda x: (x - mean(x)) / (x.amax(-1, True) - x.amin(-1, True)), None, ["the largest and"]),
    (lambda x: (x - mean(x)) / (var(x) + 1e-5) ** (1 / 3), None, ["cube root"]),
    (lambda x: (x - mean(x)) / (mean(x * x) - mean(x) + 1e-5).sqrt(), None, ["E[x²] − E[x]"]),
    (lambda x, w, b: norm(x * w) + b, None, ["γ multiplies x before"]),
    (lambda x, w, b: x / (var(x) + 1e-5).sqrt() * w + b - mean(x), None, ["isn't divided"]),
    (lambda x: (x - mean(x)) / (x.std(-1, keepdim=True) + 1e-6), None, ["Three", "D − 1", "1e-6"]),
    (Affine(lambda x, g, b: (x - mean(x)) / (var(x).sqrt() + 1e-9) * g + b), None, ["1e-9"]),
    (lambda x: (x - mean(x)) * (var(x).rsqrt() + 1e-5), None, ["1 / σ"]),
    (lambda x: (x - mean(x)) / var(x).sqrt().where(var(x) > 0, 1), None, ["of 0 is guarded"]),
    (lambda x, w, b, eps: norm(x, eps) * w * w + b * w + b, None, ["applied twice"]),
    (KeepsStatistics(), None, ["`kept`", "each call changes"]),
]


@pytest.mark.parametrize(("layer", "like", "words"), WRONG, ids=[str(row[-1]) for row in WRONG])
def test_a_wrong_layer_is_named(layer, like, words):
    diagnosis = diagnose(layer, like=like)
    assert diagnosis.right is False
    assert all(word in repr(diagnosis) for word in words), diagnosis


def in_fours(x):
    parts = x[..., : x.shape[-1] // 4 * 4]
    c = x - parts.sum(-1, keepdim=True) / x.shape[-1]
    squares = c[..., : parts.shape[-1]].square().sum(-1, keepdim=True)
    return c / (squares / x.shape[-1] + 1e-5).sqrt()


def test_a_layer_that_is_wrong_for_other_sizes_is_found_unless_its_size_is_given():
    assert "wrong for 7 features" in diagnose(in_fours).verdict
    assert diagnose(in_fours, shape=8).right


def with_loops(x):
    rows = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        m = sum(row) / len(row)
        v = sum((number - m) ** 2 for number in row) / len(row)
        rows.append([(number - m) / math.sqrt(v + 1e-5) for number in row])
    return torch.tensor(rows, dtype=x.dtype).reshape(x.shape)


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
    (with_loops, None),
    (with_einsum, None),
    (with_two_axes_only, None),
    (lambda x: norm(x.float()).to(x.dtype), None),
    (lambda x: norm(x.double()).to(x.dtype), None),
    (lambda x, w, b, eps: torch.native_layer_norm(x, x.shape[-1:], w, b, eps)[0], None),
    (lambda x: F.batch_norm(x.reshape(1, -1, 8), None, None, training=True).view_as(x), None),
    (lambda x, w, b, eps: F.group_norm(x.reshape(-1, 8), 1, w, b, eps).view_as(x), None),
    (lambda x: F.layer_norm(x, (768,)), None),
    (LayerNorm(8), None),
    (LayerNorm((3, 4)), nn.LayerNorm((3, 4))),
    (Affine(lambda x, g, b: norm(x) * g + b, names=("gamma", "beta")), None),
    (nn.RMSNorm(8), nn.RMSNorm(8)),
    (nn.GroupNorm(2, 8), nn.GroupNorm(2, 8)),
    (nn.InstanceNorm1d(8), nn.InstanceNorm1d(8)),
    (nn.BatchNorm1d(8), nn.BatchNorm1d(8)),
    (nn.BatchNorm1d(8).eval(), nn.BatchNorm1d(8).eval()),
]


@pytest.mark.parametrize(("layer", "like"), RIGHT, ids=range(len(RIGHT)))
def test_a_right_layer_is_not_refused(layer, like):
    diagnosis = diagnose(layer, like=like)
    assert diagnosis.right, diagnosis
    assert "float16" in diagnosis.tried


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_numpy_behind_a_layer_stops_the_gradient_and_nothing_else():
    diagnosis = diagnose(with_numpy)
    assert diagnosis.right
    assert "No gradient" in diagnosis.places[0]


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (lambda x: F.dropout(norm(x)), "random"),
        (nn.Sequential(nn.LayerNorm(8), nn.Dropout()), "random"),
        (lambda x: (norm(x), x), "returned a tuple"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
    ],
    ids=range(4),
)
def test_what_cannot_be_judged_gets_a_sentence(layer, words):
    diagnosis = diagnose(layer)
    assert diagnosis.right is None
    assert words in diagnosis.verdict


def test_what_is_no_layer_is_refused():
    for layer in (nn.LayerNorm, 3, lambda x, other: x):
        with pytest.raises(TypeError, match="diagnose"):
            diagnose(layer)


def test_the_layer_itself_stays_as_it_was():
    layer = nn.BatchNorm1d(8)
    diagnose(layer, like=nn.BatchNorm1d(8))
    assert layer.training
    assert layer.running_mean.eq(0).all()
    assert layer.weight.dtype == torch.float32


def test_it_shows_itself_as_html():
    page = diagnose(lambda x: norm(x, 1e-6))._repr_html_()
    assert page.startswith('<div role="status"><strong>✗</strong> Your ε is 1e-6.')
    assert "<li>" in page
