"""What can be set in an explorer: a slider over stops, a choice, a switch, a button."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lnorm_utils.words import significant

__all__ = ["Button", "Choice", "Slider", "Switch", "powers_of_ten", "steps"]

Values = Mapping[str, Any]
MOST_DIGITS = 17  # they tell any two float64 numbers apart


def always(values: Values) -> bool:
    """Say that a control means something, whatever the others are set to."""
    return True


@dataclass(frozen=True)
class Control(ABC):
    """What every control has: its text, where it starts, and when it means anything.

    Args:
        label: the text beside the control.
        start: where it stands at first.
        when: from the values of all controls, whether this one has an effect; it is gray if not.
    """

    label: str
    start: Any
    when: Callable[[Values], bool] = field(default=always, kw_only=True)
    kind: ClassVar[str]

    @abstractmethod
    def checked(self, name: str, value: Any) -> Any:
        """Return the value, or raise a ValueError that names the control and what it takes."""

    @abstractmethod
    def stops_with(self, values: Iterable[Any]) -> list[Any] | None:
        """List what can be chosen, these values included; None is a whole number from 0 on."""

    def nearest(self, name: str, value: Any, stops: list[Any] | None) -> Any:
        """Return what can be chosen and is nearest to a value, or raise as `checked` does."""
        return self.checked(name, value)

    def texts(self, stops: list[Any] | None) -> list[str]:
        """Write what can be chosen, each as a text."""
        return [] if stops is None else list(map(str, stops))


@dataclass(frozen=True)
class Slider(Control):
    """A slider that stops at numbers in a row; a start or a preset between two becomes a stop.

    Args:
        stops: the numbers, from low to high; where all are integers, only integers can be chosen.
        most: from the values of all controls, the largest number that means anything now; the
            slider ends there. Without it, the slider always ends at its last stop.
    """

    stops: Iterable[float]
    most: Callable[[Values], float] | None = field(default=None, kw_only=True)
    kind = "slider"

    def checked(self, name: str, value: Any) -> float:
        stops = list(self.stops)
        if not stops:
            raise ValueError(f"The slider {name} needs at least one stop, but got none.")
        whole = all(isinstance(stop, Integral) for stop in stops)
        kind = Integral if whole else Real
        inside = isinstance(value, kind) and min(stops) <= float(value) <= max(stops)
        if not inside or isinstance(value, bool):
            what = "a whole number" if whole else "a number"
            low, high = significant(min(stops)), significant(max(stops))
            raise ValueError(
                f"{name} must be {what} between {low} and {high}, but {value!r} was given."
            )
        return int(value) if whole else float(value)

    def stops_with(self, values: Iterable[float]) -> list[float]:
        return sorted({*(stop + 0 for stop in self.stops), *values})

    def nearest(self, name: str, value: Any, stops: list[Any] | None) -> float:
        value = self.checked(name, value)
        return min(stops or [value], key=lambda stop: abs(stop - value))

    def texts(self, stops: list[Any] | None) -> list[str]:
        """Write the numbers with as many digits as tell them apart."""
        stops = stops or []
        for digits in range(4, MOST_DIGITS):
            texts = [significant(stop, digits) for stop in stops]
            if len({*texts}) == len(stops):
                return texts
        return [significant(stop, MOST_DIGITS) for stop in stops]


@dataclass(frozen=True)
class Choice(Control):
    """A row of buttons of which one is chosen.

    Args:
        options: the texts.
    """

    options: Iterable[str]
    kind = "choice"

    def checked(self, name: str, value: Any) -> str:
        return one_of(value, self.options, name)

    def stops_with(self, values: Iterable[str]) -> list[str]:
        return list(self.options)


@dataclass(frozen=True)
class Switch(Control):
    """A box to tick."""

    kind = "switch"

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, but {value!r} was given.")
        return bool(value)

    def stops_with(self, values: Iterable[bool]) -> list[bool]:
        return [False, True]


@dataclass(frozen=True)
class Button(Control):
    """A button whose value is how often it was pressed."""

    kind = "button"

    def checked(self, name: str, value: Any) -> int:
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name} must be a whole number from 0 on, but {value!r} was given.")
        return int(value)

    def stops_with(self, values: Iterable[int]) -> None:
        return None


def one_of(value: Any, options: Iterable[str], name: str) -> str:
    """Return the value if it is an option, or raise a ValueError that names all options."""
    options = list(options)
    if value not in options:
        named = ", ".join(map(repr, options))
        raise ValueError(f"{name} must be one of {named}, but {value!r} was given.")
    return value


def steps(low: float, high: float, step: float) -> list[float]:
    """List the numbers from low to high, both included, a step apart.

    >>> steps(-0.2, 0.1, 0.1)
    [-0.2, -0.1, 0.0, 0.1]
    """
    return [round(low + i * step, 9) for i in range(round((high - low) / step) + 1)]


def powers_of_ten(low: int, high: int, each: int = 4) -> list[float]:
    """List numbers from 10^low to 10^high, both included, with equal ratios between them.

    Args:
        each: how many lie in a factor of ten.

    >>> powers_of_ten(-1, 1, each=2)
    [0.1, 0.316, 1.0, 3.16, 10.0]
    """
    exponents = np.linspace(low, high, (high - low) * each + 1)
    return [float(f"{10.0**exponent:.3g}") for exponent in exponents]
