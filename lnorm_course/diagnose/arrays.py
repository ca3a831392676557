"""Diagnose what went into a layer somewhere else, and what came out: thin evidence."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lnorm_course.checking.feedback import first_sentence
from lnorm_course.checking.search import clause
from lnorm_course.diagnose.explaining import DOUBLE, SINGLE, Search
from lnorm_course.diagnose.likeness import law, likeness
from lnorm_course.diagnose.norms import Norm, norm_like
from lnorm_course.diagnose.report import Diagnosis, Verdict, diagnosis
from lnorm_course.diagnose.run import HALF
from lnorm_course.diagnose.trials import Trial

__all__ = ["diagnose_arrays"]

MOST_NUMBERS = 200_000
FEWEST = 12  # numbers
MOST_NAMED = 6
DTYPES = (torch.float32, *HALF)


def diagnose_arrays(
    x: Tensor, y: Tensor, weight: Any, bias: Any, eps: float | None, like: Any
) -> Diagnosis:
    """Return every explanation of y by x; the arguments are those of `diagnose`."""
    unit, digits = _rounding(x, y)
    weight, bias = (
        getattr(like, name, None) if given is None else given
        for name, given in (("weight", weight), ("bias", bias))
    )
    weight, bias = (p if p is None else p.detach().double() for p in (weight, bias))
    shape = next((tuple(p.shape) for p in (weight, bias) if p is not None), x.shape[-1:])
    norm = Norm(shape, 1e-5 if eps is None else eps)
    norm = norm if like is None else norm_like(like, eps, x.dtype)
    _refuse(x, y, weight, bias, norm)
    if weight is None and bias is not None:
        weight = torch.ones_like(bias)
    if x.shape == y.shape and x.ndim > 1:  # no more than tell
        keep = max(2, MOST_NUMBERS * len(x) // x.numel())
        x, y = x[:keep], y[:keep]
    if tuple(x.shape[-len(norm.shape) :]) != norm.shape:
        norm, x, y = replace(norm, is_channels_first=True), x.movedim(1, -1), y.movedim(1, -1)
    trial = Trial("this pair", x.double(), norm.eps, weight, bias)
    search = Search(norm, [trial], unit, digits)
    tried = f"one pair of shape {tuple(x.shape)}"
    channels = ", with the channels as axis 1" * norm.is_channels_first
    within = search.tolerances[0]
    if within > 0.05 * y.abs().max().item() or y.numel() < FEWEST:
        words = f"{y.numel()} numbers that can be off by {within:.1g} tell too little."
        return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
    found = search.explain([y.double()], " ".join(p.has for p in search.pieces))
    if found.is_right:
        step = (each for each in search.pieces if each.step == "deviation")
        alike = [p.why for p in step if search.fits(search.right[0], (p,), 0)][:MOST_NAMED]
        hidden = "; or ".join(clause(first_sentence(why)) for why in alike)
        places = [f"The same numbers come out in other ways: {hidden}."] if alike else []
        words = f"from {norm.in_words}{channels}, as far as one pair can tell."
        return diagnosis(Verdict.NO_DIFFERENCE, words, (), places, tried)
    words, slips = found.words, found.slips
    if not words and (words := law(search, [y])):
        slips = (words.partition(". ")[0].removesuffix("."),)
    if not words:
        return diagnosis(Verdict.UNKNOWN, likeness(search, [y]), tried=tried)
    if len(found.found) > 3:
        ways = "; or ".join(slips[:MOST_NAMED])
        words = f"{len(found.found)} things explain it equally well: {ways}."
    words += f" (That's{channels.removeprefix(', with')}.)" if channels else ""
    return diagnosis(Verdict.KNOWN, words, slips, tried=tried)


def _rounding(x: Tensor, y: Tensor) -> tuple[float, float]:
    """Return the unit of rounding behind numbers, and how far storing them moved the largest."""
    exact = y.double()
    for digits in range(7):
        if torch.allclose(exact.mul(10**digits).round().div(10**digits), exact, 0, 1e-7):
            return SINGLE, 0.5 * 10.0**-digits + 1e-7 if digits > 1 else 0.0
    had = [dtype for dtype in DTYPES if torch.equal(exact.to(dtype).double(), exact)]
    stored = max((torch.finfo(dtype).eps for dtype in had if dtype in HALF), default=0.0)
    is_double = x.dtype == y.dtype == torch.float64 and not had
    return DOUBLE if is_double else SINGLE, stored * exact.abs().max().item()


def _refuse(x: Tensor, y: Tensor, weight: Any, bias: Any, norm: Norm) -> None:
    """Raise a ValueError that names what doesn't fit."""
    if not x.ndim or not x.numel() or x.numel() != y.numel():
        raise ValueError(
            "What goes into a layer norm and what comes out have the same shape, with numbers in "
            f"it, but x has shape {tuple(x.shape)} and y has shape {tuple(y.shape)}."
        )
    for name, tensor in (("x", x), ("y", y)):
        if not tensor.isfinite().all():
            raise ValueError(f"{name} holds numbers that aren't finite (NaN or infinity).")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != norm.shape:
            raise ValueError(
                f"{name} must have shape {norm.shape}, but its shape is {tuple(p.shape)}."
            )
    is_image = x.ndim > 2 and tuple(x.shape[1:2]) == norm.shape
    if tuple(x.shape[-len(norm.shape) :]) != norm.shape and not is_image:
        raise ValueError(
            f"γ and β have shape {norm.shape}, so x should end with these sizes, but its shape is "
            f"{tuple(x.shape)}."
        )
