"""Show a student which exercises are solved, in one lesson or in all of them."""

import html
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from lnorm_utils.exercises.exercise import Exercise
from lnorm_utils.exercises.feedback import SIGNS, State
from lnorm_utils.progress_files import RIGHT, WRONG, kept

__all__ = ["progress"]

STATES = {RIGHT: State.RIGHT, WRONG: State.WRONG, "": State.NOT_ATTEMPTED}


def progress(lesson: str | None = None) -> "Progress":
    """Show the exercises of a lesson, such as "01_mean", or how far you are in every lesson.

    Raises:
        ValueError: there are no exercises for that lesson.
    """
    if lesson is None:
        _import_banks()
        return CourseProgress({name: _states(name) for name in sorted(Exercise.bank)})
    if lesson not in Exercise.bank:
        known = ", ".join(sorted(Exercise.bank)) or "none yet"
        raise ValueError(f"There are no exercises for {lesson!r}; known lessons: {known}.")
    return Progress(_states(lesson))


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
    """Lesson → {exercise name → state}, shown as a list of lessons."""

    def _lines(self) -> Iterator[str]:
        right = {lesson: _number_right(states) for lesson, states in self.items()}
        total = sum(map(len, self.values()))
        yield f"{sum(right.values())} of {total} exercises are right."
        for lesson, states in self.items():
            is_done = right[lesson] == len(states)
            sign = SIGNS[State.RIGHT if is_done else State.NOT_ATTEMPTED]
            yield f"{sign} {lesson}: {right[lesson]} of {len(states)}"


def _number_right(states: dict[str, State]) -> int:
    return sum(state is State.RIGHT for state in states.values())


def _states(lesson: str) -> dict[str, State]:
    return {name: STATES[kept(lesson, name)] for name in Exercise.bank[lesson]}


def _import_banks() -> None:
    for module in pkgutil.iter_modules(import_module(__package__).__path__):
        if module.name.startswith("lesson_"):
            import_module(f"{__package__}.{module.name}")
