"""Diagnose what went into a layer somewhere else, and what came out: thin evidence."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lnorm_course.checking.search import Explanation, in_words
from lnorm_course.diagnose.explaining import TELLING, Search, slips_of
from lnorm_course.diagnose.norms import Norm, layer_norm_of, norm_like, with_channels_first
from lnorm_course.diagnose.report import Diagnosis, Verdict, diagnosis
from lnorm_course.diagnose.trials import Trial, parameter, shapes_for, trials_for
from lnorm_utils.words import capitalized, spoken

__all__ = ["diagnose_arrays"]

MOST_NUMBERS = 200_000
FEWEST = {1: 6, 2: 12, 3: 12}  # numbers, by how many things they should tell
FEWEST_ROWS = 5  # two of them decide γ and β, the others have to fit
MOST_NAMED = 6


def diagnose_arrays(
    x: Tensor,
    y: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float | None = None,
    like: nn.Module | None = None,
) -> Diagnosis:
    """Return every explanation of y by x; the arguments are those of `diagnose`."""
    unit, digits = _unit(x, y)
    weight, bias = (
        getattr(like, name, None) if p is None else p
        for name, p in (("weight", weight), ("bias", bias))
    )
    weight, bias = (p if p is None else p.detach().double() for p in (weight, bias))
    shape = next((tuple(p.shape) for p in (weight, bias) if p is not None), x.shape[-1:])
    norm = norm_like(like, eps) if like else layer_norm_of(tuple(shape), eps)
    _refuse(x, y, weight, bias, norm)
    x, y, note = _shortened(x.double(), y.double())
    if weight is None and bias is not None:
        weight = torch.ones_like(bias)
    if not norm.split and tuple(x.shape[-len(shape) :]) != norm.shape:
        norm, x, y = with_channels_first(norm), x.movedim(1, -1), y.movedim(1, -1)
    trial = Trial("this pair", x, norm.eps, weight, bias)
    within = 2 * norm.rounding(x, weight, bias, norm.eps, unit) + digits
    search = Search(norm, [trial], [within])
    tried = f"one pair of shape {tuple(x.shape)}{note}, to within {within:.1g}"
    if within > 0.05 * y.abs().max().item():
        words = f"Rounding alone can be {within:.1g} here, so these numbers tell too little."
        return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
    if search.equal(search.scaled(y, 0), search.right[0]):
        return _right(norm, search, tried)
    found = search.of({0: search.scaled(y, 0)}, TELLING, most=3)
    found = [parts for parts in found if y.numel() >= FEWEST[len(parts)]]
    if not found:
        told = _unknown_parameters(x, y, norm, search, within) if weight is bias is None else None
        if told:
            return diagnosis(Verdict.KNOWN, told[0], told[1], tried=tried)
        if y.numel() < FEWEST[2]:
            words = f"{y.numel()} numbers are too few to tell why they differ."
            return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
        words = "Nothing that was tried leads to these numbers."
        return diagnosis(Verdict.NOT_JUDGED, words, tried=tried)
    places = [*_apart(found, norm, weight, bias)]
    also = " The channels are axis 1." if norm.is_channels_first else ""
    slips = slips_of(found)
    words = in_words(found)[1]
    if len(slips) > 3 and len(found) > 3:
        more = f"; or {len(slips) - MOST_NAMED} more" * (len(slips) > MOST_NAMED)
        clauses = "; or ".join(slips[:MOST_NAMED])
        words = f"{len(found)} things explain this equally well: {clauses}{more}."
    return diagnosis(Verdict.KNOWN, words + also, slips, places, tried)


def _unit(x: Tensor, y: Tensor) -> tuple[float, float]:
    """Return the unit of rounding of the dtype that numbers had, and half of their last digit."""
    unit = max(torch.finfo(each.dtype).eps / 2 for each in (x, y))
    exact = y.double()
    for digits in range(7):
        if torch.allclose(exact.mul(10**digits).round().div(10**digits), exact, 0, 1e-7):
            return unit, 0.5 * 10.0**-digits + 1e-7 if digits > 1 else 0.0
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        if torch.equal(exact.to(dtype).double(), exact):
            unit = max(unit, torch.finfo(dtype).eps / 2)
    return unit, 0.0


def _refuse(x: Tensor, y: Tensor, weight: Tensor | None, bias: Tensor | None, norm: Norm) -> None:
    """Raise a ValueError that names what doesn't fit."""
    if not x.ndim or not x.numel():
        raise ValueError(f"x must have numbers, but its shape is {tuple(x.shape)}.")
    if x.numel() != y.numel():
        raise ValueError(
            "What goes into a layer norm and what comes out have the same shape, but x has shape "
            f"{tuple(x.shape)} and y has shape {tuple(y.shape)}."
        )
    for name, tensor in (("x", x), ("y", y)):
        if not tensor.isfinite().all():
            raise ValueError(f"{name} holds numbers that aren't finite (NaN or infinity).")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != norm.shape:
            raise ValueError(
                f"{name} must have shape {norm.shape}, but its shape is {tuple(p.shape)}."
            )
    at_end = not norm.split and tuple(x.shape[-len(norm.shape) :]) == norm.shape
    if not at_end and (x.ndim < 3 - bool(norm.split) or tuple(x.shape[1:2]) != norm.shape):
        raise ValueError(
            f"γ and β have shape {norm.shape}, so x should end with these sizes, but its shape is "
            f"{tuple(x.shape)}."
        )


