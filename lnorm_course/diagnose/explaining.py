"""Explain results: search the pieces of a norm for the fewest that lead to them."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

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
from lnorm_course.diagnose.fitting import fitted
from lnorm_course.diagnose.norms import Norm
from lnorm_course.diagnose.trials import TINY, Trial
from lnorm_course.inspecting.rounding import bound, weight_of_terms
from lnorm_course.slips.beliefs import Belief
from lnorm_course.slips.notation import Piece
from lnorm_utils.words import significant

__all__ = ["APART", "DOUBLE", "SINGLE", "Explained", "Result", "Search"]

WITHIN = 1e-9  # how far scaled numbers may be off
DOUBLE, SINGLE = 2.0**-53, 2.0**-24  # the units of rounding of float64 and float32
# By how much more than rounding can numbers be off that count as the same? What is computed in
# another order, or wrongly, is rounded otherwise, and hardly any slip is as small as that.
MARGIN = {DOUBLE: 1e5, SINGLE: 10.0}
LOST = {DOUBLE: 1e-4, SINGLE: 1e-2}  # of the largest number, where the mean is large
OPERATIONS, PASSES, OF_GRADIENT = 12, 4, 4  # of a layer norm: how often it rounds and adds a row
MOST = 300  # explanations of one trial that are tried on all
APART = ("far", "dtype")  # kinds of trials that say by themselves what is wrong
# What a source must have for a sentence to be said, and what the many trials tell without it.
TELLING = "**2 square clamp max 1e-8 1e-12 1e- +eps **1/2"
COMMON = {Belief.VARIANCE_OVER_D_MINUS_1, Belief.EPS_OUTSIDE_THE_ROOT}
SCALING, BEHIND = ("parameters", "affine"), ("behind",)  # steps that take each row by itself
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


class Search(Explanations):
    """What wrong pieces of a norm make of trials.

    Args:
        norm: what is right, with its wrong pieces.
        trials: what goes in.
        unit: of rounding, of the dtype in which results were computed.
        more: by how much they may be off besides.
        is_quick: whether one thing alone is looked for.
    """

    def __init__(
        self,
        norm: Norm,
        trials: Sequence[Trial],
        unit: float = DOUBLE,
        more: float = 0.0,
        is_quick: bool = False,
    ) -> None:
        self.norm, self.trials, self.unit, self.is_quick = norm, trials, unit, is_quick
        self._fits: list[Piece] = []
        self._normalized = cache(self._normalize)
        self.answers = [each.run(partial(norm.result, ())) for each in trials]
        self.tolerances = [max(self._tolerance(n) + more, 1e-300) for n in range(len(trials))]
        right = [self.scaled(value, n) for n, value in enumerate(self.answers)]
        arguments = ["eps"] + ["bias"] * (trials[0].bias is not None)
        super().__init__(self._scaled_run, (), (), None, right, WITHIN, arguments)

    def _scaled_run(self, parts: Explanation, number: int) -> Result:
        return self.scaled(self.trials[number].run(partial(self.norm.result, parts)), number)

    def _tolerance(self, number: int) -> float:
        trial, y = self.trials[number], self.answers[number]
        unit = max(self.unit, torch.finfo(trial.dtype).eps / 2)
        times = OF_GRADIENT if trial.kind == "gradient" else 1
        terms = PASSES * trial.x.shape[-1] * times

        def run(move: Callable[[Tensor], Tensor]) -> Tensor:
            moved = Trial(**{**vars(trial), "x": move(trial.x)})
            return moved.run(partial(self.norm.result, ()))

        limit = bound(unit, y, weight_of_terms(y, run), OPERATIONS * times, terms)
        return MARGIN.get(unit, 1.0) * limit.max().item()

    def scaled(self, value: Result, number: int) -> Result:
        """Return a result in the unit in which it's compared; far from zero, one of its own."""
        if isinstance(value, Raised) or not value.is_floating_point():
            return value
        value, within = value.double(), self.tolerances[number]
        if self.trials[number].kind == "far":
            within = LOST[self.unit] * max(value.abs().max().item(), 1e-300)
        return value * (WITHIN / within)

    def is_right(self, value: Result, number: int) -> bool:
        """Tell whether a result is right on a trial."""
        return self.equal(self.scaled(value, number), self.right[number])

    @cached_property
    def pieces(self) -> list[Piece]:
        """The wrong pieces without a number that has to be found."""
        return [piece for piece in self._possible if "NUMBER" not in piece.code]

    @cached_property
    def _possible(self) -> list[Piece]:
        pieces = filter(self._has_what_it_needs, self.norm.pieces)
        has_bias = self.trials[0].bias is not None
        return [p for p in pieces if has_bias or p.step not in SCALING or "β" not in p.why]

    def screened(self, value: Tensor, number: int, is_deep: bool) -> Iterator[Explanation]:
        """Yield what gives a result: wrong normalization × wrong γ and β × what comes behind.

        Args:
            is_deep: whether two things in the normalization may be wrong.
        """
        trial, within, target = self.trials[number], self.tolerances[number], value.flatten()
        kinds, rows = self._normalized(number, is_deep)
        scaling, behind = (self._some(steps) for steps in (SCALING, BEHIND))
        for parts in scaling if is_deep else [*scaling, *self._pairs(SCALING)]:
            y = self._step("scaled", parts, rows, trial.weight, trial.bias)
            for more in behind if len(parts) < (1 if is_deep else 2) else [()]:
                z = self._step("behind", more, trial.x, y)
                if not isinstance(z, Tensor) or z.shape[1:] != value.shape:
                    continue
                left, z = torch.arange(len(z)), z.flatten(1)
                for many in (2, None):  # two numbers leave few
                    near = torch.isclose(z[left, :many], target[:many], 0, within, equal_nan=True)
                    left = left[near.all(1)]
                yield from ((*kinds[n], *parts, *more) for n in left.tolist())

    def _some(self, steps: Sequence[str]) -> list[Explanation]:
        simple = (p for p in self.pieces if p.step in steps and p.counts == 1)
        return [(), *((piece,) for piece in simple)]

    def _pairs(self, steps: Sequence[str]) -> Iterable[Explanation]:
        mine = [piece for piece in self.pieces if piece.step in steps]
        pairs = in_gaps(itertools.product(mine, filter(_is_common, mine)))
        double = ((piece,) for piece in mine if piece.counts > 1)
        return [*double, *dict.fromkeys(tuple(sorted(each)) for each in pairs)]

    def _normalize(self, number: int, is_deep: bool) -> tuple[list[Explanation], Tensor]:
        """Return explanations, and what each makes of a trial without γ and β."""
        trial, dim = self.trials[number], tuple(range(-len(self.norm.shape), 0))
        others = (*SCALING, *BEHIND, "layer_norm")
        steps = {piece.step for piece in self.pieces} - {*others}
        some = [*(self._pairs if is_deep else self._some)([*steps])]
        values = [self._step("normalized", each, trial.x, dim, trial.eps) for each in some]
        kept = [n for n, v in enumerate(values) if getattr(v, "shape", 0) == trial.x.shape]
        return [some[n] for n in kept], torch.stack([values[n] for n in kept])

    def _step(self, name: str, parts: Explanation, *arguments: Any) -> Any:
        try:
            with torch.no_grad():
                return getattr(self.norm.steps(parts), name)(*arguments)
        except Exception as error:
            return Raised.of(error)

    def explain(
        self,
        results: Sequence[Result | None],
        source: str,
        must_run: bool = False,
    ) -> Explained:
        """Explain the results of trials; None for those that don't count.

        Args:
            source: that of the layer, as far as it's known.
            must_run: whether errors have to be explained, too.
        """
        judged = [n for n, value in enumerate(results) if isinstance(value, Tensor)]
        wrong = [n for n in judged if not self.is_right(results[n], n)]  # type: ignore[arg-type]
        trials = [self.trials[n] for n in wrong]
        if all(trial.kind in APART for trial in trials) and not must_run:
            return Explained(True, without=trials)
        found, fits = self._best(results, {*wrong}, source)
        if not found:
            return Explained(not wrong and isinstance(results[-1], Tensor), wrong=trials)
        done = dict.fromkeys(first_sentence(part.why) for parts in found for part in parts)
        without = [self.trials[n] for n in wrong if n not in fits]
        return Explained(False, in_words(found)[1], tuple(done), trials, without, found)

    def _best(
        self, results: Sequence[Result | None], wrong: set[int], source: str
    ) -> tuple[list[Explanation], set[int]]:
        """Return the explanations that explain most, and the numbers of the trials they explain.

        What is explained must be all that a layer returns for the main trials, and that it's
        wrong on them or elsewhere. With one thing wrong, a shape, or rows without spread may be
        left; two would fit by chance what one leaves.
        """
        code = f"{TELLING} {source}"
        scaled = [v if v is None else self.scaled(v, n) for n, v in enumerate(results)]
        numbers = {n for n, value in enumerate(results) if value is not None}
        failed = {n for n in numbers if isinstance(results[n], Raised)}
        whole = {n for n in numbers - failed if self.trials[n].kind not in APART}
        main = {n for n in whole if self.trials[n].kind in ("main", "gradient")}
        must = main if main & wrong else main | wrong & whole if wrong & whole else numbers
        order = sorted(must, key=lambda n: (n not in wrong, -n))
        best: list[Explanation] = []
        explained: set[int] = set()
        for group in self._groups(results, order[0]):
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
                if fits == explained and (not best or _size(parts) == _size(best[0])):
                    best.append(parts)
            if best and explained >= whole:
                break
        return self._once(best), explained

    def _groups(self, results: Sequence[Any], number: int) -> Iterator[Iterable[Explanation]]:
        """Yield groups of explanations, the fewest wrong things first."""
        yield ((piece,) for piece in self.pieces if piece.counts == 1)
        value = results[number]
        if isinstance(value, Raised) or self.trials[number].kind == "gradient":
            return  # of which two things give too many
        common = [] if self.is_quick else [*filter(_is_common, self.pieces)]
        if not self.is_quick and value.shape == self.trials[number].x.shape:
            for is_deep in (False, True):
                some = itertools.islice(self.screened(value.double(), number, is_deep), MOST)
                found = sorted(some, key=_size)
                for _, group in itertools.groupby(found, _size):
                    yield [parts for parts in group if _size(parts) > (1, -1)]
        whole = [p for p in self.pieces if p.step in ("layer_norm", *BEHIND)]
        yield in_gaps(itertools.product(common, whole))
        for others in ([()], [(piece,) for piece in common if piece.step != "eps"]):
            yield [p for other in others for p in self._with_number(other, results, number)]

    def _with_number(
        self, others: Explanation, results: Sequence[Any], wrong: int
    ) -> Iterator[Explanation]:
        """Yield pieces with the number that gives the result of a wrong trial, or of tiny rows."""
        tiny = next((n for n, t in enumerate(self.trials) if t.words == TINY), wrong)
        for piece in (each for each in self._possible if "NUMBER" in each.code):
            number = tiny if piece.step == "eps" else wrong
            trial, value = self.trials[number], results[number]
            if not isinstance(value, Tensor) or value.shape != trial.x.shape:
                continue

            def run(values: Tensor, piece: Piece = piece, trial: Trial = trial) -> Tensor:
                return trial.run(partial(self.norm.result, (*others, piece._replace(value=values))))

            with contextlib.suppress(Exception):  # a wrong part may do anything
                found = fitted(run, value.double(), self.tolerances[number])
                if found is not None and [*in_gaps([(piece, *others)])]:
                    why = piece.why.format(number=significant(found))
                    fit = piece._replace(value=found, why=why)
                    self._fits.append(fit)  # whose id stands for its results
                    yield (fit, *others)

    def _once(self, found: Sequence[Explanation]) -> list[Explanation]:
        """Keep round numbers, and one of the axes that are the same ones in all shapes."""
        found = [parts for parts in found if all(map(_is_round, parts))] or found
        axes = {code for _, code, _ in self.norm.axes.wrong}
        first: dict[tuple, Explanation] = {}
        for parts in found:
            key = (p.step if p.code in axes else p.why for p in parts if isinstance(p, Piece))
            first.setdefault(tuple(key), parts)
        return list(first.values())


def _size(parts: Explanation) -> tuple[int, int]:
    """Return how many things are wrong, and first those that are said one by one."""
    return sum(getattr(part, "counts", 1) for part in parts), -len(parts)


def _is_round(part: Any) -> bool:
    value = getattr(part, "value", 1.0)
    return abs(float(f"{value:.3g}") - value) <= 1e-7 * abs(value)


def _is_common(piece: Piece) -> bool:
    """Tell whether people do it so often that it's tried with all else."""
    if piece.step == "affine":
        return "x_hat" in piece.code or piece.code in ("(1 + g, b)", "(b, g)")
    is_value = piece.step == "eps" and not {"eps", "**"} & {*re.findall(r"\w+|\*\*", piece.code)}
    return is_value or bool(COMMON & {*piece.beliefs})
