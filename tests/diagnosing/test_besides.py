"""What a layer is told that is wrapped, has one dtype, or is wrong in two ways or one mode."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_diagnose import diagnose


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
        (halved, ["Mean and variance are 2 times"], "only on"),
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


class OneByOne(nn.RMSNorm):
    """Adds the squares in the dtype of the input, one after the other."""

    def forward(self, x):
        total = sum(column.square() for column in x.unbind(-1))
        mean_square = total.float() if x.dtype != torch.float64 else total
        return (x * (mean_square / x.shape[-1] + self.eps).rsqrt()[..., None]).to(x.dtype)


def test_what_all_numbers_lose_in_half_precision_is_no_rounding():
    like = nn.RMSNorm(768, 1e-6, elementwise_affine=False)
    diagnosis = diagnose(OneByOne(768, 1e-6, elementwise_affine=False), like=like)
    assert not diagnosis.right
    assert "bfloat16" in diagnosis.summary


def trained():
    like = nn.LayerNorm(10)
    nn.init.normal_(like.weight)
    nn.init.normal_(like.bias)
    return like


class Packed(nn.Module):
    def __init__(self, like):
        super().__init__()
        self.both = nn.Parameter(torch.stack([like.weight, like.bias]).detach())

    def forward(self, x):
        return F.layer_norm(x, (10,), *self.both.to(x.dtype))


class Constants(nn.Module):
    def __init__(self, like):
        super().__init__()
        self.constants = [like.weight.tolist(), like.bias.tolist()]

    def forward(self, x):
        return F.layer_norm(x, (10,), *torch.tensor(self.constants).to(x.dtype))


@pytest.mark.parametrize("kind", [Packed, Constants])
def test_parameters_that_cannot_be_replaced_count_as_they_are(kind):
    like = trained()
    assert diagnose(kind(like), like=like).right
    assert diagnose(kind(trained()), like=like).right is False


def test_parameters_that_were_swapped_are_told():
    like, mine = trained(), nn.LayerNorm(10)
    mine.weight, mine.bias = like.bias, like.weight
    assert "in place of γ there's β" in diagnose(mine, like=like).summary


@pytest.mark.parametrize(
    ("factor", "said"), [(1.0, "as if a mask came after it"), (1.25, "as dropout makes them")]
)
def test_zeros_among_right_numbers_are_told(factor, said):
    x = torch.randn(6, 8)
    y = F.layer_norm(x, (8,)) * factor
    y[torch.rand(6, 8) < 0.3] = 0
    diagnosis = diagnose(x, y)
    assert said in diagnosis.summary
    assert "of 48 numbers are 0" in diagnosis.summary


def test_statistics_kept_by_shape_are_told():
    kept = {}

    def cached(x):
        kept.setdefault(x.shape, (x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)))
        average, variance = kept[x.shape]
        return (x - average) / (variance + 1e-5).sqrt()

    assert diagnose(cached).slips == ("It keeps something from its first input of a shape",)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_wrapped_layer_is_judged_as_it_is():
    for wrap in (torch.jit.script, nn.DataParallel):
        for layer, right in ((nn.LayerNorm(8), True), (nn.LayerNorm(8, eps=1e-3), False)):
            assert diagnose(wrap(layer), like=nn.LayerNorm(8)).right is right
    compiled = torch.compile(nn.LayerNorm(8), backend="eager")
    assert "`_orig_mod.weight`" in str(diagnose(compiled, like=nn.LayerNorm(8)))


class Besides(nn.Module):
    """A right norm with a parameter more, which does nothing, or nothing while it's new."""

    def __init__(self, norm, forward, **parameters):
        super().__init__()
        self.norm, self.run = norm, forward
        for name, value in parameters.items():
            setattr(self, name, nn.Parameter(value))

    def forward(self, x):
        return self.run(self, x)


class ByAlpha(nn.LayerNorm):
    def __init__(self):
        super().__init__(8)
        self.alpha = nn.Parameter(torch.ones(1))


def by_two(module, x):
    return module.norm(x, (8,)) * module.scale * module.weight + module.bias


def by_number(module, x):
    return module.norm(x, (8,)) * module.g * module.weight


def identity():
    layer = nn.Linear(8, 8)
    nn.init.eye_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.LayerNorm(8), layer)


ONE, ZERO = torch.ones(8), torch.zeros(8)


