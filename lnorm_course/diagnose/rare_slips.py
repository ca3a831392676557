"""Slips of a whole layer that are seen now and then, and tried last."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_course.diagnose.forward import Axes, share_of
from lnorm_course.diagnose.slip import Slip

__all__ = ["RARE"]


def _with_eps(power: int) -> Callable:
    """Return a quotient whose ε is multiplied by a power of D."""

    def quotient(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
        factor = share_of(x, below) ** power
        return above / (below.square() + (factor - 1) * eps).sqrt()

    return quotient


def _scaled(power: float) -> Callable:
    """Return a quotient that is multiplied by a power of D."""
    return lambda x, mean, above, below, eps: above / below * share_of(x, below) ** power


def _of_some(some: slice) -> Callable:
    """Return a quotient whose statistics leave out some features."""

    def quotient(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
        part = x[..., some]
        average = part.mean(-1, keepdim=True)
        variance = (part - average).square().mean(-1, keepdim=True)
        return (x - average) / (variance + eps).sqrt()

    return quotient


def _short_sums(some: slice) -> Callable:
    """Return a quotient whose sums leave out some features, and are divided by D all the same."""

    def quotient(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
        part, size = x[..., some], x.shape[-1]
        average = part.sum(-1, keepdim=True) / size
        variance = (part - average).square().sum(-1, keepdim=True) / size
        return (x - average) / (variance + eps).sqrt()

    return quotient


def _with_eps_behind(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
    return above * (above.square().mean(-1, keepdim=True).rsqrt() + eps)


def _unpacked_backward(correction: int) -> Callable:
    """Return a quotient for which `std_mean` is unpacked as mean and standard deviation."""

    def quotient(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
        deviation, average = torch.std_mean(x, -1, correction=correction, keepdim=True)
        return (x - deviation) / (average.square() + eps).sqrt()

    return quotient


def _repeated(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
    """Spread the statistics of the rows over the numbers in the wrong order."""
    spread = [each.flatten().repeat(x.shape[-1]).reshape(x.shape) for each in (mean, below)]
    return (x - spread[0]) / spread[1]


def _by_row(x: Tensor, parameter: Tensor) -> Tensor:
    """Return for each row what γ or β is at its number."""
    rows = torch.arange(x[..., 0].numel()) % parameter.numel()
    return parameter.flatten()[rows].reshape(x[..., :1].shape)


def _robust(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
    distances = x - x.median(-1, True).values
    return distances / (distances.abs().median(-1, True).values + eps)


def _with_a_plain_mean(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.square().mean(axes, keep) - x.mean(axes, keep)


def _with_a_plus(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.square().mean(axes, keep) + x.mean(axes, keep).square()


def _no_less_than_zero(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _with_a_plain_mean(x, axes, keep).clamp(min=0)


def _never_set_back(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    variance = x.var(axes, correction=0, keepdim=keep)
    return variance.flatten().cumsum(0).reshape(variance.shape)


def _centered_twice(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return (x.var(axes, correction=0, keepdim=keep) - x.mean(axes, keep).square()).abs()


def _without_one(feature: int) -> Callable:
    def variance(x: Tensor, axes: Axes, keep: bool) -> Tensor:
        squares = (x - x.mean(axes, True)).square()
        squares[..., feature] = 0
        return squares.mean(axes, keep)

    return variance


def _of_halves(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    halves = x.tensor_split(2, -1)
    inside = [(h - h.mean(-1, True)).square() for h in halves]
    return torch.cat(inside, -1).mean(-1, keep)


def _welford(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    counts = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    before = F.pad((x.cumsum(-1) / counts)[..., :-1], (1, 0))  # the mean of those before each
    return (x - before).square().mean(-1, keep)


WITHOUT_GAMMA = {"scaled": lambda x, gamma: x}
WITHOUT_BETA = {"shifted": lambda x, beta: x}
# The likeliest first.
RARE = (
    *(
        Slip(f"your ε is {words}", "adds ε as it is", {"quotient": _with_eps(power)})
        for words, power in (("multiplied by {D}", 1), ("divided by {D}", -1))
    ),
    Slip("your ε is doubled", "adds ε as it is", {"eps": lambda eps: 2 * eps}),
    Slip("you took the root of ε", "adds ε as it is", {"eps": lambda eps: eps**0.5}),
    *(
        Slip(done, "divides by the root of variance plus ε alone", {"quotient": _scaled(power)})
        for done, power in (
            ("each row is divided by {D} once more", -1),
            ("each row is divided by √{D} once more", -0.5),
            ("each row is multiplied by √{D}", 0.5),
        )
    ),
    *(
        Slip(f"your variance divides by {{D}} {words}", "divides by {D}", {"divisor": divisor})
        for words, divisor in (
            ("+ 1", lambda size: size + 1),
            ("+ 2", lambda size: size + 2),
            ("− 2", lambda size: size - 2),
        )
    ),
    *(
        Slip(f"you subtracted {words}", "subtracts the mean from x", {"numerator": numerator})
        for words, numerator in (
            ("half of the mean", lambda x, mean: x - mean / 2),
            ("the mean twice", lambda x, mean: x - 2 * mean),
            ("the largest number of each row", lambda x, mean: x - x.amax(-1, True)),
            ("the smallest number of each row", lambda x, mean: x - x.amin(-1, True)),
            ("the first number of each row", lambda x, mean: x - x[..., :1]),
        )
    ),
    *(
        Slip(f"you took {words}", "takes the square root", {"root": root})
        for words, root in (
            ("a cube root", lambda variance: variance ** (1 / 3)),
            ("a fourth root", lambda variance: variance**0.25),
        )
    ),
    *(
        Slip(
            f"you divided by {words}",
            "divides by the root of variance plus ε",
            {
                "quotient": lambda x, mean, above, below, eps, by=by, times=times: (
                    above / (by(above) + times * eps)
                )
            },
        )
        for times in (1, 0)  # with ε, and without
        for words, by in (
            (
                "the distance between the largest and the smallest number",
                lambda above: above.amax(-1, True) - above.amin(-1, True),
            ),
            ("the largest distance", lambda above: above.abs().amax(-1, True)),
            ("the median distance", lambda above: above.abs().median(-1, True).values),
            ("the length of the row", lambda above: above.norm(dim=-1, keepdim=True)),
        )
    ),
    Slip(
        "you took the median and the median distance from it",
        "takes the mean, and the root of the mean square",
        {"quotient": _robust},
    ),
    *(
        Slip(
            f"your variance {words}",
            "averages the squares of all distances from the mean",
            {"own_variance": own},
        )
        for words, own in (
            ("is E[x²] − E[x], without a square on the mean", _with_a_plain_mean),
            ("is E[x²] − E[x], without a square on the mean", _no_less_than_zero),
            ("is E[x²] + E[x]², with a plus for the minus", _with_a_plus),
            ("isn't set back to 0 for the next row", _never_set_back),
            ("subtracts the mean first, and its square once more", _centered_twice),
            ("doesn't count the first feature", _without_one(0)),
            ("doesn't count the last feature", _without_one(-1)),
            ("averages those of two halves, as if their means were the same", _of_halves),
            ("adds old distance times old distance, and Welford's takes old times new", _welford),
        )
    ),
    *(
        Slip(
            f"your mean is {words} to a whole number",
            "takes the mean as it is",
            {switch: lambda x, axes, keep, to=to: to(x.mean(axes, keep)) for switch in switches},
        )
        for words, to in (("rounded down", torch.floor), ("cut off", torch.trunc))
        for switches in (("average", "inner_average"), ("average",))
    ),
    Slip(
        "γ multiplies x before the mean and the variance are taken",
        "multiplies by γ behind the division",
        {"before": lambda x, weight, bias: x * weight, **WITHOUT_GAMMA},
    ),
    Slip(
        "β is added to x before the mean and the variance are taken",
        "adds β at the end",
        {"before": lambda x, weight, bias: x + bias, **WITHOUT_BETA},
    ),
    Slip(
        "the mean is added back",
        "subtracts the mean for good",
        {"quotient": lambda x, mean, above, below, eps: above / below + mean},
    ),
    Slip(
        "β is divided by the standard deviation, as if it were added to x",
        "adds β at the end",
        {
            "early": lambda x, mean, above, below, eps, bias: (above + bias) / below,
            **WITHOUT_BETA,
        },
    ),
    Slip(
        "β is added to ε, inside the root",
        "adds β at the end",
        {
            "early": lambda x, mean, above, below, eps, bias: (
                above / (below.square() + bias).sqrt()
            ),
            **WITHOUT_BETA,
        },
    ),
    *(
        Slip(done, "multiplies by γ once, behind the division", {"weighed": weighed, **more})
        for done, weighed, more in (
            ("the mean is multiplied by γ too", lambda x, mean, weight: x - weight * mean, {}),
            (
                "γ multiplies the mean and not the difference",
                lambda x, mean, weight: x - weight * mean,
                WITHOUT_GAMMA,
            ),
            (
                "γ multiplies x alone, before the mean is subtracted",
                lambda x, mean, weight: x * weight - mean,
                WITHOUT_GAMMA,
            ),
        )
    ),
    Slip(
        "γ multiplies once more, behind β",
        "multiplies by γ once",
        {"gamma": lambda weight, bias: weight**2, "beta": lambda weight, bias: weight * bias},
    ),
    Slip(
        "β is multiplied by γ",
        "adds β as it is",
        {"beta": lambda weight, bias: bias if weight is None else weight * bias},
    ),
    *(
        Slip(
            f"γ goes through {name} before it multiplies",
            "multiplies by γ as it is",
            {"gamma": lambda weight, bias, function=function: function(weight)},
        )
        for name, function in (
            ("softplus", F.softplus),
            ("an exponential", torch.exp),
            ("a sigmoid", torch.sigmoid),
            ("tanh", torch.tanh),
            ("a square root", torch.sqrt),
        )
    ),
    *(
        Slip(
            f"the {which} feature isn't counted in the mean and the variance",
            "takes both from all features",
            {"quotient": _of_some(some)},
        )
        for which, some in (("first", slice(1, None)), ("last", slice(None, -1)))
    ),
    *(
        Slip(
            f"your sums leave out the {which} feature, and are divided by {{D}} all the same",
            "adds up all features",
            {"quotient": _short_sums(some)},
        )
        for which, some in (("first", slice(1, None)), ("last", slice(None, -1)))
    ),
    Slip(
        "the rows' means and variances stand at wrong numbers (`repeat` for `repeat_interleave`)",
        "gives each row its own",
        {"quotient": _repeated},
    ),
    Slip(
        "γ and β are taken by the number of the row",
        "takes them by the number of the feature",
        {
            "scaled": lambda x, gamma: x * _by_row(x, gamma),
            "shifted": lambda x, beta: x + _by_row(x, beta),
        },
    ),
    Slip(
        "γ and β are applied twice",
        "applies them once",
        {
            "gamma": lambda weight, bias: weight**2,
            "beta": lambda weight, bias: bias if weight is None else weight * bias + bias,
        },
    ),
    Slip(
        "ε is added behind the division, to 1 / σ",
        "adds ε to the variance, inside the root",
        {"quotient": _with_eps_behind},
    ),
    *(
        Slip(
            f"mean and standard deviation have changed places{more}",
            "subtracts the mean and divides by the standard deviation",
            {"quotient": _unpacked_backward(correction)},
        )
        for correction, more in ((0, ""), (1, ", and the latter divides by {D} − 1"))
    ),
    Slip(
        "every row gets the mean and the variance of the last row",
        "gives each row its own",
        {
            "quotient": lambda x, mean, above, below, eps: (
                (x - mean.flatten()[-1]) / below.flatten()[-1]
            )
        },
    ),
    Slip("β is added twice", "adds β once", {"shifted": lambda x, beta: x + beta + beta}),
    Slip(
        "you multiplied by γ + β, as if both stood in one pair of parentheses",
        "multiplies by γ and then adds β",
        {"gamma": lambda weight, bias: weight + bias, **WITHOUT_BETA},
    ),
)
