"""What explains the results of an attempt, and how it is said."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lnorm_course.diagnose.layout import Layout
from lnorm_course.diagnose.slip import Slip
from lnorm_utils.words import capitalized, spoken

__all__ = ["Cause", "Failure", "Raised", "in_words"]


class Cause(NamedTuple):
    """What explains results: a mistake of the bank, if any, and slips of layer norm."""

    mistake: Callable | None
    slips: tuple[Slip, ...]

    @property
    def size(self) -> int:
        """How many things are wrong."""
        return len(self.slips) + (self.mistake is not None)

    @property
    def key(self) -> tuple:
        """What tells it from other causes."""
        return (self.mistake, *map(id, self.slips))

    def switches(self) -> set:
        """Return its mistake, if any, and the switches that its slips throw."""
        return {self.mistake} - {None} | {name for slip in self.slips for name in slip.changes}


class Raised(NamedTuple):
    """The result of a cause that raises an error."""

    kind: str
    message: str


class Failure(NamedTuple):
    """The result of a student's code that raised an error, or failed in another way.

    Args:
        kind: the name of the error's class; empty if it's another failure.
        message: what the error says, or how it failed.
    """

    kind: str
    message: str

    @property
    def remark(self) -> str:
        """What it did, in words."""
        return f"raised {self.kind}: {self.message}" if self.kind else self.message


def in_words(causes: Sequence[Cause], layout: Layout) -> str:
    """Say what was done, and what layer norm does instead.

    Of three things, say what was done in short, and what to do about the first.
    """
    mistake, slips = causes[0].mistake, causes[0].slips
    if mistake and not slips:
        return " ".join((mistake.__doc__ or "").split())
    instead = _instead([slip for cause in causes for slip in cause.slips], layout)
    if mistake:
        text = " ".join((mistake.__doc__ or "").split())
        if len(slips) > 1:
            done = spoken([slip.done for slip in slips], are_clauses=True)
            return layout.in_its_letters(f"{text} Also, {done}.")
        return layout.in_its_letters(f"{text} Also, {slips[0].told}. {instead}")
    if len(slips) > 2:
        begin = "Three things" if len(causes) == 1 else "Perhaps three things"
        done = spoken([slip.done for slip in slips], are_clauses=True)
        first = f"Begin with the first. {_instead(slips[:1], layout)}"
        return layout.in_its_letters(f"{begin}: {done}. {first}")
    told = [_told(cause.slips) for cause in causes]
    ways = list(dict.fromkeys(spoken(clauses, are_clauses=True) for clauses in told))
    if len(ways) > 2 and ", and " in instead:
        return layout.in_its_letters(
            f"Perhaps {ways[0]}, but other mistakes lead to the same result. "
            f"{_instead(slips, layout)}"
        )
    if len(ways) > 1:
        done = f"either {', or '.join(ways)}"
    elif len(slips) > 1:
        done = f"two things: {ways[0]}"
    else:
        done = ways[0]
    return layout.in_its_letters(f"{capitalized(done)}. {instead}")


def _told(slips: Sequence[Slip]) -> list[str]:
    """Say what was done in full. What one thing leads to is left out where there are two."""
    return [
        slip.done if slip.detail.startswith("so ") and len(slips) > 1 else slip.told
        for slip in slips
    ]


def _instead(slips: Sequence[Slip], layout: Layout) -> str:
    """Say what is done instead, in a sentence for each name that does something."""
    told: dict[str, list[str]] = {}
    for slip in slips:
        told.setdefault(slip.of or layout.name, []).append(slip.instead)
    return " ".join(f"{name} {spoken(each, are_clauses=True)}." for name, each in told.items())
