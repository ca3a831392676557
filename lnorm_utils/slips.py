"""Layer norms that run, look plausible, and are wrong.

The bank `module` recognizes them in a student's class, and the explorer `explore_broken` shows on
which data they differ from the right one. First the formulas, functions of (x, the normalized axes,
ε) that return what should be x_hat. Then the classes that are wrong in something else.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_utils.functional import layer_norm, mean, standardize, variance
from lnorm_utils.modules import LayerNorm


def unbiased(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Divide by the root of a variance over D − 1."""
    size = math.prod(x.shape[axis] for axis in axes)
    return centered(x, axes) / (variance(x, axes) * (size / (size - 1)) + eps).sqrt()


def outside_the_root(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Add ε to the standard deviation."""
    return centered(x, axes) / (variance(x, axes).sqrt() + eps)


def one_pass(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Take the variance as E[x²] − E[x]²."""
    var = x.square().mean(axes, keepdim=True) - x.mean(axes, keepdim=True).square()
    return centered(x, axes) / (var + eps).sqrt()


def over_all_axes(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Take one mean and one variance of all numbers, the batch included."""
    return standardize(x, tuple(range(x.ndim)), eps)


def of_columns(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Normalize each feature over the batch."""
    return standardize(x, 0, eps)


def reshaped(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Bring the features to the front with `reshape`, which mixes the rows."""
    features = x[(0,) * (x.ndim - len(axes))].numel()
    return standardize(x.reshape(features, -1), 0, eps).reshape(x.shape)


def default_eps(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Use 1e-5, whatever ε is asked for."""
    return standardize(x, axes, 1e-5)


def centered(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Subtract the mean, and then what its rounding has left of it."""
    once = x - mean(x, axes)
    return once - mean(once, axes)


class OtherFormula(LayerNorm):
    """A layer norm that standardizes in another way, and is right in everything else.

    Args:
        formula: (x, the normalized axes, eps) -> x_hat.
        arguments: those of `LayerNorm`.
    """

    def __init__(self, formula: Callable, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.formula = formula

    def forward(self, x: Tensor) -> Tensor:
        """Check the shape of `x`, then go the other way."""
        super().forward(x)
        axes = tuple(range(-len(self.normalized_shape), 0))
        return scaled(self.formula(x, axes, self.eps), self.weight, self.bias)


class OtherParameters(LayerNorm):
    """A layer norm whose γ and β a function has put somewhere else, and right in everything else.

    Args:
        change: takes the module, once it is made, and changes its parameters.
        arguments: those of `LayerNorm`.
    """

    def __init__(self, change: Callable, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.plain = LayerNorm(self.normalized_shape, self.eps, elementwise_affine=False)
        change(self)

    def forward(self, x: Tensor) -> Tensor:
        """Standardize, and use the parameters as they are now, by whatever name."""
        weight = getattr(self, "gamma", self.weight)
        bias = getattr(self, "beta", self.bias)
        return scaled(self.plain(x), weight, bias)


class NoCheck(LayerNorm):
    """A layer norm that leaves out the check of the shape, and is right in everything else."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalize whatever comes."""
        axes = tuple(range(-len(self.normalized_shape), 0))
        centered = x - x.mean(axes, keepdim=True)
        var = centered.square().mean(axes, keepdim=True)
        return scaled(centered / (var + self.eps).sqrt(), self.weight, self.bias)


class NoNames(LayerNorm):
    """A layer norm whose error names no shapes, and right in everything else."""

    def forward(self, x: Tensor) -> Tensor:
        """Refuse in a few words what does not fit."""
        if tuple(x.shape[-len(self.normalized_shape) :]) != self.normalized_shape:
            raise ValueError("the shapes do not fit")
        return super().forward(x)


class LastSizeChecked(NoCheck):
    """A layer norm that checks the very last size only, and is right in everything else."""

    def forward(self, x: Tensor) -> Tensor:
        """Let pass what has the right last size."""
        if x.shape[-1] != self.normalized_shape[-1]:
            raise ValueError(f"{self.normalized_shape} expected at the end of {tuple(x.shape)}")
        return super().forward(x)


class OtherSwitches(LayerNorm):
    """A layer norm without a γ or β that is switched off, where None should stand in its place.

    Args:
        change: takes the module and the name of what is switched off.
        arguments: those of `LayerNorm`.
    """

    def __init__(self, change: Callable, *arguments: Any) -> None:
        super().__init__(*arguments)
        for name in ("weight", "bias"):
            if getattr(self, name) is None:
                delattr(self, name)
                change(self, name)

    def forward(self, x: Tensor) -> Tensor:
        """Standardize, and use the parameters that there are."""
        own = dict(self.named_parameters())
        return layer_norm(x, self.normalized_shape, own.get("weight"), own.get("bias"), self.eps)


class NoModule:
    """A layer norm that is right but for its class, which is no `nn.Module`."""

    def __init__(self, *arguments: Any) -> None:
        self.layer = LayerNorm(*arguments)
        self.weight, self.bias = self.layer.weight, self.layer.bias

    def forward(self, x: Tensor) -> Tensor:
        """Normalize `x` in its own dtype."""
        self.layer.to(x.dtype)
        return self.layer(x)


def scaled(x_hat: Tensor, weight: nn.Parameter | None, bias: nn.Parameter | None) -> Tensor:
    """Multiply by γ and add β, as far as they are there."""
    y = x_hat if weight is None else x_hat * weight
    return y if bias is None else y + bias


def as_plain_tensors(module: LayerNorm) -> None:
    """Put tensors in the place of parameters."""
    for name, value in list(module.named_parameters()):
        delattr(module, name)
        setattr(module, name, value.detach().clone())


def called_gamma_and_beta(module: LayerNorm) -> None:
    """Give the parameters the names that the formula has."""
    for name, greek in (("weight", "gamma"), ("bias", "beta")):
        setattr(module, greek, getattr(module, name))
        delattr(module, name)
        setattr(module, name, None)


def single_numbers(module: LayerNorm) -> None:
    """Keep one γ and one β for all features."""
    for name, value in list(module.named_parameters()):
        setattr(module, name, nn.Parameter(value.detach().flatten()[:1]))


def without_bias(module: LayerNorm) -> None:
    """Leave β out."""
    module.bias = None


def always_with_both(module: LayerNorm) -> None:
    """Make γ and β, whatever was asked for."""
    shape = module.normalized_shape
    module.weight = nn.Parameter(torch.ones(shape))
    module.bias = nn.Parameter(torch.zeros(shape))


def starting_at(weight: float, bias: float) -> Callable:
    """Return a change that lets γ and β start at other numbers."""

    def change(module: LayerNorm) -> None:
        for name, value in (("weight", weight), ("bias", bias)):
            nn.init.constant_(module.get_parameter(name), value)

    return change


def with_beta_for_every_gamma(module: LayerNorm) -> None:
    """Make β wherever there is a γ, whatever `bias` says."""
    if module.weight is not None:
        module.bias = nn.Parameter(torch.zeros(module.normalized_shape))


def with_gamma_alone(module: LayerNorm) -> None:
    """Make γ although it was switched off."""
    module.weight = nn.Parameter(torch.ones(module.normalized_shape))


def with_both_unless_bias_is_off(module: LayerNorm) -> None:
    """Make γ and β although both were switched off."""
    if module.weight is None:
        always_with_both(module)


def left_out(module: LayerNorm, name: str) -> None:
    """Put nothing in the place of what is switched off."""


def left_out_with_gamma(module: LayerNorm, name: str) -> None:
    """Put None in the place of β, unless γ is switched off too."""
    if hasattr(module, "weight"):
        setattr(module, name, None)


def neutral_number(module: LayerNorm, name: str) -> None:
    """Put a number that changes nothing in the place of what is switched off."""
    setattr(module, name, 1.0 if name == "weight" else 0.0)


def neutral_number_with_gamma(module: LayerNorm, name: str) -> None:
    """Put a number in the place of γ, if it is switched off, and None in that of β."""
    setattr(module, name, 1.0 if name == "weight" else None)


def with_beta_alone(module: LayerNorm) -> None:
    """Make β although there is no γ."""
    if module.weight is None:
        module.bias = nn.Parameter(torch.zeros(module.normalized_shape))
