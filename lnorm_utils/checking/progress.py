"""Show a student which exercises are solved, on one topic or on all of them."""

import html
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from lnorm_utils.checking.exercise import Exercise
from lnorm_utils.checking.feedback import SIGNS, State
from lnorm_utils.progress_files import RIGHT, WRONG, kept
from lnorm_utils.version import __version__

__all__ = ["progress"]

STATES = {RIGHT: State.RIGHT, WRONG: State.WRONG, "": State.NOT_ATTEMPTED}


def progress(topic: str | None = None) -> "Progress":
    """Show the exercises on a topic, such as "mean", or how far you are in all of them.

    Raises:
        ValueError: there are no exercises on that topic.
    """
    if topic is None:
        _import_banks()
        return CourseProgress({name: _states(name) for name in sorted(Exercise.bank)})
    if topic not in Exercise.bank:
        known = ", ".join(sorted(Exercise.bank)) or "none yet"
        raise ValueError(f"Unknown topic: {topic!r}. Choose from: {known}.")
    return Progress(_states(topic))


class Progress(dict):
    """Exercise name → state, shown as a list."""

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{_number_right(self)} of {len(self)} exercises are right."
        for name, state in self.items():
            yield f"{SIGNS[state]} {name}: {state.value.lower()}"

    def _repr_html_(self) -> str:
        head, *lines = self._lines()
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        return f"<p>{head}</p><ul style='list-style: none'>{items}</ul>"


class CourseProgress(Progress):
    """Topic → {exercise name → state}, shown as a list of topics."""

    def _lines(self) -> Iterator[str]:
        right = {topic: _number_right(states) for topic, states in self.items()}
        total = sum(map(len, self.values()))
        yield f"{sum(right.values())} of {total} exercises are right."
        for topic, states in self.items():
            is_done = right[topic] == len(states)
            sign = SIGNS[State.RIGHT if is_done else State.NOT_ATTEMPTED]
            yield f"{sign} {topic}: {right[topic]} of {len(states)}"
        yield f"This is version {__version__} of the course."


def _number_right(states: dict[str, State]) -> int:
    return sum(state is State.RIGHT for state in states.values())


def _states(topic: str) -> dict[str, State]:
    return {name: STATES[kept(topic, name)] for name in Exercise.bank[topic]}


def _import_banks() -> None:
    banks = import_module("lnorm_utils.exercises")
    for module in pkgutil.iter_modules(banks.__path__):
        import_module(f"{banks.__name__}.{module.name}")
