"""Wrong answers to all exercises, made from the notebooks alone, without a look at the banks.

What a confused, hurried or half-informed student would hand in: plain values for predictions,
functions for code. Those in `FOOLING` are wrong as well, and yet within 1e-3 of the right numbers
on data of variance 1 with 256 features, where much code that is wrong looks right.
"""

import math

import torch
import torch.nn.functional as F

from lnorm_utils import layer_norm, standardize


def sizes_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


class Changed(torch.nn.LayerNorm):
    """PyTorch's layer, whose output is changed at the end."""

    def __init__(self, change, *arguments):
        super().__init__(*arguments)
        self.change = change

    def forward(self, x):
        return self.change(super().forward(x))


class Quiet(torch.nn.LayerNorm):
    """PyTorch's layer, with an error that names no shape."""

    def forward(self, x):
        if x.shape[-len(self.normalized_shape) :] != self.normalized_shape:
            raise ValueError("wrong shape")
        return super().forward(x)


def mean_of(x):
    return x.mean(-1, keepdim=True)


def var_of(x):
    return x.var(-1, unbiased=False, keepdim=True)


def norm_of(x, eps=1e-5):
    return (x - mean_of(x)) / (var_of(x) + eps).sqrt()


def over(x, dim, eps=1e-5, unbiased=False):
    var = x.var(dim, unbiased=unbiased, keepdim=True)
    return (x - x.mean(dim, keepdim=True)) / (var + eps).sqrt()


def one_pass(x):
    return x.square().mean(-1, keepdim=True) - mean_of(x).square()


def mean_in_a_loop_without_the_last_row(x):
    means = torch.zeros(*x.shape[:-1], 1, dtype=x.dtype)
    for row in range(len(x) - 1):
        means[row] = mean_of(x[row])
    return means


def center_in_place(x):
    x -= mean_of(x)
    return x


def center_row_0_only(x):
    result = x.clone()
    result[0] = x[0] - mean_of(x[0])
    return result


def center_only_positive_means(x):
    return x - mean_of(x).clamp(min=0)


def var_after_centering_in_place(x):
    x -= mean_of(x)
    return x.square().mean(-1, keepdim=True)


def var_by_neighbors(x):
    return (x[..., 1:] - x[..., :-1]).square().mean(-1, keepdim=True) / 2


def std_moved_by_the_first_number(x):
    return one_pass(x - x.flatten()[0]).clamp(min=0).sqrt()


def std_moved_by_the_mean_of_all(x):
    return one_pass(x - x.mean()).clamp(min=0).sqrt()


def standardized_in_place(x, eps):
    x -= mean_of(x)
    x /= (var_of(x) + eps).sqrt()
    return x


def added_in_place(x, f):
    x += f
    return standardize(x)


def scaled_in_place(x_hat, weight, bias):
    x_hat *= weight
    x_hat += bias
    return x_hat


def scaled_but_feature_0(x_hat, weight, bias):
    y = x_hat * weight + bias
    return torch.cat([x_hat[..., :1], y[..., 1:]], -1)


def restored_in_place(y, weight, bias, mean, root):
    y -= bias
    return y / weight * root + mean


def batch_norm_of_rows_in_eval(x):
    size = x.shape[-1]
    flat = x.reshape(-1, size)
    return F.batch_norm(flat, torch.zeros(size), torch.ones(size)).reshape(x.shape)


def batch_norm_not_turned_back(x):
    return F.batch_norm(x.transpose(1, 2), None, None, training=True)


def batch_norm_viewed_as_ncl(x):
    n, length, d = x.shape
    return F.batch_norm(x.reshape(n, d, length), None, None, training=True).reshape(x.shape)


def words_in_place(x):
    x -= x.mean((0, 1), keepdim=True)
    return x / (x.square().mean((0, 1), keepdim=True) + 1e-5).sqrt()


def pixels_reshaped(x):
    b, c, h, w = x.shape
    return F.layer_norm(x.reshape(b, h, w, c), (c,)).reshape(x.shape)


def pixels_turned_wrongly(x):
    return F.layer_norm(x.permute(0, 2, 3, 1), x.shape[1:2]).permute(0, 3, 2, 1)


def pixels_in_place(x):
    x -= x.mean(1, keepdim=True)
    return x / (x.square().mean(1, keepdim=True) + 1e-5).sqrt()


def sphere_in_place(x):
    x -= mean_of(x)
    return F.normalize(x, dim=-1) * x.shape[-1] ** 0.5


def radius(x):
    return x.shape[-1] ** 0.5


def pre_ln_blocks(x, fs, eps=1e-5):
    for f in fs:
        x = x + f(norm_of(x, eps))
    return x


