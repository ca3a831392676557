"""What a layer is compared with: a norm and its wrong pieces."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_diagnose.slips.models import LAST, AxisChoices, Model, choice
from lnorm_diagnose.slips.notation import Piece
from lnorm_utils.functional import shape_tuple

__all__ = ["WRONG_AXES", "Reference", "reference_like"]

BEFORE_LAST = ("the axis before the last", "-2", None)
WRONG_AXES = {code for _, code, _ in (*LAST.wrong, BEFORE_LAST)}
IS_RIGHT = {1: "-1", 2: "(-2, -1)"}
OF_SOURCES = ("var_mean", "normalize", "std")  # a reason of a piece that nobody has seen here


@dataclass(frozen=True)
class Reference:
    """What is right.

    Args:
        shape: of γ.
        eps: ε.
        module: the module that it stands for.
        name: as the beginning of a sentence.
    """

    shape: tuple[int, ...]
    eps: float = 1e-5
    module: nn.Module | None = None
    name: str = "Layer norm"

    @property
    def in_words(self) -> str:
        """Its name within a sentence."""
        return self.name.replace("L", "l")

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The γ and β that its module has, by their roles."""
        held = {role: getattr(self.module, role, None) for role in ("weight", "bias")}
        return {role: p.detach().double() for role, p in held.items() if p is not None}

    @property
    def pieces(self) -> list[Piece]:
        """Its wrong pieces."""
        return _known(self.name, len(self.shape))[1]

    def result(self, parts: Sequence[Any], x: Tensor, weight: Any, bias: Any, eps: float) -> Tensor:
        """Return what it makes of x with wrong parts; the text is run only once."""
        weight = torch.ones_like(bias) if weight is None and bias is not None else weight
        steps = _known(self.name, len(self.shape))[0].steps
        steps.layer_norm.__func__.__globals__.update(choice(parts))
        dim = tuple(range(-len(self.shape), 0))
        return steps.layer_norm(x, weight, bias, dim, eps)


@functools.cache
def _known(name: str, count: int) -> tuple[Model, list[Piece]]:
    """Return the steps of a norm over the last axes, right and wrong, and its wrong pieces."""
    wrong = [each for each in (*LAST.wrong, BEFORE_LAST) if each[1] != IS_RIGHT.get(count)]
    wrong = [each for each in wrong if count > 1 or "count(" not in each[1]]
    axes = AxisChoices("the last axis alone" if count == 1 else f"the last {count} axes", wrong)
    relative = ["rms_norm_differences"] * (name == "RMSNorm")
    model = Model("layer_norm", *relative, "whole_layer", axes=axes, called=name)
    pieces = (p for p in model.pieces if p.step != "deviation" or "1e-" not in p.code)
    return model, [p for p in pieces if p.has not in OF_SOURCES]


def reference_like(like: Any, eps: float | None, dtype: torch.dtype = torch.float64) -> Reference:
    """Return the norm that a module stands for on inputs of a dtype, with another ε if it's given.

    Without a module it's layer norm, of a shape that isn't known.

    Raises:
        TypeError: it's no layer norm and no RMSNorm.
    """
    if like is None:
        return Reference((), 1e-5 if eps is None else eps)
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
    return Reference(shape_tuple(shape), smallest if own is None else own, like, name)
