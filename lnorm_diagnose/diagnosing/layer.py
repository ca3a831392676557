"""Diagnose a layer: run it and its reference, find out why they differ, and say where."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from lnorm_diagnose.diagnosing.case import ROUNDOFF_32, ROUNDOFF_64, Case, Result
from lnorm_diagnose.diagnosing.findings import DIGITS_LOST, compare_as_held, findings
from lnorm_diagnose.diagnosing.likeness import cause_of, place
from lnorm_diagnose.diagnosing.mixing import how_mixed
from lnorm_diagnose.diagnosing.reference import Reference
from lnorm_diagnose.diagnosing.report import Diagnosis, Verdict, conclusion, diagnosis
from lnorm_diagnose.diagnosing.search import Cause, Search
from lnorm_diagnose.diagnosing.straight_lines import loses_digits
from lnorm_diagnose.diagnosing.subject import LETTERS, Subject, equal
from lnorm_diagnose.diagnosing.trial_inputs import (
    APART,
    WIDTHS,
    Kind,
    Trial,
    parameter,
    trials_for,
    typical,
)
from lnorm_diagnose.fewest_slips import Raised
from lnorm_utils.words import clause, dtype_name, significant, spoken

__all__ = ["diagnose_layer"]

Sizes = tuple[int, ...]
LEADING = ((2, 3), (2, 3, 5), (5,))  # the axes before the features: sizes above 1 that all differ
SQUARE = 32  # a square x is tried for up to this many features
UNSEEN = (4, 9)
SIZES = [(n,) for n in (8, 4, 16, 3, 6, 32, 64, 128, 256, 512, 768, 1024, 10, 2, 5)]
TAKEN = (torch.float64, torch.float32)  # input dtypes to try; some layers take only float32
HALF = (torch.float16, torch.bfloat16)


def diagnose_layer(
    layer: Any,
    norm: Reference,
    given: dict[str, Tensor],
    shape: tuple[int, ...] | None = None,
    named: Mapping[str, Any] = MappingProxyType({}),
) -> Diagnosis:
    """Find how a layer differs from a norm.

    Args:
        given: γ and β, keyed by role.
        shape: the shape of γ, if the layer takes only one shape.
        named: further arguments for each call, by name.
    """
    known = shape or norm.shape or Subject(layer, named=named).shape
    tensors = (v for v in named.values() if isinstance(v, Tensor) and v.ndim > 1)
    beside = next((tuple(tensor.shape) for tensor in tensors), None)
    first: Any = None
    ways = _ways(known) if beside is None else [(False, known or beside[-1:], beside)]
    for dtype, (channels_first, *sizes) in itertools.product(TAKEN, ways):
        subject, mine = Subject(layer, channels_first, named), replace(norm, shape=sizes[0])
        plain = replace(_with_parameters(subject, mine, given), dtype=dtype)
        trial = replace(plain, x=typical(sizes[1]))
        first = first or (subject, mine, trial)
        value = subject.result(trial)
        if isinstance(value, Tensor) and value.numel() == trial.x.numel():
            break
    else:  # no shape works, so report what happens with the first one
        subject, mine, trial = first
    if isinstance(value := subject.result(trial), Raised):
        words = f"For shape {tuple(trial.x.shape)}, it raises {value.kind}: {value.message}."
        if value.kind != "TypeError":
            words += " With `shape=`, you can give the shape of γ, such as `shape=768`."
        return diagnosis(Verdict.NOT_JUDGED, words)
    subject = subject.changed(computes_in=_dtype(subject, mine, trial))
    trials = _trials(subject, mine, trial, is_wide=not known)
    if beside is not None:
        trials = [each for each in trials if tuple(each.x.shape) == beside]
    subjects = [subject.changed(mode=mode) for mode in (False, True)[: 1 + subject.is_module]]
    notes = []
    for each in subjects:
        changed, kept = _keeps(each, mine, trials[-1])
        if kept:
            return kept
        if changed:
            notes.append(f"A call{each.where} changes {spoken(changed)}.")
    results = [[each.result(trial) for trial in trials] for each in subjects]
    if all(map(equal, results[0], results[-1])):
        subjects = subjects[:1]
    is_held = len(subjects) == 1 and not given
    judged = [
        (each, _judged(each, mine, [*zip(trials, values, strict=True)], is_held))
        for each, values in zip(subjects, results, strict=False)
    ]
    # A batch norm can be recognized in `train`, but a new one hardly does anything in `eval`. A
    # module that was given in `eval` is still judged in `eval`.
    is_evaluated = subject.is_module and not subject.layer.training

    def order(pair: tuple[Subject, Diagnosis]) -> tuple[bool | None, ...]:
        mode, found = pair[0].mode, pair[1]
        return is_evaluated and mode, not found.slips, found.right, not mode

    judged.sort(key=order)
    (worst, said), *others = judged
    for each, other in () if said.right and not is_evaluated else others:
        is_one = f"It is wrong only{worst.where}."
        notes.append(is_one if other.right else f"{each.where[1:].capitalize()}: {other.summary}")
    return replace(said, notes=(*notes, *said.notes))


def _ways(known: Sizes | None) -> list[tuple[bool, Sizes, Sizes]]:
    """List triples (are features on axis 1?, shape of γ, shape of x), the likeliest first."""
    axes = (False,) if known and len(known) > 1 else (False, True)
    layouts = [*itertools.product(axes, [known] if known else SIZES)]
    usual = [(*each, shape) for each in layouts for shape in _shapes(*each)[:2]]
    return usual + [(*each, shape) for each in layouts for shape in _shapes(*each)[2:]]


def _shapes(channels_first: bool, size: Sizes) -> list[Sizes]:
    """Return the shapes that x may have if the shape of γ is `size`."""
    if channels_first:
        return [(*leading, *size) for leading in LEADING[:2]]
    square = [size * 2] if len(size) == 1 and size[0] <= SQUARE else []
    return [*((*leading, *size) for leading in LEADING), *square, size]


def _trials(subject: Subject, norm: Reference, trial: Trial, is_wide: bool) -> list[Trial]:
    """Choose the trials for a layer, with the typical one last.

    Args:
        trial: a trial that the layer accepts.
        is_wide: whether to try different numbers of features, too.
    """
    mean = 1e7 if subject.computes_in == torch.float64 else 4096.0
    widths = WIDTHS if is_wide and not subject.channels_first else ()
    main = tuple(trial.x.shape)
    more = [each for each in _shapes(subject.channels_first, norm.shape) if each != main]
    trials = trials_for(trial, [main, *more], "eps" in subject.takes, widths, mean)
    is_half = subject.computes_in in HALF
    return [each for each in trials if each.kind is Kind.MAIN or not is_half]


def _dtype(subject: Subject, norm: Reference, trial: Trial) -> torch.dtype:
    """Return the dtype in which a layer computes when its input is float64."""
    found = subject.coarsest(trial)
    if found != torch.float64:
        return found
    # Only a part of the layer may compute in float32. Its errors show this where ε doesn't matter,
    # as at 10,000 times the size.
    wide = replace(trial, x=1e4 * trial.x)
    value = subject.result(wide)
    exact, rough = (Case(norm, wide, value, u).is_right for u in (ROUNDOFF_64, ROUNDOFF_32))
    return torch.float32 if rough and not exact else found


def _with_parameters(subject: Subject, norm: Reference, given: dict[str, Tensor]) -> Trial:
    """Choose γ and β: those given; else new ones if the layer takes them; else those of `like`."""
    chosen: dict[str, Any] = {}
    for seed, role in ((3, "weight"), (4, "bias")):
        own = given.get(role, norm.parameters.get(role))
        # If `like` doesn't have a parameter, the layer keeps its own.
        is_kept = own is None and norm.module is not None and role in subject.held
        is_free = not is_kept and (subject.has(role) or (subject.is_module and own is not None))
        chosen[role] = parameter(norm.shape, seed) if is_free and role not in given else own
    roles = tuple(role for role, p in chosen.items() if p is not None and subject.has(role))
    return Trial("", torch.zeros(0), norm.eps, **chosen, roles=roles, axes=len(norm.shape))


def _keeps(subject: Subject, norm: Reference, trial: Trial) -> tuple[list[str], Diagnosis | None]:
    """Call copies repeatedly; return what calls change, and a diagnosis if one is clear by then."""
    unseen = (*UNSEEN, *trial.x.shape[-trial.axes :])
    pair = [replace(trial, x=typical(unseen, seed)) for seed in (81, 82)]
    pair.append(replace(trial, x=torch.cat([pair[1].x] * 2)))
    layer, fresh = subject.copy(trial), subject.copy(trial)
    with torch.random.fork_rng():
        before = subject.state(layer)
        first, second = (subject.result(trial, layer) for _ in range(2))
        after = subject.state(layer)
        other = subject.result(replace(trial, x=typical(trial.x.shape, 71)), fresh)
        then = subject.result(trial, fresh)
        # Two inputs have an unseen shape. The second one repeated has another unseen shape.
        of_unseen = [(each, subject.result(each, fresh)) for each in pair]
    changed = [f"`{n}`" for n in after if before.get(n) != after[n]]
    what = spoken(changed or ["something"])
    if isinstance(other, Tensor) and equal(first, other):
        words = "the output doesn't depend on the input"
        words = words if other.isfinite().any() else "no finite number comes out"
        return changed, diagnosis(Verdict.KNOWN, f"{words}.", (words,))
    if not equal(first, second) and not changed:
        words = f"It gives different numbers for the same input{subject.where}, so something in it "
        words += "is random, such as dropout, or is kept from call to call."
        return changed, diagnosis(Verdict.NOT_JUDGED, words)
    if not equal(first, second):
        slip = f"each call changes {what}"
    elif not equal(first, then):
        slip = f"it keeps {what} from an earlier input"
    elif [Case(norm, *e, subject.unit_roundoff).is_right for e in of_unseen] == [True, False, True]:
        slip = "it keeps something from its first input of a shape"
    else:
        return changed, None
    words = f"{slip}{subject.where}, so the next call gives different numbers."
    return changed, diagnosis(Verdict.KNOWN, f"{words} {norm.name} keeps nothing.", (slip,))


def _judged(
    subject: Subject, norm: Reference, pairs: Sequence[tuple[Trial, Result]], is_held: bool
) -> Diagnosis:
    """Judge a layer by the results of its trials and, if `is_held`, also with its own γ and β."""
    search = Search([Case(norm, *pair, subject.unit_roundoff) for pair in pairs])
    cause = _cause(subject, search)
    if is_held:
        cause = compare_as_held(subject, search, cause)
    words = spoken([trial.words for trial, _ in reversed(pairs)])
    main = search.main.trial
    tried = f"{dtype_name(main.dtype)} of shape {tuple(main.x.shape)}: {words}"
    tried += "; `eval` and `train`" * subject.is_module
    found = [*findings(subject, search, cause)]
    return conclusion(search.main, cause, found, " in what was tried, up to rounding", tried)


def _cause(subject: Subject, search: Search) -> Cause:
    """Find the cause of the results: slips, a law for all numbers, a gradient, or mixed rows."""
    found = cause_of(search)
    if not found.is_open:
        return found
    wrong = [case for case in found.wrong if case.kind not in APART]
    kinds = {case.kind for case in wrong}
    smallest = min(wrong, key=lambda case: case.trial.x.numel())
    far = [case for case in found.wrong if case.kind is Kind.FAR]
    if kinds == {Kind.AWAY} and any(loses_digits(case, subject.computes_in) for case in far):
        return found.because([DIGITS_LOST], is_seen=True)
    if kinds == {Kind.GRADIENT}:
        return found.because(*_gradients(smallest))
    shown = (wrong[-1] if wrong[-1].kind is Kind.MAIN else smallest).trial
    # What is said may not be true of other rows, or of another shape.
    shape = f"shape {tuple(shown.x.shape)}"
    where = shape if shown.kind is Kind.MAIN or shape in shown.words else f"{shown.words}, {shape}"
    slips = [f"for {where}: {clause(slip)}" for slip in _rows(subject, shown)]
    if kinds <= {Kind.SHAPE, Kind.WIDTH}:
        where = f"it's wrong only on {spoken([case.trial.words for case in wrong])}"
        slips = [where, *(slips or [place(smallest)[:-1]])]
    return found.because(slips, is_seen=True)


def _gradients(case: Case) -> tuple[list[str], bool]:
    """Say how the gradients of x, γ, and β are off, and whether the cause is still unknown."""
    trial, said, is_seen = case.trial, list[str](), False
    sizes = [trial.x.numel()] * trial.of_x
    sizes += [getattr(trial, role).numel() for role in trial.roles]
    parts = (torch.split(each, sizes) for each in (case.value, case.right, case.limit()))
    letters = ["x"] * trial.of_x + [LETTERS[role] for role in trial.roles]
    for letter, y, z, limit in zip(letters, *parts, strict=True):
        factor = (y @ z / (z @ z)).item()
        if not y.any() and z.any():
            said.append(f"no gradient reaches {letter}")
        elif not ((y - z).abs() <= limit).all():
            is_scaled = ((y - factor * z).abs() <= limit).all()
            times = f"{significant(factor)} times what it should be" if is_scaled else "wrong"
            said.append(f"the gradient of {letter} is {times}")
            is_seen |= not is_scaled
    return said, is_seen


def _rows(subject: Subject, trial: Trial) -> list[str]:
    """Say how rows, or features, affect each other."""
    layer = subject.copy(trial)

    def call(x: Tensor) -> Tensor:
        value = subject.result(replace(trial, x=x), layer)
        return value.double() if isinstance(value, Tensor) else torch.full_like(x, torch.nan)

    size = trial.x.shape[-trial.axes :].numel()
    return how_mixed(call, trial.x, size, 1e-8 if subject.computes_in == torch.float64 else 1e-4)
