"""`norms_of` finds the norms of any model and says what is unusual, and changes nothing."""

import copy

import pytest
import torch
from torch import nn

from lnorm_course import norms_of
from lnorm_utils import LayerNorm


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


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
    x = normal(*shape) + 2
    (found,) = norms_of(norm, x).norms
    assert over in found.over
    expected = (rows(x).mean(-1).abs() / rows(x).std(-1, correction=0)).median()
    assert found.mean == pytest.approx(expected.item(), rel=1e-5)
    # The rows are those whose numbers the norm itself brings to mean 0, or to a square of 1.
    y = rows(norm(x)).detach()
    leaves = y.square().mean(-1) - 1 if isinstance(norm, nn.RMSNorm) else y.mean(-1)
    assert leaves.abs().max() < 1e-4


def test_without_inputs_it_tells_names_epsilon_and_gamma():
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.LayerNorm(4, eps=1e-6)))
    with torch.no_grad():
        model[1][0].weight.copy_(torch.tensor([0.5, 1, 2, 3]))
    (found,) = norms_of(model).norms
    assert (found.name, found.kind, found.eps) == ("1.0", "LayerNorm", 1e-6)
    assert found.gamma == (0.5, 1, 3)
    assert found.mean is None
    assert "γ from 0.5 to 3" in str(found)


def test_a_norm_without_gamma_and_one_with_the_epsilon_of_its_dtype():
    (plain,) = norms_of(nn.LayerNorm(4, elementwise_affine=False)).norms
    assert plain.gamma is None
    (rms,) = norms_of(nn.RMSNorm(4)).norms
    assert "ε of the dtype" in str(rms)


@pytest.mark.parametrize(
    ("norm", "x", "sentence"),
    [
        (nn.LayerNorm(64), normal(9, 64) + 3, "RMSNorm would give other numbers"),
        (nn.RMSNorm(64), normal(9, 64) + 3, "layer norm would give other numbers"),
        (nn.LayerNorm(64), normal(9, 64) + 100, "lose about 4 of the 7 digits"),
        (nn.LayerNorm(64), normal(9, 64) + 9e3, "lose all of the 7 digits"),
        (
            nn.LayerNorm(64),
            0.01 * normal(9, 64),
            "ε is more than 1% of the variance in 9 of 9 rows",
        ),
        (nn.RMSNorm(64, eps=1e-2), 0.1 * normal(9, 64), "1% of the mean square in 9 of 9 rows"),
    ],
)
def test_what_is_unusual_is_said_and_only_that(norm, x, sentence):
    assert sentence in remarks(norm, x)
    ordinary = copy.deepcopy(norm).float()
    ordinary.eps = 1e-5
    assert remarks(ordinary, normal(9, 64)) == ""


def test_features_that_gamma_switches_off_are_counted():
    norm = nn.LayerNorm(8)
    with torch.no_grad():
        norm.weight[[1, 4]] = torch.tensor([0.0, 1e-4])
    assert "γ is near 0 for 2 of 8" in remarks(norm, normal(3, 8))


class OwnNorm(nn.Module):
    """A norm of another library, of which only `weight` is known."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return x


def trained(start):
    """What a norm that starts at 0 or 1 may have in `weight` after training."""
    return start + 0.2 * normal(64)


def test_it_says_whether_a_weight_looks_like_gamma_or_like_gamma_minus_one():
    for start, kind in ((0.0, "looks like γ − 1:"), (1.0, "looks like γ:")):
        (skipped,) = norms_of(nn.Sequential(OwnNorm(trained(start)))).skipped
        assert kind in skipped
        (new,) = norms_of(nn.Sequential(OwnNorm(torch.full((8,), start)))).skipped
        assert kind in new


@pytest.mark.parametrize("kind", [nn.RMSNorm, nn.LayerNorm])
def test_a_known_norm_with_gamma_minus_one_is_told_from_one_with_gamma(kind):
    norm = kind(64)
    norm.load_state_dict({"weight": trained(0.0)}, strict=False)
    assert "looks like γ − 1" in remarks(norm, normal(9, 64))
    norm.load_state_dict({"weight": trained(1.0)}, strict=False)
    assert remarks(norm, normal(9, 64)) == ""


def test_a_weight_far_from_both_is_not_judged():
    for weight in (8.7 + normal(64), 0.3 + 0.05 * normal(64)):  # γ − 1 or γ, after long training
        (skipped,) = norms_of(nn.Sequential(OwnNorm(weight))).skipped
        assert "looks like" not in skipped


class HalfNorm(nn.Module):
    def forward(self, x):
        return x / x.norm()


class OwnForward(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).to(x.dtype)


class TakesDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.unused, self.own = nn.LayerNorm(4), nn.LayerNorm(4), HalfNorm()

    def forward(self, batch, *, scale):
        return {"y": (self.own(self.first(batch["x"][0]) + self.first(batch["x"][1])) * scale,)}


def test_what_it_skips_is_said():
    found = norms_of(TakesDict(), {"x": (normal(2, 4), normal(3, 4)[:1])}, scale=2.0)
    assert [norm.name for norm in found.norms] == ["first", "unused"]
    assert found.norms[1].mean is None
    unknown, not_called = found.skipped
    assert unknown.startswith("own: HalfNorm")
    assert "unused" in not_called
    assert "Skipped own" in str(found)


def test_a_class_with_a_forward_of_its_own_is_named():
    assert "forward of its own" in remarks(OwnForward(8), normal(3, 8))


def test_the_model_and_the_random_state_stay_as_they_are():
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5), nn.LayerNorm(4))
    before, state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    norms_of(model, normal(5, 4) + 3)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert model.training
    assert not any(each._forward_pre_hooks for each in model.modules())


def test_bad_input_gets_one_sentence():
    with pytest.raises(TypeError, match=r"norms_of needs a module such as .*, but got LayerNorm\."):
        norms_of(nn.LayerNorm)
    assert str(norms_of(nn.ReLU())) == "No norm that norms_of knows."
