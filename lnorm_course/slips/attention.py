"""Causal attention with slips, for the same search as layer norm."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from lnorm_course.slips.layout import Layout
from lnorm_course.slips.slip import Slip

__all__ = ["ATTENTION", "AttentionWithSlips"]


@dataclass
class AttentionWithSlips:
    """Causal attention, step by step; every field is a switch, and its default is right.

    Source: `torch.nn.functional.scaled_dot_product_attention`, for the defaults.

    >>> q, k = torch.zeros(1, 2, 3), torch.ones(1, 2, 3)
    >>> AttentionWithSlips().mix(q, k, torch.tensor([[[1.0], [2.0]]]))
    tensor([[[1.0000],
             [1.5000]]])
    """

    # The scores: who asks, what is asked, and what the product is divided by.
    asking: Callable = lambda q, k, v: q
    asked: Callable = lambda q, k, v: k
    scaled: Callable = lambda scores, q: scores / q.shape[-1] ** 0.5
    # The mask, True above some diagonal, and what is done with it before the softmax and after.
    diagonal: int = 1
    mask: Callable = lambda later: later
    masked: Callable = lambda scores, mask: scores.masked_fill(mask, -math.inf)
    axis: int = -1
    softmax: Callable = torch.softmax  # (scores, axis)
    masked_after: Callable = lambda weights, mask: weights
    scaled_after: Callable = lambda weights, q: weights
    # The result.
    mixed: Callable = lambda q, k, v: v
    result: Callable = lambda weights, values: weights @ values

    def mix(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Return what each position reads, from queries, keys, and values of shape (N, L, D)."""
        product = self.asking(q, k, v) @ self.asked(q, k, v).mT
        later = torch.ones_like(product, dtype=torch.bool).triu(self.diagonal)
        mask = self.mask(later)
        weights = self.softmax(self.masked(self.scaled(product, q), mask), self.axis)
        weights = self.scaled_after(self.masked_after(weights, mask), q)
        return self.result(weights, self.mixed(q, k, v))


def _without(numbers: Tensor, other: Any) -> Tensor:
    return numbers


