"""Explain results: search the pieces of a norm for the fewest that lead to them."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from torch import Tensor

from lnorm_diagnose.diagnosing.case import Case
from lnorm_diagnose.diagnosing.fitting import fitted
from lnorm_diagnose.diagnosing.reference import WRONG_AXES
from lnorm_diagnose.diagnosing.trials import APART, SURE, TINY, Trial
from lnorm_diagnose.explanations import Explanation, in_gaps, in_words
from lnorm_diagnose.sentences import clause, first_sentence
from lnorm_diagnose.slips.beliefs import Belief
from lnorm_diagnose.slips.notation import Piece
from lnorm_utils.words import capitalized, significant

__all__ = ["MANY", "MOST_NAMED", "Explained", "Search"]

MANY = 2_000  # numbers, with which two things, or one with a number, take long
MOST_WAYS, MOST_NAMED = 3, 6  # explanations that are told whole, and otherwise in short
COMMON = {Belief.VARIANCE_OVER_D_MINUS_1, Belief.EPS_OUTSIDE_THE_ROOT}
ALSO_COMMON = {"1e-3", "1e-5", "1e-6", "1e-8", "1e-12", "x + y"}
ALSO_COMMON |= {"(1 + g, b)", "(b, g)", "x_hat", "x_hat * g", "x_hat + b", "(x_hat + b) * g"}
SCALING = ("parameters", "affine", "layer_norm")  # steps that need γ


class Explained(NamedTuple):
    """What explains results.

    Args:
        is_right: whether nothing has to be explained.
        words: what is said of all explanations; empty if there is none.
        slips: a clause for each thing that is wrong.
        wrong: the cases that differ.
        without: those of them that it doesn't explain.
        found: the explanations.
        remark: what is said behind all else, with a space in front.
    """

    is_right: bool
    words: str = ""
    slips: tuple[str, ...] = ()
    wrong: Sequence[Case] = ()
    without: Sequence[Case] = ()
    found: Sequence[Explanation] = ()
    remark: str = ""

    def because(self, slips: Sequence[str]) -> "Explained":
        """Return it with clauses that explain it."""
        words = " ".join(f"{capitalized(slip)}." for slip in slips)
        return self._replace(words=words, slips=tuple(slips))


class Search:
    """Which wrong pieces of a norm lead to what came out of trials.

    Args:
        cases: the trials with what came out, the most typical one last.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases, self.norm, self.main = cases, cases[-1].norm, cases[-1]
        self.judged = [case for case in cases if isinstance(case.value, Tensor)]

    @cached_property
    def pieces(self) -> list[Piece]:
        """The wrong pieces that can show."""
        has_bias = self.main.trial.bias is not None
        of_bias = [p for p in self.norm.pieces if p.step in SCALING and "β" in p.why]
        return [p for p in self.norm.pieces if has_bias or p not in of_bias]

    def compare(self) -> Explained:
        """Tell whether what came out is right, and where not; an error doesn't count."""
        wrong = [case for case in self.judged if not case.is_right]
        is_right = all(case.kind in APART for case in wrong)
        return Explained(is_right, wrong=wrong, without=wrong if is_right else ())

    def explain(self) -> Explained:
        """Explain what came out.

        What is explained must be all that a layer returns for the surest trials, and that it's
        wrong on them or elsewhere. With one thing wrong, a shape, or the gradient may be left; two
        would fit by chance what one leaves. Of what fits, it takes what explains most.
        """
        compared = self.compare()
        if compared.is_right:
            return compared
        whole = [case for case in self.judged if case.kind not in APART]
        sure = [case for case in whole if case.kind in SURE]
        if not any(case in compared.wrong for case in sure):
            sure += [case for case in whole if case in compared.wrong]
        # First where it's wrong, and the most typical one; wide ones take long.
        sure.sort(key=lambda case: (case.is_right, case.kind == "width", -self.cases.index(case)))
        fitting: list[tuple[Explanation, set[Case]]] = []
        for group in self._groups(compared.wrong, sure[0]):
            for parts in group:
                if all(case.fits(parts) for case in sure):
                    fits = {case for case in self.judged if case.fits(parts)}
                    if len(parts) == 1 or fits.issuperset(whole):
                        fitting.append((parts, fits))
            explained = max((fits for _, fits in fitting), key=len, default=set())
            if fitting and all(case in explained or case.kind == "edge" for case in whole):
                break
        best = [parts for parts, fits in fitting if fits == explained]
        if not best:
            return compared
        best = [parts for parts in best if len(parts) == len(best[0])]
        found = _once(best)
        done = dict.fromkeys(first_sentence(part.why) for parts in found for part in parts)
        words = in_words(found)[1]
        if len(found) > MOST_WAYS:
            ways = "; or ".join(clause(each) for each in [*done][:MOST_NAMED])
            words = f"{len(found)} things explain it equally well: {ways}."
        without = [case for case in compared.wrong if case not in explained]
        return compared._replace(words=words, slips=tuple(done), without=without, found=found)

    def _groups(self, wrong: Sequence[Case], case: Case) -> Iterator[Iterable[Explanation]]:
        """Yield groups of explanations of a case, the fewest wrong things first."""
        known = [piece for piece in self.pieces if "NUMBER" not in piece.code]
        yield ((piece,) for piece in known)
        if case.kind == "gradient":
            return  # of which two things give too many
        if case.trial.x.numel() > MANY:  # one with fewer numbers takes less time
            few = [each for each in wrong if each.kind in ("part", "shape") and each.is_whole]
            case = min([*few, case], key=lambda each: each.trial.x.numel())
        common = [*filter(_is_common, known)]
        yield self._with_number((), case)
        pairs = (tuple(sorted(pair)) for pair in itertools.product(common, known))
        yield (parts for parts in dict.fromkeys(in_gaps(pairs)) if case.fits(parts))
        others = [(piece,) for piece in common if piece.step != "eps"]
        yield [parts for other in others for parts in self._with_number(other, case)]

    def _with_number(self, others: tuple[Piece, ...], wrong: Case) -> Iterator[Explanation]:
        """Yield pieces with the number that gives a wrong result, or that of tiny rows."""
        tiny = next((case for case in self.cases if case.trial.words == TINY), wrong)
        taken = {piece.gap for piece in others}
        for piece in self.pieces:
            case = tiny if piece.step == "eps" else wrong
            if "NUMBER" not in piece.code or piece.gap in taken or not case.is_whole:
                continue

            def run(values: Tensor, piece: Piece = piece, trial: Trial = case.trial) -> Tensor:
                return trial.run(partial(self.norm.result, (piece._replace(value=values), *others)))

            with contextlib.suppress(Exception):  # a wrong part may do anything
                found = fitted(run, case.value.double(), case.within)
                if found is not None:
                    why = piece.why.format(number=significant(found))
                    yield (piece._replace(value=found, why=why), *others)


def _once(found: Sequence[Explanation]) -> list[Explanation]:
    """Keep round numbers, and one of the axes that are the same ones in all shapes."""
    found = [parts for parts in found if all(map(_is_round, parts))] or found
    first: dict[frozenset, Explanation] = {}
    for parts in found:
        key = (p.step if p.code in WRONG_AXES else p.why for p in parts if isinstance(p, Piece))
        first.setdefault(frozenset(key), parts)
    return list(first.values())


def _is_round(part: Any) -> bool:
    value = getattr(part, "value", 1.0)
    return abs(float(f"{value:.3g}") - value) <= 1e-7 * abs(value)


def _is_common(piece: Piece) -> bool:
    """Tell whether people do it so often that it's tried with all else."""
    return piece.code in ALSO_COMMON or bool(COMMON & {*piece.beliefs})
