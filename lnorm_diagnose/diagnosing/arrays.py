"""Diagnose what went into a layer somewhere else, and what came out: thin evidence."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.case import DOUBLE, SINGLE, Case
from lnorm_diagnose.diagnosing.findings import Finding
from lnorm_diagnose.diagnosing.likeness import cause_of
from lnorm_diagnose.diagnosing.reference import Reference
from lnorm_diagnose.diagnosing.report import Diagnosis, Verdict, conclusion, diagnosis
from lnorm_diagnose.diagnosing.search import MANY, MOST_NAMED, Search
from lnorm_diagnose.diagnosing.trial_inputs import DTYPES, Kind, Trial
from lnorm_utils.functional import layer_norm
from lnorm_utils.words import clause, counted, dtype_name, first_sentence, significant

__all__ = ["diagnose_arrays"]

MOST_NUMBERS = 200_000
ROOM = 10  # times as many may stay at the first two entries of a batch
FEWEST = 12  # numbers
TOO_ROUGH = 0.05  # of the largest number, by which half of them may be off
DECIMALS, ROUNDED = range(2, 7), 0.55  # of the last one, and a little for a fitted number


class _Computed(NamedTuple):
    """In which way numbers may have come about.

    Args:
        unit: of rounding, in the dtype in which they were computed.
        stored: how far storing may have moved each.
        words: what is said of it.
        is_of_x: the dtype in which x is stored, and y isn't, if it was computed in that.
    """

    unit: float
    stored: Tensor
    words: str = ""
    is_of_x: str = ""


def diagnose_arrays(x: Tensor, y: Tensor, norm: Reference, given: dict[str, Any]) -> Diagnosis:
    """Return every explanation of y by x, beside a norm; `given` are γ and β."""
    if not x.ndim or not x.numel() or x.numel() != y.numel():
        raise ValueError(
            "What goes into a layer norm and what comes out have the same shape, with numbers in "
            f"it, but x has shape {tuple(x.shape)} and y has shape {tuple(y.shape)}."
        )
    tried, found = f"one pair of shape {tuple(x.shape)}", list[Finding]()
    given = norm.parameters | given
    shape = next((tuple(p.shape) for p in given.values()), x.shape[-1:])
    norm, remark = replace(norm, shape=norm.shape or shape), ""
    if x.ndim > 2 and tuple(x.shape[1:2]) == norm.shape != tuple(x.shape[-1:]):
        remark = " That's with the channels as axis 1."
        x, y = x.movedim(1, -1), y.movedim(1, -1)
    layer_norm(x, norm.shape, **given)  # which refuses shapes that don't belong together
    if not (x.isfinite().all() and y.isfinite().all()):
        if x.shape != y.shape:
            words = (
                "x or y holds NaN or infinity, and they differ in shape, so no row can be left out."
            )
            return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
        (x, y), not_finite = _finite(x.reshape(-1, *norm.shape), y.reshape(-1, *norm.shape))
        found.append(not_finite)
    if y.numel() < FEWEST:
        slips = [each.slip for each in found if each.slip]
        if slips:
            return diagnosis(Verdict.SEEN, found[0].words, slips, tried=tried)
        words = f"{counted(y.numel(), 'number')} that can be compared tell too little."
        return diagnosis(Verdict.NOT_JUDGED, words, (), [each.words for each in found], tried)
    axes, is_whole = len(norm.shape), x.shape == y.shape

    def cut(most: int) -> tuple[slice, ...]:
        """Return which part has about so many numbers, or some more at the first two indices."""
        kept, left = list[slice](), x.numel()
        for size in x.shape[:-axes] if is_whole else ():
            keep = min(size, max(2, (ROOM if kept else 1) * most * size // left))
            kept, left = [*kept, slice(keep)], left * keep // size
        return tuple(kept)

    def part(kept: tuple[slice, ...], kind: Kind) -> Case:
        trial = Trial("this pair", x[kept].double(), norm.eps, **given, kind=kind, axes=axes)
        return Case(norm, trial, y[kept].double())

    sizes = [(cut(MANY), Kind.PART)] * (x.numel() > MANY) + [(cut(MOST_NUMBERS), Kind.MAIN)]
    parts = [(kept, part(kept, kind)) for kept, kind in sizes]

    def search(way: _Computed) -> Search:
        stored = way.stored if is_whole else torch.zeros(1)
        return Search([each.computed(way.unit, stored[kept]) for kept, each in parts])

    tries = [(way, search(way)) for way in _ways(x, y)]
    rough = tries[0][1].main.limit().median().item()
    if rough > TOO_ROUGH * tries[0][1].main.right.abs().max().item():
        words = f"{y.numel()} numbers that can be off by {rough:.1g} tell too little."
        return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
    # Two slips are less likely than a coarser dtype in which all is right.
    most = 1 if any(pair.compare().is_right for _, pair in tries[1:]) else 2
    causes = ((way, pair.main, cause_of(pair, most)) for way, pair in tries)
    first = next(causes)
    ways = (each for each in chain([first], causes) if not each[2].is_open)
    way, main, cause = next(ways, first)
    found += [Finding(way.words)] * bool(way.words)
    if cause.is_right:
        step = (piece for piece in norm.pieces if piece.step == "deviation")
        alike = [clause(first_sentence(p.why)) for p in step if main.fits((p,))]
        words = f"The same numbers come out in other ways: {'; or '.join(alike[:MOST_NAMED])}."
        found += [Finding(words)] * bool(alike)
    if cause.is_right and way.is_of_x:
        slip = f"it's right only up to the rounding of {way.is_of_x}, in which y isn't stored"
        cause = cause._replace(is_right=False).because([slip], is_seen=True)
    cause = cause._replace(remark=remark)
    return conclusion(main, cause, found, ", as far as one pair tells", tried)


def _finite(x: Tensor, y: Tensor) -> tuple[tuple[Tensor, Tensor], Finding]:
    """Return the rows that are finite, and say what was left out."""
    in_x, in_y = (~each.isfinite().flatten(1).all(-1) for each in (x, y))
    count, only_y, only_x = (int(n.sum()) for n in (in_x | in_y, in_y & ~in_x, in_x & ~in_y))
    words = f"{count} of {counted(len(x), 'row')} hold NaN or infinity, and were left out"
    slip = f"y has NaN or infinity in {counted(only_y, 'row')} where x is finite" if only_y else ""
    if only_x and not slip:
        slip = f"y is finite in {counted(only_x, 'row')} where x has NaN or infinity"
    kept = ~(in_x | in_y)
    return (x[kept], y[kept]), Finding(f"{words}{'; ' * bool(slip)}{slip}.", slip)


def _ways(x: Tensor, y: Tensor) -> Iterator[_Computed]:
    """Yield how y may have been computed and stored, the most exact way first."""
    exact, largest, none = y.double(), y.double().abs(), torch.zeros_like(y).double()
    for digits in range(DECIMALS.stop):
        if torch.allclose(exact.mul(10**digits).round().div(10**digits), exact, 1e-7, 1e-9):
            if digits not in DECIMALS:
                yield _Computed(SINGLE, none)
                return
            words = f"y has {digits} decimals, so smaller differences can't be seen."
            yield _Computed(SINGLE, none + ROUNDED * 10.0**-digits + 1e-7, words)
            return
    of_x, of_y = map(_coarsest, (x, y))
    if x.dtype == y.dtype == torch.float64 and of_y is None:
        yield _Computed(DOUBLE, none)
        return
    if of_y in DTYPES[1:]:
        unit = torch.finfo(of_y).eps / 2
        words = f"y holds {dtype_name(of_y)} numbers, so a difference below "
        words += f"{significant(100 * unit, 2)}% of a number can't be seen."
        yield _Computed(SINGLE, unit * largest, words)
    else:
        yield _Computed(SINGLE, none)
    half = {dtype for dtype in (of_x, of_y) if dtype in DTYPES[1:]}
    for dtype in sorted(half, key=lambda each: torch.finfo(each).eps):
        unit = torch.finfo(dtype).eps / 2
        words = f"This holds if all of y was computed in {dtype_name(dtype)}, where each step can "
        words += f"be off by {significant(100 * unit, 2)}% of a number."
        yield _Computed(unit, unit * largest, words, dtype_name(dtype) * (dtype != of_y))


def _coarsest(numbers: Tensor) -> torch.dtype | None:
    """Return the coarsest dtype that holds these numbers, or None if only float64 does."""
    exact = numbers.double()
    held = [dtype for dtype in DTYPES if torch.equal(exact.to(dtype).double(), exact)]
    return max(held, key=lambda dtype: torch.finfo(dtype).eps, default=None)