def _filled(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda numbers, mask: numbers.masked_fill(mask, number)


LATER_ONES = "hides the later positions, above the diagonal"
ROOT = "divides the scores by √D"

# The likeliest first.
ATTENTION_SLIPS = (
    Slip(
        "there is no mask",
        "sets the scores of the later positions to −∞",
        {"masked": _without},
        detail="so each position also reads the later ones, which it has to predict",
    ),
    Slip(
        "you didn't divide the scores by √D",
        ROOT,
        {"scaled": _without},
        detail="so they grow with the number of features, and the softmax picks nearly one "
        "position only",
    ),
    Slip(
        "you divided the scores by D",
        "divides them by its root, because a sum of D unrelated products is about √D large",
        {"scaled": lambda scores, q: scores / q.shape[-1]},
    ),
    Slip(
        "you divided by 2, the root of 4",
        "takes D from the shape, `q.shape[-1]`",
        {"scaled": lambda scores, q: scores / 2},
        detail="which fits only four features",
    ),
    Slip(
        "you divided the weights by √D",
        f"{ROOT}, before the softmax",
        {"scaled": _without, "scaled_after": lambda weights, q: weights / q.shape[-1] ** 0.5},
        detail="so they add up to less than 1",
    ),
    Slip(
        "you divided by the root of the number of positions",
        "divides by √D, because the scores are sums over the D features",
        {"scaled": lambda scores, q: scores / q.shape[-2] ** 0.5},
    ),
    Slip(
        "you multiplied the scores by √D",
        "divides them by it",
        {"scaled": lambda scores, q: scores * q.shape[-1] ** 0.5},
    ),
    Slip(
        "you divided the scores by D and by 2",
        "divides them by the root of D",
        {"scaled": lambda scores, q: scores / q.shape[-1] / 2},
    ),
    Slip(
        "the keys are missing, because you multiplied the queries with themselves",
        "multiplies queries with keys",
        {"asked": lambda q, k, v: q},
    ),
    Slip(
        "the queries are missing, because you multiplied the keys with themselves",
        "multiplies queries with keys",
        {"asking": lambda q, k, v: k},
    ),
    Slip(
        "queries and keys have changed places",
        "takes the rows of the scores from the queries, `q @ k.transpose(-1, -2)`",
        {"asking": lambda q, k, v: k, "asked": lambda q, k, v: q},
    ),
    Slip(
        "your mask begins one position too late",
        "begins one above the diagonal",
        {"diagonal": 2},
        detail="so each position still reads the next one",
    ),
    Slip(
        "your mask hides the position itself too, and the first position has nothing left to read",
        "begins one above the diagonal",
        {"diagonal": 0},
        detail="so its softmax is 0/0",
    ),
    Slip(
        "your mask hides the position itself too, so the first one reads nothing and returns 0",
        "lets each position read itself and the earlier ones",
        {"diagonal": 0, "masked_after": lambda weights, mask: weights.nan_to_num(0.0)},
    ),
    Slip(
        "your mask is the wrong way around",
        LATER_ONES,
        {"mask": lambda later: later.mT},
        detail="so each position reads itself and the later ones",
    ),
    Slip(
        "your mask hides what each position may read, itself and the earlier ones",
        "hides the later ones, and `masked_fill` fills where the mask is True",
        {"mask": lambda later: ~later},
    ),
    Slip(
        "your mask has the numbers 1 and 0, and they were added to the scores",
        "adds 0 and −∞, or has a mask that is `bool`",
        {"masked": lambda scores, mask: scores + (~mask).to(scores.dtype)},
        detail="which hides nothing",
    ),
    Slip(
        "you set the scores of the later positions to 0",
        "sets them to −∞",
        {"masked": _filled(0.0)},
        detail="and e⁰ = 1 still gives them a weight",
    ),
    Slip(
        "you set the scores of the later positions to +∞",
        "sets them to −∞",
        {"masked": _filled(math.inf)},
    ),
    Slip(
        "your mask comes after the softmax",
        "masks the scores, with −∞, before the softmax",
        {"masked": _without, "masked_after": _filled(0.0)},
        detail="so the weights that are left don't add up to 1",
    ),
    Slip(
        "you set weights to −∞, after the softmax",
        "sets scores to −∞, before it",
        {"masked": _without, "masked_after": _filled(-math.inf)},
    ),
    Slip(
        "your softmax runs over the wrong axis",
        "takes it over the last axis, so the weights of one position that reads add up to 1",
        {"axis": -2},
    ),
    Slip(
        "your softmax runs over axis 0, the points",
        "takes it over the last axis",
        {"axis": 0},
        detail="which have nothing to do with each other",
    ),
    Slip(
        "there is no softmax",
        "turns the scores into weights above 0 that add up to 1",
        {"masked": _filled(0.0), "softmax": _without},
    ),
    Slip(
        "there is no softmax",
        "turns the scores into weights above 0 that add up to 1",
        {"softmax": _without},
    ),
    Slip(
        "you took `exp` of the scores and didn't divide by the sum",
        "takes the softmax, so the weights add up to 1",
        {"softmax": lambda scores, axis: scores.exp()},
    ),
    Slip(
        "you mixed the keys",
        "mixes the values, v",
        {"mixed": lambda q, k, v: k},
    ),
    Slip(
        "you mixed the queries",
        "mixes the values, v",
        {"mixed": lambda q, k, v: q},
    ),
    Slip(
        "you transposed the weights",
        "has the positions that read in their rows, `weights @ v`",
        {"result": lambda weights, values: weights.mT @ values},
    ),
    Slip(
        "you returned the weights",
        "multiplies them with the values, `weights @ v`",
        {"result": _without},
    ),
)


@dataclass(frozen=True)
class _Attention(Layout):
    model: ClassVar[Callable[..., Any]] = AttentionWithSlips
    slips: ClassVar[tuple[Slip, ...]] = ATTENTION_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = ()


ATTENTION = _Attention(("the points", "the positions", "the positions"), (2,), name="Attention")
