"""The slips that a whole layer can have besides those of the lessons."""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from lnorm_utils.slips.forward import Axes, NormWithSlips, share_of
from lnorm_utils.slips.known import SLIPS
from lnorm_utils.slips.slip import Slip

__all__ = ["AS_RMS_NORM", "OWN", "RMS_NORM"]

DEFAULT = NormWithSlips()
# What makes the layer norm with switches an RMSNorm.
AS_RMS_NORM: Mapping[str, Callable] = {
    "numerator": lambda x, mean: x,
    "inner_mean": lambda x, mean: x,
}


def _instead(done: str, function: Callable[[Tensor], Tensor]) -> Slip:
    """Return the slip of doing something else in the place of a norm."""
    return Slip(
        done,
        "subtracts the mean and divides by the standard deviation",
        {"quotient": lambda x, mean, above, below, eps: function(x)},
    )


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
        variance = part.var(-1, keepdim=True, correction=0)
        return (x - part.mean(-1, keepdim=True)) / (variance + eps).sqrt()

    return quotient


def _robust(x: Tensor, mean: Tensor, above: Tensor, below: Tensor, eps: float) -> Tensor:
    distances = x - x.median(-1, True).values
    return distances / (distances.abs().median(-1, True).values + eps)


def _with_a_plain_mean(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return x.square().mean(axes, keep) - x.mean(axes, keep)


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
# Frameworks and models: Keras, flax, JAX and Llama, BERT, and PyTorch's RMSNorm in float32.
EPSILONS = (("1e-12", 1e-12), ("1e-3", 1e-3), ("1e-4", 1e-4), ("1e-7", 1e-7), ("0.01", 0.01))
RMS_NORM = Slip(
    "the mean isn't subtracted anywhere, so this is RMSNorm",
    "subtracts the mean, in x and in the variance",
    AS_RMS_NORM,
)
OWN = (
    RMS_NORM,
    Slip(
        "the mean isn't subtracted anywhere, and 1 + γ multiplies, so this is Gemma's RMSNorm",
        "subtracts the mean, in x and in the variance, and multiplies by γ as it is",
        {**AS_RMS_NORM, "gamma": lambda weight, bias: 1 + weight},
    ),
    *SLIPS,
    *(
        Slip(f"your ε is {words}", "uses the given ε", {"eps": lambda given, value=value: value})
        for words, value in EPSILONS
    ),
    Slip(
        "your ε is the smallest step of float32, 1.19e-7",
        "uses the given ε",
        {"eps": lambda given: torch.finfo(torch.float32).eps},
    ),
    Slip(
        "your ε is the smallest step of float64, 2.2e-16",
        "uses the given ε",
        {"eps": lambda given: torch.finfo(torch.float64).eps},
    ),
    _instead("nothing is normalized: the numbers go through", lambda x: x),
    _instead(
        "nothing is normalized: this is tanh(x / 2), as in a new DyT", lambda x: (x / 2).tanh()
    ),
    _instead("nothing is normalized: this is tanh(x)", torch.tanh),
    _instead("this is a softmax, whose numbers add up to 1", lambda x: x.softmax(-1)),
    _instead(
        "each row is stretched to run from 0 to 1",
        lambda x: (x - x.amin(-1, True)) / (x.amax(-1, True) - x.amin(-1, True)),
    ),
    _instead("each row is divided by its largest number", lambda x: x / x.abs().amax(-1, True)),
    _instead("each row is divided by its length", lambda x: F.normalize(x, dim=-1)),
    _instead("each row is divided by its sum", lambda x: x / x.sum(-1, True)),
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
    Slip("β is added twice", "adds β once", {"shifted": lambda x, beta: x + beta + beta}),
    Slip(
        "you multiplied by γ + β, as if both stood in one pair of parentheses",
        "multiplies by γ and then adds β",
        {"gamma": lambda weight, bias: weight + bias, **WITHOUT_BETA},
    ),
)