# Each is wrong and passes `allclose` at 1e-3 on standard normal data with 256 features; γ and β, as
# a new layer has them, are 1 and 0.
FOOLING = {
    "row_means": [
        lambda x: x.sum(-1, keepdim=True) / (x.shape[-1] - 1),
        lambda x: x.sum(-1, keepdim=True) / (x.shape[-1] + 1),
        lambda x: x.sum(-1, keepdim=True) / 256,
        lambda x: x.mean(2, keepdim=True),  # no table
        lambda x: mean_of(x) + 1e-5,
        lambda x: mean_of(x).round(decimals=3),
        lambda x: mean_of(x.half()).float(),
    ],
    "center": [
        lambda x: x - x.sum(-1, keepdim=True) / (x.shape[-1] - 1),
        lambda x: x - mean_of(x).round(decimals=3),
        lambda x: x - mean_of(x) + 1e-5,
        lambda x: x - x.mean(2, keepdim=True),  # no table
        center_in_place,
    ],
    "row_vars": [
        lambda x: var_of(x) + 1e-5,
        lambda x: var_of(x).clamp(min=1e-5),
        lambda x: (x - mean_of(x)).square().sum(-1, keepdim=True) / 256,
        lambda x: var_of(x).round(decimals=3),
        var_after_centering_in_place,
    ],
    "far_std": [
        lambda x: one_pass(x).sqrt(),
        lambda x: one_pass(x).clamp(min=0).sqrt(),
        lambda x: one_pass(x).abs().sqrt(),
        lambda x: (var_of(x) + 1e-5).sqrt(),
        lambda x: (var_of(x) + 1e-6).sqrt(),
        lambda x: var_of(x).sqrt() + 1e-5,
        std_moved_by_the_first_number,
        std_moved_by_the_mean_of_all,
    ],
    "formula": [
        lambda x, eps: norm_of(x),  # always 1e-5
        lambda x, eps: norm_of(x, 0.0),
        lambda x, eps: norm_of(x, eps**2),
        lambda x, eps: norm_of(x, -eps),
        lambda x, eps: norm_of(x, 2 * eps),
        lambda x, eps: (x - mean_of(x)) / (var_of(x).sqrt() + eps),
        lambda x, eps: (x - mean_of(x)) / var_of(x).clamp(min=eps).sqrt(),
        lambda x, eps: (x - mean_of(x) + eps) / var_of(x).sqrt(),
        lambda x, eps: norm_of(x, 0.0) + eps,
        lambda x, eps: norm_of(norm_of(x, eps), eps),
        lambda x, eps: F.layer_norm(x, x.shape[-1:]),
        lambda x, eps: F.instance_norm(x),
        lambda x, eps: F.normalize(x - mean_of(x), dim=-1, eps=eps) * radius(x),
        standardized_in_place,
    ],
    "add_norm": [
        lambda x, f: F.layer_norm(x + f, (256,)),
        added_in_place,
    ],
    "rescale": [
        lambda x_hat, weight, bias: x_hat,
        lambda x_hat, weight, bias: x_hat * weight,
        lambda x_hat, weight, bias: x_hat + bias,
        lambda x_hat, weight, bias: (x_hat + bias) * weight,
        lambda x_hat, weight, bias: x_hat * weight - bias,
        lambda x_hat, weight, bias: x_hat * weight.abs() + bias,
        lambda x_hat, weight, bias: x_hat * weight.mean() + bias.mean(),
        lambda x_hat, weight, bias: x_hat / weight + bias,
        lambda x_hat, weight, bias: standardize(x_hat * weight + bias),
        scaled_in_place,
    ],
    "way_back": [
        lambda y, weight, bias, mean, root: y * root + mean,
        lambda y, weight, bias, mean, root: (y / weight - bias) * root + mean,
        lambda y, weight, bias, mean, root: (y + bias) / weight * root + mean,
        lambda y, weight, bias, mean, root: (y - bias) * weight * root + mean,
        lambda y, weight, bias, mean, root: (y - bias) / (weight + 1e-5) * root + mean,
        lambda y, weight, bias, mean, root: (y * root + mean - bias) / weight,
    ],
    "words": [
        lambda x: over(x, (0, 1), eps=0.0),
        lambda x: over(x, (0, 1), eps=1e-6),
        lambda x: over(x, (0, 1), eps=1e-10),
        lambda x: over(x, (0, 1), eps=1e-3),
        lambda x: over(over(x, (0, 1)), (0, 1)),
        words_in_place,
    ],
    "pixels": [
        lambda x: over(x, 1, eps=0.0),
        lambda x: over(x, 1, eps=1e-6),
        lambda x: over(x, 1, eps=1e-12),
        lambda x: over(x, 1, eps=1e-3),
        pixels_in_place,
    ],
    "sphere": [
        lambda x: standardize(x),
        lambda x: F.layer_norm(x, x.shape[-1:]),
        lambda x: 16 * F.normalize(x - mean_of(x), dim=-1),
        lambda x: (
            (x - mean_of(x)) / ((x - mean_of(x)).norm(dim=-1, keepdim=True) + 1e-5) * radius(x)
        ),
        sphere_in_place,
    ],
    "equal_bias": [
        lambda e: e / 16,
        lambda e: e / (radius(e) + 1e-5),
        lambda e: (e / radius(e)).round(decimals=3),
    ],
    "post_ln": [
        lambda x, f: norm_of(x + f(x), 0.0),
        lambda x, f: norm_of(x + f(x), 1e-6),
        lambda x, f: norm_of(norm_of(x + f(x))),
        lambda x, f: norm_of(x + f(x)).round(decimals=3),
        lambda x, f: norm_of((x + f(x)).half()).float(),
    ],
    "pre_ln": [
        lambda x, f: x + f(norm_of(x, 0.0)),
        lambda x, f: x + f(norm_of(x, 1e-4)),
        lambda x, f: x + f(norm_of(norm_of(x))),
        lambda x, f: (x + f(norm_of(x))).round(decimals=3),
    ],
    "ending": [
        lambda x, fs: norm_of(pre_ln_blocks(x, fs), 0.0),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs)).round(decimals=3),
        lambda x, fs: norm_of(norm_of(pre_ln_blocks(x, fs))),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs, 1e-4)),
    ],
}

