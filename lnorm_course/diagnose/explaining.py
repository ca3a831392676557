"""Explain wrong results: search the pieces of a model for the fewest that lead to them."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lnorm_course.checking.search import Explanation, Explanations, Raised, in_words
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.trials import Trial
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.notation import Piece

__all__ = ["TELLING", "Explained", "Result", "Search", "explain", "raised", "slips_of"]

WITHIN = 1e-9  # how far scaled numbers may be off
# By how much more than rounding can numbers be off that count as the same? What is computed in
# another order, or wrongly, is rounded otherwise, and hardly any slip is as small as that.
MARGIN = {2.0**-53: 1e5, 2.0**-24: 10.0}
AT_GRADIENT = 30.0  # how much more than a row its gradient is rounded
MOST_PAIRS = 7_000  # a count and not a time, so that a verdict doesn't depend on the machine
# What a source must have for a sentence to be said, and what the many trials tell without it.
TELLING = "**2 square clamp max 1e-8 1e-12 1e- +eps **1/2"
Result = Tensor | Raised


def raised(error: Exception) -> Raised:
    """Return an error as a result."""
    return Raised(type(error).__name__, " ".join(str(error).split())[:200])


class Search(Explanations):
    """A search in which a pair has one slip that is common.

    Args:
        norm: what is right, with its wrong pieces.
        trials: what goes in.
        tolerances: by how much each may be off.
    """

    def __init__(self, norm: Norm, trials: Sequence[Trial], tolerances: Sequence[float]) -> None:
        factors = [WITHIN / max(each, 1e-300) for each in tolerances]

        def run(parts: Explanation, number: int) -> Tensor:
            return trials[number].run(functools.partial(norm.result, parts)) * factors[number]

        right = [run((), n) for n in range(len(trials))]
        arguments = ["eps"] + ["bias"] * (trials[0].bias is not None)
        arguments += ["groups"] * (len(norm.split) > 1)
        super().__init__(run, (), (), norm.model, right, WITHIN, arguments)
        self.trials, self.factors, self.axes = trials, factors, norm.axes

    def all(self, count: int) -> Iterator[Iterator[Explanation]]:
        """Yield the explanations with so many wrong things."""
        simple = [p for p in self.pieces if p.counts == 1]
        double = [p for p in self.pieces if p.counts == 2]
        common = [p for p in simple if _is_common(p)]
        rare = [p for p in simple if not _is_common(p)]
        if count == 1:
            yield ((piece,) for piece in simple)
        elif count == 2:
            pairs = itertools.chain(
                itertools.combinations(common, 2), itertools.product(common, rare)
            )
            in_two_gaps = (pair for pair in pairs if pair[0].gap != pair[1].gap)
            yield itertools.islice(in_two_gaps, MOST_PAIRS)
            yield ((piece,) for piece in double)
        else:
            in_three = itertools.combinations(common, 3)
            yield (parts for parts in in_three if len({p.gap for p in parts}) == 3)
            yield itertools.product(double, common)
            pairs = itertools.combinations(common, 2)
            yield ((a, b, c) for a in double for b, c in pairs if b.gap != c.gap)

    def scaled(self, value: Result, number: int) -> Result:
        """Return a result in the unit in which results are compared."""
        is_number = isinstance(value, Tensor) and value.is_floating_point()
        return value.double() * self.factors[number] if is_number else value  # type: ignore[union-attr]

    def best(self, results: Sequence[Result], source: str) -> tuple[list[Explanation], set[int]]:
        """Return the explanations that explain most, and the numbers of the trials they explain.

        What is explained must be all that a layer returns for the main trials, and that it's
        wrong on them or elsewhere. An error, a shape, or rows without spread may be left.
        """
        scaled = [self.scaled(value, n) for n, value in enumerate(results)]
        numbers = range(len(results))
        failed = {n for n in numbers if isinstance(scaled[n], Raised)}
        differs = {n for n in numbers if not self.equal(scaled[n], self.right[n])}
        main = {n for n in numbers if self.trials[n].kind == "main"}
        must = (main - failed) | (set() if main & differs - failed else differs - failed)
        must = must or {*numbers}
        order = sorted(must, key=lambda n: (n not in differs, -n))
        best: list[Explanation] = []
        explained: set[int] = set()
        for count, group in ((n, group) for n in (1, 2, 3) for group in self.all(n)):
            for parts in group:
                if not all(self.fits(scaled[n], parts, n) for n in order):
                    continue
                if not all(_is_told(part, source) for part in parts):
                    continue
                fits = {n for n in numbers if self.fits(scaled[n], parts, n)}
                is_whole = fits >= {*numbers} - failed
                if count > 1 and not is_whole:  # two things fit by chance what one leaves
                    continue
                if len(fits) > len(explained) and (not best or is_whole or len(best[0]) == count):
                    best, explained = [], fits
                if fits == explained and (not best or len(best[0]) == len(parts)):
                    best.append(parts)
            if explained >= {*numbers} - failed:
                break
        return self._once(best), explained

    def _once(self, found: Sequence[Explanation]) -> list[Explanation]:
        """Keep one of the axes that are the same ones in all shapes that a layer takes."""
        axes = {code for _, code, _ in self.axes}
        first: dict[tuple, Explanation] = {}
        for parts in found:
            key = (p.step if p.code in axes else p.why for p in parts if isinstance(p, Piece))
            first.setdefault(tuple(key), parts)
        return list(first.values())


def _is_told(part: object, source: str) -> bool:
    """Tell whether the source of a layer doesn't contradict a piece."""
    return any(each in f"{TELLING} {source}" for each in getattr(part, "has", "").split("|"))


