"""The slips of layer norm that are about γ and β."""

from collections.abc import Callable

import torch
from torch import Tensor

from lnorm_course.diagnose.forward import NormWithSlips
from lnorm_course.diagnose.slip import Slip
from lnorm_course.slips.beliefs import Belief

__all__ = ["AFFINE_LEFT_OUT", "AFFINE_SLIPS"]

EACH_FEATURE, AS_IT_IS = "has one {name} for each feature", "{verb} {name} as it is"
AFFINE_LEFT_OUT = Slip(
    "γ and β are left out",
    "multiplies by γ and adds β",
    {"scaled": lambda x, gamma: x, "shifted": lambda x, beta: x},
)


def _of(switch: str, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a switch that changes γ, or β, and leaves the other one alone."""
    if switch == "gamma":
        return lambda weight, bias: change(weight)
    return lambda weight, bias: change(bias)


def _first(numbers: Tensor) -> Tensor:
    return numbers.flatten()[0]


# The likeliest first.
AFFINE_SLIPS = (
    Slip("γ is left out", "multiplies by γ", {"scaled": lambda x, gamma: x}),
    Slip("β is left out", "adds β at the end", {"shifted": lambda x, beta: x}),
    AFFINE_LEFT_OUT,
    Slip(
        "β is added before γ multiplies",
        "multiplies by γ first, and then adds β",
        {"is_shifted_first": True},
    ),
    Slip(
        "γ and β come before the normalization",
        "normalizes first",
        {
            "before": NormWithSlips().affine,
            "scaled": lambda x, gamma: x,
            "shifted": lambda x, beta: x,
        },
        detail="which undoes most of what they do",
    ),
    Slip(
        "γ and β have changed places",
        "multiplies by γ and adds β",
        {"gamma": lambda weight, bias: bias, "beta": lambda weight, bias: weight},
    ),
    Slip(
        "γ and β are averaged to one number each",
        "has one γ and one β for each feature",
        {
            "gamma": lambda weight, bias: weight.mean(),
            "beta": lambda weight, bias: bias.mean(),
        },
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip(
        "all features get the first γ and the first β",
        "has one γ and one β for each feature",
        {
            "gamma": lambda weight, bias: weight.flatten()[0],
            "beta": lambda weight, bias: bias.flatten()[0],
        },
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip(
        "there is one γ and one β for each position",
        "has one γ and one β for each feature, and they are the same at every position",
        {
            "gamma": lambda weight, bias: weight[:, None],
            "beta": lambda weight, bias: bias[:, None],
        },
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip("you divided by γ", "multiplies by γ", {"scaled": lambda x, gamma: x / gamma}),
    Slip("you subtracted β", "adds β", {"shifted": lambda x, beta: x - beta}),
    Slip("you added γ", "multiplies by γ", {"scaled": lambda x, gamma: x + gamma}),
    Slip("you multiplied by β", "adds β", {"shifted": lambda x, beta: x * beta}),
    *(
        Slip(f"{name} {words}", instead.format(verb=verb, name=name), {switch: change})
        for switch, name, verb in (("gamma", "γ", "multiplies by"), ("beta", "β", "adds"))
        for words, instead, change in (
            ("is averaged to one number", EACH_FEATURE, _of(switch, lambda v: v.mean())),
            ("is used with its first number only", EACH_FEATURE, _of(switch, _first)),
            ("has lost its sign", AS_IT_IS, _of(switch, torch.abs)),
            ("is squared", AS_IT_IS, _of(switch, torch.square)),
            ("has one number for each position", EACH_FEATURE, _of(switch, lambda v: v[:, None])),
        )
    ),
    Slip(
        "you multiplied by 1 + γ",
        "multiplies by γ as it is",
        {"gamma": lambda weight, bias: 1 + weight},
    ),
)
