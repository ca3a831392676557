"""A subject beside its reference, and what both make of an input."""

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor

from lnorm_course.checking.comparing import same
from lnorm_course.diagnose.causes import Failure
from lnorm_course.diagnose.inputs import Input, inputs_for
from lnorm_course.diagnose.references import Reference
from lnorm_course.diagnose.slip import Slip
from lnorm_course.diagnose.subject import Subject

__all__ = ["EXACT", "SINGLE", "Run"]

EXACT, SINGLE = 1e-6, 3e-5  # how far results may be off that are computed in float64, and float32


@dataclass
class Run:
    """A subject beside its reference.

    Args:
        axes: how many axes an input may have.
        mode: whether a module is in `train`; None for a function.
    """

    subject: Subject
    reference: Reference
    weight: Tensor | None
    bias: Tensor | None
    axes: list[int]
    mode: bool | None = None
    inputs: list[Input] = field(default_factory=list)
    within: float = EXACT
    slips: tuple[Slip, ...] = ()
    mistake: Callable | None = None

    def call(self, x: Tensor, eps: float | None = None) -> Tensor | Failure:
        """Return what the subject makes of x."""
        eps = self.reference.eps if eps is None else eps
        value = self.subject.call(x, self.weight, self.bias, eps, self.mode).value
        return value.detach() if isinstance(value, Tensor) else value

    def expected(self, x: Tensor, eps: float | None = None) -> Tensor:
        """Return what the reference makes of x, with the slips that were found, in float64."""
        eps = self.reference.eps if eps is None else eps
        return self.reference.result(self.slips, self.mistake)(x, self.weight, self.bias, eps)

    def explains(self, x: Tensor, value: object, eps: float | None = None) -> bool:
        """Tell whether this is what the reference makes of x, with the slips found."""
        return same(value, self.expected(x, eps), self.within)

    def choose_inputs(self) -> None:
        """Take the inputs that go with the reference and with what the subject takes."""
        reference = self.reference
        self.inputs = inputs_for(
            reference.shape,
            self.axes,
            reference.has_channels,
            reference.eps,
            self.subject.takes_eps,
        )
