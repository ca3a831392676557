"""Explain results: search the pieces of a norm for the fewest that lead to them."""

import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnorm_course.checking.feedback import first_sentence
from lnorm_course.checking.search import Explanation, Raised, clause, in_gaps, in_words
from lnorm_course.diagnose.fitting import fitted
from lnorm_course.diagnose.reference import WRONG_AXES, Reference
from lnorm_course.diagnose.trials import APART, SURE, TINY, Trial
from lnorm_course.inspecting.rounding import bound, weight_of_terms
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.notation import Piece
from lnorm_utils.words import capitalized, significant

__all__ = ["DOUBLE", "MANY", "MOST_NAMED", "SINGLE", "Explained", "Result", "Search"]

DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # the units of rounding of float64 and float32
# By how much more than rounding can numbers be off that count as the same? What is computed in
# another order, or wrongly, is rounded otherwise, and hardly any slip is as small as that.
MARGIN = {DOUBLE: 1e5, SINGLE: 10.0}
MANY = 2_000  # numbers, with which two things, or one with a number, take long
MOST_WAYS, MOST_NAMED = 3, 6  # explanations that are told whole, and otherwise in short
LOST = {DOUBLE: 1e-4, SINGLE: 1e-2}  # of the largest number, where the mean is large
LEANING = 4  # units of rounding, by which all numbers together may be too small or too large
OPERATIONS, PASSES, OF_GRADIENT = 12, 4, 4  # of a layer norm: how often it rounds and adds a row
COMMON = {Belief.VARIANCE_OVER_D_MINUS_1, Belief.EPS_OUTSIDE_THE_ROOT}
ALSO_COMMON = ("(1 + g, b)", "(b, g)", "x + y")
SCALING = ("parameters", "affine", "layer_norm")  # steps that need γ
Result = Tensor | Raised


class Explained(NamedTuple):
    """What explains results.

    Args:
        is_right: whether nothing has to be explained.
        words: what is said of all explanations; empty if there is none.
        slips: a clause for each thing that is wrong.
        wrong: the trials that differ.
        without: those of them that it doesn't explain.
        found: the explanations.
    """

    is_right: bool
    words: str = ""
    slips: tuple[str, ...] = ()
    wrong: Sequence[Trial] = ()
    without: Sequence[Trial] = ()
    found: Sequence[Explanation] = ()

    def because(self, slips: Sequence[str]) -> "Explained":
        """Return it with clauses that explain it."""
        words = " ".join(f"{capitalized(slip)}." for slip in slips)
        return self._replace(words=words, slips=tuple(slips))


