"""What a layer is compared with: a norm with its slips, and how far rounding can move it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.slips.models import LAST, Axes, Model, axes_of
from lnorm_course.slips.notation import Piece

__all__ = ["Norm", "norm_like", "norm_of"]

IMAGES = axes_of(("the batch", "the height", "the width", "the channels"), (3,))
BEFORE_LAST = ("the axis before the last", "-2", None)
IS_RIGHT = {1: "-1", 2: "(-2, -1)"}
OF_TABLES = (
    "0",
    "(0, 1)",
    "1e-5",
    "1e-6",
    "1e-8",
    "1e-12",
)  # axes and ε of the exercises on RMSNorm


class _Layer(Model):
    """The model of a whole layer."""

    @cached_property
    def pieces(self) -> list[Piece]:
        """Its wrong pieces, without those that only fit the tensors of an exercise."""
        places = {"deviation", "standardize"} if self._called == "RMSNorm" else {"deviation"}
        return [p for p in super().pieces if p.step not in places or p.code not in OF_TABLES]

    def layer_norm(self, pieces: Sequence[Any]) -> Any:
        """Return the whole layer with these pieces, until the next call; nothing is built anew."""
        layer = self.steps.layer_norm
        layer.__func__.__globals__["chosen"] = {piece.gap: piece.number for piece in pieces}
        return layer


@dataclass(frozen=True)
class Norm:
    """What is right.

    Args:
        name: as the beginning of a sentence.
        shape: of γ.
        eps: ε.
        module: the module that it stands for.
        is_channels_first: whether its rows stand along axis 1, and are moved behind first.
    """

    name: str
    shape: tuple[int, ...]
    eps: float
    module: nn.Module | None = None
    is_channels_first: bool = False

    @property
    def in_words(self) -> str:
        """Its name within a sentence."""
        return "layer norm" if self.name == "Layer norm" else self.name

    @property
    def axes(self) -> Axes:
        """The axes in words."""
        count = len(self.shape)
        if self.is_channels_first:
            return IMAGES
        wrong = [each for each in (*LAST.wrong, BEFORE_LAST) if each[1] != IS_RIGHT.get(count)]
        wrong = [each for each in wrong if count > 1 or "count(" not in each[1]]
        return Axes("the last axis alone" if count == 1 else f"the last {count} axes", wrong)

    @cached_property
    def model(self) -> _Layer:
        """Its steps, right and wrong."""
        names = ["layer_norm", *["rms_norm"] * (self.name == "RMSNorm"), "whole_layer"]
        return _Layer(*names, axes=self.axes, called=self.name)

    def result(self, parts: Sequence[Any], x: Tensor, weight: Any, bias: Any, eps: float) -> Tensor:
        """Return what it makes of x with wrong parts."""
        dim = tuple(range(-len(self.shape), 0))
        return self.model.layer_norm(parts)(x, weight, bias, dim, eps)


def norm_of(shape: Sequence[int], eps: float | None, is_channels_first: bool = False) -> Norm:
    """Return PyTorch's layer norm for the last axes, or for the channels of images."""
    eps = 1e-5 if eps is None else eps
    return Norm("Layer norm", tuple(shape), eps, None, is_channels_first)


def norm_like(like: Any, eps: float | None, dtype: torch.dtype = torch.float64) -> Norm:
    """Return the norm that a module stands for on inputs of a dtype, with another ε if it's given.

    Raises:
        TypeError: it's no layer norm and no RMSNorm.
    """
    shape = getattr(like, "normalized_shape", None)
    if not isinstance(like, nn.Module) or shape is None:
        kind = "the class" if isinstance(like, type) else "a"
        raise TypeError(
            f"like must be a layer norm or an RMSNorm, such as nn.LayerNorm(8), but {kind} "
            f"{getattr(like, '__name__', type(like).__name__)} was given."
        )
    name = "RMSNorm" if "rms" in type(like).__name__.lower() else "Layer norm"
    own = getattr(like, "eps", None) if eps is None else eps
    smallest = torch.finfo(torch.promote_types(dtype, torch.float32)).eps  # with eps=None
    sizes: Any = (shape,) if isinstance(shape, int) else shape
    return Norm(name, tuple(sizes), smallest if own is None else own, like)
