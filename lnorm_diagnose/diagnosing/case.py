"""Compare a trial's result with the right one, allowing for the rounding of each number."""

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.reference import Reference
from lnorm_diagnose.diagnosing.trial_inputs import OF_DTYPES, Kind, Trial
from lnorm_diagnose.fewest_slips import Raised
from lnorm_diagnose.inspecting.rounding import bound, sum_abs_terms
from lnorm_diagnose.slips.notation import Option

__all__ = ["LOOSE", "ROUNDOFF_32", "ROUNDOFF_64", "Case", "Distractors", "Result"]

ROUNDOFF_64, ROUNDOFF_32 = 2.0**-53, 2.0**-24  # the unit roundoffs of float64 and float32
# Numbers may be off by this many times the rounding bound and still count as the same, because
# operations in a different order are rounded differently. Hardly any slip has so small an effect.
MARGIN = {ROUNDOFF_64: 1e5, ROUNDOFF_32: 10.0}
# If the mean is large, results may be off by this fraction of the largest result.
LOST = {ROUNDOFF_64: 1e-4, ROUNDOFF_32: 1e-2}
LEANING = 4  # how far, in unit roundoffs, all numbers together may be too small or too large
# The numbers of roundings and of sums over a row in a norm, and the factor for its gradients.
OPERATIONS, PASSES, OF_GRADIENT = 12, 4, 4
FEW = 600  # how many numbers to compare first if there are more than this
FLOOR = 0.5  # the smallest weight, as a fraction of its row's median weight
LOOSE = 4  # if errors are above this many times the limit, a rough limit is enough
Result = Tensor | Raised
Distractors = tuple[Option, ...]