class Search:
    """What wrong pieces of a norm make of trials, beside what is right.

    Args:
        norm: what is right, with its wrong pieces.
        trials: what goes in.
        unit: of rounding, of the dtype in which results were computed.
        more: by how much they may be off besides.
    """

    def __init__(
        self, norm: Reference, trials: Sequence[Trial], unit: float = DOUBLE, more: float = 0.0
    ) -> None:
        self.norm, self.trials = norm, trials
        self._results: dict[tuple, Result] = {}  # each runs once
        self.answers = [trial.run(partial(norm.result, ())) for trial in trials]
        self.tolerances = [self._tolerance(n, unit) + more for n in range(len(trials))]

    def _tolerance(self, number: int, unit: float) -> float:
        trial, y = self.trials[number], self.answers[number]
        if trial.kind == "far":
            return LOST.get(unit, 1.0) * y.abs().max().item()
        unit = max(unit, torch.finfo(trial.dtype).eps / 2)
        times = OF_GRADIENT if trial.kind == "gradient" else 1
        terms = PASSES * trial.x.shape[-1] * times

        def run(move: Callable[[Tensor], Tensor]) -> Tensor:
            return replace(trial, x=move(trial.x)).run(partial(self.norm.result, ()))

        limit = bound(unit, y, weight_of_terms(y, run), OPERATIONS * times, terms)
        return MARGIN.get(unit, 1.0) * limit.max().item()

    def is_near(self, value: Result, other: Result, number: int) -> bool:
        """Tell whether a result of a trial is another one, up to rounding."""
        if isinstance(value, Raised) or isinstance(other, Raised) or value.shape != other.shape:
            return False
        within = self.tolerances[number]
        if self.trials[number].kind == "far":  # where the mean stays in, all is as large as it is
            size = other.double().nan_to_num().abs().max() / self.answers[number].abs().max()
            within *= max(1.0, size.item())
        one, two = value.double(), other.double()
        away = torch.dist(one, two, torch.inf).item() if one.numel() else 0.0
        if not math.isnan(away):  # then each number has to be compared alone
            return away <= within
        return torch.allclose(one, two, 0, within, equal_nan=True)

    def is_right(self, value: Result, number: int) -> bool:
        """Tell whether a result is right on a trial."""
        trial, right = self.trials[number], self.answers[number]
        is_near = self.is_near(value, right, number)
        if trial.kind != "dtype" or not is_near or isinstance(value, Raised):
            return is_near
        # Roundings go up as often as down, so what is too small or too large in all was lost.
        y, z = value.double().flatten(), right.flatten()
        return bool((y @ z / (z @ z) - 1).abs() <= LEANING * torch.finfo(trial.dtype).eps / 2)

    def fits(self, value: Result, parts: Explanation, number: int) -> bool:
        """Tell whether wrong parts give this result on a trial."""
        key = (parts, number)
        if key not in self._results:
            try:
                self._results[key] = self.trials[number].run(partial(self.norm.result, parts))
            except Exception as error:  # a wrong part may do anything
                self._results[key] = Raised.of(error)
        return self.is_near(value, self._results[key], number)

    @cached_property
    def pieces(self) -> list[Piece]:
        """The wrong pieces that can show."""
        has_bias = self.trials[0].bias is not None
        of_bias = [p for p in self.norm.pieces if p.step in SCALING and "β" in p.why]
        return [p for p in self.norm.pieces if has_bias or p not in of_bias]

    def compare(self, results: Sequence[Result]) -> Explained:
        """Tell whether results are right, and on which trials not; an error doesn't count."""
        wrong = [
            trial
            for n, (trial, value) in enumerate(zip(self.trials, results, strict=True))
            if isinstance(value, Tensor) and not self.is_right(value, n)
        ]
        is_right = all(trial.kind in APART for trial in wrong)
        return Explained(is_right, wrong=wrong, without=wrong if is_right else ())

    def explain(self, results: Sequence[Result]) -> Explained:
        """Explain the results of trials; an error doesn't count.

        What is explained must be all that a layer returns for the surest trials, and that it's
        wrong on them or elsewhere. With one thing wrong, a shape, or the gradient may be left; two
        would fit by chance what one leaves. Of what fits, it takes what explains most.
        """
        compared = self.compare(results)
        if compared.is_right:
            return compared
        judged = [n for n, value in enumerate(results) if isinstance(value, Tensor)]
        wrong = [n for n in judged if self.trials[n] in compared.wrong]
        whole = {n for n in judged if self.trials[n].kind not in APART}
        sure = {n for n in whole if self.trials[n].kind in SURE}
        must = sure if sure.intersection(wrong) else sure | whole.intersection(wrong)
        size = {n: self.trials[n].x.numel() * (self.trials[n].kind == "width") for n in must}
        order = sorted(must, key=lambda n: (n not in wrong, size[n], -n))  # wide ones take long
        best: list[Explanation] = []
        explained: set[int] = set()
        for group in self._groups(results, wrong, order[0]):
            for parts in group:
                if not all(self.fits(results[n], parts, n) for n in order):
                    continue
                fits = {n for n in judged if self.fits(results[n], parts, n)}
                if len(parts) > 1 and not fits >= whole:
                    continue
                if len(fits) > len(explained):
                    best, explained = [], fits
                if fits == explained and (not best or len(parts) == len(best[0])):
                    best.append(parts)
            if best and explained >= {n for n in whole if self.trials[n].kind != "edge"}:
                break
        if not best:
            return compared
        found = _once(best)
        done = dict.fromkeys(first_sentence(part.why) for parts in found for part in parts)
        words = in_words(found)[1]
        if len(found) > MOST_WAYS:
            ways = "; or ".join(clause(each) for each in [*done][:MOST_NAMED])
            words = f"{len(found)} things explain it equally well: {ways}."
        without = [self.trials[n] for n in wrong if n not in explained]
        return compared._replace(words=words, slips=tuple(done), without=without, found=found)

    def _groups(
        self, results: Sequence[Any], wrong: Sequence[int], number: int
    ) -> Iterator[Iterable[Explanation]]:
        """Yield groups of explanations of a trial, the fewest wrong things first."""
        known = [piece for piece in self.pieces if "NUMBER" not in piece.code]
        yield ((piece,) for piece in known)
        if self.trials[number].kind == "gradient":
            return  # of which two things give too many
        if self.trials[number].x.numel() > MANY:  # one with fewer numbers takes less time
            kinds = [n for n in wrong if self.trials[n].kind in ("part", "shape")]
            few = [n for n in kinds if results[n].shape == self.trials[n].x.shape]
            number = min([*few, number], key=lambda n: self.trials[n].x.numel())
        common = [*filter(_is_common, known)]
        yield self._with_number((), results, number)
        pairs = (tuple(sorted(pair)) for pair in itertools.product(common, known))
        once = dict.fromkeys(in_gaps(pairs))
        yield (parts for parts in once if self.fits(results[number], parts, number))
        others = [(piece,) for piece in common if piece.step != "eps"]
        yield [p for other in others for p in self._with_number(other, results, number)]

    def _with_number(
        self, others: tuple[Piece, ...], results: Sequence[Any], wrong: int
    ) -> Iterator[Explanation]:
        """Yield pieces with the number that gives the result of a wrong trial, or of tiny rows."""
        tiny = next((n for n, t in enumerate(self.trials) if t.words == TINY), wrong)
        pieces = (piece for piece in self.pieces if "NUMBER" in piece.code)
        for piece in pieces:
            if not [*in_gaps([(piece, *others)])]:
                continue
            number = tiny if piece.step == "eps" else wrong
            trial, value = self.trials[number], results[number]
            if not isinstance(value, Tensor) or value.shape != trial.x.shape:
                continue

            def run(values: Tensor, piece: Piece = piece, trial: Trial = trial) -> Tensor:
                return trial.run(partial(self.norm.result, (*others, piece._replace(value=values))))

            with contextlib.suppress(Exception):  # a wrong part may do anything
                found = fitted(run, value.double(), self.tolerances[number])
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
    if piece.step == "eps":
        return not {"eps", "**"} & {*re.findall(r"\w+|\*\*", piece.code)}
    is_affine = (piece.step == "affine" and "x_hat + b" in piece.code) or piece.code.startswith(
        "x_hat"
    )
    return is_affine or piece.code in ALSO_COMMON or bool(COMMON & {*piece.beliefs})
