"""The controls of an explorer: a slider with stops, a choice, or a yes/no switch."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lnorm_utils.words import significant

__all__ = ["Choice", "Slider", "Switch", "powers_of_ten", "steps"]

Values = Mapping[str, Any]
MOST_DIGITS = 18  # exclusive: 17 digits tell any two float64 numbers apart


@dataclass(frozen=True)
class Control:
    """The base class of all controls.

    Args:
        label: the text beside the control.
        start: its initial value.
        options: the values that can be chosen, which are its stops.
        when: tells, from the values of all controls, whether this control has an effect; if not,
            it's grayed out.
    """

    label: str
    start: Any
    options: Iterable[Any]
    when: Callable[[Values], bool] = field(default=lambda values: True, kw_only=True)
    kind: ClassVar[str] = "choice"

    def nearest(self, name: str, value: Any) -> Any:
        """Return the stop nearest to a value, or raise a ValueError that says what's allowed."""
        return one_of(value, self.options, name)

    def texts(self) -> list[str]:
        """Return the label of each stop."""
        return list(map(str, self.options))


@dataclass(frozen=True)
class Choice(Control):
    """A row of buttons, one of which is chosen. Its options are strings."""


@dataclass(frozen=True)
class Slider(Control):
    """A slider that stops at given numbers, in increasing order."""

    kind = "slider"

    def nearest(self, name: str, value: Any) -> float:
        low, high = min(self.options), max(self.options)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not low <= float(value) <= high:
            raise ValueError(
                f"{name} must be a number between {significant(low)} and {significant(high)}, but "
                f"{value!r} was given."
            )
        return min(self.options, key=lambda stop: abs(stop - value))

    def texts(self) -> list[str]:
        """Write the numbers with just enough digits to tell them apart."""
        stops = [*self.options]
        every = ([significant(stop, digits) for stop in stops] for digits in range(4, MOST_DIGITS))
        return next(texts for texts in every if len({*texts}) == len(stops))


@dataclass(frozen=True)
class Switch(Control):
    """A choice between no and yes."""

    options: Iterable[bool] = (False, True)

    def texts(self) -> list[str]:
        return ["no", "yes"]

    def nearest(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False, but {value!r} was given.")
        return value


def one_of(value: Any, options: Iterable[Any], name: str) -> Any:
    """Return the value if it's one of the options, or raise a ValueError that lists them."""
    options = list(options)
    if value not in options:
        named = ", ".join(map(repr, options))
        raise ValueError(f"{name} must be one of {named}, but {value!r} was given.")
    return value


def steps(low: float, high: float, step: float) -> list[float]:
    """List the numbers from low to high, inclusive, in equal steps.

    >>> steps(-0.2, 0.1, 0.1)
    [-0.2, -0.1, 0.0, 0.1]
    """
    return [round(low + i * step, 9) for i in range(round((high - low) / step) + 1)]


def powers_of_ten(low: int, high: int, each: int = 4) -> list[float]:
    """List numbers from 10^low to 10^high, inclusive, with equal ratios between them.

    Args:
        each: the number of steps per factor of ten.

    >>> powers_of_ten(-1, 1, each=2)
    [0.1, 0.316, 1.0, 3.16, 10.0]
    """
    return [float(f"{x:.3g}") for x in np.logspace(low, high, (high - low) * each + 1)]