def _is_common(piece: Piece) -> bool:
    """Tell whether people do it so often that it's tried with all else."""
    if piece.step == "affine":
        return "x_hat" in piece.code or piece.code in ("(1 + g, b)", "(b, g)")
    is_value = piece.step == "eps" and "eps" not in piece.code
    beliefs = {Belief.VARIANCE_OVER_D_MINUS_1, Belief.EPS_OUTSIDE_THE_ROOT} & {*piece.beliefs}
    return is_value or (piece.step in ("variance", "deviation") and bool(beliefs))


@dataclass
class Explained:
    """What explains the results.

    Args:
        is_right: whether nothing has to be explained.
        parts: what is wrong, of the first explanation.
        words: what is said of all explanations; empty if there is none.
        slips: a clause for each thing that is wrong.
        without: the trials that it doesn't explain.
        wrong: the numbers of the trials that differ.
    """

    is_right: bool
    parts: Explanation = ()
    words: str = ""
    slips: tuple[str, ...] = ()
    without: list[Trial] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


def explain(
    norm: Norm,
    trials: Sequence[Trial],
    results: Sequence[Result],
    unit: float,
    source: str = "",
    must_run: bool = False,
) -> Explained:
    """Explain results of trials.

    Args:
        unit: of rounding, of the dtype in which they were computed.
        source: that of the layer, as far as it's known.
        must_run: whether an error has to be explained, too.
    """
    tolerances = [_tolerance(norm, trial, unit) for trial in trials]
    whole = Search(norm, trials, tolerances)
    failed = {n for n, value in enumerate(results) if isinstance(value, Raised)}
    wrong = [
        n
        for n, value in enumerate(results)
        if n not in failed and not whole.equal(whole.scaled(value, n), whole.right[n])
    ]
    if not wrong and not must_run:
        return Explained(True)
    found, fits = whole.best(results, source)
    if not found:
        return Explained(False, wrong=wrong)
    without = [trials[n] for n in wrong if n not in fits]
    return Explained(False, found[0], in_words(found)[1], slips_of(found), without, wrong)


def _tolerance(norm: Norm, trial: Trial, unit: float) -> float:
    if not trial.at_gradient:
        of_rounding = norm.rounding(trial.x, trial.weight, trial.bias, trial.eps, unit)
        return MARGIN[unit] * of_rounding
    right = trial.run(functools.partial(norm.result, ()))
    return AT_GRADIENT * MARGIN[unit] * unit * max(1.0, right.abs().max().item())


def slips_of(found: Sequence[Explanation]) -> tuple[str, ...]:
    """Return a clause for each thing that is wrong."""
    done = [part.done for parts in found for part in parts if isinstance(part, Piece)]
    return tuple(dict.fromkeys(each.removesuffix(".") for each in done))
