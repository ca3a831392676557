"""The gradient of γ, and the norms of a stack's gradients, with slips, for the same search."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.layout import SENTENCES, Layout
from lnorm_course.slips.slip import Slip

__all__ = ["GAMMA_GRADIENT", "GRADIENT_NORM", "GammaGradientWithSlips", "GradientNormWithSlips"]


def _kept(numbers: Tensor, axis: int, keep: bool) -> Tensor:
    return numbers


@dataclass
class GammaGradientWithSlips:
    """The gradient of γ, step by step; every field is a switch, and its default is right.

    >>> g, x_hat = torch.ones(3, 2, 4), torch.ones(3, 2, 4)
    >>> GammaGradientWithSlips().gradient(g, x_hat)
    tensor([6., 6., 6., 6.])
    """

    product: Callable = lambda g, x_hat: g * x_hat
    # What is done over each axis: (numbers, axis, keepdim) -> numbers.
    over_batch: Callable = torch.sum
    over_positions: Callable = torch.sum
    over_features: Callable = _kept
    result: Callable = lambda gradient: gradient

    def gradient(self, g: Tensor, x_hat: Tensor) -> Tensor:
        """Return the gradient of γ, from that of y and from x̂, both of shape (N, L, D)."""
        return self.result(self.reduced(self.product(g, x_hat)))

    def reduced(self, numbers: Tensor) -> Tensor:
        """Return what is left of numbers of shape (N, L, D), one for each feature."""
        ways = (self.over_batch, self.over_positions, self.over_features)
        for axis, way in enumerate(ways):
            numbers = way(numbers, axis, True)
        pairs = zip(numbers.shape, ways, strict=True)
        return numbers.reshape([size for size, way in pairs if way is _kept])


ALL_ROWS = "adds over all rows (axes 0 and 1), because they share γ"
AS_IT_IS = "multiplies g by x̂ as it is, because γ is multiplied by x̂"

# The likeliest first.
GAMMA_SLIPS = (
    Slip(
        "you added over the features, so each row has a number of its own",
        "adds over the rows (axes 0 and 1), because γ belongs to features",
        {"over_batch": _kept, "over_positions": _kept, "over_features": torch.sum},
        Belief.GAMMA_GRADIENT_PER_ROW,
    ),
    Slip(
        "you return what each row adds",
        ALL_ROWS,
        {"over_batch": _kept, "over_positions": _kept},
        Belief.GAMMA_GRADIENT_PER_ROW,
    ),
    Slip(
        "you averaged over the rows",
        "adds, as the gradients of any number that is used in several places add up",
        {"over_batch": torch.mean, "over_positions": torch.mean},
    ),
    Slip("you averaged over the batch", ALL_ROWS, {"over_batch": torch.mean}),
    Slip("you averaged over the positions", ALL_ROWS, {"over_positions": torch.mean}),
    Slip(
        "each position has a gradient of its own",
        ALL_ROWS,
        {"over_positions": _kept},
        detail="because you added over the batch only",
    ),
    Slip(
        "each point has a gradient of its own",
        ALL_ROWS,
        {"over_batch": _kept},
        detail="because you added over the positions only",
    ),
    Slip(
        "that's the gradient of β",
        "multiplies g by x̂ before it adds",
        {"product": lambda g, x_hat: g},
    ),
    Slip(
        "you added x̂ alone",
        "multiplies it by g first, which says how much the loss changes with each y",
        {"product": lambda g, x_hat: x_hat},
    ),
    Slip("you divided g by x̂", AS_IT_IS, {"product": lambda g, x_hat: g / x_hat}),
    Slip("you multiplied by x̂ twice", AS_IT_IS, {"product": lambda g, x_hat: g * x_hat**2}),
    Slip(
        "you normalized x̂ once more",
        AS_IT_IS,
        {"product": lambda g, x_hat: g * layer_norm(x_hat, x_hat.shape[-1:])},
    ),
    Slip(
        "you added everything up to one number",
        "has a number for each feature, so it leaves out axis 2",
        {"over_features": torch.sum},
        Belief.SINGLE_GAMMA_AND_BETA,
    ),
    Slip(
        "you averaged over the features",
        "has a number for each feature, so it leaves out axis 2",
        {"over_features": torch.mean},
    ),
    Slip(
        "the sign is flipped",
        "has the sign of g · x̂",
        {"result": lambda gradient: -gradient},
    ),
    Slip(
        "your result has kept the axes that you added over",
        "has the shape (D,), like γ",
        {"result": lambda gradient: gradient.expand(1, 1, *gradient.shape)},
    ),
)


def _own(numbers: Tensor) -> Tensor:
    return numbers.flatten(1).sum(1)


def _of_all(numbers: Tensor) -> Tensor:
    return numbers.sum().expand(len(numbers))


def _averaged(numbers: Tensor) -> Tensor:
    return numbers.flatten(1).mean(1)


def _largest(numbers: Tensor) -> Tensor:
    return numbers.flatten(1).amax(1)


def _itself(numbers: Tensor) -> Tensor:
    return numbers


@dataclass
class GradientNormWithSlips:
    """The norm of each block's gradients; every field is a switch, and its default is right.

    >>> GradientNormWithSlips().norms(torch.full((1, 3, 3), 2.0), torch.zeros(1, 3))
    tensor([6.])
    """

    squared: Callable = torch.square
    # What is taken of the squares of the weights, and of the biases: a number for each block.
    of_weights: Callable = _own
    of_biases: Callable = _own
    # What becomes of the two numbers, and what of both together.
    weights: Callable = _itself
    biases: Callable = _itself
    together: Callable = torch.add
    divisor: Callable = lambda count: 1
    root: Callable = torch.sqrt
    result: Callable = _itself

    def norms(self, weights: Tensor, biases: Tensor) -> Tensor:
        """Return a norm for each block, from gradients of shape (blocks, D, D) and (blocks, D)."""
        both = self.together(
            self.weights(self.of_weights(self.squared(weights))),
            self.biases(self.of_biases(self.squared(biases))),
        )
        count = weights[0].numel() + biases[0].numel()
        return self.result(self.root(both / self.divisor(count)))


ONE_ROOT = "adds the squares of both, and takes one root"
ALL_SQUARED = "squares all gradients first, and takes the root of their sum"
OWN = "has the gradients of one block only, so it leaves out axis 0"

# The likeliest first.
NORM_SLIPS = (
    Slip(
        "you took a root for the weights and one for the biases, and added them",
        ONE_ROOT,
        {"weights": torch.sqrt, "biases": torch.sqrt, "root": _itself},
    ),
    Slip("you took no root", "takes the root of the sum of the squares", {"root": _itself}),
    Slip(
        "the gradients of the biases are missing",
        "has those of all parameters",
        {"biases": torch.zeros_like},
    ),
    Slip(
        "the gradients of the weights are missing",
        "has those of all parameters",
        {"weights": torch.zeros_like},
    ),
    Slip(
        "you averaged the squares",
        "is the root of their sum",
        {"divisor": lambda count: count},
    ),
    Slip(
        "you averaged the squares of the weights and those of the biases",
        "is the root of the sum of all squares",
        {"of_weights": _averaged, "of_biases": _averaged},
    ),
    Slip(
        "you added the two norms and took the root once more",
        "adds squares, not norms",
        {"weights": torch.sqrt, "biases": torch.sqrt},
    ),
    Slip(
        "your root covers the weights only",
        ONE_ROOT,
        {"weights": torch.sqrt, "root": _itself},
    ),
    Slip(
        "your root covers the biases only",
        ONE_ROOT,
        {"biases": torch.sqrt, "root": _itself},
    ),
    Slip("the norm of the biases isn't squared", ONE_ROOT, {"biases": torch.sqrt}),
    Slip("the norm of the weights isn't squared", ONE_ROOT, {"weights": torch.sqrt}),
    Slip("you gave each block the biases of all blocks", OWN, {"of_biases": _of_all}),
    Slip("you gave each block the weights of all blocks", OWN, {"of_weights": _of_all}),
    Slip(
        "you added the gradients without their signs",
        ALL_SQUARED,
        {"squared": torch.abs, "root": _itself},
    ),
    Slip("you took absolute values for squares", ALL_SQUARED, {"squared": torch.abs}),
    Slip(
        "you added the gradients with their signs, so that they cancel",
        ALL_SQUARED,
        {"squared": _itself, "root": _itself},
    ),
    Slip(
        "you took the largest gradient of each block",
        "adds the squares of all of them",
        {
            "squared": torch.abs,
            "of_weights": _largest,
            "of_biases": _largest,
            "together": torch.maximum,
            "root": _itself,
        },
    ),
    Slip("you added over the blocks too", OWN, {"of_weights": _of_all, "of_biases": _of_all}),
    Slip(
        "you returned one number for all blocks",
        "is a number for each block, so it leaves out axis 0",
        {"of_weights": _of_all, "of_biases": _of_all, "result": lambda norms: norms[0]},
    ),
    Slip(
        "you multiplied the squares of the weights and of the biases",
        "adds them",
        {"together": torch.mul},
    ),
    Slip(
        "your root is half of the sum",
        "takes the root of it",
        {"root": lambda total: total / 2},
        detail="because Python reads `a ** 1/2` as `(a ** 1) / 2`",
    ),
    Slip(
        "you subtracted the squares of the biases",
        "adds them",
        {"together": torch.subtract},
    ),
)


@dataclass(frozen=True)
class _GammaGradient(Layout):
    model: ClassVar[Callable[..., Any]] = GammaGradientWithSlips
    slips: ClassVar[tuple[Slip, ...]] = GAMMA_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = ()


@dataclass(frozen=True)
class _GradientNorm(Layout):
    model: ClassVar[Callable[..., Any]] = GradientNormWithSlips
    slips: ClassVar[tuple[Slip, ...]] = NORM_SLIPS
    axis_switches: ClassVar[tuple[tuple[str, str, tuple[str, ...]], ...]] = ()


GAMMA_GRADIENT = _GammaGradient(SENTENCES.axes, (0, 1), name="The gradient of γ")
GRADIENT_NORM = _GradientNorm(("the blocks", "the rows", "the columns"), (1, 2), name="The norm")