WRONG = {
    # Lesson 1: six means, (3, 2, 1), and the words 9 and 10.
    "how_many": [
        *(1, 2, 3, 4, 5, 7, 8, 12, 24, 60, -6, 6.5, 0.6, 1 / 6, math.nan, math.inf),
        *("6", "six", [6], (6,), {6}, 6j, 6 + 1j, True, (3, 2, 1), torch.tensor([6.0])),
        *(b"6", {"means": 6}, range(6), torch.zeros(6), lambda: 6),
    ],
    "shape_left": [
        *((3, 2), (3, 2, 4), (3, 1, 1), (1, 2, 4), (1, 1, 4), (1, 1, 1), (3, 1, 4), (1, 2, 3)),
        *((6,), (6, 1), (2, 3, 1), (3, 2, 0), (3, 2, 1, 1), (3, 2, True), (-3, 2, 1), ()),
        *(
            6,
            321,
            "(3, 2, 1)",
            "3, 2, 1",
            {1, 2, 3},
            torch.zeros(3, 2, 1),
            (3, 2, "1"),
            ((3, 2), 1),
        ),
    ],
    "row_means": [
        *FOOLING["row_means"],
        lambda x: x.mean(-1),
        lambda x: x.mean(0, keepdim=True),
        lambda x: x.mean(1, keepdim=True),  # right for a table only
        lambda x: x.mean((-2, -1), keepdim=True),
        lambda x: x.mean(),
        lambda x: x.mean(keepdim=True),
        lambda x: x.sum(-1, keepdim=True),
        lambda x: x.sum(-1, keepdim=True) / 4,
        lambda x: x.sum(-1, keepdim=True) / 3,
        lambda x: x.sum(-1, keepdim=True) // x.shape[-1],
        lambda x: x.median(-1, keepdim=True).values,
        lambda x: x.abs().mean(-1, keepdim=True),
        lambda x: mean_of(x).abs(),
        lambda x: -mean_of(x),
        lambda x: mean_of(x).expand_as(x),
        lambda x: mean_of(x).float(),
        lambda x: mean_of(x).half(),
        lambda x: mean_of(x).tolist(),
        lambda x: mean_of(x).numpy(),
        lambda x: (mean_of(x),),
        lambda x: mean_of(x[..., :-1]),
        lambda x: mean_of(x)[:1],
        lambda x: x.mean(-1).reshape(-1, 1, 1),
        lambda x: (x.amax(-1, keepdim=True) + x.amin(-1, keepdim=True)) / 2,
        lambda x: torch.tensor(
            [[[-0.3529], [0.2426]], [[0.9496], [-1.3038]], [[1.6489], [3.6841]]]
        ),
        lambda: 0,
        mean_in_a_loop_without_the_last_row,
        torch.mean,
        torch.nn.LayerNorm,
        "x.mean(-1, keepdim=True)",
        torch.zeros(3, 2, 1),
    ],
    "center": [
        *FOOLING["center"],
        lambda x: x - x.mean(-1),
        lambda x: x - x.mean(),
        lambda x: x - x.mean(0),
        lambda x: x - x.mean(0, keepdim=True),
        lambda x: x - x.mean(1, keepdim=True),
        lambda x: x - x.mean((-2, -1), keepdim=True),
        lambda x: mean_of(x) - x,
        lambda x: x + mean_of(x),
        lambda x: x - 2 * mean_of(x),
        lambda x: x - mean_of(x).abs(),
        lambda x: (x - mean_of(x)).abs(),
        lambda x: (x - mean_of(x)).square(),
        lambda x: x - x.sum(-1, keepdim=True),
        lambda x: x - x.sum(-1, keepdim=True) / 4,
        lambda x: x - x.median(-1, keepdim=True).values,
        lambda x: x / mean_of(x),
        lambda x: mean_of(x),
        lambda x: x,
        lambda x: F.layer_norm(x, x.shape[-1:]),
        lambda x: (x - mean_of(x)).float(),
        lambda x: (x - mean_of(x)).tolist(),
        lambda x: list(x - mean_of(x)),
        lambda x: (x - mean_of(x)).int(),
        center_row_0_only,
        center_only_positive_means,
    ],
    "swap": [
        lambda x: x.reshape(x.shape[1], x.shape[0], x.shape[2]),
        lambda x: x.reshape(2, 3, 4),
        lambda x: x.reshape(x.shape[1], x.shape[0], -1),
        lambda x: x.transpose(1, 2),
        lambda x: x.transpose(0, 2),
        lambda x: x.permute(1, 2, 0),
        lambda x: x.permute(2, 0, 1),
        lambda x: x.mT,
        lambda x: x,
        lambda x: x.flip(0),
        lambda x: x.transpose(0, 1).flip(0),
        lambda x: x.transpose(0, 1).flip(-1),
        lambda x: x.transpose(0, 1).reshape(x.shape),
        lambda x: x.transpose(0, 1).tolist(),
        lambda x: x.transpose(0, 1).float(),
        lambda x: x.transpose(0, 1).half().float(),
        lambda x: x.transpose(0, 1)[:-1],
        lambda x: x.transpose(0, 1).abs(),
        lambda x: torch.cat(x.unbind(1)),
        lambda x: torch.stack(x.unbind(1), dim=1),
        lambda x: x.unbind(1),
        lambda x: x.transpose_(0, 1),
        lambda x: (x.shape[1], x.shape[0], x.shape[2]),
        lambda x: x.contiguous().view(x.shape[1], x.shape[0], x.shape[2]),
    ],
    "last_word": [
        *((5, 6), (10, 9), (11, 12), (7, 8), (3, 4), (8, 9), (10, 11), (9, 11), (9, 12), (1, 2)),
        *((9,), (9, 10, 11), (9, 10, 0), (-9, -10), (9.5, 10.5), ((9, 10), (11, 12)), (8, 10)),
        *(9, 10, 19, 910, "9, 10", "(9, 10)", ("9", "10"), {9, 10}, (9, 10j), [[9, 10]], (9, True)),
    ],
    # Lesson 2: 14, −1.3671, 23 and 0.
    "by_hand": [
        *(14.05, 13.95),
        *(56, 56 / 3, 3.742, 50, 200, 36, 12, 3, 6, 10, 0, -14, 4.32, 13.9, 14.5, 14.1, 1.4, 140),
        *(
            "14",
            [14],
            (14,),
            14j,
            True,
            (14, 6),
            torch.tensor([14.0]),
            torch.tensor([2.0, 4, 6, 12]),
        ),
    ],
    "row_vars": [
        *FOOLING["row_vars"],
        lambda x: x.var(-1, keepdim=True),
        lambda x: x.var(-1, unbiased=False),
        lambda x: x.var(0, unbiased=False, keepdim=True),
        lambda x: x.var((-2, -1), unbiased=False, keepdim=True),
        lambda x: x.var(unbiased=False),
        lambda x: x.std(-1, keepdim=True),
        lambda x: var_of(x).sqrt(),
        lambda x: var_of(x).square(),
        lambda x: x.square().mean(-1, keepdim=True),
        lambda x: mean_of(x).square() - x.square().mean(-1, keepdim=True),
        lambda x: x.square().mean(-1, keepdim=True) - mean_of(x),
        lambda x: (x - mean_of(x)).square().sum(-1, keepdim=True),
        lambda x: (x - mean_of(x)).abs().mean(-1, keepdim=True),
        lambda x: (x - mean_of(x)).mean(-1, keepdim=True).square(),
        lambda x: (x - mean_of(x)).square(),
        lambda x: (x - x.mean()).square().mean(-1, keepdim=True),
        lambda x: (x - x.median(-1, keepdim=True).values).square().mean(-1, keepdim=True),
        lambda x: (x - mean_of(x)).square().sum(-1, keepdim=True) / (x.shape[-1] + 1),
        lambda x: (x - mean_of(x)).square().sum(-1, keepdim=True) / 3,
        lambda x: -var_of(x),
        lambda x: var_of(x).float(),
        lambda x: var_of(x).tolist(),
        lambda x: torch.var_mean(x, -1, unbiased=False, keepdim=True),
        var_by_neighbors,
    ],
    "first": [
        *(-1.1840, 1.3671, 1.1840, -0.5414, -0.4061, -3.4520, -3.8049, -1.5069, -1.3050, -13.671),
        *(-1.4, -1.3, -1, -1.36, -1.38, -0.13671, 2.5250, 6.3756, 8.5008, 0),
        *("-1.3671", [-1.3671], -1.3671j, True, 1j, (-1.3671, 0.0), torch.zeros(4)),
    ],
    "divisor": [
        *(24, 25, 22, 21, 8, 7, 3, 2, 1, -23, 2.3, 230, 23.5, 22.9, 24.0, 1.0215, 1.0435, 23**0.5),
        *("23", "n - 1", [23], (23,), (24, 23), 23j, True, torch.tensor([23])),
    ],
    "at_best": [
        *(0.25, 0.5, 1, 4, 8, -8, 16, 0.125, 2, -0.25, 6.25, 0.24, 0.1, 0.01, 1e-3, math.nan),
        *("0", "zero", False, [0], (0,), 8j, (), "", torch.tensor([0.0]), -1, (0, 8)),
    ],
    "far_std": [
        *FOOLING["far_std"],
        lambda x: x.std(-1, keepdim=True),
        lambda x: x.std(-1, unbiased=False),
        lambda x: var_of(x),
        lambda x: x.std(unbiased=False),
        lambda x: x.std(0, unbiased=False, keepdim=True),
        lambda x: x.square().mean(-1, keepdim=True).sqrt(),
        lambda x: (x - mean_of(x)).abs().mean(-1, keepdim=True),
        lambda x: (x - mean_of(x)).square().sum(-1, keepdim=True).sqrt(),
        lambda x: (x - mean_of(x)).square().sqrt().mean(-1, keepdim=True),
        lambda x: (x - x.mean()).square().mean(-1, keepdim=True).sqrt(),
        lambda x: one_pass(x - 10_000).sqrt(),
        lambda x: -var_of(x).sqrt(),
        lambda x: var_of(x).sqrt().float(),
        lambda x: var_of(x.half()).sqrt().to(x.dtype),
        lambda x: var_of(x).sqrt().tolist(),
        lambda x: 1 / var_of(x).sqrt(),
        lambda x: x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True),
    ],
    # Lesson 3: 9, 0.71, 1.3671 and −0.853.
    "formula": [
        *FOOLING["formula"],
        lambda x, eps: over(x, -1, eps, unbiased=True),
        lambda x, eps: (x - mean_of(x)) / (var_of(x) + eps),
        lambda x, eps: (x - mean_of(x)) * (var_of(x) + eps).sqrt(),
        lambda x, eps: (x - mean_of(x)) / var_of(x).sqrt() + eps,
        lambda x, eps: norm_of(x, eps**0.5),
        lambda x, eps: x - mean_of(x) / (var_of(x) + eps).sqrt(),
        lambda x, eps: x / (var_of(x) + eps).sqrt(),
        lambda x, eps: (mean_of(x) - x) / (var_of(x) + eps).sqrt(),
        lambda x, eps: over(x, 0, eps),
        lambda x, eps: over(x, 1, eps),
        lambda x, eps: over(x, (1, 2), eps),
        lambda x, eps: over(x, (0, 1), eps),
        lambda x, eps: (x - x.mean()) / (x.var(unbiased=False) + eps).sqrt(),
        lambda x, eps: (x - x.mean(-1)) / (x.var(-1, unbiased=False) + eps).sqrt(),
        lambda x, eps: norm_of(x, eps).abs(),
        lambda x, eps: norm_of(x, eps).float(),
        lambda x, eps: norm_of(x, eps).tolist(),
        lambda x, eps: (x - mean_of(x)) / (var_of(x) + eps) ** (1 // 2),
        lambda x, eps: x - mean_of(x),
        lambda x: norm_of(x),
    ],
    "sum_var": [
        *(9.05, 8.95),
        *(5, 4, 1, 3, 8, 6, 2, 7, 10, 16, 25, 0, -9, 9.5, 8.5, 90, 0.9, 6.25, 4.0, math.inf),
        *("9", "nine", [9], (9,), 9j, True, (2, 1), torch.tensor([9.0])),
    ],
    "add_norm": [
        *FOOLING["add_norm"],
        lambda x, f: x + f,
        lambda x, f: x + standardize(f),
        lambda x, f: standardize(x) + f,
        lambda x, f: standardize(x) + standardize(f),
        lambda x, f: (standardize(x) + standardize(f)) / 2,
        lambda x, f: (standardize(x) + standardize(f)) / 2**0.5,
        lambda x, f: x + standardize(x + f),
        lambda x, f: standardize(x - f),
        lambda x, f: standardize(x * f),
        lambda x, f: standardize(x),
        lambda x, f: standardize(f),
        lambda x, f: standardize(x + x),
        lambda x, f: standardize(x + f, dim=1),
        lambda x, f: standardize(x + f, dim=0),
        lambda x, f: standardize(x + f, dim=(1, 2)),
        lambda x, f: over(x + f, -1, unbiased=True),
        lambda x, f: standardize(x + f).float(),
        lambda x, f: standardize(x + f).tolist(),
        lambda x, f: -standardize(x + f),
        lambda x, f: standardize(x, f),
        lambda x, f: (x + f - mean_of(x + f)) / (var_of(x) + var_of(f)).sqrt(),
        lambda x, f: standardize(torch.cat([x, f], -1)),
        lambda x: standardize(x),
    ],
    "narrow": [
        *(1, 0.1, 0.91, 0.5, 0.7, 0.72, 0.69, 0.99, 10, 0.01, 7.07, 0.071, 5, -0.71, 0, 1.41, 0.95),
        *("0.71", [0.71], (0.71,), 0.71j, True, math.nan, torch.tensor([0.71])),
    ],
    "minus_3": [
        *(-1.3671, 4.1013, -4.1013, 0.4557, -0.4557, -3, 3, 0, 1, 1.1840, 1.36, 1.38, 1.4, 13.671),
        *("1.3671", [1.3671], 1.3671j, True, (1.3671, -1.3671), torch.zeros(4)),
    ],
    "shrunk": [
        *(-1.3671, 0.8530, -0.0013671, -0.00137, -1.0916, -0.0432, -1.362, -210.8, -0.9, -0.84),
        *(-0.87, -0.003452, -0.7, 0, -1, -8.53, 1.3671, -0.7388, "-0.853", [-0.853], -0.853j, True),
    ],
    # Lesson 4: (4,), 0.725, 1 and −3.80.
    "gammas": [
        *((3, 2, 4), (3, 2, 1), (2, 4), (1,), (3, 2), (1, 4), (4, 1), (1, 1, 4), (6,), (24,), (3,)),
        *((2,), (5,), (-4,), (4, 4), (), 24, 1, 6, "(4,)", ("4",), (4j,), (True,), torch.ones(4)),
    ],
    "feature_2": [
        *(
            1.275,
            0.225,
            -0.275,
            0.275,
            -0.725,
            0.45,
            0.7,
            0.75,
            0.8,
            1.5,
            -0.55,
            1,
            0.95,
            -1.275,
            7.25,
        ),
        *("0.725", [0.725], (0.725,), 0.725j, True, (0.5, 1), torch.tensor([0.725])),
    ],
    "rescale": [
        *FOOLING["rescale"],
        lambda x_hat, weight, bias: x_hat * bias + weight,
        lambda x_hat, weight, bias: x_hat + weight * bias,
        lambda x_hat, weight, bias: x_hat * weight + bias.abs(),
        lambda x_hat, weight, bias: x_hat * (1 + weight) + bias,
        lambda x_hat, weight, bias: x_hat @ weight + bias,
        lambda x_hat, weight, bias: x_hat @ weight,
        lambda x_hat, weight, bias: x_hat * weight[0] + bias[0],
        lambda x_hat, weight, bias: x_hat * weight[:, None] + bias[:, None],
        lambda x_hat, weight, bias: x_hat * weight.square() + bias,
        lambda x_hat, weight, bias: x_hat * weight.flip(0) + bias.flip(0),
        lambda x_hat, weight, bias: (x_hat * weight + bias).float(),
        lambda x_hat, weight, bias: (x_hat * weight + bias).tolist(),
        lambda x_hat, weight, bias: (x_hat * weight + bias)[0],
        lambda x_hat, weight, bias: (x_hat * weight + bias).clamp(-3, 3),
        lambda x_hat, weight, bias: (x_hat * weight + bias).relu(),
        scaled_but_feature_0,
    ],
    "y_mean": [
        *(1.005, 0.995),
        *(0, 4, 0.125, 0.625, 0.5, -1, 2, 0.75, 1.5, 0.25, 1.01, 0.99, 10, 1.125, 0.9, math.nan),
        *("1", [1], (1,), 1j, True, (2, 0.5, 0, 1.5), torch.tensor([1.0]), 1 + 1j),
    ],
    "other_row": [
        *(
            -73.10,
            3.80,
            73.10,
            -1.37,
            -1.18,
            -3.45,
            -76.10,
            -3.5,
            -4,
            -3.7,
            -3.9,
            -3.82,
            -3.78,
            -38,
        ),
        *(-0.38, 0, -0.19, -6.80, -0.80, "-3.80", [-3.80], -3.8j, True, (-3.80, -73.10)),
    ],
    "way_back": [
        *FOOLING["way_back"],
        lambda y, weight, bias, mean, root: (y - bias) / weight,
        lambda y, weight, bias, mean, root: (y - bias) / weight * root,
        lambda y, weight, bias, mean, root: (y - bias) / weight + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight / root + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight * root - mean,
        lambda y, weight, bias, mean, root: ((y - bias) / weight + mean) * root,
        lambda y, weight, bias, mean, root: (y - mean) / root * weight + bias,
        lambda y, weight, bias, mean, root: y - bias / weight * root + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight * root.square() + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight * root.sqrt() + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight.abs() * root + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight * root[0] + mean[0],
        lambda y, weight, bias, mean, root: (y - bias) / weight * (root + 1e-5) + mean,
        lambda y, weight, bias, mean, root: (y - bias) / weight * (root**2 + 1e-3).sqrt() + mean,
        lambda y, weight, bias, mean, root: ((y - bias) / weight * root + mean).float(),
        lambda y, weight, bias, mean, root: ((y - bias) / weight * root + mean).tolist(),
        lambda y, weight, bias: (y - bias) / weight,
        restored_in_place,
    ],
    # Lesson 5: 4.67, (0, 12), −0.93 and 2.
    "mean_of_6": [
        *(3, 4, 14, 7, 6, 4.6, 4.7, 4.5, 3.5, 5, 4.75, 46.7, 0.467, -4.67, 1.33, 12, 2.62, 4.65),
        *("4.67", "14/3", [4.67], (4.67,), 4.67j, True, (14, 3), torch.tensor([7.0, 6, 1])),
    ],
    "plus_ten": [
        *((12, 0), (0, 4), (4, 12), (4, 4), (0, 8), (12, 12), (0, 3), (0, 0), (4, 0), (3, 12)),
        *((0, 11), (0, 10), (1, 12), (8, 12), (0, -12), (0,), (0, 12, 12), (0, 12.5), (0, 1)),
        *(
            12,
            0,
            "0, 12",
            "(0, 12)",
            ("0", "12"),
            {0: 12},
            {0, 12},
            (False, 12),
            (0, 12j),
            [[0, 12]],
        ),
    ],
    "eval_alone": [
        *(0.479, 0.48, 0.93, -0.76, -0.43, -1.34, -1.16, -2, -3, 0, 1, 0.6, -0.9, -0.95, -1, -9.26),
        *(-0.0926, 1.39, -0.46, "-0.93", [-0.93], (-0.93, -0.46, 1.39), -0.93j, True, math.nan),
    ],
    "words": [
        *FOOLING["words"],
        lambda x: over(x, (0, 1), unbiased=True),
        lambda x: over(x, -1),
        lambda x: over(x, 0),
        lambda x: over(x, 1),
        lambda x: over(x, (0, 2)),
        lambda x: over(x, (1, 2)),
        lambda x: over(x, (0, 1, 2)),
        lambda x: F.layer_norm(x, x.shape[1:]),
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda x: torch.nn.BatchNorm1d(x.shape[1])(x).detach(),
        lambda x: torch.nn.BatchNorm1d(x.shape[2]).eval()(x.transpose(1, 2)).transpose(1, 2),
        lambda x: F.instance_norm(x.transpose(1, 2)).transpose(1, 2),
        lambda x: (x - x.mean((0, 1))) / (x.var((0, 1), unbiased=False) + 1e-5),
        lambda x: (x - x.mean((0, 1))) / (x.std((0, 1), unbiased=False) + 1e-5),
        lambda x: x - x.mean((0, 1)),
        lambda x: (x - x.mean((0, 1))) / (x.square().mean((0, 1)) + 1e-5).sqrt(),
        lambda x: over(x, (0, 1)).double(),
        lambda x: over(x, (0, 1)).tolist(),
        lambda x: over(x, (0, 1)).reshape(-1, x.shape[-1]),
        lambda x: torch.cat([over(x[:1], (0, 1)), over(x[1:], (0, 1))]),
        batch_norm_of_rows_in_eval,
        batch_norm_not_turned_back,
        batch_norm_viewed_as_ncl,
    ],
    "groups": [
        *(1, 3, 4, 6, 8, 12, 24, 0, -2, 2.5, 20, 0.5, 1.9, (2, 3), (2, 1), math.nan),
        *("2", "two", [2], (2,), 2j, True, torch.tensor([2.0]), {2}, (2, 1, 1, 1)),
    ],
    "pixels": [
        *FOOLING["pixels"],
        lambda x: over(x, 1, unbiased=True),
        lambda x: over(x, (1, 2, 3)),
        lambda x: over(x, (2, 3)),
        lambda x: over(x, -1),
        lambda x: over(x, 0),
        lambda x: over(x, (0, 2, 3)),
        lambda x: F.layer_norm(x, x.shape[1:]),
        lambda x: F.layer_norm(x, x.shape[-1:]),
        lambda x: F.layer_norm(x, x.shape[1:2]),
        lambda x: F.group_norm(x, 1),
        lambda x: F.group_norm(x, x.shape[1]),
        lambda x: F.instance_norm(x),
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda x: F.layer_norm(x.permute(0, 2, 3, 1), x.shape[1:2]),
        lambda x: F.layer_norm(x.transpose(1, 3), x.shape[1:2]).permute(0, 3, 1, 2),
        lambda x: (x - x.mean(1, keepdim=True)) / (x.var(1, False, keepdim=True) + 1e-5),
        lambda x: (x - x.mean(1, keepdim=True)) / (x.std(1, False, keepdim=True) + 1e-5),
        lambda x: x - x.mean(1, keepdim=True),
        lambda x: over(x, 1).double(),
        lambda x: over(x, 1).tolist(),
        pixels_reshaped,
        pixels_turned_wrongly,
    ],
    # Lesson 6: 2, 0.71, 0.7 and "same".
    "places": [
        *(1, 3, 4, 1000, 500, 0, 2000, 999, -2, 2.5, 20, 0.2, math.inf, (1, -1), (2, 2)),
        *("2", "two", [2], (2,), 2j, True, torch.tensor([2.0]), ((1, -1), (-1, 1))),
    ],
    "from_delta": [
        lambda delta, eps: delta.sign(),
        lambda delta, eps: delta / (delta.square() + eps).sqrt(),
        lambda delta, eps: delta / (delta.square() / 4 + eps).sqrt(),
        lambda delta, eps: delta / 2 / (delta.square() + eps).sqrt(),
        lambda delta, eps: delta / 2 / (delta.square() / 2 + eps).sqrt(),
        lambda delta, eps: -delta / 2 / (delta.square() / 4 + eps).sqrt(),
        lambda delta, eps: (delta / 2 / (delta.square() / 4 + eps).sqrt()).abs(),
        lambda delta, eps: delta / 2 / (delta.square() / 4 + eps),
        lambda delta, eps: delta / 2 / (delta.abs() / 2 + eps),
        lambda delta, eps: delta / 2 / (delta.abs() / 2 + eps**0.5),
        lambda delta, eps: delta / 2 / (delta.square() / 4 + eps**2).sqrt(),
        lambda delta, eps: delta / 2 / (delta.square() / 4 + 1e-5).sqrt(),
        lambda delta, eps: delta / (delta.square() + 2 * eps).sqrt(),
        lambda delta, eps: delta / 2 / (delta.square() / 4).sqrt(),
        lambda delta, eps: delta / 2 / (delta / 2 + eps).sqrt(),
        lambda delta, eps: delta.square() / 4 / (delta.square() / 4 + eps),
        lambda delta, eps: (delta / (2 * eps**0.5)).tanh(),
        lambda delta, eps: (delta / eps).clamp(-1, 1),
        lambda delta, eps: F.layer_norm(delta, delta.shape, eps=eps),
        lambda delta, eps: layer_norm(torch.stack([delta, -delta], -1), 2, eps=eps)[:, 0],
        lambda delta, eps: layer_norm(torch.stack([delta, 0 * delta], -1), 2, eps=eps),
        lambda delta, eps: layer_norm(torch.stack([delta, 0 * delta], -1), 2, eps=eps)[:, 1],
        lambda delta, eps: layer_norm(torch.stack([delta, 0 * delta], -1), 2, eps=eps)[:, :1],
        lambda delta, eps: layer_norm(torch.stack([delta, 0 * delta], -1), 2)[:, 0],
        lambda delta, eps: (delta / 2 / (delta.square() / 4 + eps).sqrt()).float(),
        lambda delta, eps: (delta / 2 / (delta.square() / 4 + eps).sqrt()).tolist(),
        lambda delta, eps: [d / 2 / math.sqrt(d * d / 4 + eps) for d in delta.tolist()],
        lambda delta: delta.sign(),
    ],
    "root_eps": [
        *(1, 0.5, 0.7, 0.0316, 0.03, 0, -0.71, 0.72, 0.69, 1.41, 7.1, 0.071, 2, 0.97, 0.998, 0.89),
        *("0.71", [0.71], (0.71, -0.71), 0.71j, True, math.nan, torch.tensor([0.71, -0.71])),
    ],
    "one_number": [
        *(5.7, -14.3, 0, 5, -3, -4.3, -15, -2.3, 1, -0.7, 0.07, 7, 4.3, -5.7, 15.7, 0.75, math.nan),
        *("0.7", "beta", [0.7], (0.7,), 0.7j, True, (5, 0.7), torch.tensor([0.7]), math.inf),
    ],
    "sphere": [
        *FOOLING["sphere"],
        lambda x: F.normalize(x, dim=-1) * radius(x),
        lambda x: F.normalize(x - mean_of(x), dim=-1),
        lambda x: F.normalize(x - mean_of(x), dim=-1) * x.shape[-1],
        lambda x: F.normalize(x - mean_of(x), dim=-1) * (x.shape[-1] - 1) ** 0.5,
        lambda x: F.normalize(x - mean_of(x), dim=-1) * (x.shape[-1] - 2) ** 0.5,
        lambda x: F.normalize(x - mean_of(x), dim=-1) * 2,
        lambda x: F.normalize(x - mean_of(x), dim=-1) / radius(x),
        lambda x: F.normalize(x - x.mean(), dim=-1) * radius(x),
        lambda x: F.normalize(x - mean_of(x)) * radius(x),  # dim=1, the positions
        lambda x: F.normalize(x - mean_of(x), dim=(1, 2)) * radius(x),
        lambda x: F.normalize(x - mean_of(x), p=1, dim=-1) * radius(x),
        lambda x: -F.normalize(x - mean_of(x), dim=-1) * radius(x),
        lambda x: F.normalize(x, dim=-1) * radius(x) - mean_of(F.normalize(x, dim=-1) * radius(x)),
        lambda x: x - mean_of(x),
        lambda x: (x - mean_of(x)) / (x - mean_of(x)).norm() * radius(x),
        lambda x: (x - mean_of(x)) / (x - mean_of(x)).square().sum(-1, keepdim=True) * radius(x),
        lambda x: (x - mean_of(x)) / x.norm(dim=-1, keepdim=True) * radius(x),
        lambda x: over(x, -1, 0.0, unbiased=True),
        lambda x: over(x, -1, 0.0).float(),
        lambda x: over(x, -1, 0.0).tolist(),
    ],
    "affine": [
        *(
            "all",
            "more",
            "less",
            "none",
            "nothing",
            "sam",
            "saem",
            "different",
            "",
            "0.32",
            "same same",
        ),
        *(0.32, 1, 0, True, False, ("same",), ["same"], b"same", {"same"}, "all, more", "not same"),
    ],
    # Lesson 7: 4, 4, 1 and 0.
    "rescue": [
        lambda x, weight, bias: x @ weight.T + bias,
        lambda x, weight, bias: layer_norm(x @ weight.T, 6),
        lambda x, weight, bias: layer_norm(x @ weight.T, 6) + bias,
        lambda x, weight, bias: layer_norm(x @ weight.T, 6, bias=bias),
        lambda x, weight, bias: layer_norm(x @ weight.T - bias, 6),
        lambda x, weight, bias: layer_norm(x @ weight + bias, 6),
        lambda x, weight, bias: layer_norm(weight @ x + bias, 6),
        lambda x, weight, bias: layer_norm(x @ weight.reshape(2, 6) + bias, 6),
        lambda x, weight, bias: layer_norm(x, 2) @ weight.T + bias,
        lambda x, weight, bias: layer_norm(layer_norm(x, 2) @ weight.T + bias, 6),
        lambda x, weight, bias: layer_norm((x @ weight.T + bias).relu(), 6),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 6).relu(),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 2),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, (len(x), 6)),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias.mean(), 6),
        lambda x, weight, bias: layer_norm(x.flip(-1) @ weight.T + bias, 6),
        lambda x, weight, bias: layer_norm((x + 1) @ weight.T + bias, 6),
        lambda x, weight, bias: layer_norm(6**0.5 * (x @ weight.T) + bias, 6),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 6, bias, bias),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 6, weight, bias),
        lambda x, weight, bias: layer_norm(torch.nn.Linear(2, 6)(x), 6),
        lambda x, weight, bias: over(x @ weight.T + bias, 0),
        lambda x, weight, bias: over(x @ weight.T + bias, -1, unbiased=True),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 6)[:, :2],
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 6).float(),
        lambda x, weight, bias: layer_norm(x @ weight.T + bias, 6).tolist(),
        lambda x, weight, bias: layer_norm(x, 2),
        lambda x, weight, bias: layer_norm,
    ],
    "enough": [
        *(1, 2, 3, 5, 6, 8, 0, 64, -4, 4.5, 3.5, 40, 0.4, (2, 4), math.inf),
        *("4", "four", [4], (4,), 4j, True, torch.tensor([4.0]), {4}, range(4, 65)),
    ],
    "rays": [
        *(1, 2, 3, 5, 6, 0, 10, 25, 30, -4, 4.5, 3.5, 40, (5, 6), math.nan),
        *("4", "four", [4], (4,), 4j, True, torch.tensor([4.0]), {4}),
    ],
    "growing_bias": [
        *(1.005, 0.995),
        *(
            0.87,
            0,
            0.79,
            math.pi / 4,
            0.32,
            1 / math.pi,
            0.93,
            0.99,
            0.9,
            0.95,
            2,
            -1,
            0.5,
            math.inf,
        ),
        *("1", "all", [1], (1,), 1j, 1 + 1j, True, math.nan, 100, torch.tensor([1.0]), 0.76, 1.1),
    ],
    "equal_bias": [
        *FOOLING["equal_bias"],
        lambda e: e,
        lambda e: e * radius(e),
        lambda e: e / e.shape[-1],
        lambda e: e / len(e) ** 0.5,
        lambda e: e / e.numel() ** 0.5,
        lambda e: e / 6**0.5,  # only six features
        lambda e: e / 2.449,
        lambda e: e / 2**0.5,
        lambda e: -e / radius(e),
        lambda e: (e / radius(e)).abs(),
        lambda e: e / (e.shape[-1] - 1) ** 0.5,
        lambda e: e - radius(e),
        lambda e: e / radius(e) + 1,
        lambda e: e.mean(0) / radius(e),
        lambda e: e[0] / radius(e),
        lambda e: (e / radius(e))[:1].expand_as(e),
        lambda e: e / e.norm(dim=-1, keepdim=True),
        lambda e: F.layer_norm(e, e.shape[-1:]),
        lambda e: (e / radius(e)).float(),
        lambda e: (e / radius(e)).half().float(),
        lambda e: (e / radius(e)).tolist(),
        lambda e: e.div_(radius(e)),
        lambda e: e // radius(e),
    ],
    "category": [
        *(
            2,
            1,
            -1,
            1.2247,
            1.22,
            0.71,
            0.5,
            -2,
            0.1,
            1e-3,
            math.nan,
            math.inf,
            (0, 0, 1),
            (-1, 0, 1),
        ),
        *("0", "beta", "nothing", False, [0], (0,), 2j, (), "", torch.tensor([0.0]), (0, 0, 0)),
    ],
    # Lesson 8: 150, the end of a shape, 0.5, 20, lines 5 and 4, and two classes.
    "learned": [
        *(75, 6, 3, 25, 50, 30, 10, 5, 2, 300, 26, 13, 149, 151, 15, 1500, -150, 0, 150.5, 225),
        *("150", [150], (150,), (3, 5, 5), 150j, True, (75, 75), torch.tensor([150]), math.nan),
    ],
    "fits": [
        lambda x_shape, shape: True,
        lambda x_shape, shape: False,
        lambda x_shape, shape: shape in x_shape,
        lambda x_shape, shape: tuple(x_shape[-1:]) == (shape if shape is tuple else (shape,)),
        lambda x_shape, shape: len(x_shape) >= len(sizes_of(shape)),
        lambda x_shape, shape: x_shape[-len(sizes_of(shape)) :] != sizes_of(shape),
        lambda x_shape, shape: set(sizes_of(shape)) <= set(x_shape),
        lambda x_shape, shape: x_shape[-len(sizes_of(shape)) :] <= sizes_of(shape),
        lambda x_shape, shape: sizes_of(shape)[::-1] == x_shape[: len(sizes_of(shape))],
        lambda x_shape, shape: math.prod(x_shape) == math.prod(sizes_of(shape)),
        lambda x_shape, shape: x_shape[1:] == sizes_of(shape),
        lambda x_shape, shape: x_shape[-2:] == sizes_of(shape),
        lambda x_shape, shape: int(x_shape[-len(sizes_of(shape)) :] == sizes_of(shape)),
        lambda x_shape, shape: str(x_shape[-len(sizes_of(shape)) :] == sizes_of(shape)),
        lambda x_shape, shape: x_shape[-len(sizes_of(shape)) :],
        lambda x_shape, shape: x_shape[-len(shape) :] == tuple(shape),  # no int
        lambda x_shape, shape: torch.ones(x_shape) * torch.ones(shape),
        lambda x_shape: True,
        torch.Size,
        True,
        (True, False),
    ],
    "kept": [
        *(0.1, 1e-5, 0.6, 0.3, 0.05, 0, 1, 5, -0.5, 0.4, 0.2236, 1e-12, math.nan, 0.51, 0.49, 50),
        *("0.5", [0.5], (0.5,), 0.5j, True, None.__class__, (0.1, 0.5), torch.tensor([0.5])),
    ],
    "found": [
        *(28, 16, 8, 4, 24, 0, 2, 1, 12, 19, 21, 20.5, -20, 200, 40, 32, 5, 6, 36, math.inf),
        *("20", [20], (16, 4), (20,), 20j, True, torch.tensor([20]), "none"),
    ],
    "line_a": [
        *(1, 2, 3, 4, 6, 7, 8, 9, 0, -5, 5.5, 50, (5, 6), (5,), [5], "5", "line 5", 5j, True),
        *(math.nan, (6, 7), "axes", torch.tensor([5])),
    ],
    "line_b": [
        *(1, 2, 3, 5, 6, 7, 8, 0, -4, 4.5, 40, (4, 7), (4,), [4], "4", "line 4", 4j, True),
        *(math.nan, (4, 6), "reshape", torch.tensor([4])),
    ],
    "repair": [
        *(
            torch.nn.Identity,
            torch.nn.RMSNorm,
            torch.nn.BatchNorm1d,
            torch.nn.Linear,
            torch.nn.ReLU,
        ),
        *(
            torch.nn.Module,
            torch.nn.LayerNorm(4),
            torch.nn.LayerNorm(4, eps=0.1),
            object,
            dict,
            int,
        ),
        *("RepairedNorm", 3, torch.ones(4), [torch.nn.LayerNorm], True, (1.0, 0.0)),
        lambda size, eps: torch.nn.LayerNorm(size),
        lambda size, eps: torch.nn.LayerNorm(size, eps=eps**2),
        lambda size, eps: torch.nn.LayerNorm(size, eps=eps, elementwise_affine=False),
        lambda size, eps: torch.nn.LayerNorm(size, eps=eps, bias=False),
        lambda size, eps: torch.nn.Sequential(torch.nn.LayerNorm(size, eps=eps)),
        lambda size, eps: torch.nn.LayerNorm(size, eps=eps).requires_grad_(False),
        lambda size, eps: Changed(lambda y: y.detach(), size, eps),
        lambda size, eps: Changed(lambda y: y + 1e-3, size, eps),
        lambda size, eps: Changed(lambda y: y.float(), size, eps),
        lambda size, eps: Changed(lambda y: y.tolist(), size, eps),
        lambda size, eps: Changed(lambda y: (y,), size, eps),
        lambda size, eps: torch.nn.functional.layer_norm,
        lambda size, eps: norm_of,
    ],
    "mine": [
        *(torch.nn.Identity, torch.nn.RMSNorm, torch.nn.GroupNorm, torch.nn.Linear, torch.nn.ReLU),
        *(
            torch.nn.Module,
            torch.nn.LayerNorm(4),
            torch.nn.LayerNorm(4, eps=0.1),
            object,
            list,
            str,
        ),
        *("MyLayerNorm", 3, torch.ones(4), [torch.nn.LayerNorm], False),
        lambda shape: torch.nn.LayerNorm(shape),
        lambda shape, *options: torch.nn.LayerNorm(shape),
        lambda shape, eps=1e-5, *switches: torch.nn.LayerNorm(shape, eps),
        lambda shape, eps=1e-5, affine=True, bias=True: torch.nn.LayerNorm(shape, eps, affine),
        lambda shape, eps=1e-5, affine=True, bias=True: torch.nn.LayerNorm(
            shape, eps, bias, affine
        ),
        lambda shape, eps=1e-12, *switches: torch.nn.LayerNorm(shape, eps, *switches),
        lambda shape, *options: torch.nn.LayerNorm(sizes_of(shape)[-1:], *options),
        lambda shape, *options: torch.nn.Sequential(torch.nn.LayerNorm(shape, *options)),
        lambda shape, *options: torch.nn.LayerNorm(shape, *options).requires_grad_(False),
        lambda *options: Changed(lambda y: y.detach(), *options),
        lambda *options: Changed(lambda y: y.float(), *options),
        lambda *options: Changed(lambda y: y + 1e-3, *options),
        lambda *options: Changed(lambda y: y.flatten(1), *options),
        lambda *options: Quiet(*options),
    ],
    "adds": [
        *(1, 1.5, 0.5, 2, 12, 24, 25, 26, 12.5, 13.5, 14, 16834, 1e9, 3.6, 3.61, 3.5, -13, 0, 7),
        *("13", "thirteen", [13], (13,), 13j, True, math.nan, math.inf, torch.tensor([13.0])),
    ],
    "two_ways": [
        *((-1, -1), (2, 2), (2, -1), (1, 2), (-1, -2), (-1, 3), (-1, -3), (-1, 0), (0, 2), (12, 2)),
        *((-1, 1), (-1, 4), (-1, 7), (-1, 12), (4, 4), (-3, 2), (-1, 2, 2), (-1,), -1, 2, 1),
        *("-1, 2", ("-1", "2"), {-1, 2}, (-1, math.nan), None.__class__, torch.tensor([2.0, -1.0])),
    ],
    "post_ln": [
        *FOOLING["post_ln"],
        lambda x, f: f(norm_of(x)) + x,
        lambda x, f: norm_of(x) + f(x),
        lambda x, f: norm_of(f(x)) + norm_of(x),
        lambda x, f: norm_of(x * f(x)),
        lambda x, f: norm_of(x - f(x)),
        lambda x, f: norm_of(f(x + x)),
        lambda x, f: norm_of(x + f(f(x))),
        lambda x, f: x + norm_of(x + f(x)),
        lambda x, f: norm_of(norm_of(x) + f(x)),
        lambda x, f: norm_of(x) + f(x + f(x)),
        lambda x, f: torch.cat([x, norm_of(f(x))], -1),
        lambda x, f: over(x + f(x), 0),
        lambda x, f: over(x + f(x), (0, 1)),
        lambda x, f: over(x + f(x), (1, 2)),
        lambda x, f: over(x + f(x), -1, unbiased=True),
        lambda x, f: (x + f(x) - mean_of(x)) / var_of(x).sqrt(),
        lambda x, f: norm_of(x + f(x)).tolist(),
        lambda x, f: norm_of(x + f(x)).double(),
        lambda x, f: f,
        lambda x: norm_of(x),
        lambda x, f: norm_of(x + f),
    ],
    "pre_ln": [
        *FOOLING["pre_ln"],
        lambda x, f: norm_of(x + f(x)),
        lambda x, f: norm_of(x) + f(norm_of(x)),
        lambda x, f: norm_of(x + f(norm_of(x))),
        lambda x, f: x + norm_of(f(x)),
        lambda x, f: x + norm_of(f(norm_of(x))),
        lambda x, f: f(norm_of(x)),
        lambda x, f: norm_of(x),
        lambda x, f: x - f(norm_of(x)),
        lambda x, f: x * f(norm_of(x)),
        lambda x, f: x + f(x - mean_of(x)),
        lambda x, f: x + f(x / (var_of(x) + 1e-5).sqrt()),
        lambda x, f: x + f(f(norm_of(x))),
        lambda x, f: x + f(x) + norm_of(x),
        lambda x, f: x + f(over(x, 0)),
        lambda x, f: x + f(over(x, (1, 2))),
        lambda x, f: x + f(over(x, -1, unbiased=True)),
        lambda x, f: x + f(norm_of(x).transpose(0, 1)).transpose(0, 1).flip(0),
        lambda x, f: (x + f(norm_of(x))).numpy(),
        lambda x, f: f(x + norm_of(x)),
        lambda x, f: norm_of,
    ],
    "ending": [
        *FOOLING["ending"],
        lambda x, fs: pre_ln_blocks(x, fs),
        lambda x, fs: pre_ln_blocks(norm_of(x), fs),
        lambda x, fs: norm_of(norm_of(x) + sum(f(norm_of(x)) for f in fs)),
        lambda x, fs: norm_of(x),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs[:-1])),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs[1:])),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs[:1] * len(fs))),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs * 2)),
        lambda x, fs: norm_of(pre_ln_blocks(x, fs[::-1])),
        lambda x, fs: x + norm_of(pre_ln_blocks(x, fs)),
        lambda x, fs: over(pre_ln_blocks(x, fs), 0),
        lambda x, fs: over(pre_ln_blocks(x, fs), (1, 2)),
        lambda x, fs: over(pre_ln_blocks(x, fs), -1, unbiased=True),
        lambda x, fs: [norm_of(x + f(norm_of(x))) for f in fs],
        lambda x, fs: fs(x),
    ],
    "params": [
        *(
            1536,
            26,
            24,
            832,
            768,
            128,
            64,
            13,
            12,
            3200,
            3072,
            1600,
            1663,
            1665,
            2 * 1664,
            0,
            -1664,
        ),
        *("1664", [1664], (1664,), (13, 128), True, 1664j, math.inf, torch.tensor([1664.0])),
    ],
    "slope": [
        *(1, 10, 0, 0.01, 100, 0.316, 3.16, -0.1, 0.2, 0.9, 0.05, 0.11, 0.09, 1 / 9, math.nan),
        *("0.1", "a tenth", [0.1], (0.1,), 0.1j, True, torch.tensor([0.1])),
    ],
}
