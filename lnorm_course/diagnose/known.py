"""Every slip of layer norm that has a name, those of γ and β apart, in `affine.py`.

The exercises search them for the fewest that return what a student's code returned, the explorer
`explore_broken` shows on which data a few can be seen, and `diagnose` knows more for whole layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_course.diagnose.affine import AFFINE_LEFT_OUT, AFFINE_SLIPS
from lnorm_course.diagnose.forward import Axes, NormWithSlips, share_of
from lnorm_course.diagnose.slip import Slip
from lnorm_course.slips.beliefs import Belief

__all__ = [
    "AFFINE_LEFT_OUT",
    "CONSTANTS",
    "EPS_LEFT_OUT",
    "EPS_OUTSIDE",
    "ONE_PASS",
    "SLIPS",
    "UNBIASED",
]


def _in_one_pass(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.square().mean(axes, keep) - x.mean(axes, keep).square()


UNBIASED = Slip(
    "your variance divides by {D} − 1",
    "divides by {D} (`correction=0`)",
    {"divisor": lambda size: size - 1},
    Belief.VARIANCE_OVER_D_MINUS_1,
    "as `var` and `std` do by default",
)
EPS_OUTSIDE = Slip(
    "ε is added outside the root",
    "adds ε to the variance, inside the root",
    {"denominator": lambda variance, eps, root: root(variance) + eps},
    Belief.EPS_OUTSIDE_THE_ROOT,
    "to the standard deviation",
)
EPS_LEFT_OUT = Slip(
    "ε is left out",
    "adds ε to the variance, inside the root",
    {"denominator": lambda variance, eps, root: root(variance)},
    Belief.EPS_OUTSIDE_THE_ROOT,
)
ONE_PASS = Slip(
    "your variance is E[x²] − E[x]²",
    "subtracts the mean before it squares",
    {"own_variance": _in_one_pass},
    Belief.ONE_PASS_IS_AS_GOOD,
    "which loses its digits when the mean is large",
)


def _detached_mean(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.mean(axes, keep).detach()


# They show in gradients only, so only the layout of a module has them.
CONSTANTS = (
    Slip(
        "your mean and variance are constants for PyTorch",
        "lets the gradient through both (no `detach`, no `no_grad`)",
        {"average": _detached_mean, "spread": torch.detach},
        Belief.STATISTICS_ARE_CONSTANTS,
    ),
    Slip(
        "your mean is a constant for PyTorch",
        "lets the gradient through it (no `detach`, no `no_grad`)",
        {"average": _detached_mean},
        Belief.STATISTICS_ARE_CONSTANTS,
    ),
    Slip(
        "your variance is a constant for PyTorch",
        "lets the gradient through it (no `detach`, no `no_grad`)",
        {"spread": torch.detach},
        Belief.STATISTICS_ARE_CONSTANTS,
    ),
)


def _constant(eps: float, words: str) -> Slip:
    return Slip(f"your ε is {words}", "uses the given ε", {"eps": lambda given: eps})


def _median(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    """Take the median over one axis; more raise what they do there."""
    one = axes if isinstance(axes, int) or len(axes) > 1 else axes[0]
    return x.median(one, keep).values  # type: ignore[arg-type]


# The default of a switch, where a slip has to say that it leaves it alone: two slips that throw the
# same switch never stand in one message.
SUBTRACTED = NormWithSlips().inner_mean
UNDER_THE_ROOT = NormWithSlips().denominator

# The likeliest first.
SLIPS = (
    UNBIASED,
    EPS_OUTSIDE,
    EPS_LEFT_OUT,
    Slip(
        "your variance squares the numbers themselves",
        "subtracts the mean before it squares",
        {"inner_mean": lambda x, mean: x},
        detail="not their distances from the mean",
    ),
    Slip(
        "you didn't subtract the mean",
        "subtracts the mean from x",
        {"numerator": lambda x, mean: x},
    ),
    Slip(
        "your mean has lost its axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"mean_keeps_axes": False},
    ),
    Slip(
        "your variance has lost its axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"variance_keeps_axes": False},
    ),
    Slip(
        "your mean and variance have lost their axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"mean_keeps_axes": False, "variance_keeps_axes": False},
    ),
    Slip(
        "the mean inside your variance has lost its axis",
        "keeps the axis that it averages over, with size 1 (`keepdim=True`)",
        {"inner_average": lambda x, axes, keep: x.mean(axes)},
    ),
    Slip(
        "there is no root",
        "takes the root of the variance",
        {"root": lambda variance: variance},
    ),
    Slip(
        "in place of the variance you have its root",
        "starts from the variance itself",
        {"spread": torch.sqrt, "root": torch.sqrt},  # without the root after it, nothing is wrong
        detail="the standard deviation",
    ),
    Slip(
        "your variance is a sum",
        "divides the sum of the squares by {D}",
        {"divisor": lambda size: 1},
        detail="and isn't divided by anything",
    ),
    Slip(
        "your mean is a sum",
        "divides the sum by {D}",
        {"average": torch.sum},
        detail="and isn't divided by anything",
    ),
    Slip(
        "your mean and the mean inside your variance are sums",
        "divides each sum by {D}",
        {"average": torch.sum, "inner_average": torch.sum},
    ),
    Slip(
        "you didn't divide by the standard deviation",
        "divides by the root of variance plus ε",
        {"quotient": lambda x, mean, above, below, eps: above},
    ),
    Slip(
        "the signs are flipped",
        "subtracts the mean from x",
        {"numerator": lambda x, mean: mean - x},
        detail="because x is subtracted from the mean",
    ),
    Slip(
        "only the mean is divided",
        "divides the whole difference",
        {"quotient": lambda x, mean, above, below, eps: x - mean / below},
        detail="because x − mean has no parentheses around it",
    ),
    _constant(1e-5, "always 1e-5"),
    Slip(
        "ε is added to the result",
        "adds ε to the variance, inside the root",
        {
            "denominator": lambda variance, eps, root: root(variance),
            "quotient": lambda x, mean, above, below, eps: above / below + eps,
        },
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "a variance below ε is raised to ε",
        "adds ε to the variance",
        {"denominator": lambda variance, eps, root: root(variance.clamp(min=eps))},
    ),
    Slip(
        "a standard deviation below ε is raised to ε",
        "adds ε to the variance, inside the root",
        {"denominator": lambda variance, eps, root: root(variance).clamp(min=eps)},
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "ε is added twice",
        "adds ε once, inside the root",
        {"denominator": lambda variance, eps, root: root(variance + eps) + eps},
        detail="inside the root and outside",
    ),
    Slip(
        "ε is subtracted",
        "adds ε",
        {"denominator": lambda variance, eps, root: root(variance - eps)},
    ),
    Slip(
        "ε is added to the numerator",
        "adds ε to the variance, inside the root",
        {
            "denominator": lambda variance, eps, root: root(variance),
            "quotient": lambda x, mean, above, below, eps: (above + eps) / below,
        },
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "each row has length 1",
        "divides by the root of variance plus ε, so its rows have length √{D}",
        {"quotient": lambda x, mean, above, below, eps: F.normalize(above, dim=-1)},
        detail="because of `F.normalize`",
    ),
    Slip(
        "in `F.normalize` ε is only a lower limit for the length of the row",
        "adds ε to the variance, inside the root",
        {
            "quotient": lambda x, mean, above, below, eps: (
                F.normalize(above, dim=-1, eps=eps) * above.shape[-1] ** 0.5
            )
        },
        Belief.EPS_OUTSIDE_THE_ROOT,
    ),
    Slip(
        "with `F.normalize` each row has length 1, and ε is only a lower limit for its length",
        "divides by the root of variance plus ε, so its rows have length √{D}",
        {
            "denominator": UNDER_THE_ROOT,
            "quotient": lambda x, mean, above, below, eps: F.normalize(above, dim=-1, eps=eps),
        },
    ),
    Slip(
        "you took the mean distance from the mean",
        "squares the distances, averages the squares, and takes the root",
        {"squared": torch.abs, "root": lambda variance: variance, "inner_mean": SUBTRACTED},
        detail="without squares and without a root",
    ),
    Slip(
        "the variance is squared",
        "uses it as it is",
        # Without ε below the root, this is to leave out the root.
        {"spread": torch.square, "denominator": UNDER_THE_ROOT},
    ),
    Slip("your ε is squared", "adds ε as it is", {"eps": lambda eps: eps**2}),
    _constant(1e-6, "1e-6"),
    _constant(1e-8, "1e-8"),
    Slip(
        "you multiplied by the standard deviation",
        "divides by the standard deviation",
        {"quotient": lambda x, mean, above, below, eps: above * below},
    ),
    Slip("you added the mean", "subtracts the mean", {"numerator": lambda x, mean: x + mean}),
    Slip(
        "you averaged the distances without their signs",
        "averages their squares",
        {"squared": torch.abs, "inner_mean": SUBTRACTED},
    ),
    Slip(
        "you averaged the distances without squaring them",
        "averages their squares",
        {"squared": lambda distance: distance, "inner_mean": SUBTRACTED},
        detail="so they add up to 0",
    ),
    ONE_PASS,
    Slip(
        ONE_PASS.done,
        ONE_PASS.instead,
        {"own_variance": lambda x, axes, keep: _in_one_pass(x, axes, keep).clamp(min=0)},
        ONE_PASS.belief,
        ONE_PASS.detail,
    ),
    Slip(
        "your mean divides by {D} − 1",
        "divides the sum by {D}",
        {"average": lambda x, axes, keep: x.sum(axes, keep) / (share_of(x, x.sum(axes)) - 1)},
    ),
    Slip("you took the median", "takes the mean", {"average": _median}),
    Slip(
        "you took the median, inside your variance too",
        "takes the mean",
        {"average": _median, "inner_average": _median},
    ),
    Slip("you normalized twice", "normalizes once", {"times": 2}),
    *AFFINE_SLIPS,
    Slip(
        "your root is half of the variance",
        "takes the root of the variance",
        {"root": lambda variance: variance / 2},
        detail="because Python reads `a ** 1/2` as `(a ** 1) / 2`",
    ),
    Slip(
        "you divided by the variance and then by 2",
        "divides by the root of the variance",
        {
            "root": lambda variance: variance,
            "quotient": lambda x, mean, above, below, eps: above / below / 2,
        },
        detail="because Python reads `a / b ** 1/2` as `(a / b) / 2`",
    ),
)
