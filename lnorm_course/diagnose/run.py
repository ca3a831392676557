"""A layer beside its norm: call it on trials, and find out how exactly it computes."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnorm_course.checking.search import Raised
from lnorm_course.diagnose.explaining import DOUBLE, SINGLE, Result
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.subject import Subject
from lnorm_course.diagnose.trials import NoGradientError, Trial, gradients

__all__ = ["HALF", "Finding", "Run", "is_whole"]

HALF = (torch.float16, torch.bfloat16)
STEP = 1e-6  # more than float32 keeps apart, and so little that a step more or less is a line
NOISE = 1e-9  # of the largest number: more than float64 makes, and less than float32


class Finding(NamedTuple):
    """One sentence; and a clause, if the layer is wrong because of it; or if by nothing else."""

    words: str
    slip: str = ""
    is_minor: bool = False


@dataclass
class Run:
    """A layer beside its norm.

    Args:
        main: a typical trial, which the layer takes.
        mode: whether a module is in `train`.
        unit: of rounding, of what it computes of float64.
        is_still: whether so small a step that float32 keeps it apart doesn't move it.
        is_given: whether γ or β were given, so those that each holds don't matter.
        is_as_held: whether it keeps its own γ and β, and doesn't take those of a trial.
    """

    subject: Subject
    norm: Norm
    main: Trial
    mode: bool = False
    unit: float = DOUBLE
    is_still: bool = False
    is_given: bool = False
    is_as_held: bool = False

    def result(self, trial: Trial) -> Result:
        """Return what the layer makes of a trial, which may be an error."""
        trial = replace(trial, x=trial.x.to(trial.dtype))
        weight, bias = (None, None) if self.is_as_held else (trial.weight, trial.bias)

        def call(x: Tensor, weight: Any, bias: Any, eps: float) -> Tensor:
            return self.subject.call(x, weight, bias, eps, self.mode)

        try:
            if trial.kind == "gradient":
                return gradients(trial, lambda x, g, b, eps: call(x, weight, bias, eps))[0]
            with torch.no_grad():
                return call(trial.x.clone(), weight, bias, trial.eps).clone()
        except NoGradientError:
            return Raised("NoGradientError", "")
        except Exception as error:
            return Raised.of(error)

    def call(self, x: Tensor) -> Result:
        """Return what it makes of x, with the ε, γ and β of the main trial."""
        return self.result(replace(self.main, x=x))

    def with_unit(self) -> "Run":
        """Return it with its unit of rounding, from three results that should be in a line."""
        x, step = self.main.x, STEP * self.main.x.flip(0)
        values = [self.call(x + n * step) for n in (-1, 0, 1)]
        if not all(is_whole(value, x) for value in values):
            return self
        low, here, high = (value.double().nan_to_num() for value in values)  # type: ignore[union-attr]
        noise = (low - 2 * here + high).abs().max() > NOISE * here.abs().max()
        is_still = torch.equal(low, high)  # as half precision is
        return replace(self, unit=SINGLE if noise or is_still else DOUBLE, is_still=is_still)


def is_whole(value: Any, x: Tensor) -> bool:
    """Tell whether a result has as many numbers as x."""
    return isinstance(value, Tensor) and value.numel() == x.numel()
