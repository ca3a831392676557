"""What came out of a trial beside what is right there, and how far rounding may move it."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.reference import Reference
from lnorm_diagnose.diagnosing.trial_inputs import OF_DTYPES, Kind, Trial
from lnorm_diagnose.explanations import Raised
from lnorm_diagnose.inspecting.rounding import bound, weight_of_terms
from lnorm_diagnose.slips.notation import Piece

__all__ = ["DOUBLE", "SINGLE", "Case", "Result"]

DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # the units of rounding of float64 and float32
# By how much more than rounding can numbers be off that count as the same? What is computed in
# another order, or wrongly, is rounded otherwise, and hardly any slip is as small as that.
MARGIN = {DOUBLE: 1e5, SINGLE: 10.0}
LOST = {DOUBLE: 1e-4, SINGLE: 1e-2}  # of the largest number, where the mean is large
LEANING = 4  # units of rounding, by which all numbers together may be too small or too large
OPERATIONS, PASSES, OF_GRADIENT = 12, 4, 4  # of a layer norm: how often it rounds and adds a row
Result = Tensor | Raised


class Case:
    """What came out of a trial, beside what is right there.

    Args:
        norm: what is right, with its wrong pieces.
        trial: what went in.
        value: what came out, which may be an error.
        unit: of rounding, of the dtype in which that was computed.
        more: by how much it may be off besides.

    Attributes:
        right: what should come out.
        within: how far a number may be off.
    """

    def __init__(
        self, norm: Reference, trial: Trial, value: Result, unit: float = DOUBLE, more: float = 0.0
    ) -> None:
        self.norm, self.trial, self.kind = norm, trial, trial.kind
        self.value: Any = value
        self.right = trial.run(partial(norm.result, ()))
        self.within = self._rounding(unit) + more
        self._made: dict[tuple[Piece, ...], Result] = {}  # each runs once

    def _rounding(self, unit: float) -> float:
        if self.kind is Kind.FAR:
            return LOST.get(unit, 1.0) * self.right.abs().max().item()
        unit = max(unit, torch.finfo(self.trial.dtype).eps / 2)
        times = OF_GRADIENT if self.kind is Kind.GRADIENT else 1
        terms = PASSES * self.trial.x.shape[-1] * times

        def run(move: Callable[[Tensor], Tensor]) -> Tensor:
            moved = replace(self.trial, x=move(self.trial.x))
            return moved.run(partial(self.norm.result, ()))

        weight = weight_of_terms(self.right, run)
        limit = bound(unit, self.right, weight, OPERATIONS * times, terms)
        return MARGIN.get(unit, 1.0) * limit.max().item()

    def is_near(self, value: Result, other: Result) -> bool:
        """Tell whether one result of the trial is another one, up to rounding."""
        if isinstance(value, Raised) or isinstance(other, Raised) or value.shape != other.shape:
            return False
        within = self.within
        if self.kind is Kind.FAR:  # where the mean stays in, all is as large as it is
            size = other.double().nan_to_num().abs().max() / self.right.abs().max()
            within *= max(1.0, size.item())
        return torch.allclose(value.double(), other.double(), 0, within, equal_nan=True)

    @property
    def is_whole(self) -> bool:
        """Whether a number came out for each that went in."""
        return isinstance(self.value, Tensor) and self.value.shape == self.trial.x.shape

    @cached_property
    def is_right(self) -> bool:
        """Whether what came out is right."""
        is_near = self.is_near(self.value, self.right)
        if self.kind not in OF_DTYPES or not is_near or isinstance(self.value, Raised):
            return is_near
        # Roundings go up as often as down, so what is too small or too large in all was lost.
        y, z = self.value.double().flatten(), self.right.flatten()
        leaning = (y @ z / (z @ z) - 1).abs()
        return bool(leaning <= LEANING * torch.finfo(self.trial.dtype).eps / 2)

    def fits(self, parts: tuple[Piece, ...]) -> bool:
        """Tell whether what came out is what a norm with wrong parts makes of the trial."""
        if parts not in self._made:
            try:
                self._made[parts] = self.trial.run(partial(self.norm.result, parts))
            except Exception as error:  # a wrong part may do anything
                self._made[parts] = Raised.of(error)
        return self.is_near(self.value, self._made[parts])
