"""What a layer with one dtype, with two faults of a kind, or with a fault in one mode is told."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_course import diagnose


class Frozen(nn.LayerNorm):
    """A copy of γ in float32, so it takes nothing else, and no γ that is loaded reaches it."""

    def __init__(self):
        super().__init__(8)
        self.first = torch.ones(8)

    def forward(self, x):
        return F.layer_norm(x, (8,), self.first, self.bias, self.eps)


class NothingInEval(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) if self.training else x


def fast(x):
    """Another ε, and a variance that loses digits."""
    mean = x.mean(-1, keepdim=True)
    var = (x.square().mean(-1, keepdim=True) - mean.square()).clamp(min=0)
    return (x - mean) / (var + 1e-6).sqrt()


def halved(x):
    """Both sums are divided by D / 2."""
    off = x - 2 * x.mean(-1, keepdim=True)
    return off / (2 * off.square().mean(-1, keepdim=True) + 1e-5).sqrt()


class Detached(nn.RMSNorm):
    def forward(self, x):
        return x * (x.detach().square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight


def twice(x, weight, bias, eps):
    """Two things that are the same in either order."""
    once = F.layer_norm(x, x.shape[-1:], eps=eps)
    return F.layer_norm(once, x.shape[-1:], 1 + weight, bias, eps)


@pytest.mark.parametrize(
    ("layer", "said", "never"),
    [
        (Frozen(), ["γ is left out"], "β"),
        (fast, ["Your ε is 1e-6", "Digits are lost"], "It computes in"),
        (halved, ["Mean and variance are 2 times"], "alone"),
        (twice, ["ormalized twice"], "Either"),
        (
            NothingInEval(8),
            ["γ and β are left out", "nothing is normalized", "It is wrong only in `eval`"],
            "e−",
        ),
    ],
)
def test_all_that_is_wrong_is_said_and_nothing_else(layer, said, never):
    words = str(diagnose(layer)).partition("Tried:")[0]
    assert all(each in words for each in said), words
    assert never not in words


def test_a_mean_square_that_no_gradient_goes_through_is_named():
    words = str(diagnose(Detached(8, eps=1e-3), like=nn.RMSNorm(8, eps=1e-3)))
    assert "Your mean square is a constant for PyTorch" in words
