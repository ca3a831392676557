"""Explain results by the fewest mistakes that lead to them, for exercises and for `diagnose`.

The idea comes from Singh, Gulwani & Solar-Lezama 2013, arXiv:1204.1751, who correct students'
programs with an error model and a correct solution. Here, the error model is a program with gaps.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_diagnose.slips.notation import Option
from lnorm_utils.words import clause, first_sentence

__all__ = ["Explanation", "Mistake", "Part", "Raised", "explain", "in_gaps", "in_words", "said"]

MOST_NAMED = 3  # if more explanations than this fit, only one is given, as an example


class Mistake(NamedTuple):
    """A wrong answer that an exercise recognizes, and the feedback on it.

    For code, `answer` takes the place of the student's function or class. If the exercise has
    `by_steps`, `answer` takes the model's steps as an additional first argument.
    """

    answer: Any
    why: str
    misconceptions: tuple[Misconception, ...] = ()


Part = Mistake | Option
Explanation = tuple[Part, ...]
Parts = TypeVar("Parts", bound=tuple)


class Raised(NamedTuple):
    """An error as plain data. Its `str` is what the student reads.

    Args:
        kind: the name of its class.
        message: what it says, in one line.
        told: the sentence that a student reads, usually with the kind, the message, and the place;
            empty if the error didn't come from a student's attempt.
    """

    kind: str
    message: str
    told: str = ""

    @classmethod
    def of(cls, error: BaseException) -> "Raised":
        """Return an error as plain data."""
        try:
            message = " ".join(str(error).split())[:200]
        except Exception:  # its __str__ raises, too
            message = ""
        return cls(type(error).__name__, message)

    def __str__(self) -> str:
        return self.told


def explain(
    groups: Iterable[Iterable[Parts]],
    must: Sequence[Callable[[Parts], bool]],
    may: Sequence[Callable[[Parts], bool]] = (),
) -> list[Parts]:
    """Of the explanations that pass the tests, return those with the fewest mistakes.

    The groups are searched in order, up to the first with an explanation that passes all tests. Of
    the explanations in these groups, the first that passes the most tests is kept, with all others
    that pass the same tests; of these, those with the fewest parts are returned.

    Args:
        groups: groups of explanations, the likeliest first.
        must: tests that each explanation has to pass; the one that rules out the most comes first.
        may: tests that an explanation may fail.

    >>> even, small = (lambda parts: parts[0] % 2 == 0), (lambda parts: parts[0] < 4)
    >>> explain([[(5,), (6,)], [(2,), (4,)], [(0,)]], must=[even], may=[small])
    [(2,)]
    """
    found: list[Parts] = []
    most: list[bool] = []
    for group in groups:
        for parts in group:
            if all(test(parts) for test in must):
                passed = [test(parts) for test in may]
                if not found or sum(passed) > sum(most):
                    found, most = [parts], passed
                elif passed == most:
                    found.append(parts)
        if found and all(most):
            break
    return [parts for parts in found if len(parts) == len(found[0])]


def in_gaps(groups: Iterable[tuple[Option, ...]]) -> Iterator[tuple[Option, ...]]:
    """Yield the groups of distractors in which no two fill the same gap."""
    return (parts for parts in groups if len({part.gap for part in parts}) == len(parts))


def in_words(found: Sequence[Explanation]) -> tuple[str, str]:
    """Say what was done, and what is right instead, according to all explanations that fit.

    Returns:
        A short name for what was done, and the whole text that a student reads.
    """
    names = [first_sentence(why) for why in said(found[0])]
    name = names[0] if len(names) == 1 else f"Two things: {'; and '.join(map(clause, names))}"
    ways = list(dict.fromkeys(map(_way, found)))
    if len(ways) > MOST_NAMED:
        return name, f"Perhaps {clause(ways[0])} But other mistakes lead to the same result."
    return name, ways[0] if len(ways) == 1 else f"Either: {' Or: '.join(ways)}"


def said(parts: Explanation) -> list[str]:
    """Return the words for each mistake, in the version that's true given the other mistakes."""
    is_elsewhere = any(isinstance(part, Option) and part.is_axes for part in parts)
    return [
        part.elsewhere if is_elsewhere and isinstance(part, Option) and part.elsewhere else part.why
        for part in parts
    ]


def _way(parts: Explanation) -> str:
    first, *second = said(parts)
    return f"Two things: {clause(first)} Also, {clause(second[0])}" if second else first
