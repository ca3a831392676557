"""What can be set in an explorer: a slider over stops, a choice, a switch, a button."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import ipywidgets
import numpy as np
from traitlets import Int

from lnorm_utils.numbers import significant

__all__ = ["Button", "Choice", "Slider", "Switch", "powers_of_ten", "steps"]

Values = Mapping[str, Any]


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

    @abstractmethod
    def checked(self, name: str, value: Any) -> Any:
        """Return the value, or raise a ValueError that names the control and what it takes."""

    @abstractmethod
    def widget(self, values: Iterable[Any]) -> ipywidgets.DOMWidget:
        """Make the widget, in which each of these values can be chosen."""


@dataclass(frozen=True)
class Slider(Control):
    """A slider that stops at numbers in a row; a start or a preset between two becomes a stop.

    Args:
        stops: the numbers, from low to high; where all are integers, only integers can be chosen.
    """

    stops: Iterable[float]

    def checked(self, name: str, value: Any) -> float:
        stops = list(self.stops)
        whole = all(isinstance(stop, Integral) for stop in stops)
        kind = Integral if whole else Real
        inside = isinstance(value, kind) and min(stops) <= float(value) <= max(stops)
        if not inside or isinstance(value, bool):
            what = "a whole number" if whole else "a number"
            low, high = significant(min(stops)), significant(max(stops))
            raise ValueError(
                f"{name} must be {what} between {low} and {high}, but {value!r} was given."
            )
        return value

    def widget(self, values: Iterable[float]) -> ipywidgets.SelectionSlider:
        stops = sorted({*self.stops, *values})
        return ipywidgets.SelectionSlider(options=[(significant(stop), stop) for stop in stops])


@dataclass(frozen=True)
class Choice(Control):
    """A row of buttons of which one is chosen.

    Args:
        options: the texts.
    """

    options: Iterable[str]

    def checked(self, name: str, value: Any) -> str:
        return one_of(value, self.options, name)

    def widget(self, values: Iterable[str]) -> ipywidgets.ToggleButtons:
        return buttons(self.options)


@dataclass(frozen=True)
class Switch(Control):
    """A box to tick."""

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False, but {value!r} was given.")
        return value

    def widget(self, values: Iterable[bool]) -> ipywidgets.Checkbox:
        return ipywidgets.Checkbox()


@dataclass(frozen=True)
class Button(Control):
    """A button whose value is how often it was pressed."""

    def checked(self, name: str, value: Any) -> int:
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name} must be a whole number from 0 on, but {value!r} was given.")
        return int(value)

    def widget(self, values: Iterable[int]) -> "CountingButton":
        return CountingButton()


class CountingButton(ipywidgets.Button):
    """A button that counts in `value` how often it was pressed."""

    value = Int(0)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.on_click(lambda _: self.set_trait("value", self.value + 1))


def buttons(options: Iterable[str]) -> ipywidgets.ToggleButtons:
    """Make a row of buttons, as wide as their texts, of which one or none is chosen.

    In JupyterLab an arrow key does not reach a drop-down list; it goes to the next cell.
    """
    return ipywidgets.ToggleButtons(
        options=list(options), value=None, style={"button_width": "auto"}
    )


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