class Case:
    """The result of a trial, together with the right result.

    Args:
        norm: the norm that is right, with its distractors.
        trial: what went in.
        value: what came out, which may be an error.
        unit_roundoff: the unit roundoff of the dtype in which the value was computed.
        stored: how far off each number may be, in addition, because of how it was stored.
    """

    def __init__(
        self,
        norm: Reference,
        trial: Trial,
        value: Result,
        unit_roundoff: float = ROUNDOFF_64,
        stored: Tensor | float = 0.0,
    ) -> None:
        self.norm, self.trial, self.kind = norm, trial, trial.kind
        self.unit_roundoff, self.stored = unit_roundoff, stored
        self.value: Any = value
        self._made: dict[Distractors, Result] = {}  # so that each combination runs only once
        self._limits: dict[Distractors, Tensor] = {}
        self._on_rows: dict[Option, bool] = {}

    def computed(self, unit_roundoff: float, stored: Tensor) -> "Case":
        """Return this case as if its numbers had been computed and stored differently."""
        few, _ = self.few, self._weight  # compute them now, so that both cases share them
        other = copy.copy(self)
        other.unit_roundoff, other.stored, other._limits = unit_roundoff, stored, {}
        for known in ("_loose", "is_right"):
            other.__dict__.pop(known, None)
        other.few = other if few is self else few.computed(unit_roundoff, self._in_few(stored))
        return other

    @cached_property
    def few(self) -> "Case":
        """This case or, if it has many numbers, only its rows with the largest errors."""
        if self.trial.x.numel() <= FEW or not self.is_whole:
            return self
        off = self.trial.rows((self.value.double() - self.right).abs() / self.limit())
        self._of_few = off.amax(1).topk(max(1, FEW // off.shape[1])).indices
        x, value, stored, weight = map(
            self._in_few, (self.trial.x, self.value, self.stored, self._weight)
        )
        few = Case(self.norm, replace(self.trial, x=x), value, self.unit_roundoff, stored)
        few._weight, few.few = weight, few
        return few

    def _in_few(self, y: Tensor | float) -> Tensor:
        rows = self.trial.rows(torch.as_tensor(y).expand_as(self.value))
        return rows[self._of_few].reshape(-1, *self.norm.shape)

    def may_fit(self, parts: Distractors) -> bool:
        """Return False only if wrong parts neither mix rows nor fit `few`, which is smaller."""
        few = self.few
        return few is self or not all(map(self._acts_on_rows, parts)) or few.fits(parts)

    def _acts_on_rows(self, option: Option) -> bool:
        if option.value is None and option not in self._on_rows:
            made, own = (case.made((option,)) for case in (self, self.few))
            self._on_rows[option] = (
                isinstance(made, Tensor)
                and isinstance(own, Tensor)
                and made.shape == self.value.shape
                and torch.allclose(self._in_few(made), own, equal_nan=True)
            )
        return option.value is not None or self._on_rows[option]

    @property
    def right(self) -> Tensor:
        """The right result."""
        made = self.made(())
        assert isinstance(made, Tensor)
        return made

    def made(self, parts: Distractors) -> Result:
        """Return the result, or the error, that a norm with wrong parts gives for the trial."""
        if parts not in self._made:
            try:
                self._made[parts] = self.trial.run(partial(self.norm.result, parts))
            except Exception as error:  # a wrong part may raise anything
                self._made[parts] = Raised.of(error)
        return self._made[parts]

    def limit(self, parts: Distractors = ()) -> Tensor:
        """Return how far each number may be from the result of these wrong parts and still fit."""
        if parts not in self._limits:
            made = self.made(parts)
            assert isinstance(made, Tensor)
            self._limits[parts] = self.rounding(made.double()) + self.stored
        return self._limits[parts]

    def rounding(self, made: Tensor) -> Tensor:
        """Return how far rounding can move each number of a result."""
        if self.kind is Kind.FAR:
            size = made.nan_to_num(0, 0, 0).abs().max()
            return torch.full_like(made, LOST.get(self.unit_roundoff, 1.0) * size.item())
        u = max(self.unit_roundoff, torch.finfo(self.trial.dtype).eps / 2)
        times = OF_GRADIENT if self.kind is Kind.GRADIENT else 1
        terms = PASSES * self.trial.x.shape[-1] * times
        weight = self._weight
        if made is not self.right and made.shape == weight.shape:  # scale each row's weight
            weight = weight * (_size(made) / _size(self.right)).nan_to_num(1.0, 1.0)
        elif made.shape != weight.shape:
            weight = weight.max()
        return MARGIN.get(u, 1.0) * bound(u, made, weight, OPERATIONS * times, terms)

    @cached_property
    def _weight(self) -> Tensor:
        """How far rounding can move each number of the right result, per unit roundoff."""

        def run(move: Callable[[Tensor], Tensor]) -> Tensor:
            moved = replace(self.trial, x=move(self.trial.x))
            return moved.run(partial(self.norm.result, ()))

        weight = sum_abs_terms(self.right, run)
        if not (weight.ndim and weight.numel()):
            return weight
        # Estimated from few samples, the weight may be too small.
        return weight.maximum(FLOOR * weight.nan_to_num(0, 0, 0).median(-1, keepdim=True).values)

    def off(self, parts: Distractors = ()) -> Tensor:
        """Mark the numbers that are off by more than rounding explains; NaN equals NaN here."""
        made = self.made(parts)
        assert isinstance(made, Tensor)
        return self._off(made.double(), self.limit(parts))

    def _off(self, z: Tensor, limit: Tensor) -> Tensor:
        y = self.value.double()
        return ~(((y - z).abs() <= limit) | (y == z) | (y.isnan() & z.isnan()))

    def shows(self, parts: Distractors) -> bool:
        """Return whether wrong parts change the right result by more than rounding does."""
        made = self.made(parts)
        if isinstance(made, Raised) or made.shape != self.right.shape:
            return True
        return bool(((made - self.right).abs() > self.limit()).any())

    def fits(self, parts: Distractors) -> bool:
        """Return whether the trial's result is that of a norm with wrong parts."""
        made, y = self.made(parts), self.value
        if isinstance(y, Raised) or isinstance(made, Raised) or y.shape != made.shape:
            return False
        if not made.numel():
            return True
        # Most wrong parts are far off, and a rough test takes less time than a limit for each part.
        is_far = parts and self._off(made.double(), self._loose).any()
        return not is_far and not self.off(parts).any()

    @cached_property
    def _loose(self) -> Tensor:
        """A rough limit, based on the output's size; any result that fits is about that large."""
        return LOOSE * (self.rounding(self.value.double()) + self.stored)

    @property
    def is_whole(self) -> bool:
        """Whether the output is a tensor with the shape of the input."""
        return isinstance(self.value, Tensor) and self.value.shape == self.trial.x.shape

    @cached_property
    def is_right(self) -> bool:
        """Whether what came out is right."""
        if not self.fits(()) or self.kind not in OF_DTYPES:
            return self.fits(())
        # Rounding goes up as often as down. If most numbers are too small, or most are too large,
        # digits were lost.
        y, z = self.value.double().flatten(), self.right.double().flatten()
        leaning = (y @ z / (z @ z) - 1).abs()
        return not bool(leaning > LEANING * torch.finfo(self.trial.dtype).eps / 2)


def _size(numbers: Tensor) -> Tensor:
    """Return each row's median absolute value, a size that a single outlier doesn't affect."""
    return numbers.double().abs().nan_to_num(0, 0, 0).median(-1, keepdim=True).values