@pytest.mark.parametrize(
    ("layer", "like"),
    [
        (ByAlpha(), nn.LayerNorm(8)),
        (
            Besides(nn.LayerNorm(8), lambda m, x: m.norm(m.alpha * x), alpha=torch.tensor(1.0)),
            nn.LayerNorm(8),
        ),
        (Besides(F.layer_norm, by_two, scale=ONE, weight=ONE, bias=ZERO), nn.LayerNorm(8)),
        (Besides(F.rms_norm, by_number, weight=ONE, g=torch.ones(1)), nn.RMSNorm(8)),
        (identity(), nn.LayerNorm(8)),
    ],
    ids=["an unused number", "a number before", "a second γ", "a number g", "a map behind"],
)
def test_a_right_layer_with_one_more_parameter_is_not_refused(layer, like):
    diagnosis = diagnose(layer, like=like)
    assert diagnosis.right, diagnosis


def test_a_module_in_eval_is_judged_in_eval():
    new = diagnose(nn.BatchNorm1d(8).eval())
    assert "nothing is averaged over a row" in new.summary
    assert any("`train`" in note for note in new.notes)
    assert "averaged over" in diagnose(nn.BatchNorm1d(8)).summary
    right = OnlyInEval(8).eval()
    diagnosis = diagnose(right)
    assert diagnosis.right
    assert "In `train`: It differs" in repr(diagnosis)
    assert diagnose(OnlyInEval(8)).right is False


class OnlyInEval(nn.LayerNorm):
    def forward(self, x):
        return x if self.training else super().forward(x)


class Stopped(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.detach())


class Gated(nn.LayerNorm):
    def forward(self, x, gate):
        return super().forward(x) * gate


def one_pass_in_float32(x):
    x32 = x.float()
    mean = x32.mean(-1, keepdim=True)
    var = x32.square().mean(-1, keepdim=True) - mean.square()
    return ((x32 - mean) * (var.clamp(min=0) + 1e-5).rsqrt()).to(x.dtype)


def test_a_second_input_goes_into_every_call():
    gate = torch.ones(2, 3, 8)
    assert diagnose(Gated(8), gate=gate).right
    assert diagnose(Gated(8), gate=2 * gate).right is False
    with pytest.raises(TypeError, match="no further arguments, but got gate"):
        diagnose(gate, gate, gate=gate)


class NotOfSlices(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) * (x.storage_offset() == 0)


class Aliases(nn.RMSNorm):
    def forward(self, x):
        x32 = x.float()
        x32 *= (x32.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        return (self.weight * x32).to(x.dtype)


@pytest.mark.parametrize(
    ("layer", "like", "said"),
    [
        (NotOfSlices(8), None, "a slice of a larger tensor"),
        (Aliases(8, eps=1e-6), nn.RMSNorm(8, eps=1e-6), "in place"),
        (
            lambda x: (x - x.mean(-1, True)) / (x.std(-1, False, True) + 1e-5),
            None,
            "outside the root",
        ),
        (one_pass_in_float32, None, "Digits are lost"),
        (Detached(8, eps=1e-3), nn.RMSNorm(8, eps=1e-3), "Your mean square is a constant"),
        (lambda x: F.layer_norm(x, x.shape[-1:]).bfloat16(), None, "in bfloat16"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_shows_in_some_calls_only_is_named(layer, like, said):
    diagnosis = diagnose(layer, like=like)
    assert diagnosis.right is False
    assert said in diagnosis.summary


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (lambda x: x / x.abs().amax(-1, True), "divides by the root of mean square plus ε"),
        (lambda x: (0.5 * x).tanh(), "divides by the root of mean square plus ε"),
        (lambda x: F.layer_norm(x, x.shape[-1:]) * 0.5**0.5, "cause unknown"),
    ],
)
def test_of_rms_norm_nothing_is_said_that_holds_only_for_layer_norm(layer, said):
    summary = diagnose(layer, like=nn.RMSNorm(8, eps=1e-5, elementwise_affine=False)).summary
    assert said in summary
    assert "RMSNorm subtracts" not in summary
    assert "variance" not in summary


def test_a_module_that_needs_a_second_input_is_told_by_its_name():
    with pytest.raises(TypeError, match=r"`gate`.*gate=\.\.\."):
        diagnose(Gated(8))


def test_a_layer_through_which_no_gradient_comes_back_is_wrong():
    stopped = diagnose(Stopped(8, elementwise_affine=False))
    assert stopped.right is False
    assert "No gradient comes back through it" in stopped.slips
