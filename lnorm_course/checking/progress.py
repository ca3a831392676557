"""Show a student which exercises are solved, on one topic or on all of them."""

import html
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import SIGNS, State
from lnorm_course.progress_files import CHOSEN, RIGHT, WRONG, kept
from lnorm_utils.version import __version__
from lnorm_utils.words import score

__all__ = ["import_banks", "progress"]

STATES = {RIGHT: State.RIGHT, CHOSEN: State.CHOSEN, WRONG: State.WRONG, "": State.NOT_ATTEMPTED}


def progress(topic: str | None = None) -> "Progress":
    """Show the exercises on a topic, such as "mean", or how far you are in all of them.

    Raises:
        ValueError: there are no exercises on that topic.
    """
    if topic is None:
        import_banks()
        return CourseProgress({name: progress(name) for name in sorted(Exercise.bank)})
    if topic not in Exercise.bank:
        known = ", ".join(sorted(Exercise.bank)) or "none yet"
        raise ValueError(f"Unknown topic: {topic!r}. Choose from: {known}.")
    return Progress(_states(topic), _states(topic, further=True))


class Progress(dict):
    """Exercise name → state, shown as a list.

    Args:
        states: those of the exercises that a lesson needs to be finished.
        further: those of its side trips; if none was attempted, they aren't shown.
    """

    def __init__(self, states: Mapping, further: Mapping[str, State] | None = None) -> None:
        super().__init__(states)
        begun = set(further.values()) - {State.NOT_ATTEMPTED} if further else ()
        self.further = further if further and begun else {}

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{_counted(self, ' exercises are right', self.further)}."
        for name, state in (*self.items(), *self.further.items()):
            yield f"{SIGNS[state]} {name}: {state.value.lower()}"

    def _repr_html_(self) -> str:
        head, *lines = self._lines()
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        return f"<p>{head}</p><ul style='list-style: none'>{items}</ul>"


class CourseProgress(Progress):
    """Topic → its progress, shown as a list of topics."""

    def _lines(self) -> Iterator[str]:
        right = sum(map(_number_right, self.values()))
        yield f"{right} of {sum(map(len, self.values()))} exercises are right."
        for topic, states in self.items():
            is_done = _number_right(states) == len(states)
            sign = SIGNS[State.RIGHT if is_done else State.NOT_ATTEMPTED]
            yield f"{sign} {topic}: {_counted(states, '', states.further)}"
        yield f"This is version {__version__} of the course."


def _counted(states: Mapping[str, State], what: str, further: Mapping[str, State]) -> str:
    return score(_number_right(states), len(states), what, _number_right(further), len(further))


def _number_right(states: Mapping[str, State]) -> int:
    return sum(state is State.RIGHT for state in states.values())


def _states(topic: str, further: bool = False) -> dict[str, State]:
    wanted = (name for name, each in Exercise.bank[topic].items() if each.further == further)
    return {name: STATES[kept(topic, name)] for name in wanted}


def import_banks() -> None:
    """Import all banks, which puts their exercises in `Exercise.bank`."""
    banks = import_module("lnorm_course.exercises")
    for module in pkgutil.iter_modules(banks.__path__):
        import_module(f"{banks.__name__}.{module.name}")