def _shortened(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, str]:
    """Keep the first points of a large pair."""
    if x.numel() <= MOST_NUMBERS or x.shape != y.shape or x.ndim < 2:
        return x, y, ""
    keep = max(2, MOST_NUMBERS * len(x) // x.numel())
    return x[:keep], y[:keep], f" (the first {keep} of {len(x)} along axis 0)"


def _right(norm: Norm, search: Search, tried: str) -> Diagnosis:
    """Say that the numbers are right, and what they can't show."""
    words = f"{Verdict.NO_DIFFERENCE.value} from {norm.in_words}, as far as one pair can tell"
    words += ", with the channels as axis 1." if norm.is_channels_first else "."
    shown = {piece.why for piece in search.pieces}
    hidden = [(p,) for p in norm.model.pieces if p.why not in shown and p.step == "deviation"]
    alike = "; or ".join(slips_of(hidden)[:MOST_NAMED])
    places = [f"The same numbers come out in other ways: {alike}."] if alike else []
    return Diagnosis(words, True, (), tuple(places), tried)


def _unknown_parameters(
    x: Tensor, y: Tensor, norm: Norm, search: Search, within: float
) -> tuple[str, tuple[str, ...]] | None:
    """Return what to say if γ and β that weren't given explain y."""
    is_rms = [p for p in search.pieces if p.counts == 1 and p.step == "instead"]
    size = torch.Size(norm.shape).numel()
    if norm.split or y.shape != x.shape or y.numel() // size < FEWEST_ROWS:
        return None
    for parts in [(), *[(piece,) for piece in is_rms[:12]]]:
        x_hat = norm.result(parts, x, None, None, norm.eps).reshape(-1, size)
        rows = y.reshape(-1, size)
        centered = x_hat - x_hat.mean(0)
        gamma = (centered * rows).sum(0) / centered.square().sum(0)
        beta = (rows - gamma * x_hat).mean(0)
        scale = 1 + gamma.abs().max().item()
        if not torch.allclose(gamma * x_hat + beta, rows, rtol=0, atol=4 * scale * within):
            continue
        told = [
            f"{letter} = ({', '.join(f'{v:.4g}' for v in p[:4].tolist())}{', …' * (len(p) > 4)})"
            for letter, p, usual in (("γ", gamma, 1.0), ("β", beta, 0.0))
            if (p - usual).abs().max() > 20 * within
        ]
        if told:
            slips = (f"{spoken(told)} wasn't given", *slips_of([parts]))
            also = f" {in_words([parts])[1]}" if parts else ""
            return f"These numbers need {spoken(told)}, which wasn't given.{also}", slips
    return None


def _apart(
    found: Sequence[Explanation], norm: Norm, weight: Tensor | None, bias: Tensor | None
) -> list[str]:
    """Say which of the usual inputs would tell the explanations apart, if one does."""
    if len(found) < 2 or norm.split:
        return []
    weight, bias = (
        None if p is None else parameter(norm.shape, seed) for p, seed in ((weight, 3), (bias, 4))
    )
    shapes = shapes_for(norm)[:3]
    best, most = "", 1
    for trial in trials_for(norm, shapes, weight, bias, False, False):
        if trial.at_gradient:
            continue
        search = Search(norm, [trial], [1e-6])
        kinds: list[object] = []
        for result in (search.result(parts, 0) for parts in found):
            if not any(search.equal(result, kind) for kind in kinds):
                kinds.append(result)
        if len(kinds) > most:
            best, most = trial.words, len(kinds)
    groups = "" if most == len(found) else f", into {most} groups"
    return [capitalized(f"{best} would tell them apart{groups}.")] if best else []
