"""Find out how a student came to a result: search the wrong pieces for the fewest that give it.

The idea is that of Singh, Gulwani & Solar-Lezama 2013, arXiv:1204.1751, where an error model and a
right solution correct the programs of students. Here the error model is a program with gaps.
"""

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from lnorm_course.checking.comparing import are_far, first_number, same
from lnorm_course.checking.errors import Raised
from lnorm_course.checking.feedback import first_sentence
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.notation import Piece

if TYPE_CHECKING:
    from lnorm_course.checking.code_exercise import CodeExercise

__all__ = [
    "Explanation",
    "Explanations",
    "Mistake",
    "Raised",
    "clause",
    "in_gaps",
    "in_words",
]

MOST_PAIRS = 6_000  # a count and not a time, so that a verdict doesn't depend on the machine
MOST_NUMBERS = 10**7  # in a result; a larger one can't be right, and isn't looked through
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


class Explanations:
    """What an exercise knows to go wrong, alone and in pairs, and what each gives.

    Args:
        exercise: with its mistakes, the wrong pieces of its program, and those of its model.
    """

    def __init__(self, exercise: "CodeExercise") -> None:
        self.exercise, self.mistakes = exercise, exercise.mistakes
        self.own_pieces = exercise.template.wrong
        # Each runs once, however many attempts come.
        self._known: dict[tuple, tuple[object, complex]] = {}

    @functools.cached_property
    def model_pieces(self) -> list[Piece]:
        """The model's wrong pieces that make a difference to what the right answer returns."""
        pieces = self.exercise.model.pieces if self.exercise.by_steps else []
        right = [*enumerate(self.exercise.right)]
        return [p for p in pieces if not all(self.equal(self.result((p,), n), r) for n, r in right)]

    def of(
        self, results: Mapping[int, object], source: str = "", most: int = 2
    ) -> list[Explanation]:
        """Return the explanations with the fewest wrong things that give all these results.

        Those of one kind come alone: first the exercise's mistakes, then the pieces of its own
        program, and then those of its model, which know least of the lesson.

        Args:
            results: number of the input -> a value, or `Raised`.
            source: that of the attempt, as far as it's known. What it contradicts isn't said.
            most: how many things may be wrong.
        """
        # Begin with inputs on which the attempt is wrong, because few explanations agree with it
        # there, and of these with the last one, because an exercise has its smallest input last.
        wrong = [n for n in results if not self.equal(results[n], self.exercise.right[n])]
        order = sorted(results, key=lambda n: (n not in wrong, -n))
        if len(results) < len(self.exercise.right) or all(
            self._tells_little(results[n]) for n in wrong
        ):
            most = 1
        code, begins = "".join(source.split()), first_number(results[order[0]])
        within = self.exercise.within
        for count in range(1, most + 1):
            for group in self.all(count):
                found = [
                    parts
                    for parts in group
                    if all(_may_be(part, code) for part in parts)  # first, because nothing runs
                    and not are_far(begins, self._result(parts, order[0])[1], within)
                    and all(self.fits(results[n], parts, n) for n in order)
                ]
                if found:
                    # What the source shows, too, is surer than what the numbers alone allow.
                    shown = [ps for ps in found if any(isinstance(p, Piece) and p.has for p in ps)]
                    return shown or found
        return []

    def all(self, count: int) -> Iterator[Iterator[Explanation]]:
        """Yield the explanations with so many wrong things, those that are said first in front."""
        if count == 1:
            for parts in (self.mistakes, self.own_pieces, self.model_pieces):
                yield ((part,) for part in parts)
        else:
            own, of_model = self.own_pieces, self.model_pieces
            yield itertools.islice(itertools.product(self.mistakes, of_model), MOST_PAIRS)
            # Of two things the model knows more, so less fits it by chance.
            yield itertools.islice(in_gaps(itertools.combinations(of_model, 2)), MOST_PAIRS)
            yield in_gaps(itertools.combinations(own, 2))

    def result(self, parts: Explanation, number: int) -> object:
        """Return what wrong parts make of one of the inputs, which may be an error."""
        return self._result(parts, number)[0]

    def _result(self, parts: Explanation, number: int) -> tuple[object, complex]:
        """Return it with its first number."""
        key = (*map(id, parts), number)
        if key not in self._known:
            try:
                result = self.exercise.run(parts, number)
            except Exception as error:
                result = Raised.of(error)
            result = result.detach() if isinstance(result, torch.Tensor) else result
            self._known[key] = result, first_number(result)
        return self._known[key]

    def fits(self, result: object, parts: Explanation, number: int) -> bool:
        """Tell whether wrong parts give this result.

        An error tells nothing of the exercise's own pieces: others come to the same one.
        """
        if isinstance(result, Raised) and parts and parts[0] in self.own_pieces:
            return False
        return self.equal(result, self.result(parts, number))

    def equal(self, one: object, other: object) -> bool:
        """Tell whether two results are the same, be they values or errors."""
        if isinstance(one, Raised) or isinstance(other, Raised):
            return isinstance(one, Raised) and isinstance(other, Raised) and one[:2] == other[:2]
        with contextlib.suppress(TypeError, ValueError):  # a wrong part may return anything
            return same(one, other, self.exercise.within)
        return False

    def _tells_little(self, result: object) -> bool:
        """Tell whether too many programs return this for two things to be said."""
        if isinstance(result, torch.Tensor):
            return result.numel() > MOST_NUMBERS or bool(
                (result.abs() <= self.exercise.within).all()
            )
        return isinstance(result, bool | str)


def in_gaps(groups: Iterable[tuple]) -> Iterator[Explanation]:
    """Yield those groups of pieces in which no two stand in the same gap."""
    return (parts for parts in groups if len({part.gap for part in parts}) == len(parts))


def _may_be(part: Part, code: str) -> bool:
    """Tell whether the source doesn't contradict what a piece says; spaces don't matter."""
    return not isinstance(part, Piece) or any(each in code for each in part.has.split("|"))


def in_words(found: Sequence[Explanation]) -> tuple[str, str]:
    """Say what was done, and what is done instead, of all explanations that fit.

    Returns:
        What was done, in short, and everything that a student reads of it.
    """
    names = [first_sentence(part.why) for part in found[0]]
    name = names[0] if len(names) == 1 else f"Two things: {' and '.join(map(clause, names))}"
    ways = list(dict.fromkeys(map(_way, found)))
    if len(ways) > MOST_NAMED:
        return name, f"Perhaps {clause(ways[0])} But other mistakes lead to the same result."
    return name, ways[0] if len(ways) == 1 else f"Either: {' Or: '.join(ways)}"


def _way(parts: Explanation) -> str:
    first, *second = (part.why for part in parts)
    return f"Two things: {clause(first)} Also, {clause(second[0])}" if second else first


def clause(sentence: str) -> str:
    """Return a sentence as a part of a longer one."""
    is_a_word = sentence[1:2].islower() or sentence[1:2] in (" ", "'")
    is_a_name = sentence.startswith(("PyTorch", "Python"))
    return f"{sentence[0].lower()}{sentence[1:]}" if is_a_word and not is_a_name else sentence
