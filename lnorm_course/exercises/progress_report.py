"""Show a student which exercises are solved, on one topic or in the whole course."""

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
    """Show the state of the exercises on a topic, such as "mean", or the score on every topic.

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
    right = score(*_score(needed), " exercises are right", *_score(further))
    return Progress([f"{right}.", *told])


@dataclass
class Progress:
    """Lines of text, of which all but the first are shown as a list."""

    lines: Sequence[str]

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(line)}</li>" for line in self.lines[1:])
        return f"<p>{self.lines[0]}</p><ul style='list-style: none'>{items}</ul>"


def _of_all() -> Iterator[str]:
    """Yield lines of text: how many exercises are right, in total and by topic, and the version."""
    topics = {topic: _states(topic) for topic in sorted(Exercise.bank)}
    right, most = map(sum, zip(*(_score(needed) for needed, _ in topics.values()), strict=True))
    yield f"{right} of {most} exercises are right."
    for topic, (needed, further) in topics.items():
        right, most = _score(needed)
        sign = SIGNS[State.RIGHT if right == most else State.NOT_ATTEMPTED]
        yield f"{sign} {topic}: {score(right, most, '', *_score(further))}"
    yield f"This is version {__version__} of the course."


def _states(topic: str) -> tuple[dict[str, State], dict[str, State]]:
    """Return the states of a topic's exercises, and of its side trips ({} if none is attempted)."""
    needed, further = dict[str, State](), dict[str, State]()
    for name, exercise in Exercise.bank[topic].items():
        (further if exercise.further else needed)[name] = STATES[kept(topic, name)]
    return needed, further if {*further.values()} - {State.NOT_ATTEMPTED} else {}


def _score(states: Mapping[str, State]) -> tuple[int, int]:
    """Return how many exercises are right, and how many there are."""
    return sum(state is State.RIGHT for state in states.values()), len(states)


def import_banks() -> None:
    """Import all banks, which adds their exercises to `Exercise.bank`."""
    banks = import_module("lnorm_course.exercises")
    for module in pkgutil.iter_modules(banks.__path__):
        import_module(f"{banks.__name__}.{module.name}")
