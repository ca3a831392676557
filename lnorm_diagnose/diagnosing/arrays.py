"""Diagnose a layer that ran elsewhere, with only its input and its output as evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.case import ROUNDOFF_32, ROUNDOFF_64, Case
from lnorm_diagnose.diagnosing.findings import Finding
from lnorm_diagnose.diagnosing.likeness import cause_of
from lnorm_diagnose.diagnosing.reference import Reference
from lnorm_diagnose.diagnosing.report import Diagnosis, Verdict, conclusion, diagnosis
from lnorm_diagnose.diagnosing.search import MANY, MOST_NAMED, Search
from lnorm_diagnose.diagnosing.straight_lines import straight_lines
from lnorm_diagnose.diagnosing.trial_inputs import DTYPES, Kind, Trial, parameter
from lnorm_utils.functional import layer_norm
from lnorm_utils.words import clause, counted, dtype_name, first_sentence, significant

__all__ = ["diagnose_arrays"]

MOST_NUMBERS = 60_000
ROOM = 4  # later axes are cut only if over this many times the wanted numbers are left
FEWEST = 12  # the fewest numbers to judge by
SIGNS, MORE = 4, 3  # how many sign patterns x is moved by, and a safety factor for y's moves
# How many numbers are tried first, the most steps that 8 bits allow, and how far a number may be
# from a multiple of a step, as a fraction of the step.
SOME, FEW_STEPS, NEAR = 1_000, 256, 1e-3
EIGHT_BITS = (torch.float8_e4m3fn, torch.float8_e5m2)
TOO_ROUGH = 0.05  # the largest typical error, as a fraction of the largest number
# ROUNDED is half a unit in the last decimal place, plus a little to allow for a fitted step.
DECIMALS, ROUNDED = range(2, 7), 0.55


class _Computed(NamedTuple):
    """A way in which numbers may have been computed and stored.

    Args:
        unit_roundoff: the unit roundoff of the dtype in which the numbers were computed.
        stored: how far each number may have moved when it was stored.
        words: the sentence with which a diagnosis reports this way of computing; may be empty.
        is_of_x: the name of x's dtype if y was computed in that dtype but is stored in a different
            one; otherwise empty.
    """

    unit_roundoff: float
    stored: Tensor
    words: str = ""
    is_of_x: str = ""


def diagnose_arrays(x: Tensor, y: Tensor, norm: Reference, given: dict[str, Any]) -> Diagnosis:
    """Diagnose how y was computed from x, compared with a norm; `given` holds γ and β."""
    if not x.ndim or not x.numel() or x.numel() != y.numel():
        raise ValueError(
            "A layer norm's input and output must have the same shape, with at least one number, "
            f"but x has shape {tuple(x.shape)} and y has shape {tuple(y.shape)}."
        )
    tried, found = f"one pair of shape {tuple(x.shape)}", list[Finding]()
    given = norm.parameters | given
    shape = next((tuple(p.shape) for p in given.values()), x.shape[-1:])
    norm, remark = replace(norm, shape=norm.shape or shape), ""
    if x.ndim > 2 and tuple(x.shape[1:2]) == norm.shape != tuple(x.shape[-1:]):
        remark = " This is with the channels on axis 1."
        x, y = x.movedim(1, -1), y.movedim(1, -1)
    layer_norm(x, norm.shape, **given)  # raises an error if the shapes don't match
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
        words = f"Only {counted(y.numel(), 'number')} can be compared, which is too few."
        return diagnosis(Verdict.NOT_JUDGED, words, (), [each.words for each in found], tried)
    axes, is_whole = len(norm.shape), x.shape == y.shape

    def cut(most: int) -> tuple[slice, ...]:
        """Return slices that keep about `most` numbers, but at least two indices on each axis."""
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
    if (compared := parts[-1][1].value.numel()) < y.numel():
        words = f"Of {y.numel():,} numbers, {compared:,} were compared: "
        words += "the first rows of the first entries."
        found.append(Finding(words))

    def search(way: _Computed) -> Search:
        stored = way.stored if is_whole else torch.zeros(1)
        return Search([each.computed(way.unit_roundoff, stored[kept]) for kept, each in parts])

    def moved(by: Tensor) -> Tensor:
        """Estimate how far y moves if each number of x moves by `by`."""
        of_signs = (parameter(x.shape, seed).sign() for seed in range(SIGNS))
        y, *others = (
            norm.result((), x + by * s, **both, eps=norm.eps) for s in (0 * by, *of_signs)
        )
        return MORE * (torch.stack(others) - y).abs().max(0).values

    both = {role: given.get(role) for role in ("weight", "bias")}
    tries = [(way, search(way)) for way in _ways(x, y, moved)]

    def too_rough(case: Case) -> Diagnosis | None:
        off = case.limit().median().item()
        words = f"{y.numel()} numbers that can each be off by {off:.1g} aren't enough."
        is_rough = off > TOO_ROUGH * case.right.abs().max().item()
        return diagnosis(Verdict.NOT_JUDGED, words, tried=tried) if is_rough else None

    if said := too_rough(tries[0][1].main):
        return said
    of_x = [t for t in tries[1:] if t[0].unit_roundoff == ROUNDOFF_32 and t[1].compare().is_right]
    if of_x and not tries[0][1].compare().is_right:
        # It's likelier that x was rounded after y was computed than that there was a slip.
        tries = of_x
    # If everything is right in a coarser dtype, that's likelier than two slips.
    most = 1 if any(pair.compare().is_right for _, pair in tries[1:]) else 2
    causes = ((way, pair.main, cause_of(pair, most)) for way, pair in tries)
    first = next(causes)
    ways = (each for each in chain([first], causes) if not each[2].is_open)
    way, main, cause = next(ways, first)
    if way is not first[0] and not cause.is_right and (said := too_rough(main)):
        return said
    slip, is_seen = straight_lines(main) if cause.is_open and main.is_whole else ("", False)
    cause = cause.because([slip], is_seen) if slip else cause
    found += [Finding(way.words)] * bool(way.words)
    if cause.is_right:
        step = (option for option in norm.distractors if option.step == "deviation")
        alike = [clause(first_sentence(p.why)) for p in step if main.fits((p,))]
        words = f"Other ways give nearly the same numbers: {'; or '.join(alike[:MOST_NAMED])}."
        found += [Finding(words)] * bool(alike)
    if cause.is_right and way.is_of_x:
        slip = f"it's right only up to the rounding of {way.is_of_x}, in which y isn't stored, so "
        slip += "something was rounded on the way, or x was, after y had been computed"
        cause = cause._replace(is_right=False).because([slip], is_seen=True)
    cause = cause._replace(remark=remark)
    return conclusion(main, cause, found, ", as far as one pair tells", tried)


def _finite(x: Tensor, y: Tensor) -> tuple[tuple[Tensor, Tensor], Finding]:
    """Return the rows without NaN or infinity, and a finding that says what was left out."""
    in_x, in_y = (~each.isfinite().flatten(1).all(-1) for each in (x, y))
    count, only_y, only_x = (int(n.sum()) for n in (in_x | in_y, in_y & ~in_x, in_x & ~in_y))
    words = f"{count} of {counted(len(x), 'row')} hold NaN or infinity, and were left out"
    slip = f"y has NaN or infinity in {counted(only_y, 'row')} where x is finite" if only_y else ""
    if only_x and not slip:
        slip = f"y is finite in {counted(only_x, 'row')} where x has NaN or infinity"
    kept = ~(in_x | in_y)
    return (x[kept], y[kept]), Finding(f"{words}{'; ' * bool(slip)}{slip}.", slip)


def _ways(x: Tensor, y: Tensor, moved: Callable[[Tensor], Tensor]) -> Iterator[_Computed]:
    """Yield how y may have been computed and stored, the most exact way first.

    Args:
        moved: a function that returns how far each number of y moves if the numbers of x move.
    """
    exact, largest, none = y.double(), y.double().abs(), torch.zeros_like(y).double()
    of_x, of_y = _coarsest(x, DTYPES), _coarsest(y, (*DTYPES, *EIGHT_BITS))
    words, stored = _steps(exact) or (None, none)
    if words == "" or (words and of_y not in EIGHT_BITS):
        yield _Computed(ROUNDOFF_32, stored, words)
        if words and (before := _steps(x.double())) and before[0] and x.shape == y.shape:
            words += " This holds if x was rounded, too, after y had been computed."
            yield _Computed(ROUNDOFF_32, stored + moved(before[1]), words)
        return
    if x.dtype == y.dtype == torch.float64 and of_y is None:
        yield _Computed(ROUNDOFF_64, none)
        return

    def way(dtype: Any, unit_roundoff: float | None, words: str, is_of_x: str = "") -> _Computed:
        info = torch.finfo(dtype)
        share = f"{significant(50 * info.eps, 2)}%"
        stored = info.eps / 2 * largest.clamp(min=info.tiny)
        return _Computed(
            unit_roundoff or info.eps / 2, stored, words.format(dtype_name(dtype), share), is_of_x
        )

    words = "y holds {} numbers, so a difference below {} of a number can't be seen."
    is_fine = of_y is None or of_y is torch.float32
    yield _Computed(ROUNDOFF_32, none) if is_fine else way(of_y, ROUNDOFF_32, words)
    words = (
        "This holds if all of y was computed in {}, where each step can be off by {} of a number."
    )
    half = {dtype for dtype in (of_x, of_y) if dtype in DTYPES[1:]}
    for dtype in sorted(half, key=lambda each: torch.finfo(each).eps):
        yield way(dtype, None, words, dtype_name(dtype) * (dtype != of_y))


def _steps(y: Tensor) -> tuple[str, Tensor] | None:
    """Say to what steps numbers were rounded, and how far each may have moved.

    Return None if no steps were found. Numbers with at most one decimal probably weren't rounded;
    for them, return "" and zeros.
    """
    few = y.flatten()[:SOME]
    if len(few) < y.numel() and _steps(few) is None:
        return None
    one, values = torch.ones_like(y), y.unique()
    power = 10 ** (y.abs() * (1 + NEAR**2)).clamp(min=1e-30).log10().floor()
    steps = [(f"{n} decimals", one / 10**n) for n in range(DECIMALS.stop)]
    steps += [(f"{n} significant digits", power / 10 ** (n - 1)) for n in DECIMALS[1:]]
    held = [
        each for each in steps if torch.allclose((y / each[1]).round() * each[1], y, 1e-7, 1e-9)
    ]
    if held and held[0] in steps[: DECIMALS.start]:
        return "", 0 * one
    span, count = values[-1] - values[0], len(values)
    step = span / (span / values.diff().min()).round() if count > FEWEST else span
    off = (values - values[0]) / step
    if FEWEST < off[-1] <= FEW_STEPS and (off - off.round()).abs().max() < NEAR:
        held.append((f"numbers that are {significant(step.item())} apart", step * one))
    if not held:
        return None
    what, step = max(held, key=lambda each: each[1].mean().item())
    return f"y has {what}, so smaller differences can't be seen.", ROUNDED * step + 1e-7


def _coarsest(numbers: Tensor, dtypes: Sequence[torch.dtype]) -> torch.dtype | None:
    """Return the coarsest dtype that holds these numbers, or None if only float64 does."""
    exact = numbers.double()
    held = [dtype for dtype in dtypes if torch.equal(exact.to(dtype).double(), exact)]
    return max(held, key=lambda dtype: torch.finfo(dtype).eps, default=None)
