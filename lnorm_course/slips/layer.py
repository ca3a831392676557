"""A layer norm with slips as a module, and what can be wrong around its formula."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_utils.modules import LayerNorm

__all__ = ["Around", "WrongLayer", "with_parameters", "with_switches"]


def _refuse(shape: tuple, given: tuple) -> None:
    """Raise a ValueError that names both shapes if the last axes don't fit."""
    if given[-len(shape) :] != shape:
        raise ValueError(f"{shape} expected at the end of {given}")


class WrongLayer(LayerNorm):
    """A layer norm as a module, which has slips where it normalizes, and is right elsewhere.

    Args:
        norm: how it normalizes.
        arguments: those of `LayerNorm`.
        refuse: (normalized shape, shape of the input) -> None, or it raises.
    """

    def __init__(
        self, norm: Any, *arguments: Any, refuse: Callable[[tuple, tuple], None] = _refuse
    ) -> None:
        super().__init__(*arguments)
        self.norm, self.refuse = norm, refuse

    def forward(self, x: Tensor) -> Tensor:
        """Refuse `x` if its shape doesn't fit, and normalize it, with γ and β by either name."""
        self.refuse(self.normalized_shape, tuple(x.shape))
        weight = getattr(self, "gamma", getattr(self, "weight", None))
        bias = getattr(self, "beta", getattr(self, "bias", None))
        axes = tuple(range(-len(self.normalized_shape), 0))
        return self.norm.layer_norm(x, weight, bias, axes, self.eps)


class Around(nn.Module):
    """A module that holds a finished layer by some name, and shows its γ and β or does not."""

    def __init__(self, name: str, layer: nn.Module, shows: bool) -> None:
        super().__init__()
        setattr(self, name, layer)
        if shows:
            self.weight, self.bias = layer.weight, layer.bias
        self.forward = layer.forward


def with_parameters(
    norm: Any, arguments: Sequence[Any], change: Callable[[str, Tensor], tuple[str, Any]]
) -> WrongLayer:
    """Make a layer with other things in place of γ and β, as far as they are there.

    Args:
        norm, arguments: those of `WrongLayer`.
        change: ("weight" or "bias", its numbers) -> the new name and what it stands for.
    """
    layer = WrongLayer(norm, *arguments)
    for name, value in list(layer.named_parameters()):
        delattr(layer, name)
        setattr(layer, *change(name, value.detach()))
    return layer


def with_switches(
    norm: Any,
    arguments: Sequence[Any],
    without_bias: str | None,
    without_affine: tuple[str | None, str | None],
) -> WrongLayer:
    """Make a layer that has something else than None in place of what is switched off.

    Args:
        norm, arguments: those of `WrongLayer`.
        without_bias: what is in place of β with `bias=False`: None, "parameter", "number", or
            "nothing", which is not even the attribute.
        without_affine: the same for γ and β with `elementwise_affine=False`.
    """
    layer = WrongLayer(norm, *arguments)
    in_place = without_affine if layer.weight is None else (None, without_bias)
    for name, start, what in zip(("weight", "bias"), (1.0, 0.0), in_place, strict=True):
        if what and getattr(layer, name) is None:
            delattr(layer, name)
            full = torch.full(layer.normalized_shape, start)
            values = {"parameter": nn.Parameter(full), "number": start}
            if what in values:
                setattr(layer, name, values[what])
    return layer
