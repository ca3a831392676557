"""Find the cause of results: the smallest set of a norm's distractors that leads to them."""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from torch import Tensor

from lnorm_diagnose.diagnosing.case import Case, Distractors
from lnorm_diagnose.diagnosing.fitting import fitted, nearest
from lnorm_diagnose.diagnosing.trial_inputs import APART, SURE, Kind, Trial
from lnorm_diagnose.fewest_slips import explain, in_gaps, in_words, said
from lnorm_diagnose.slips.notation import Option, Tag
from lnorm_utils.words import capitalized, clause, first_sentence, significant

__all__ = ["MANY", "MOST_NAMED", "Cause", "Search"]

MANY = 2_000  # with more numbers than this, searching for two mistakes or for a number is slow
MOST_WAYS, MOST_NAMED = 3, 6  # at most this many explanations are given in full, and by name only
ROUND = 0.01  # the fraction by which a fitted number may be changed to make it a round one
OF_EPS = "eps"  # the step whose distractors use a different ε


class Cause(NamedTuple):
    """An explanation of why the results came out as they did.

    Args:
        is_right: whether there's nothing to explain.
        words: all explanations, in words.
        slips: a clause for each mistake; none if the cause isn't known.
        wrong: the cases whose results differ from the norm's.
        without: the wrong cases that the cause doesn't explain.
        found: the explanations.
        remark: what to add at the end of the summary, beginning with a space; may be empty.
        is_seen: whether the slips only describe what was seen, so there may be others.
    """

    is_right: bool
    words: str = ""
    slips: tuple[str, ...] = ()
    wrong: Sequence[Case] = ()
    without: Sequence[Case] = ()
    found: Sequence[Distractors] = ()
    remark: str = ""
    is_seen: bool = False

    @property
    def is_open(self) -> bool:
        """Whether something is wrong for an unknown reason."""
        return not (self.is_right or self.slips)

    def because(self, slips: Sequence[str], is_seen: bool = False) -> "Cause":
        """Return this cause with clauses that explain the results, or only say what was seen."""
        words = " ".join(f"{capitalized(slip)}." for slip in slips)
        return self._replace(words=words, slips=tuple(slips), is_seen=is_seen)


