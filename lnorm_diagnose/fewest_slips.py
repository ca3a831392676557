"""Explain results by the fewest wrong things that lead to them: one search for all.

The idea is that of Singh, Gulwani & Solar-Lezama 2013, arXiv:1204.1751, where an error model and a
right solution correct the programs of students. Here the error model is a program with gaps.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from lnorm_diagnose.slips.beliefs import Belief
from lnorm_diagnose.slips.notation import Piece
from lnorm_utils.words import clause, first_sentence

__all__ = ["Explanation", "Mistake", "Part", "Raised", "explain", "in_gaps", "in_words", "said"]

MOST_NAMED = 3  # explanations; if more of them fit, one is an example


class Mistake(NamedTuple):
    """A wrong answer that an exercise knows, and what is said of it.

    Of code it's a function of the inputs. If the exercise has a model, it takes its steps first.
    """

    answer: Any
    why: str
    beliefs: tuple[Belief, ...] = ()


Part = Mistake | Piece
Explanation = tuple[Part, ...]
Parts = TypeVar("Parts", bound=tuple)


class Raised(NamedTuple):
    """An error as plain data. Its `str` is what the student reads.

    Args:
        kind: the name of its class.
        message: what it says, in one line.
        told: both in a sentence, with the place; empty if a program raised it that isn't theirs.
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
    """Return the explanations with the fewest wrong things that pass all tests.

    Groups are looked through one after the other, until something is found that leaves no test
    unpassed. Of what is found until then, what passes the most counts, and of that the explanations
    with the fewest parts.

    Args:
        groups: of explanations, the likeliest first.
        must: what each explanation has to pass; the test that rules out most comes first.
        may: what an explanation may fail.

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


def in_gaps(groups: Iterable[tuple[Piece, ...]]) -> Iterator[tuple[Piece, ...]]:
    """Yield those groups of pieces in which no two stand in the same gap."""
    return (parts for parts in groups if len({part.gap for part in parts}) == len(parts))


def in_words(found: Sequence[Explanation]) -> tuple[str, str]:
    """Say what was done, and what is done instead, of all explanations that fit.

    Returns:
        What was done, in short, and everything that a student reads of it.
    """
    names = [first_sentence(why) for why in said(found[0])]
    name = names[0] if len(names) == 1 else f"Two things: {' and '.join(map(clause, names))}"
    ways = list(dict.fromkeys(map(_way, found)))
    if len(ways) > MOST_NAMED:
        return name, f"Perhaps {clause(ways[0])} But other mistakes lead to the same result."
    return name, ways[0] if len(ways) == 1 else f"Either: {' Or: '.join(ways)}"


def said(parts: Explanation) -> list[str]:
    """Return what is said of each of the wrong things, as it holds beside the others."""
    is_elsewhere = any(isinstance(part, Piece) and part.is_axes for part in parts)
    return [
        part.elsewhere if is_elsewhere and isinstance(part, Piece) and part.elsewhere else part.why
        for part in parts
    ]


def _way(parts: Explanation) -> str:
    first, *second = said(parts)
    return f"Two things: {clause(first)} Also, {clause(second[0])}" if second else first
