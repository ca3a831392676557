"""Show a student which exercises are solved, on one topic or on all of them."""

import html
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.feedback import SIGNS, State
from lnorm_course.progress_files import CHOSEN, RIGHT, WRONG, kept, score
from lnorm_utils.version import __version__

__all__ = ["import_banks", "progress"]

STATES = {RIGHT: State.RIGHT, CHOSEN: State.CHOSEN, WRONG: State.WRONG, "": State.NOT_ATTEMPTED}


def progress(topic: str | None = None) -> "Progress":
    """Show the exercises on a topic, such as "mean", or how far you are in all of them.

    Raises:
        ValueError: there are no exercises on that topic.
    """
    if topic is None:
        import_banks()
        return Progress(list(_of_all()))
    if topic not in Exercise.bank:
        known = ", ".join(sorted(Exercise.bank)) or "none yet"
        raise ValueError(f"Unknown topic: {topic!r}. Choose from: {known}.")
    needed, further = _states(topic)
    told = (f"{SIGNS[s]} {name}: {s.value.lower()}" for name, s in (needed | further).items())
    return Progress([f"{_counted(needed, further, ' exercises are right')}.", *told])


@dataclass
class Progress:
    """Lines that are shown as a list below the first one."""

    lines: Sequence[str]

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(line)}</li>" for line in self.lines[1:])
        return f"<p>{self.lines[0]}</p><ul style='list-style: none'>{items}</ul>"


def _of_all() -> Iterator[str]:
    """Yield how many exercises are right, in all and on each topic."""
    topics = {topic: _states(topic) for topic in sorted(Exercise.bank)}
    all_needed = [needed for needed, _ in topics.values()]
    right = sum(map(_number_right, all_needed))
    yield f"{right} of {sum(map(len, all_needed))} exercises are right."
    for topic, (needed, further) in topics.items():
        is_done = _number_right(needed) == len(needed)
        sign = SIGNS[State.RIGHT if is_done else State.NOT_ATTEMPTED]
        yield f"{sign} {topic}: {_counted(needed, further)}"
    yield f"This is version {__version__} of the course."


def _states(topic: str) -> tuple[dict[str, State], dict[str, State]]:
    """Return name → state of the exercises of a topic, and of its side trips once one is begun."""
    bank = Exercise.bank[topic]
    states = {name: STATES[kept(topic, name)] for name in bank}
    further = {name: state for name, state in states.items() if bank[name].further}
    needed = {name: state for name, state in states.items() if name not in further}
    return needed, further if set(further.values()) - {State.NOT_ATTEMPTED} else {}


def _counted(needed: Mapping[str, State], further: Mapping[str, State], what: str = "") -> str:
    return score(_number_right(needed), len(needed), what, _number_right(further), len(further))


def _number_right(states: Mapping[str, State]) -> int:
    return sum(state is State.RIGHT for state in states.values())


def import_banks() -> None:
    """Import all banks, which puts their exercises in `Exercise.bank`."""
    banks = import_module("lnorm_course.exercises")
    for module in pkgutil.iter_modules(banks.__path__):
        import_module(f"{banks.__name__}.{module.name}")
