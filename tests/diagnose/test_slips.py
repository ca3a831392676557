"""Each slip does what its words say, and without slips it is PyTorch's layer norm."""

import itertools
import re

import pytest
import torch
from torch.nn.functional import layer_norm, normalize

from lnorm_course.diagnose.forward import NormWithSlips, combined
from lnorm_course.diagnose.known import SLIPS
from lnorm_course.diagnose.layout import SENTENCES, LastAxes
from lnorm_course.diagnose.slip import compatible

EPS = 0.1
# As many rows as features, so that a mean that has lost its axis raises no error.
X = (
    torch.tensor(
        [
            [[1.0, 2.0, 4.0, 7.0], [0.0, 3.0, 3.0, 8.0]],
            [[5.0, 1.0, 9.0, 2.0], [6.0, 2.0, 0.0, 1.0]],
            [[3.0, 3.0, 7.0, 4.0], [2.0, 8.0, 1.0, 0.0]],
            [[0.0, 9.0, 7.0, 5.0], [1.0, 1.0, 6.0, 2.0]],
        ],
        dtype=torch.float64,
    )[:, :1].expand(4, 4, 4)
    * torch.arange(1.0, 5)[:, None]
)
GAMMA = torch.tensor([2.0, -1.0, 0.5, 3.0], dtype=torch.float64)
BETA = torch.tensor([0.1, 0.2, -0.3, 0.4], dtype=torch.float64)
MEAN, VAR = X.mean(-1, keepdim=True), X.var(-1, keepdim=True, correction=0)
CENTERED, ROOT = X - MEAN, (VAR + EPS).sqrt()
X_HAT = CENTERED / ROOT
SUM, TWICE = X.sum(-1, keepdim=True), layer_norm(X_HAT, [4], eps=EPS)
UNBIASED = X.var(-1, keepdim=True)
SQUARES, DISTANCES = X.square().mean(-1, keepdim=True), CENTERED.abs().mean(-1, keepdim=True)
AROUND_SUM = (X - SUM).square().mean(-1, keepdim=True)
MEDIAN, LARGER_MEAN = X.median(-1, keepdim=True).values, SUM / 3
STD = VAR.sqrt()


def lost(numbers):
    """Take an axis of size 1 away, so that the numbers meet other rows."""
    return numbers.squeeze(-1)


def affine(weight, bias):
    return X_HAT * weight + bias


# The formulas are written apart from the model. In the order of SLIPS, as it is the likelihood.
STANDARDIZED = [
    CENTERED / (UNBIASED + EPS).sqrt(),
    CENTERED / (STD + EPS),
    CENTERED / STD,
    CENTERED / (SQUARES + EPS).sqrt(),
    X / ROOT,
    (X - lost(MEAN)) / ROOT,
    CENTERED / lost(ROOT),
    (X - lost(MEAN)) / lost(ROOT),
    CENTERED / ((X - lost(MEAN)).square().mean(-1, keepdim=True) + EPS).sqrt(),
    CENTERED / (VAR + EPS),
    CENTERED / (STD + EPS).sqrt(),
    CENTERED / (4 * VAR + EPS).sqrt(),
    (X - SUM) / ROOT,
    (X - SUM) / (AROUND_SUM + EPS).sqrt(),
    CENTERED,
    -X_HAT,
    X - MEAN / ROOT,
    CENTERED / (VAR + 1e-5).sqrt(),
    CENTERED / STD + EPS,
    CENTERED / VAR.clamp(min=EPS).sqrt(),
    CENTERED / STD.clamp(min=EPS),
    CENTERED / (ROOT + EPS),
    CENTERED / (VAR - EPS).sqrt(),
    (CENTERED + EPS) / STD,
    normalize(CENTERED, dim=-1),
    2 * normalize(CENTERED, dim=-1, eps=EPS),
    normalize(CENTERED, dim=-1, eps=EPS),
    CENTERED / (DISTANCES + EPS),
    CENTERED / (VAR**2 + EPS).sqrt(),
    CENTERED / (VAR + EPS**2).sqrt(),
    *(CENTERED / (VAR + eps).sqrt() for eps in (1e-6, 1e-8)),
    CENTERED * ROOT,
    (X + MEAN) / ROOT,
    CENTERED / (DISTANCES + EPS).sqrt(),
    CENTERED / EPS**0.5,
    X_HAT,  # in one pass, but for digits
    X_HAT,
    (X - LARGER_MEAN) / ROOT,
    (X - MEDIAN) / ROOT,
    (X - MEDIAN) / ((X - MEDIAN).square().mean(-1, keepdim=True) + EPS).sqrt(),
    TWICE,
]
G, B = GAMMA[0], BETA[0]
AFFINE = [
    X_HAT + BETA,
    X_HAT * GAMMA,
    X_HAT,
    (X_HAT + BETA) * GAMMA,
    layer_norm(X * GAMMA + BETA, [4], eps=EPS),
    affine(BETA, GAMMA),
    affine(GAMMA.mean(), BETA.mean()),
    affine(G, B),
    affine(GAMMA[:, None], BETA[:, None]),
    X_HAT / GAMMA + BETA,
    X_HAT * GAMMA - BETA,
    X_HAT + GAMMA + BETA,
    X_HAT * GAMMA * BETA,
    *(affine(g, BETA) for g in (GAMMA.mean(), G, GAMMA.abs(), GAMMA**2, GAMMA[:, None])),
    *(affine(GAMMA, b) for b in (BETA.mean(), B, BETA.abs(), BETA**2, BETA[:, None])),
    affine(1 + GAMMA, BETA),
]


