"""What a layer is compared with: a norm, the slips of it, and how far rounding can move it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.models import LAST, Axes, Model, axes_of
from lnorm_course.slips.notation import Piece
from lnorm_utils.words import spoken

__all__ = ["Norm", "layer_norm_of", "norm_like", "with_channels_first"]

IMAGES = ("the batch", "the height", "the width", "the channels")
CHANNELS = ("the batch", "the channels", "the places")
GROUPS = ("the batch", "the groups", "the channels of a group", "the places")
BEFORE_LAST = ("the axis before the last", "-2", None)


class _Layer(Model):
    """A model of a whole layer."""

    def layer_norm(self, pieces: Sequence[Any]) -> Any:
        """Return the whole layer with these pieces, until the next call; nothing is built anew."""
        layer = self.steps.layer_norm
        layer.__func__.__globals__["chosen"] = {piece.gap: piece.number for piece in pieces}
        return layer

    @property
    def wrong_axes(self) -> Sequence[tuple]:
        """The wrong choices of axes."""
        return self._axes.wrong

    @cached_property
    def pieces(self) -> list[Piece]:
        """Its wrong pieces, each sentence once, but for those that only fit tables of points."""
        of_tables = {"0", "(0, 1)"} if self._called == "RMSNorm" else set()
        numbers = {"1e-5", "1e-6", "1e-8", "1e-12"}  # the whole layer has these itself
        return [
            piece
            for piece in super().pieces
            if not (piece.step == "standardize" and piece.code in of_tables | numbers)
            and not (piece.step == "deviation" and piece.code in numbers)
        ]


@dataclass(frozen=True)
class Norm:
    """What is right.

    Args:
        model: its wrong pieces, and its steps.
        shape: of γ.
        eps: ε.
        dim: the axes that are averaged over.
        name: as the beginning of a sentence.
        module: the module that it stands for.
        split: how axis 1, the channels, is split, if γ belongs to them; the places are one axis.
        is_channels_first: whether its rows were moved behind, from axis 1.
    """

    model: _Layer
    shape: tuple[int, ...]
    eps: float
    dim: tuple[int, ...]
    name: str = "Layer norm"
    module: nn.Module | None = None
    split: tuple[int, ...] = ()
    is_channels_first: bool = False

    @property
    def axes(self) -> Sequence[tuple]:
        """The wrong choices of axes: in words, as code, and the belief behind."""
        return self.model.wrong_axes

    @property
    def in_words(self) -> str:
        """Its name within a sentence."""
        return self.name if self.name[1:2].isupper() else self.name.lower()

    def result(
        self,
        parts: Sequence[Any],
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        eps: float,
    ) -> Tensor:
        """Return what it makes of x with wrong parts."""
        return self._on_rows(self.model.layer_norm(parts), x, weight, bias, eps)

    def _on_rows(
        self, function: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> Tensor:
        if not self.split:
            return function(x, weight, bias, self.dim, eps)
        rows = x.reshape(len(x), *self.split, -1)
        weight, bias = (p if p is None else p.reshape(*self.split, 1) for p in (weight, bias))
        y = function(rows, weight, bias, self.dim, eps)
        return y.reshape(x.shape) if y.shape == rows.shape else y

    def rounding(
        self, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, unit: float
    ) -> float:
        """Return how far rounding can move a number that comes out.

        It's 2 · √n · u · (|y| + Σ|∂y/∂x · x|), as in `first_wrong`, where u is half the step from 1
        to the next number, and n the roundings behind each other: 16, and one for each term of a
        sum. What a norm makes of Σ|∂y/∂x · x| is overstated here, as if no two terms canceled.
        """

        def most(x: Tensor, weight: Any, bias: Any, dim: tuple[int, ...], eps: float) -> Tensor:
            away = x - x.mean(dim, keepdim=True)
            below = (away.square().mean(dim, keepdim=True) + eps).sqrt().clamp(min=1e-30)
            x_hat = away.abs() / below
            size = x.abs() + x.abs().mean(dim, keepdim=True)
            size = (size + x_hat * (x_hat * x.abs()).mean(dim, keepdim=True)) / below + x_hat
            size = size if weight is None else size * weight.abs()
            return size if bias is None else size + bias.abs()

        size = self._on_rows(most, x, weight, bias, eps).max().item()
        terms = max(x.shape[-1], torch.Size(self.shape).numel(), x.numel() if self.split else 0)
        return 2 * (16 + terms) ** 0.5 * unit * size


def layer_norm_of(shape: tuple[int, ...], eps: float | None = None) -> Norm:
    """Return PyTorch's layer norm for these last axes."""
    return _of_last_axes("Layer norm", shape, 1e-5 if eps is None else eps, None)


