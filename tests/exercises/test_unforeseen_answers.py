"""No wrong answer is called right, even one that the banks have never seen.

These attempts don't come from the banks or from `slips`, on purpose: they are what a confused or
hurried student could write after reading the notebooks alone. They are independent of the code that
they test, so a mistake in that code can't hide itself.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from exercise_banks import EXERCISES, is_prediction

from lnorm_utils import layer_norm, standardize
from lnorm_utils.exercises.engine.feedback import State

NAMES = {"F": F, "layer_norm": layer_norm, "standardize": standardize}
BY_NAME = {exercise.name: exercise for exercise in EXERCISES}
PREDICTIONS = [exercise for exercise in EXERCISES if is_prediction(exercise)]
TENSORS = [e for e in EXERCISES if isinstance(e.expected(e.answers[0])[0], torch.Tensor)]
TENSORS = [exercise for exercise in TENSORS if not exercise.use_class]

# Most are within 1e-3 of the right numbers on data of variance 1 with 256 features, or on one of
# the exercise's own inputs.
WRONG = {
    "row_means(x)": """
        x.sum(-1, keepdim=True) / (x.shape[-1] - 1)
        x.sum(-1, keepdim=True) / (x.shape[-1] + 1)
        x.sum(-1, keepdim=True) / 256
        x.sum(-1, keepdim=True) / 4
        mean_of(x) + 1e-5
        mean_of(x).round(decimals=3)
        mean_of(x[..., :-1])
    """,
    "center(x)": """
        x - x.sum(-1, keepdim=True) / (x.shape[-1] - 1)
        x - x.sum(-1, keepdim=True) / 4
        x - mean_of(x).round(decimals=3)
        x - mean_of(x) + 1e-5
        x - x.mean(1, keepdim=True)
        x - mean_of(x).clamp(min=0)
    """,
    "swap(x)": """
        x.transpose(0, 1).flip(0)
        x.transpose(0, 1).abs()
        x.transpose(0, 1).half().to(x.dtype)
    """,
    "row_vars(x)": """
        var_of(x) + 1e-5
        var_of(x).clamp(min=1e-5)
        (x - mean_of(x)).square().sum(-1, keepdim=True) / 256
        (x - mean_of(x)).square().sum(-1, keepdim=True) / 3
        (x - mean_of(x)).square().sum(-1, keepdim=True) / (x.shape[-1] + 1)
        var_of(x).round(decimals=3)
    """,
    "far_std(x)": """
        (var_of(x) + 1e-5).sqrt()
        (var_of(x) + 1e-6).sqrt()
        var_of(x).sqrt() + 1e-5
        var_of(x.half()).sqrt().to(x.dtype)
        one_pass(x - 10_000).sqrt()
        one_pass(x - x.flatten()[0]).clamp(min=0).sqrt()
    """,
    "formula(x, eps)": """
        norm_of(x, eps**2)
        norm_of(x, -eps)
        norm_of(x, 2 * eps)
        norm_of(norm_of(x, eps), eps)
        (x - mean_of(x)) / var_of(x).clamp(min=eps).sqrt()
        (x - mean_of(x) + eps) / var_of(x).sqrt()
        F.normalize(x - mean_of(x), dim=-1, eps=eps) * radius(x)
        over(x, 1, eps)
    """,
    "add_norm(x, f)": """
        standardize(x + f, dim=1)
        standardize(x) + f / radius(x)
        (x + f - mean_of(x + f)) / (var_of(x) + var_of(f)).sqrt()
    """,
    "rescale(x_hat, weight, bias)": """
        x_hat
        x_hat + bias
        x_hat * weight - bias
        x_hat * weight.abs() + bias
        x_hat / weight + bias
        standardize(x_hat * weight + bias)
        torch.cat([x_hat[..., :1], (x_hat * weight + bias)[..., 1:]], -1)
    """,
    "way_back(y, weight, bias, mean, root)": """
        (y + bias) / weight * root + mean
        (y - bias) * weight * root + mean
        (y - bias) / (weight + 1e-5) * root + mean
        (y * root + mean - bias) / weight
        (y - bias) / weight * (root + 1e-5) + mean
        (y - bias) / weight * (root**2 + 1e-3).sqrt() + mean
    """,
    "words(x)": """
        over(x, (0, 1), eps=0.0)
        over(x, (0, 1), eps=1e-6)
        over(x, (0, 1), eps=1e-3)
        over(over(x, (0, 1)), (0, 1))
        (x - x.mean((0, 1))) / (x.std((0, 1), unbiased=False) + 1e-5)
    """,
    "pixels(x)": """
        over(x, 1, eps=0.0)
        over(x, 1, eps=1e-6)
        over(x, 1, eps=1e-3)
        (x - x.mean(1, keepdim=True)) / (x.std(1, False, keepdim=True) + 1e-5)
    """,
    "from_delta(delta, eps)": """
        delta / 2 / (delta.square() / 4 + 1e-5).sqrt()
        delta / 2 / (delta.square() / 4 + eps**2).sqrt()
        (delta / 2 / (delta.square() / 4 + eps).sqrt()).abs()
        (delta / (2 * eps**0.5)).tanh()
    """,
    "sphere(x)": """
        16 * F.normalize(x - mean_of(x), dim=-1)
        2 * F.normalize(x - mean_of(x), dim=-1)
        (x - mean_of(x)) / ((x - mean_of(x)).norm(dim=-1, keepdim=True) + 1e-5) * radius(x)
        F.normalize(x - mean_of(x)) * radius(x)
    """,
    "rescue(x, weight, bias)": """
        layer_norm((x @ weight.T + bias).relu(), 6)
        layer_norm(x @ weight.T + bias, 6, bias, bias)
        layer_norm(x @ weight.T + bias, (len(x), 6))
        over(x @ weight.T + bias, -1, unbiased=True)
    """,
    "equal_bias(e)": """
        e / 16
        e / 6**0.5
        e / 2.449
        e / (radius(e) + 1e-5)
        (e / radius(e)).round(decimals=3)
        (e / radius(e)).abs()
    """,
    "fits(x_shape, shape)": """
        True
        False
        len(x_shape) >= len(sizes_of(shape))
        x_shape[-len(sizes_of(shape)) :] <= sizes_of(shape)
        sizes_of(shape)[::-1] == x_shape[: len(sizes_of(shape))]
        x_shape[1:] == sizes_of(shape)
        x_shape[-2:] == sizes_of(shape)
    """,
    "repair(size, eps)": """
        torch.nn.LayerNorm(size, eps=eps**2)
        torch.nn.Sequential(torch.nn.LayerNorm(size, eps=eps))
        torch.nn.LayerNorm(size, eps=eps).requires_grad_(False)
        Changed(lambda y: y.detach(), size, eps)
        Changed(lambda y: y + 1e-3, size, eps)
    """,
    "mine(shape, eps=1e-12, affine=True, bias=True)": """
        torch.nn.LayerNorm(shape, eps, affine, bias)
    """,
    "mine(shape, eps=1e-5, affine=True, bias=True)": """
        torch.nn.LayerNorm(shape, eps, bias, affine)
    """,
    "mine(*options)": """
        torch.nn.Sequential(torch.nn.LayerNorm(*options))
        torch.nn.LayerNorm(*options).requires_grad_(False)
        Changed(lambda y: y.detach(), *options)
        Changed(lambda y: y + 1e-3, *options)
    """,
    "post_ln(x, f)": """
        norm_of(x + f(x), 0.0)
        norm_of(x + f(x), 1e-6)
        norm_of(norm_of(x + f(x)))
        norm_of(x + f(x)).round(decimals=3)
        norm_of((x + f(x)).half()).float()
    """,
    "pre_ln(x, f)": """
        x + f(norm_of(x, 0.0))
        x + f(norm_of(x, 1e-4))
        x + f(norm_of(norm_of(x)))
        (x + f(norm_of(x))).round(decimals=3)
    """,
    "ending(x, fs)": """
        norm_of(pre_ln_blocks(x, fs), 0.0)
        norm_of(pre_ln_blocks(x, fs, 1e-4))
        norm_of(norm_of(pre_ln_blocks(x, fs)))
        norm_of(pre_ln_blocks(x, fs)).round(decimals=3)
        norm_of(pre_ln_blocks(x, fs[:-1]))
    """,
}
CASES = [
    (*signature.rstrip(")").split("(", 1), line.strip())
    for signature, lines in WRONG.items()
    for line in lines.strip().splitlines()
]


class Changed(torch.nn.LayerNorm):
    """PyTorch's layer, whose output is changed at the end."""

    def __init__(self, change, *arguments):
        super().__init__(*arguments)
        self.change = change

    def forward(self, x):
        return self.change(super().forward(x))


