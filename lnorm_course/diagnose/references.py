"""What a layer is compared with: the layer norm with switches, or one of its relatives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.diagnose.forward import NormWithSlips, combined
from lnorm_course.diagnose.layout import Layout
from lnorm_course.diagnose.layouts import (
    ChannelLayout,
    LastLayout,
    groups_of_features,
    other_groups,
    residual,
    skipping,
    subtracting_behind,
)
from lnorm_course.diagnose.own_slips import AS_RMS_NORM
from lnorm_course.diagnose.slip import Slip

__all__ = ["Reference", "layer_norm_of", "reference_for"]

CHANNELS = ("the batch", "the channels", "the places")
GROUPS = ("the batch", "the groups", "the channels of a group", "the places")


@dataclass(frozen=True)
class Reference:
    """What is right.

    Args:
        layout: which axes are normalized, the name, and the slips.
        shape: the sizes of the normalized last axes, or (channels,) for norms of channels.
        run: (norm, x, weight, bias, eps) -> its result with this norm with switches.
        eps: its ε.
        module: the module that it stands for.
        base: the switches that make layer norm of the layout into it.
        key: what tells it from others.
    """

    layout: Layout
    shape: tuple[int, ...]
    run: Callable[..., Tensor]
    eps: float
    module: nn.Module | None
    base: Mapping[str, Any] = field(default_factory=dict)
    key: tuple = ()

    @property
    def has_channels(self) -> bool:
        """Whether its channels are axis 1, and not the last one."""
        return isinstance(self.layout, ChannelLayout)

    @property
    def mistakes(self) -> list[Callable]:
        """What is no slip inside it."""
        if self.has_channels:
            return [residual(self.run)]
        return [residual(self.run), subtracting_behind(self.run), *skipping(self.run)]

    def result(self, slips: tuple[Slip, ...] = (), mistake: Callable | None = None) -> Callable:
        """Return (x, weight, bias, eps) -> its result with slips."""
        norm = combined(*slips, model=partial(NormWithSlips, **self.base))
        return partial(mistake or self.run, norm)


def layer_norm_of(shape: tuple[int, ...], eps: float | None = None) -> Reference:
    """Return PyTorch's layer norm for these last axes."""
    return _of_last_axes("Layer norm", shape, 1e-5 if eps is None else eps, None)


def reference_for(like: object, eps: float | None = None) -> Reference:
    """Return the reference for a module.

    Args:
        like: a LayerNorm, RMSNorm, GroupNorm, InstanceNorm, or BatchNorm.
        eps: in place of that of the module.

    Raises:
        TypeError: it's another module.
    """
    if isinstance(like, nn.Module) and hasattr(like, "normalized_shape"):
        shape = tuple(like.normalized_shape)  # type: ignore[arg-type]
        is_rms = "rms" in type(like).__name__.casefold()
        own = like.eps if eps is None else eps
        name, base = ("RMSNorm", AS_RMS_NORM) if is_rms else ("Layer norm", {})
        smallest = torch.finfo(torch.float64).eps  # as nn.RMSNorm(..., eps=None) in float64
        return _of_last_axes(name, shape, smallest if own is None else own, like, base)  # type: ignore[arg-type]
    if isinstance(like, nn.GroupNorm):
        groups, channels = like.num_groups, like.num_channels
        more = other_groups(channels, groups)
        layout = ChannelLayout(GROUPS, (2, 3), name="Group norm", more=more)
        return _of_channels(layout, channels, (groups, channels // groups), like, eps)
    if isinstance(like, nn.modules.instancenorm._InstanceNorm):
        layout = ChannelLayout(CHANNELS, (2,), name="Instance norm")
        return _of_channels(layout, like.num_features, (like.num_features,), like, eps)
    if isinstance(like, nn.modules.batchnorm._BatchNorm):
        layout = ChannelLayout(CHANNELS, (0, 2), name="Batch norm")
        return _of_channels(layout, like.num_features, (like.num_features,), like, eps)
    raise TypeError(
        "like must be an nn.LayerNorm, RMSNorm, GroupNorm, InstanceNorm, or BatchNorm, but "
        f"{'the class' if isinstance(like, type) else 'a'} "
        f"{getattr(like, '__name__', type(like).__name__)} was given."
    )


def _of_last_axes(
    name: str,
    shape: tuple[int, ...],
    eps: float,
    module: nn.Module | None,
    base: Mapping[str, Any] | None = None,
) -> Reference:
    axes = tuple(range(-len(shape), 0))

    def run(
        norm: NormWithSlips, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> Tensor:
        return norm.layer_norm(x, weight, bias, axes, eps)

    layout = LastLayout(right=axes, name=name, more=groups_of_features(shape[-1]))
    return Reference(layout, shape, run, eps, module, base or {}, (name, shape, eps))


def _of_channels(
    layout: Layout, channels: int, split: tuple[int, ...], module: Any, eps: float | None
) -> Reference:
    """Return a reference that looks at its input as (batch, *split, places)."""

    def run(
        norm: NormWithSlips, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> Tensor:
        spread_out = x.reshape(len(x), *split, -1)
        factors = [None if p is None else p.reshape(*split, 1) for p in (weight, bias)]
        y = norm.layer_norm(spread_out, factors[0], factors[1], layout.right, eps)
        return y.reshape(x.shape)

    own = module.eps if eps is None else eps
    base = {}
    tracks = getattr(module, "running_mean", None) is not None
    if tracks and not module.training:
        mean, var = (
            getattr(module, name).detach().double().reshape(-1, 1)
            for name in ("running_mean", "running_var")
        )
        base = {"average": lambda x, axes, keep: mean, "spread": lambda variance: var}
    key = (layout.name, split, own, id(module) if base else None)
    return Reference(layout, (channels,), run, own, module, base, key)