class Search:
    """A search for the distractors of a norm that lead to the results of trials.

    Args:
        cases: the trials with their results, the most typical one last.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases, self.norm, self.main = cases, cases[-1].norm, cases[-1]
        self.judged = [case for case in cases if isinstance(case.value, Tensor)]
        self.first = next((case for case in cases if case.kind is Kind.PART), self.main)

    @cached_property
    def distractors(self) -> list[Option]:
        """The distractors whose effect can be seen."""
        has_bias = self.main.trial.bias is not None
        return [p for p in self.norm.distractors if has_bias or Tag.NEEDS_BETA not in p.tags]

    def compare(self) -> Cause:
        """Tell which results aren't right, if any, leaving out trials that raised an error."""
        wrong = [case for case in self.judged if not case.is_right]
        is_right = all(case.kind in APART for case in wrong)
        return Cause(is_right, wrong=wrong, without=wrong if is_right else ())

    def cause(self, most_parts: int = 2) -> Cause:
        """Find why the results aren't right.

        An explanation has to fit the surest trials and, if the layer is right on all of these,
        also the trials on which it's wrong. A single mistake may leave the result for some shape,
        or the gradient, unexplained. Two mistakes have to explain everything, because otherwise
        they might fit by chance. Of the explanations that fit, the method takes those that
        explain the most.
        """
        compared = self.compare()
        if compared.is_right:
            return compared
        whole = [case for case in self.judged if case.kind not in APART]
        sure = [case for case in whole if case.kind in SURE]
        if not any(case in compared.wrong for case in sure):
            sure += [case for case in whole if case in compared.wrong]
        # Wrong cases come before right ones. In each group, typical cases come first and wide ones
        # last, because wide ones are slow.
        sure.sort(
            key=lambda case: (case.is_right, case.kind is Kind.WIDTH, -self.cases.index(case))
        )
        most = [case.fits for case in whole if case.kind is not Kind.EDGE]
        groups = self._groups(compared.wrong, sure[0], whole, most_parts)
        fitting = explain(groups, [self.first.may_fit, *(case.fits for case in sure)], most)
        found = _once(explain([fitting], (), [case.fits for case in self.judged]))
        if not found:
            return compared
        done = dict.fromkeys(first_sentence(why) for parts in found for why in said(parts))
        words = in_words(found)[1]
        if len(found) > MOST_WAYS:
            ways = "; or ".join(clause(each) for each in [*done][:MOST_NAMED])
            words = f"{len(found)} mistakes explain it equally well: {ways}."
        without = [case for case in compared.wrong if not case.fits(found[0])]
        return compared._replace(words=words, slips=tuple(done), without=without, found=found)

    def _groups(
        self, wrong: Sequence[Case], case: Case, whole: Sequence[Case], most_parts: int
    ) -> Iterator[Iterable[Distractors]]:
        """Yield groups of possible explanations of a case, those with the fewest mistakes first.

        Args:
            wrong: all cases whose results differ from the norm's.
            case: the case that rules out the most explanations.
            whole: the cases that two mistakes have to explain, without exception.
            most_parts: how many mistakes there may be, 1 or 2.
        """
        known = [option for option in self.distractors if option.value is None]
        yield ((option,) for option in known)
        if case.kind is Kind.GRADIENT:
            return  # too many pairs would fit a gradient
        if case.trial.x.numel() > MANY:  # a case with fewer numbers takes less time
            of_few = (Kind.PART, Kind.SHAPE)
            few = [each for each in wrong if each.kind in of_few and each.is_whole]
            case = min([*few, case], key=lambda each: each.trial.x.numel())
        yield self._with_number((), case)
        if most_parts == 1:
            return
        common = [option for option in known if Tag.COMMON in option.tags]
        common = [p for p in common if any(each.shows((p,)) for each in (case, *whole))]
        others = [option for option in known if Tag.ALONE not in option.tags]
        pairs = (tuple(sorted(pair)) for pair in itertools.product(common, others))
        no_eps = ((option,) for option in common if option.step != OF_EPS)
        numbered = (parts for other in no_eps for parts in self._with_number(other, case))
        for two in (dict.fromkeys(in_gaps(pairs)), numbered):
            yield (
                parts
                for parts in two
                if self.first.may_fit(parts) and all(each.fits(parts) for each in (case, *whole))
            )

    def _with_number(self, others: Distractors, wrong: Case) -> Iterator[Distractors]:
        """Yield distractors whose number is fitted to a wrong case or, for ε, to the tiny rows."""
        tiny = next((case for case in self.cases if case.kind is Kind.TINY), wrong)
        taken = {option.gap for option in others}
        for option in self.distractors:
            case = tiny if option.step == OF_EPS else wrong
            is_alone = bool(others) and Tag.ALONE in option.tags
            if option.value is None or option.gap in taken or is_alone or not case.is_whole:
                continue

            with contextlib.suppress(Exception):  # a wrong part may raise anything
                found = self._number(case, (option, *others))
                if found is not None:
                    yield self._round(case, option, found, others)

    def _number(self, case: Case, parts: Distractors) -> float | None:
        """Find the number, if any, in the first part that makes the parts give a case's result."""

        def run(trial: Trial, values: Tensor) -> Tensor:
            first = parts[0]._replace(value=values)
            return trial.run(partial(self.norm.result, (first, *parts[1:])))

        def by(find: Callable[..., float | None], each: Case) -> float | None:
            return find(partial(run, each.trial), each.value.double(), each.limit())

        if case.few is not case and by(nearest, case.few) is None:
            return None
        return by(fitted, case)

    def _round(self, case: Case, option: Option, number: float, others: Distractors) -> Distractors:
        """Round an option's number to the fewest digits that still explain the results."""
        for value in (*(float(f"{number:.{digits}g}") for digits in range(1, 5)), number):
            why = option.why.format(number=significant(value))
            parts = (option._replace(value=value, why=why), *others)
            is_near = abs(value - number) <= ROUND * abs(number)
            if is_near and case.fits(parts) and self.main.fits(parts):
                break
        return parts


def _once(found: Sequence[Distractors]) -> list[Distractors]:
    """Keep explanations with round numbers, if any; of those that differ only in axes, keep one."""
    found = [parts for parts in found if all(map(_is_round, parts))] or found
    first: dict[frozenset, Distractors] = {}
    for parts in found:
        key = (p.step if p.is_axes else (p.gap, p.number) for p in parts)
        first.setdefault(frozenset(key), parts)
    return list(first.values())


def _is_round(option: Option) -> bool:
    value = option.value or 1.0
    return abs(float(f"{value:.3g}") - value) <= 1e-7 * abs(value)
