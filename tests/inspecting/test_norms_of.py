"""`norms_of` finds the norms of any model and says what is unusual, and changes nothing."""

import pytest
import torch
from torch import nn

from lnorm_diagnose import norms_of
from lnorm_utils import LayerNorm
from lnorm_utils.data import normal


def remarks(norm, x):
    (found,) = norms_of(norm, x).norms
    return " ".join(found.remarks)


# Each with an input, what it averages over, and how to put what shares a mean into rows.
ROWS = [
    (LayerNorm(6), (4, 5, 6), "the last axis, 6 numbers", lambda x: x.reshape(20, 6)),
    (nn.LayerNorm((5, 6)), (4, 5, 6), "the last 2 axes, 5 × 6", lambda x: x.reshape(4, 30)),
    (nn.RMSNorm(6), (4, 5, 6), "the last axis", lambda x: x.reshape(20, 6)),
]


@pytest.mark.parametrize(("norm", "shape", "over", "rows"), ROWS)
def test_every_kind_is_read_over_the_numbers_that_share_a_mean(norm, shape, over, rows):
    x = normal(*shape, seed=0) + 2
    (found,) = norms_of(norm, x).norms
    assert over in found.over
    expected = (rows(x).mean(-1).abs() / rows(x).std(-1, correction=0)).median()
    assert found.mean == pytest.approx(expected.item(), rel=1e-5)
    # The rows are those whose numbers the norm itself brings to mean 0, or to a square of 1.
    y = rows(norm(x)).detach()
    leaves = y.square().mean(-1) - 1 if isinstance(norm, nn.RMSNorm) else y.mean(-1)
    assert leaves.abs().max() < 1e-4


def test_without_inputs_it_tells_names_epsilon_and_gamma():
    gamma = torch.tensor([0.5, 1, 2, 3])
    layer = with_weight(nn.LayerNorm(4, eps=1e-6), gamma)
    plain = nn.LayerNorm(4, elementwise_affine=False)
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(layer, plain, nn.RMSNorm(4)))
    found, without, rms = norms_of(model).norms
    assert (found.name, found.kind, found.eps) == ("1.0", "LayerNorm", 1e-6)
    assert (found.gamma, without.gamma) == ((0.5, 1, 3), None)
    assert found.mean is None
    assert "γ from 0.5 to 3" in str(found)
    assert "ε of the dtype" in str(rms)


def test_the_epsilon_that_most_norms_do_not_have_is_marked():
    norms = norms_of(nn.Sequential(*(nn.RMSNorm(4, eps=e) for e in (1e-6, 1e-5, 1e-6, 1e-6)))).norms
    assert ["1e−6" in " ".join(norm.remarks) for norm in norms] == [False, True, False, False]
    assert not norms_of(nn.Sequential(nn.RMSNorm(4, eps=1e-6), nn.RMSNorm(4))).norms[0].remarks


def with_weight(norm, weight):
    norm.load_state_dict({"weight": weight}, strict=False)
    return norm


