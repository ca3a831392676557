"""Two arrays: every explanation that fits is named, and random numbers are not explained."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lnorm_diagnose import diagnose


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


X, WEIGHT, BIAS = numbers(4, 6, 8), numbers(8, seed=1), numbers(8, seed=2)
BOTH, Y = (WEIGHT, BIAS), F.layer_norm(X, (8,))
STD = (X.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
OF_BOTH = {"weight": WEIGHT, "bias": BIAS}


def test_arbitrary_numbers_are_not_explained():
    for shape in ((2,), (3, 1), (2, 3), (2, 3, 4), (6, 8)):
        for seed in range(3):
            x, y = (numbers(*shape, seed=seed) for seed in (100 + seed, 200 + seed))
            for pair in ((x, y), ((3 * x).round(), (3 * y).round())):
                diagnosis = diagnose(*pair)
                assert not diagnosis.right, shape
                assert not diagnosis.slips, shape
                assert (diagnosis.right is None) == (x.numel() < 12)


def test_another_order_of_gamma_is_seen_in_numbers_of_half_precision():
    g, b = (torch.randn(8, generator=torch.Generator().manual_seed(n)).bfloat16() for n in (1, 2))
    x = X.bfloat16()
    said = diagnose(x, F.layer_norm(x, (8,), g.flip(0), b), weight=g, bias=b).summary
    assert "The numbers of γ are at other features" in said


def test_another_shape_is_told_as_it_is():
    diagnosis = diagnose(X, F.layer_norm(X, (8,)).transpose(0, 1))
    assert "with the first two axes transposed" in diagnosis.summary
    image = numbers(2, 5, 7, 8)
    y = F.layer_norm(image, (8,))
    assert "the last axis as axis 1" in diagnose(image, y.movedim(-1, 1)).summary
    assert "axis 1 as the last one" in diagnose(image.movedim(-1, 1), y, weight=[1.0] * 8).summary
    diagnosis = diagnose(X, F.layer_norm(X, (8,)).reshape(6, 4, 8))
    assert "of shape (4, 6, 8) it returns (6, 4, 8)" in diagnosis.summary


def test_right_numbers_are_right_only_as_far_as_one_pair_tells():
    wide = diagnose(1000 * X, F.layer_norm(1000 * X, (8,)))
    assert wide.right
    assert "ε" in wide.notes[0]


def test_digits_that_are_lost_far_from_zero_are_told_from_other_factors():
    x = 1000 + numbers(16, 32)
    var = x.square().mean(-1, True) - x.mean(-1, True).square()
    said = diagnose(x, (x - x.mean(-1, True)) / (var + 1e-5).sqrt()).summary
    assert "Digits are lost" in said
    said = diagnose(x, F.layer_norm(x, (32,)) * (1 + numbers(16, 1).sigmoid())).summary
    assert "Each row is right up to a factor" in said


def test_all_explanations_are_named():
    diagnosis = diagnose(X, F.layer_norm(X, (8,)), weight=torch.ones(8), bias=BIAS)
    assert {"β is left out", "γ and β are left out"} <= {*diagnosis.slips}


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        (F.rms_norm(X, (8,), 1 + WEIGHT, 1e-5), {"weight": WEIGHT}, "1 + γ"),
        (F.layer_norm(X, (8,), WEIGHT), {"weight": WEIGHT, "bias": BIAS}, "β is left out"),
        (F.layer_norm(X, (8,), WEIGHT, BIAS), {}, "It has γ = (0.66"),
        (F.layer_norm(X, (8,)).mT, {}, "transposed"),
        (F.layer_norm(X, (6, 8)), {}, "the last two axes"),
        (F.layer_norm(X, (8,), eps=1e-3).half(), {}, "1e-3"),
        ((1e4 * F.layer_norm(X, (8,), eps=0.1)).round() / 1e4, {}, "ε is 0.1"),
        (F.layer_norm(X, (8,)), {"like": nn.RMSNorm(8)}, "layer norm"),
        (F.layer_norm(X, (8,)) * (X[..., :1] > -1), {}, "32 of 192 numbers are 0"),
        (F.layer_norm(X, (8,)).flip(0), {}, "the right numbers of rows 18, 19"),
        (F.layer_norm(X, (8,), WEIGHT.roll(3)), {"weight": WEIGHT}, "in another order"),
        (F.layer_norm(X, (8,)) * (1 + X.mean(-1, True) ** 3), {}, "right up to a factor"),
        (F.layer_norm(X, (8,), WEIGHT, BIAS).relu(), OF_BOTH, "A ReLU"),
        (F.layer_norm(X, (8,), WEIGHT).tanh(), {"weight": WEIGHT}, "A tanh"),
        (F.group_norm(X.flatten(0, 1), 4).view_as(X), {}, "in 4 groups"),
        (F.layer_norm(X, (8,)) * (1 + BIAS) + WEIGHT - 1, OF_BOTH, "scale and shift"),
        (F.layer_norm(X, (8,), WEIGHT) - BIAS, OF_BOTH, "β is subtracted"),
        (F.layer_norm(X, (8,), BIAS, WEIGHT), OF_BOTH, "have changed places"),
        (
            torch.cat([F.layer_norm(X, (8,))[..., :6], X[..., 6:]], -1),
            {},
            "6 and 7 come out as they",
        ),
        (0 * X, {}, "All numbers that came out are 0"),
        (F.layer_norm(X.unflatten(-1, (2, 4)).mT, (2,)).mT.flatten(-2), {}, "lie 4 apart"),
        ((X - X.mean(-1, True)[:, :1]) / STD[:, :1], {}, "of the first row of"),
        ((X - 1.9) / 2.7, {}, "1.9 is subtracted from all rows, and they're divided by 2.7"),
        ((X - BIAS) / WEIGHT, {}, "as in a batch norm"),
        (F.layer_norm(F.layer_norm(X, (8,), *BOTH), (8,), *BOTH), OF_BOTH, "applied twice"),
        (F.layer_norm(X, (8,), 2 + WEIGHT, BIAS), OF_BOTH, "as if 1 had been added twice"),
        (F.layer_norm(X, (8,), WEIGHT.bfloat16().float(), BIAS), OF_BOTH, "γ is rounded to bf"),
        (X + 0.5 * F.layer_norm(X, (8,)), {}, "times 0.5, are added to the input"),
        (X.sigmoid() * F.layer_norm(X, (8,)), {}, "as a gate"),
        (torch.cat([Y[:3], X[3:]]), {}, "Rows 18, 19, 20, 21, 22, and 23 come"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_difference_between_frameworks_is_named(y, options, words):
    diagnosis = diagnose(X.numpy(), y.detach().numpy(), **options)
    assert diagnosis.right is False
    assert words in diagnosis.summary


def test_the_epsilon_of_rms_norm_is_that_of_the_dtype():
    x = 1e-4 * X
    assert diagnose(x, F.rms_norm(x, (8,)), like=nn.RMSNorm(8)).right


def test_rows_that_are_finite_in_one_of_two_arrays_are_a_difference():
    x, y = X.flatten(0, 1), F.layer_norm(X, (8,)).flatten(0, 1)
    of_x, of_y = (each.index_fill(0, torch.tensor(2), torch.nan) for each in (x, y))
    for diagnosis, said in (
        (diagnose(x, of_y), "y has NaN or infinity in 1 row"),
        (diagnose(of_x, y), "y is finite in 1 row where x has NaN"),
    ):
        assert diagnosis.right is False
        assert said in diagnosis.summary


def test_sums_that_run_over_zeros_behind_wide_rows_are_named():
    x = numbers(4, 1500) + 1
    mean = x.sum(-1, keepdim=True) / 2048
    var = x.square().sum(-1, keepdim=True) / 2048 - mean.square()
    assert "over 2,048 numbers" in diagnose(x, (x - mean) / (var + 1e-5).sqrt()).summary


def test_rows_whose_squares_have_overflowed_are_named():
    x = numbers(6, 64).index_fill(1, torch.tensor([3]), 1.0)
    x[::2, 3] = 300
    y = (x.half() / (x.half().square().mean(-1, True) + 1e-6).sqrt()).float()
    assert "above 255" in diagnose(x, y, like=nn.RMSNorm(64, eps=1e-6)).summary


def test_what_is_the_same_without_zeros_isn_t_said_of_zeros():
    diagnosis = diagnose(X, F.layer_norm(X, (8,)), like=nn.RMSNorm(8, eps=1e-5))
    assert not any("zeros" in slip.lower() for slip in diagnosis.slips)


def test_channels_first_is_named():
    x = numbers(2, 8, 5, 5)
    y = F.layer_norm(x.movedim(1, -1), (8,), WEIGHT, BIAS, 1e-6).movedim(-1, 1)
    assert "channels" in diagnose(x, y, weight=WEIGHT, bias=BIAS, eps=1e-6).summary


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((X, X[:2]), {}, "have the same shape"),
        ((X, X), {"weight": numbers(5)}, "last axes of x must be"),
        ((X, [["a"]]), {}, "isn't made of numbers"),
        ((X,), {}, "give two arrays"),
        ((X, X), {"like": nn.Linear(8, 8)}, "`like` must be"),
        ((X, X), {"eps": -1}, "eps must be"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_fit_gets_one_clear_sentence(arguments, options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        diagnose(*arguments, **options)


def with_an_outlier(dtype):
    """Return rows as in a residual stream, with a feature that is large in all of them, and γ."""
    x, weight = numbers(16, 96), numbers(96, seed=1).abs() + 0.5
    x[:, 7] = 1000 + 10 * numbers(16, seed=2)
    return x.to(dtype), weight.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, w: F.rms_norm(x, (96,), w, 1e-6), "No difference found"),
        (lambda x, w: F.rms_norm(x, (96,), torch.where(w == w[7], w, -w), 1e-6), "γ"),
        (lambda x, w: F.rms_norm(x, (96,), w.roll(1), 1e-6), "γ"),
        (lambda x, w: F.gelu(F.rms_norm(x, (96,), w, 1e-6)), "GELU"),
    ],
    ids=["right", "negated", "rolled", "GELU"],
)
def test_one_large_feature_hides_no_other(dtype, change, words):
    x, weight = with_an_outlier(dtype)
    like = nn.RMSNorm(96, eps=1e-6)
    diagnosis = diagnose(x, change(x, weight), weight=weight, like=like)
    assert words in diagnosis.summary
    assert ("GELU" in diagnosis.summary) == (words == "GELU")


@pytest.mark.parametrize("step", [1e-3, 2.0**-5])
def test_saved_numbers_are_judged_as_far_as_they_were_rounded(step):
    rounded, like = (step * (X.double() / step).round()), {"weight": WEIGHT, "bias": BIAS}
    y = F.layer_norm(X, (8,), *BOTH).double()
    power = 10 ** y.abs().log10().floor() / 1000
    for x, saved in ((X, step * (y / step).round()), (X, power * (y / power).round())):
        assert diagnose(x, saved, **like).right
        assert diagnose(x, saved * 1.1, **like).right is False
    assert diagnose(rounded, step * (y / step).round(), **like).right
    assert diagnose(X, y.to(torch.float8_e4m3fn).float(), **like).right


def test_what_half_precision_hides_is_said():
    x = X.bfloat16()
    diagnosis = diagnose(x, F.layer_norm(x, (8,)))
    assert diagnosis.right
    assert "y holds bfloat16 numbers" in diagnosis.notes[0]
    rounded = diagnose(x, WEIGHT * F.layer_norm(x, (8,)), weight=WEIGHT)
    assert rounded.right is False
    assert "right only up to the rounding of bfloat16" in rounded.summary


def test_one_number_that_is_off_by_little_is_placed():
    x = torch.linspace(-2, 2, 64).reshape(2, 32)
    y = F.layer_norm(x, (32,))
    y[0, 0] += 4e-4
    assert "at (0, 0)" in diagnose(x, y).summary


def test_how_much_of_a_large_pair_was_compared_is_said():
    x = numbers(3000, 64)
    y = F.layer_norm(x, (64,))
    y[-1] += 1
    assert "Of 192,000 numbers, " in str(diagnose(x, y))
    assert "were compared" not in str(diagnose(x[:100], y[:100]))


def test_rows_with_nan_are_left_out_and_said():
    x = X.reshape(24, 8).clone()
    x[3, 0] = torch.nan
    assert diagnose(x, F.layer_norm(x, (8,))).right
    y = F.layer_norm(X.reshape(24, 8), (8,), eps=1e-3)
    y[5] = torch.inf
    diagnosis = diagnose(X.reshape(24, 8), y)
    assert "ε is 1e-3" in diagnosis.summary
    assert "y has NaN or infinity in 1 row where x is finite" in repr(diagnosis)
    assert diagnose(X, X * torch.inf).right is False


def test_an_epsilon_of_0_is_a_reference_as_others_are():
    rows = X.reshape(24, 8).clone()
    rows[0] = 0
    assert diagnose(X, F.layer_norm(X, (8,), eps=0.0), eps=0.0).right
    assert diagnose(rows, F.layer_norm(rows, (8,)), eps=0.0).right is False
    assert diagnose(nn.LayerNorm(8), like=nn.LayerNorm(8, eps=0.0)).right is False
