"""Diagnose what went into a layer somewhere else, and what came out: thin evidence."""

from dataclasses import replace
from typing import Any

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
from lnorm_utils.words import clause, first_sentence

__all__ = ["diagnose_arrays"]

MOST_NUMBERS = 200_000
FEWEST = 12  # numbers


def diagnose_arrays(x: Tensor, y: Tensor, norm: Reference, given: dict[str, Any]) -> Diagnosis:
    """Return every explanation of y by x, beside a norm; `given` are γ and β."""
    if not x.ndim or not x.numel() or x.numel() != y.numel():
        raise ValueError(
            "What goes into a layer norm and what comes out have the same shape, with numbers in "
            f"it, but x has shape {tuple(x.shape)} and y has shape {tuple(y.shape)}."
        )
    for name, tensor in (("x", x), ("y", y)):
        if not tensor.isfinite().all():
            raise ValueError(f"{name} holds numbers that aren't finite (NaN or infinity).")
    unit, digits = _rounding(x, y)
    given = norm.parameters | given
    shape = next((tuple(p.shape) for p in given.values()), x.shape[-1:])
    norm, remark = replace(norm, shape=norm.shape or shape), ""
    if x.ndim > 2 and tuple(x.shape[1:2]) == norm.shape != tuple(x.shape[-1:]):
        remark = " That's with the channels as axis 1."
        x, y = x.movedim(1, -1), y.movedim(1, -1)
    layer_norm(x, norm.shape, **given)  # which refuses shapes that don't belong together

    def part(most: int, kind: Kind) -> tuple[Trial, Tensor]:
        keep = max(2, most * len(x) // x.numel()) if x.shape == y.shape and x.ndim > 1 else len(x)
        axes = len(norm.shape)
        trial = Trial("this pair", x[:keep].double(), norm.eps, **given, kind=kind, axes=axes)
        return trial, y[:keep] if x.shape == y.shape else y

    pairs = [part(MANY, Kind.PART)] * (x.numel() > MANY) + [part(MOST_NUMBERS, Kind.MAIN)]
    search, tried = (
        Search([Case(norm, trial, y.double(), unit, digits) for trial, y in pairs]),
        f"one pair of shape {tuple(x.shape)}",
    )
    within = search.main.within
    if within > 0.05 * y.abs().max().item() or y.numel() < FEWEST:
        words = f"{y.numel()} numbers that can be off by {within:.1g} tell too little."
        return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
    cause, found = cause_of(search)._replace(remark=remark), []
    if cause.is_right:
        step = (each for each in search.pieces if each.step == "deviation")
        alike = [clause(first_sentence(p.why)) for p in step if search.main.fits((p,))]
        words = f"The same numbers come out in other ways: {'; or '.join(alike[:MOST_NAMED])}."
        found = [Finding(words)] * bool(alike)
    return conclusion(search.main, cause, found, ", as far as one pair tells", tried)


def _rounding(x: Tensor, y: Tensor) -> tuple[float, float]:
    """Return the unit of rounding behind numbers, and how far storing them moved the largest."""
    exact = y.double()
    for digits in range(7):
        if torch.allclose(exact.mul(10**digits).round().div(10**digits), exact, 0, 1e-7):
            return SINGLE, 0.5 * 10.0**-digits + 1e-7 if digits > 1 else 0.0
    had = [dtype for dtype in DTYPES if torch.equal(exact.to(dtype).double(), exact)]
    stored = max((torch.finfo(d).eps for d in had if d != torch.float32), default=0.0)
    is_double = x.dtype == y.dtype == torch.float64 and not had
    return DOUBLE if is_double else SINGLE, stored * exact.abs().max().item()