def close(one, other, name=""):
    told = f"{name}: {{}}".format
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9, msg=told)


def with_slips(*slips):
    return combined(*slips).layer_norm(X, GAMMA, BETA, eps=EPS)


HALVED = [2 * CENTERED / (VAR + EPS), CENTERED / (VAR + EPS) / 2]
EXPECTED = [*(y * GAMMA + BETA for y in STANDARDIZED), *AFFINE]
EXPECTED += [y * GAMMA + BETA for y in HALVED]


def test_a_slip_does_what_it_says_and_nothing_else():
    for slip, expected in zip(SLIPS, EXPECTED, strict=True):
        close(with_slips(slip), expected, slip.done)


def test_two_slips_are_both_made():
    unbiased, outside = SLIPS[:2]
    close(with_slips(unbiased, outside), CENTERED / (UNBIASED.sqrt() + EPS) * GAMMA + BETA)


def test_slips_that_throw_the_same_switch_do_not_go_together():
    unbiased, outside, left_out = SLIPS[:3]
    assert compatible([unbiased, outside])
    assert not compatible([outside, left_out])
    pairs = [pair for pair in itertools.combinations(SLIPS, 2) if compatible(pair)]
    assert all(len(a.changes | b.changes) == len(a.changes) + len(b.changes) for a, b in pairs)


def test_without_slips_it_is_layer_norm_step_by_step():
    norm = NormWithSlips()
    for weight, bias in itertools.product([GAMMA, None], [BETA, None]):
        right = layer_norm(X, [4], weight, bias, EPS)
        close(norm.layer_norm(X, weight, bias, eps=EPS), right)
        close(norm.affine(X_HAT, weight, bias), right)
    steps = (norm.mean(X), norm.center(X), norm.variance(X), norm.deviation(X, eps=EPS))
    for step, right in zip(steps, (MEAN, CENTERED, VAR, ROOT), strict=True):
        close(step, right)
    close(norm.standardize(X, (-2, -1), EPS), layer_norm(X, [4, 4], eps=EPS))


def test_in_one_pass_all_digits_are_lost_far_from_zero():
    in_one_pass = next(slip for slip in SLIPS if "E[x²]" in slip.done)
    assert (combined(in_one_pass).variance(2.0**30 + X) - VAR).abs().max() > 1


LAYOUTS = [SENTENCES, LastAxes()]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: type(layout).__name__)
def test_the_words_of_a_slip_fit_into_the_sentences(layout):
    slips = layout.all_slips()
    assert len({slip.done for slip in slips}) >= len(slips) - 1  # of one pass there are two
    for slip in slips:
        done, instead = (layout.in_its_letters(text) for text in (slip.told, slip.instead))
        assert not re.search(r"[.:!?{}]$|\. |[{}]|  ", f"{done} {instead}".replace("( ", "(")), done
        assert re.match(r"[a-zγεβ`]", done)
        # "Layer norm …": what it does, so a verb with an s.
        assert re.match(r"(only |also )?\w+s\b", instead)


def test_axes_are_called_what_they_are_and_averaged_over():
    over = {slip.done: slip for slip in SENTENCES.all_slips()}
    wrong = over["you averaged over the batch and the positions"]
    statistics = {"dim": (0, 1), "keepdim": True}
    expected = (X - X.mean(**statistics)) / (X.var(**statistics, correction=0) + EPS).sqrt()
    close(combined(wrong).standardize(X, eps=EPS), expected)
    mean_alone = over["your mean runs over the batch"]
    close(combined(mean_alone).standardize(X, eps=EPS), (X - X.mean(0)) / ROOT)