def sizes_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def mean_of(x):
    return x.mean(-1, keepdim=True)


def var_of(x):
    return x.var(-1, unbiased=False, keepdim=True)


def one_pass(x):
    return x.square().mean(-1, keepdim=True) - mean_of(x).square()


def norm_of(x, eps=1e-5):
    return (x - mean_of(x)) / (var_of(x) + eps).sqrt()


def over(x, dim, eps=1e-5, unbiased=False):
    var = x.var(dim, unbiased=unbiased, keepdim=True)
    return (x - x.mean(dim, keepdim=True)) / (var + eps).sqrt()


def radius(x):
    return x.shape[-1] ** 0.5


def pre_ln_blocks(x, fs, eps=1e-5):
    for f in fs:
        x = x + f(norm_of(x, eps))
    return x


def assert_wrong(feedback):
    assert feedback.state is State.WRONG
    assert feedback.message.strip().endswith(".")


@pytest.mark.parametrize(("name", "parameters", "line"), CASES)
def test_a_wrong_function_is_not_right(name, parameters, line):
    assert_wrong(BY_NAME[name].judge(eval(f"lambda {parameters}: {line}", globals() | NAMES)))


def wrong_forms(right):
    """Make values that look like a right value and are not."""
    yield from (1j, [[right]], {0: right}, lambda: right, math.inf, math.nan)
    yield from ("", "nothing", b"right", range(64), torch.full((2, 2), 7.0))
    if isinstance(right, str):
        yield from (f"not {right}", right[:-1], f"{right} {right}", [right], (right,))
    elif isinstance(right, tuple):
        yield from (right[:-1], (*right, 1), tuple(n + 0.5 for n in right))
        yield from (str(right), tuple(map(str, right)), (right,), (right[0], math.nan))
        yield from (set(right), (1j * right[0], *right[1:]))
    else:
        yield from (-right or 1, 10 * right or 10, right + 0.1, right - 0.1, 1j * (right or 1))
        yield from (str(right), [right], (right,), {right}, torch.tensor([right]), (right, right))
        yield right == 1


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=lambda exercise: exercise.name)
def test_a_value_that_only_looks_like_the_right_one_is_not_right(exercise):
    for value in wrong_forms(exercise.answers[0]()):
        assert_wrong(exercise.judge(value))


WRONG_FORMS = {
    "another dtype": lambda y: y.float() if y.dtype == torch.float64 else y.double(),
    "a list": torch.Tensor.tolist,
    "an array": torch.Tensor.numpy,
    "a tuple": lambda y: (y,),
    "one axis more": lambda y: y[None],
    "without the last row": lambda y: y[:-1],
    "off by a thousandth": lambda y: y + 1e-3,
    "the other sign": lambda y: -y,
    "in place": lambda y: y,
}


@pytest.mark.parametrize("form", WRONG_FORMS)
@pytest.mark.parametrize("exercise", TENSORS, ids=lambda exercise: exercise.name)
def test_a_result_that_only_looks_like_the_right_one_is_not_right(exercise, form):
    def attempt(*arguments):
        y = exercise.answers[0](*arguments)
        if form == "in place":
            next(a for a in arguments if isinstance(a, torch.Tensor)).add_(1)
        return WRONG_FORMS[form](y)

    assert_wrong(exercise.judge(attempt))


def test_every_exercise_that_is_code_has_wrong_answers_here():
    code = {exercise.name for exercise in EXERCISES if not is_prediction(exercise)}
    missing = code - {name for name, *_ in CASES}
    assert not missing, "give each of these wrong answers in WRONG"
