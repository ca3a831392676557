"""Define the reference norm that a layer is compared with, and that norm's distractors."""

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_diagnose.slips.models import OF_RMS_NORM, ErrorModel, last_axes
from lnorm_diagnose.slips.notation import Option, Tag
from lnorm_utils.functional import shape_tuple
from lnorm_utils.words import capitalized

__all__ = ["Reference", "reference_like"]


# The norms that a layer can be compared with.
LAYER_NORM, RMS_NORM = "layer norm", "RMSNorm"


@dataclass(frozen=True)
class Reference:
    """The norm that a layer is compared with.

    Args:
        shape: the shape of γ.
        eps: ε.
        module: the module that the norm is taken from.
        family: the name of the norm.
    """

    shape: tuple[int, ...]
    eps: float = 1e-5
    module: nn.Module | None = None
    family: str = LAYER_NORM

    @property
    def name(self) -> str:
        """The name of the norm, as written at the beginning of a sentence."""
        return capitalized(self.family)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The module's γ and β, keyed by role."""
        held = {role: getattr(self.module, role, None) for role in ("weight", "bias")}
        return {role: p.detach().double() for role, p in held.items() if p is not None}

    @property
    def distractors(self) -> list[Option]:
        """The distractors to try, without those only for exercises or only for layer norm."""
        unfit = {Tag.EXERCISES} | ({Tag.LAYER_NORM} if self.family == RMS_NORM else set())
        known = _model(self.family, len(self.shape)).distractors
        return [option for option in known if not unfit & {*option.tags}]

    def result(
        self, parts: tuple[Option, ...], x: Tensor, weight: Any, bias: Any, eps: float
    ) -> Tensor:
        """Return the norm's result for x when these wrong parts replace the right ones."""
        weight = torch.ones_like(bias) if weight is None and bias is not None else weight
        dim = tuple(range(-len(self.shape), 0))
        steps = _model(self.family, len(dim)).with_distractors(parts)
        return steps.layer_norm(x, weight, bias, dim, eps)


@functools.cache
def _model(family: str, count: int) -> ErrorModel:
    """Return the error model of a norm over the last `count` axes."""
    axes, called = last_axes(count), capitalized(family)
    if family == RMS_NORM:
        texts = ("norm_steps", "rms_norm_steps", "diagnose_only")
        return ErrorModel(*texts, axes=axes, called=called, words=OF_RMS_NORM)
    return ErrorModel("norm_steps", "diagnose_only", axes=axes, called=called)


def reference_like(like: Any, eps: float | None, dtype: torch.dtype = torch.float64) -> Reference:
    """Return the norm that a module computes for inputs of a dtype, with `eps` if it's given.

    If `like` is None, the norm is a layer norm of unknown shape.

    Raises:
        TypeError: `like` is neither a layer norm nor an RMSNorm.
    """
    if like is None:
        return Reference((), 1e-5 if eps is None else eps)
    shape = getattr(like, "normalized_shape", None)
    if not isinstance(like, nn.Module) or shape is None:
        kind = "the class" if isinstance(like, type) else "a"
        raise TypeError(
            f"`like` must be a layer norm or an RMSNorm, such as nn.LayerNorm(8), but {kind} "
            f"{getattr(like, '__name__', type(like).__name__)} was given."
        )
    is_rms = "rms" in type(like).__name__.lower()
    own = getattr(like, "eps", None) if eps is None else eps
    smallest = torch.finfo(torch.promote_types(dtype, torch.float32)).eps  # used for eps=None
    return Reference(
        shape_tuple(shape),
        smallest if own is None else own,
        like,
        RMS_NORM if is_rms else LAYER_NORM,
    )
