"""Find out which of an exercise's known mistakes give a student's result."""

import contextlib
import functools
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from lnorm_course.checking.comparing import are_far, first_number, same
from lnorm_diagnose.fewest_slips import Explanation, Mistake, Raised, explain, in_gaps
from lnorm_diagnose.slips.notation import Option, Tag

__all__ = ["Search"]

MOST_PAIRS = 6_000  # limits pairs, not time, so that verdicts don't depend on the machine
MOST_NUMBERS = 10**7  # results with more numbers than this can't be right, so they aren't compared


@dataclass(eq=False)
class Search:
    """The known mistakes of an exercise, alone and in pairs, and their results.

    Args:
        run: takes wrong parts and the index of an input, and returns the result that these parts
            give; it may raise anything.
        right: the right result for each input.
        mistakes: the exercise's own list of mistakes.
        own_distractors: the distractors of the exercise's program.
        distractors: the distractors of the exercise's error model.
        tol: the tolerance of the exercise, as in `same`.
    """

    run: Callable[[Explanation, int], object]
    right: Sequence[object]
    mistakes: Sequence[Mistake]
    own_distractors: Sequence[Option]
    distractors: Sequence[Option]
    tol: float
    # Caches, so that each mistake runs only once, however many attempts are checked.
    _known: dict[tuple, tuple[object, complex]] = field(default_factory=dict)
    _seen_at: dict[int, dict[int, Explanation]] = field(default_factory=dict)

    @functools.cached_property
    def model_distractors(self) -> list[Option]:
        """The error model's distractors that change at least one of the right results."""
        right = [*enumerate(self.right)]
        return [
            option
            for option in self.distractors
            if not all(self.equal(self.result((option,), n), value) for n, value in right)
        ]

    def find(
        self, results: Mapping[int, object], source: str = "", most: int = 2
    ) -> list[Explanation]:
        """Of the explanations that give all the results, return those with the fewest wrong parts.

        Only explanations of one kind are returned. The kinds are tried in this order, and the first
        that fits is used: the exercise's mistakes, its program's distractors, the less specific
        distractors of its error model, and finally pairs of these, in the order in which `all`
        yields them.

        Args:
            results: maps the index of each input to a value or to `Raised`.
            source: the attempt's source, as far as it's known; it can rule out explanations.
            most: the maximum number of wrong parts.
        """
        # Begin with an input on which the attempt is wrong, because few explanations agree with it
        # there. Of the first and the last such input, use the one with fewer distinct explanations.
        wrong = [n for n in results if not self.equal(results[n], self.right[n])]
        ends = [*wrong[-1:], *wrong[:1]] or [max(results)]
        first = min(ends, key=lambda n: len({*self._seen(n).values()}))
        order = sorted(results, key=lambda n: (n != first, n not in wrong, -n))
        if len(results) < len(self.right) or all(self._tells_little(results[n]) for n in wrong):
            most = 1
        code, begins = "".join(source.split()), first_number(results[first])

        def may_be(parts: Explanation) -> bool:
            """Quickly tell whether an explanation agrees with the source and the first number."""
            if not all(_may_be(part, code) for part in parts):
                return False
            if first in wrong and len(parts) > 1:
                seen = self._seen(first)
                parts = tuple(p for part in parts for p in seen.get(id(part), (part,)))
            return bool(parts) and not are_far(begins, self._result(parts, first)[1], self.tol)

        def gives(number: int) -> Callable[[Explanation], bool]:
            return lambda parts: self.fits(results[number], parts, number)

        groups = (group for count in range(1, most + 1) for group in self.all(count))
        found = explain(groups, [may_be, *map(gives, order)])
        # Prefer pairs of common mistakes, and then explanations that the source confirms.
        usual: list[Explanation] = [ps for ps in found if len(ps) == 2 and all(map(_is_common, ps))]
        shown = [ps for ps in found if any(isinstance(p, Option) and p.has for p in ps)]
        return usual or shown or found

    def all(self, count: int) -> Iterator[Iterator[Explanation]]:
        """Yield groups of explanations with `count` wrong parts, in order of preference."""
        if count == 1:
            for parts in (self.mistakes, self.own_distractors, self.model_distractors):
                yield ((part,) for part in parts)
        else:
            own, of_model = self.own_distractors, self.model_distractors
            yield itertools.islice(itertools.product(self.mistakes, of_model), MOST_PAIRS)
            # The model's pairs precede the program's, because fewer of them fit by chance.
            yield itertools.islice(in_gaps(itertools.combinations(of_model, 2)), MOST_PAIRS)
            yield in_gaps(itertools.combinations(own, 2))

    def result(self, parts: Explanation, number: int) -> object:
        """Return the result that wrong parts give on one of the inputs, or the error they raise."""
        return self._result(parts, number)[0]

    def _result(self, parts: Explanation, number: int) -> tuple[object, complex]:
        """Return the result of wrong parts, and the result's first number."""
        key = (*map(id, parts), number)
        if key not in self._known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a candidate's warnings don't matter here
                try:
                    result = self.run(parts, number)
                except Exception as error:
                    result = Raised.of(error)
            result = result.detach() if isinstance(result, torch.Tensor) else result
            self._known[key] = result, first_number(result)
        return self._known[key]

    def _seen(self, number: int) -> dict[int, Explanation]:
        """Map each model distractor's id to the parts to try in its place on one input.

        A distractor that doesn't change the result by itself is left out, because it doesn't change
        it in a pair, either. Distractors in one gap that give the same tensor are all replaced by
        the first of them.
        """
        if number not in self._seen_at:
            right, of_result = self.right[number], dict[Any, Explanation]()
            self._seen_at[number] = seen = {}
            for option in self.model_distractors:
                y = self.result((option,), number)
                key: Any = id(option)
                if isinstance(y, torch.Tensor):
                    key = (option.gap, y.shape, *y.flatten().tolist())
                is_silent = self.equal(right, y)
                seen[id(option)] = () if is_silent else of_result.setdefault(key, (option,))
        return self._seen_at[number]

    def fits(self, result: object, parts: Explanation, number: int) -> bool:
        """Tell whether wrong parts give this result.

        The distractors of the exercise's program never explain an error, because different code can
        raise the same error.
        """
        if isinstance(result, Raised) and parts and parts[0] in self.own_distractors:
            return False
        return self.equal(result, self.result(parts, number))

    def equal(self, one: object, other: object) -> bool:
        """Tell whether two results (values or errors) are the same."""
        if isinstance(one, Raised) or isinstance(other, Raised):
            return isinstance(one, Raised) and isinstance(other, Raised) and one[:2] == other[:2]
        with contextlib.suppress(TypeError, ValueError):  # a wrong part may return anything
            return same(one, other, self.tol)
        return False

    def _tells_little(self, result: object) -> bool:
        """Tell whether too many programs give this result for it to identify a pair of mistakes."""
        if isinstance(result, torch.Tensor):
            # Multiply by 1, because PyTorch can't take the absolute value of booleans.
            return result.numel() > MOST_NUMBERS or bool(((result * 1).abs() <= self.tol).all())
        return isinstance(result, bool | str)


def _may_be(part: Mistake | Option, code: str) -> bool:
    """Tell whether the source, ignoring spaces, is compatible with a wrong part."""
    ways = part.has.split("|") if isinstance(part, Option) else [""]
    return any(all(_has(code, each) for each in way.split("&")) for way in ways)


def _has(code: str, word: str) -> bool:
    return word[1:] not in code if word[:1] == "!" else word in code


def _is_common(part: Mistake | Option) -> bool:
    return isinstance(part, Option) and Tag.COMMON in part.tags