def norm_like(like: Any, eps: float | None = None) -> Norm:
    """Return the norm that a module stands for, with another ε if it's given.

    Raises:
        TypeError: it's another module.
    """
    own = getattr(like, "eps", None) if eps is None else eps
    if isinstance(like, nn.Module) and hasattr(like, "normalized_shape"):
        name = "RMSNorm" if "rms" in type(like).__name__.lower() else "Layer norm"
        smallest = torch.finfo(torch.float64).eps  # as nn.RMSNorm(..., eps=None) in float64
        shape: Any = like.normalized_shape
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return _of_last_axes(name, shape, smallest if own is None else own, like)
    kinds: Mapping[type, tuple] = {
        nn.GroupNorm: ("Group norm", GROUPS, (2, 3)),
        nn.modules.instancenorm._InstanceNorm: ("Instance norm", CHANNELS, (2,)),
        nn.modules.batchnorm._BatchNorm: ("Batch norm", CHANNELS, (0, 2)),
    }
    for kind, (name, axes, dim) in kinds.items():
        keeps = getattr(like, "running_mean", None) is not None and not like.training
        if isinstance(like, kind) and not keeps:
            channels = getattr(like, "num_channels", 0) or like.num_features
            groups = getattr(like, "num_groups", 0)
            split = (groups, channels // groups) if groups else (channels,)
            model = _Layer("layer_norm", "whole_layer", axes=axes_of(axes, dim), called=name)
            return Norm(model, (channels,), own, dim, name, like, split)
    kind = "the class" if isinstance(like, type) else "a"
    mode = " with running statistics in `eval`" if isinstance(like, nn.Module) else ""
    mode = mode if getattr(like, "running_mean", None) is not None else ""
    raise TypeError(
        "like must be an nn.LayerNorm, RMSNorm, or GroupNorm, or an InstanceNorm or BatchNorm that "
        f"uses the statistics of its input, but {kind} "
        f"{getattr(like, '__name__', type(like).__name__)}{mode} was given."
    )


def with_channels_first(norm: Norm) -> Norm:
    """Return the same norm in words of images (N, C, H, W) whose channels it normalizes."""
    axes = axes_of(IMAGES, (3,), {(0, 1, 2): Belief.OVER_THE_BATCH})
    names = ["layer_norm", *["rms_norm"] * (norm.name == "RMSNorm"), "whole_layer"]
    model = _Layer(*names, axes=axes, called=norm.name)
    return replace(norm, model=model, is_channels_first=True)


def _of_last_axes(name: str, shape: tuple[int, ...], eps: float, module: nn.Module | None) -> Norm:
    right = "the last axis alone" if len(shape) == 1 else f"the last {len(shape)} axes"
    wrong = [each for each in [*LAST.wrong, BEFORE_LAST] if not _is_right(each[1], len(shape))]
    names = ["layer_norm", *["rms_norm"] * (name == "RMSNorm"), "whole_layer"]
    model = _Layer(*names, axes=Axes(right, wrong), called=name)
    return Norm(model, shape, eps, tuple(range(-len(shape), 0)), name, module)


def _is_right(code: str, axes: int) -> bool:
    return code == {1: "-1", 2: "(-2, -1)"}.get(axes)
