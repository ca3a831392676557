"""Explain results: search the pieces of a model for the fewest that lead to them."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from lnorm_course.checking.feedback import first_sentence
from lnorm_course.checking.search import (
    Explanation,
    Explanations,
    Raised,
    in_gaps,
    in_words,
    may_be,
)
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.trials import Trial
from lnorm_course.inspecting.rounding import Float64, bound, weight_of_terms
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.notation import Piece

__all__ = ["DOUBLE", "MARGIN", "SINGLE", "Explained", "Result", "Search", "explain"]

WITHIN = 1e-9  # how far scaled numbers may be off
DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # the units of rounding of float64 and float32
# By how much more than rounding can numbers be off that count as the same? What is computed in
# another order, or wrongly, is rounded otherwise, and hardly any slip is as small as that.
MARGIN = {DOUBLE: 1e5, SINGLE: 10.0}
LOST = {DOUBLE: 1e-4, SINGLE: 1e-2}  # of the largest number, where the mean is large
MOST_PAIRS = 7_000  # a count and not a time, so that a verdict doesn't depend on the machine
APART = ("far", "dtype")  # kinds of trials that say by themselves what is wrong
# What a source must have for a sentence to be said, and what the many trials tell without it.
TELLING = "**2 square clamp max 1e-8 1e-12 1e- +eps **1/2"
COMMON = {Belief.VARIANCE_OVER_D_MINUS_1, Belief.EPS_OUTSIDE_THE_ROOT}
Result = Tensor | Raised


class Explained(NamedTuple):
    """What explains results.

    Args:
        is_right: whether nothing has to be explained.
        parts: what is wrong, of the first explanation.
        words: what is said of all explanations; empty if there is none.
        slips: a clause for each thing that is wrong.
        wrong: the trials that differ.
        without: those of them that it doesn't explain.
    """

    is_right: bool
    parts: Explanation = ()
    words: str = ""
    slips: tuple[str, ...] = ()
    wrong: Sequence[Trial] = ()
    without: Sequence[Trial] = ()
    found: Sequence[Explanation] = ()


class Search(Explanations):
    """A search in which all things that are wrong but one are common.

    Args:
        norm: what is right, with its wrong pieces.
        trials: what goes in.
        unit: of rounding, of the dtype in which results were computed.
        more: by how much they may be off besides.
    """

    def __init__(
        self, norm: Norm, trials: Sequence[Trial], unit: float = DOUBLE, more: float = 0.0
    ) -> None:
        self.norm, self.trials, self.unit = norm, trials, unit
        self.tolerances = [max(self._tolerance(each, unit) + more, 1e-300) for each in trials]

        def run(parts: Explanation, number: int) -> Tensor:
            value = trials[number].run(functools.partial(norm.result, parts))
            return value * self._factor(value, number)

        right = [run((), n) for n in range(len(trials))]
        arguments = ["eps"] + ["bias"] * (trials[0].bias is not None)
        super().__init__(run, (), (), norm.model, right, WITHIN, arguments)
        self.answers = [each.run(functools.partial(norm.result, ())) for each in trials]

    def _factor(self, value: Tensor, number: int) -> float:
        """Return the unit in which a result is compared; far from zero, one of its own."""
        if self.trials[number].kind == "far":
            return WITHIN / LOST[self.unit] / max(value.abs().max().item(), 1e-300)
        return WITHIN / self.tolerances[number]

    def _tolerance(self, trial: Trial, unit: float) -> float:
        unit = max(unit, torch.finfo(trial.dtype).eps / 2)
        right = functools.partial(self.norm.result, ())
        with Float64() as counted:
            y = trial.run(right)
        terms = weight_of_terms(y, lambda move: replace(trial, x=move(trial.x)).run(right))
        limit = bound(unit, y, terms, counted)
        return MARGIN.get(unit, 1.0) * limit.max().item()

    def all(self, count: int) -> Iterator[Iterator[Explanation]]:
        """Yield the explanations with so many wrong things."""
        simple, double = ([p for p in self.model_pieces if p.counts == n] for n in (1, 2))
        common = [piece for piece in simple if _is_common(piece)]
        rare = [piece for piece in simple if not _is_common(piece)]
        pairs = itertools.combinations(common, 2)
        if count == 1:
            yield ((piece,) for piece in simple)
        elif count == 2:
            yield itertools.islice(
                in_gaps(itertools.chain(pairs, itertools.product(common, rare))), MOST_PAIRS
            )
            yield ((piece,) for piece in double)
        else:
            yield in_gaps(itertools.combinations(common, 3))
            yield itertools.product(double, common)
            yield in_gaps((a, *pair) for pair in pairs for a in double)

    def scaled(self, value: Result, number: int) -> Result:
        """Return a result in the unit in which results are compared."""
        if isinstance(value, Raised) or not value.is_floating_point():
            return value
        return value.double() * self._factor(value.double(), number)

    def best(self, results: Sequence[Result], source: str) -> tuple[list[Explanation], set[int]]:
        """Return the explanations that explain most, and the numbers of the trials they explain.

        What is explained must be all that a layer returns for the main trials, and that it's
        wrong on them or elsewhere. With one thing wrong, an error, a shape, or rows without spread
        may be left; two would fit by chance what one leaves.
        """
        scaled = [self.scaled(value, n) for n, value in enumerate(results)]
        code = f"{TELLING} {source}"
        numbers = {*range(len(results))}
        failed = {n for n in numbers if isinstance(scaled[n], Raised)}
        differs = {n for n in numbers if not self.equal(scaled[n], self.right[n])}
        main = {n for n in numbers if self.trials[n].kind in ("main", "gradient")}
        whole = {n for n in numbers if self.trials[n].kind not in APART} - failed
        must = (main - failed) | (set() if main & differs - failed else differs & whole)
        must = must if differs & whole else numbers
        order = sorted(must, key=lambda n: (n not in differs, -n))
        best: list[Explanation] = []
        explained: set[int] = set()
        is_value = any(self.trials[n].kind != "gradient" for n in differs)
        counts = (1, 2, 3) if is_value else (1,)  # two things hardly meet in the gradient alone
        for group in itertools.chain.from_iterable(map(self.all, counts)):
            for parts in group:
                if not all(self.fits(scaled[n], parts, n) for n in order):
                    continue
                fits = {n for n in numbers if self.fits(scaled[n], parts, n)}
                # What ε does shows on rows without spread alone, so there it has to fit.
                flat = {n for n in whole - fits if self.trials[n].kind == "flat"}
                is_eps = any(getattr(part, "step", "") in ("eps", "deviation") for part in parts)
                is_part = len(parts) == 1 and not (flat and is_eps)
                if not (fits >= whole or is_part) or not all(may_be(part, code) for part in parts):
                    continue
                if len(fits) > len(explained):
                    best, explained = [], fits
                best += [parts] * (fits == explained)
            if explained >= whole:
                break
        return self._once(best), explained

    def _once(self, found: Sequence[Explanation]) -> list[Explanation]:
        """Keep one of the axes that are the same ones in all shapes that a layer takes."""
        axes = {code for _, code, _ in self.norm.axes.wrong}
        first: dict[tuple, Explanation] = {}
        for parts in found:
            key = (p.step if p.code in axes else p.why for p in parts if isinstance(p, Piece))
            first.setdefault(tuple(key), parts)
        return list(first.values())


def _is_common(piece: Piece) -> bool:
    """Tell whether people do it so often that it's tried with all else."""
    if piece.step == "affine":
        return "x_hat" in piece.code or piece.code in ("(1 + g, b)", "(b, g)")
    is_value = piece.step == "eps" and "eps" not in piece.code
    return is_value or (piece.step in ("variance", "deviation") and bool(COMMON & {*piece.beliefs}))


def explain(search: Search, results: Sequence[Result], source: str, must_run: bool) -> Explained:
    """Explain the results of trials.

    Args:
        source: that of the layer, as far as it's known.
        must_run: whether an error has to be explained, too.
    """
    pairs = [(search.scaled(value, n), search.right[n]) for n, value in enumerate(results)]
    wrong = [n for n, (y, z) in enumerate(pairs) if not isinstance(y, Raised | type(None))]
    wrong = [n for n in wrong if not search.equal(*pairs[n])]
    trials = [search.trials[n] for n in wrong]
    if all(trial.kind in APART for trial in trials) and not must_run:
        return Explained(True, without=trials)
    found, fits = search.best(results, source)
    if not found:
        return Explained(not wrong and not isinstance(results[-1], Raised), wrong=trials)
    done = (first_sentence(part.why) for parts in found for part in parts)
    slips = tuple(dict.fromkeys(done))
    without = [search.trials[n] for n in wrong if n not in fits]
    return Explained(False, found[0], in_words(found)[1], slips, trials, without, found)