class OwnNorm(nn.Module):
    """A norm of another library, of which only `weight` is known."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))

    def forward(self, x):
        return x


X, WIDE = normal(9, 64, seed=0), normal(64, seed=0)
# What a norm that starts at 1, and one that starts at 0, may have in `weight` after training.
GAMMA, LESS_ONE = 1 + 0.2 * WIDE, 0.2 * WIDE
TWO_OFF = torch.ones(64).index_copy(0, torch.tensor([1, 4]), torch.tensor([0.0, 1e-4]))


@pytest.mark.parametrize(
    ("norm", "x", "sentence"),
    [
        (nn.LayerNorm(64), X + 3, "RMSNorm would give other numbers"),
        (nn.RMSNorm(64), X + 3, "layer norm would give other numbers"),
        (nn.LayerNorm(64), X + 100, "lose about 4 of the 7 digits"),
        (nn.LayerNorm(64), X + 9e3, "lose all of the 7 digits"),
        (nn.LayerNorm(64), 0.01 * X, "ε is more than 1% of the variance in 9 of 9 rows"),
        (nn.RMSNorm(64, eps=1e-2), 0.1 * X, "1% of the mean square in 9 of 9 rows"),
        (with_weight(nn.LayerNorm(64), TWO_OFF), X, "γ is near 0 for 2 of 64"),
        (with_weight(nn.LayerNorm(64), LESS_ONE), X, "looks like γ − 1"),
        (with_weight(nn.RMSNorm(64), LESS_ONE), X, "looks like γ − 1"),
        (with_weight(nn.RMSNorm(64), 0.22 + 0.1 * LESS_ONE), X, "far from 1"),
        (with_weight(nn.RMSNorm(64), 3.75 + LESS_ONE), X, "far from 1"),
    ],
)
def test_what_is_unusual_is_said_and_only_that(norm, x, sentence):
    assert sentence in remarks(norm, x)
    ordinary = with_weight(type(norm)(64, eps=1e-5), GAMMA)
    assert remarks(ordinary, X) == ""


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        *((each, "looks like γ − 1:") for each in (LESS_ONE, torch.zeros(8))),
        *((each, "looks like γ:") for each in (GAMMA, torch.ones(8))),
        *((each, "") for each in (8.7 + WIDE, 0.3 + 0.05 * WIDE)),  # either, after long training
    ],
)
def test_of_an_unknown_norm_it_says_what_its_weight_looks_like(weight, said):
    (skipped,) = norms_of(nn.Sequential(with_weight(OwnNorm(len(weight)), weight))).skipped
    assert said in skipped
    assert ("looks like" in skipped) is bool(said)


class OwnForward(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).to(x.dtype)


class LlamaRMSNorm(OwnNorm):
    variance_epsilon = 1e-6


class Gemma3RMSNorm(OwnNorm):
    eps = 1e-6


class T5LayerNorm(OwnNorm):
    variance_epsilon = 0.5


class TakesDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.unused, self.own = nn.LayerNorm(4), nn.LayerNorm(4), OwnNorm(4)

    def forward(self, batch, *, scale):
        return {"y": (self.own(self.first(batch["x"][0]) + self.first(batch["x"][1])) * scale,)}


def test_what_it_skips_is_said():
    found = norms_of(
        TakesDict(), {"x": (normal(2, 4, seed=0), normal(3, 4, seed=0)[:1])}, scale=2.0
    )
    assert [norm.name for norm in found.norms] == ["first", "unused"]
    assert found.norms[1].mean is None
    unknown, not_called = found.skipped
    assert unknown.startswith("own: OwnNorm")
    assert "unused" in not_called
    assert "Skipped own" in str(found)


@pytest.mark.parametrize(
    ("norm", "sentence"),
    [
        (OwnForward(64), "forward of its own"),
        (with_weight(LlamaRMSNorm(64), GAMMA), "`weight` looks like γ:"),
        (with_weight(Gemma3RMSNorm(64), LESS_ONE), "`weight` looks like γ − 1:"),
        (with_weight(T5LayerNorm(64), 8.7 + WIDE), "1% of the mean square in 9 of 9 rows"),
    ],
)
def test_of_a_class_of_another_library_it_says_only_what_is_known(norm, sentence):
    (found,) = norms_of(norm, X + 3).norms
    assert (found.kind, found.over) == (type(norm).__name__, "the last axis, 64 numbers")
    assert found.eps == getattr(norm, "eps", getattr(norm, "variance_epsilon", None))
    assert found.mean == norms_of(nn.RMSNorm(64), X + 3).norms[0].mean
    assert sentence in " ".join(found.remarks)
    own = isinstance(norm, nn.LayerNorm)
    assert ("would give other numbers" in " ".join(found.remarks)) is own
    assert (found.gamma is not None) is own


def test_it_does_not_guess_at_rows_of_another_size():
    found = norms_of(Gemma3RMSNorm(4), normal(2, 4, 6, seed=0))
    assert found.norms[0].mean is None
    assert "rows of this size" in found.skipped[0]


def test_a_model_without_a_norm_has_none():
    assert str(norms_of(nn.ReLU())) == "No norm that norms_of knows."
