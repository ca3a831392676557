"""Diagnose what went into a layer somewhere else, and what came out: thin evidence."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from lnorm_course.checking.comparing import same
from lnorm_course.diagnose.causes import Cause, in_words
from lnorm_course.diagnose.diagnosis import Search
from lnorm_course.diagnose.explaining import ShortSearch
from lnorm_course.diagnose.forward import NormWithSlips
from lnorm_course.diagnose.inputs import Input, inputs_for, parameter
from lnorm_course.diagnose.parameters import unknown_parameters
from lnorm_course.diagnose.references import Reference, layer_norm_of, reference_for
from lnorm_course.diagnose.report import Diagnosis
from lnorm_utils.words import capitalized

__all__ = ["diagnose_arrays"]

MOST_NUMBERS = 200_000
MOST_NAMED = 6
WITHIN = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5}
UNKNOWN = "Nothing that I know explains this."


def diagnose_arrays(
    x: Tensor,
    y: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float | None = None,
    like: nn.Module | None = None,
) -> Diagnosis:
    """Return every explanation of y by x; the arguments are those of `diagnose`."""
    within = _within(x, y)
    x, y = x.double(), y.double()
    weight = _own(like, "weight") if weight is None else weight.double()
    bias = _own(like, "bias") if bias is None else bias.double()
    shape = next((tuple(p.shape) for p in (weight, bias) if p is not None), x.shape[-1:])
    reference = reference_for(like, eps) if like else layer_norm_of(tuple(shape), eps)
    _refuse(x, y, weight, bias, reference)
    x, y, note = _shortened(x, y)
    y, arranged = _arranged(x, y)
    search, inputs = _search(x, weight, bias, reference, within)
    tried = f"one pair of shape {tuple(x.shape)}{note}, to within {within:.1g}"
    name = reference.layout.name
    if same(y, search.right[0], within):
        hidden = [s.done for s in search.slips if 0 not in search.changed(Cause(None, (s,)))]
        verdict = f"These numbers are those of {name if name == 'RMSNorm' else name.lower()}"
        verdict = (
            f"{verdict}{arranged}." if arranged else f"{verdict}, as far as one pair can tell."
        )
        places = [f"One pair can't show whether {done}." for done in hidden[:MOST_NAMED]]
        return Diagnosis(verdict, not arranged, (), tuple(places), tried)
    causes = [c for c in search.causes({0: y}) if _enough(y, c)]
    if not causes:
        fitted = unknown_parameters(y, search, within) if weight is bias is None else None
        if fitted:
            return Diagnosis(*fitted, places=(), tried=tried)
        return Diagnosis(UNKNOWN, None, (), (), tried)
    return _named(causes, search, inputs, reference, tried, arranged)


def _own(like: nn.Module | None, name: str) -> Tensor | None:
    own = getattr(like, name, None)
    return None if own is None else own.detach().double()


def _within(x: Tensor, y: Tensor) -> float:
    """Return how far numbers may be off that were stored like this, or rounded to some digits."""
    within = WITHIN.get(y.dtype, 1e-6)
    if y.dtype == torch.float64:
        if torch.equal(y.float().double(), y):
            within = 1e-5
        for digits in range(3, 6):
            if torch.equal(y.mul(10**digits).round().div(10**digits), y):
                has_digits = not torch.equal(y.mul(100).round().div(100), y)
                return max(within, 10.0**-digits) if has_digits else within
    if y.dtype == torch.float32 or within == 1e-5:  # what float32 loses far from zero
        rows = x.double()
        ratio = (rows.mean(-1).abs() / rows.std(-1, correction=0).clamp(min=1e-9)).max().item()
        within = max(within, min(1e-3, 2e-7 * ratio)) if ratio < 1e6 else within
    return within


def _refuse(
    x: Tensor, y: Tensor, weight: Tensor | None, bias: Tensor | None, reference: Reference
) -> None:
    """Raise a ValueError that names what doesn't fit."""
    if not x.ndim or not x.numel():
        raise ValueError(f"x must have numbers, but its shape is {tuple(x.shape)}.")
    if x.numel() != y.numel():
        raise ValueError(
            f"What goes into a layer norm and what comes out have the same shape, but x has shape "
            f"{tuple(x.shape)} and y has shape {tuple(y.shape)}."
        )
    for name, tensor in (("x", x), ("y", y)):
        if not tensor.isfinite().all():
            raise ValueError(f"{name} holds numbers that aren't finite (NaN or infinity).")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != reference.shape:
            raise ValueError(
                f"{name} must have shape {reference.shape}, but its shape is {tuple(p.shape)}."
            )
    shape = reference.shape
    place = x.shape[1:2] if reference.has_channels else x.shape[-len(shape) :]
    is_channels_first = x.ndim > 2 and tuple(x.shape[1:2]) == shape
    if tuple(place) != shape and not is_channels_first:
        raise ValueError(
            f"γ and β have shape {shape}, so x should end with these sizes, but its shape is "
            f"{tuple(x.shape)}."
        )


def _shortened(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, str]:
    """Keep the first points of a large pair."""
    if x.numel() <= MOST_NUMBERS or x.shape != y.shape or x.ndim < 2:
        return x, y, ""
    keep = max(2, MOST_NUMBERS * len(x) // x.numel())
    return x[:keep], y[:keep], f" (the first {keep} of {len(x)} along axis 0)"


def _arranged(x: Tensor, y: Tensor) -> tuple[Tensor, str]:
    """Bring y into the shape of x."""
    if y.shape == x.shape:
        return y, ""
    if y.mT.shape == x.shape if y.ndim > 1 else False:
        return y.mT, ", with the last two axes transposed"
    return y.reshape(x.shape), f", in the shape {tuple(y.shape)}"


def _search(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, reference: Reference, within: float
) -> tuple[Search, list[Input]]:
    """Return a search that knows this pair, and the inputs that would tell more."""
    shape = reference.shape
    axes = [3, 2] if reference.has_channels else [len(shape) + 2, len(shape) + 1]
    others = inputs_for(shape, axes, reference.has_channels, reference.eps, False)
    inputs = [Input("this pair", x, reference.eps), *others]
    known = [
        [given, *[None if given is None else parameter(shape, seed)] * len(others)]
        for seed, given in ((3, weight), (4, bias))
    ]

    def result(cause: Cause, number: int) -> Tensor:
        run = reference.result(cause.slips, cause.mistake)
        return run(inputs[number].x, known[0][number], known[1][number], inputs[number].eps)

    def channels_first(
        norm: NormWithSlips, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> Tensor:
        """The channels of axis 1 are normalized, and not the last axis, as ConvNeXt does it."""
        return norm.layer_norm(x.movedim(1, -1), weight, bias, -1, eps).movedim(-1, 1)

    mistakes = [*reference.mistakes]
    fits_first = x.ndim > 2 and tuple(x.shape[1:2]) == shape
    if fits_first and tuple(x.shape[-1:]) != shape:  # γ can only belong to axis 1
        mistakes = [channels_first]
        right = [x * torch.nan for each in inputs]
        return _PairSearch(result, mistakes, [], right, within), inputs
    if fits_first:
        mistakes.append(channels_first)
    right = [result(Cause(None, ()), n) for n in range(len(inputs))]
    return _PairSearch(result, mistakes, reference.layout.all_slips(), right, within), inputs


class _PairSearch(ShortSearch):
    """One pair is too little to believe in three slips."""

    most_slips, most_runs = 2, 4_000


def _enough(y: Tensor, cause: Cause) -> bool:
    """Tell whether there are enough numbers to believe in a cause."""
    return len(y.unique()) >= 4 + 2 * cause.size


def _named(
    causes: list[Cause],
    search: Search,
    inputs: list[Input],
    reference: Reference,
    tried: str,
    arranged: str,
) -> Diagnosis:
    """Say every explanation, and which input would tell them apart."""
    layout = reference.layout
    ways = list(dict.fromkeys(_in_short(cause) for cause in causes))
    ways = [layout.in_its_letters(way) for way in ways]
    also = f" And the numbers come out{arranged[1:]}." if arranged else ""
    if len(ways) == 1:
        return Diagnosis(in_words(causes, layout) + also, False, (ways[0],), (), tried)
    more = f" and {len(ways) - MOST_NAMED} more" if len(ways) > MOST_NAMED else ""
    listed = "; or ".join(ways[:MOST_NAMED])
    verdict = f"{len(ways)} things explain this equally well: {listed}{more}.{also}"
    return Diagnosis(verdict, False, tuple(ways), tuple(_apart(causes, search, inputs)), tried)


def _in_short(cause: Cause) -> str:
    parts = [slip.done for slip in cause.slips]
    if cause.mistake:
        text = " ".join((cause.mistake.__doc__ or "").split()).split(". ")[0].rstrip(".")
        parts.insert(0, text[0].lower() + text[1:])
    return " and ".join(parts)


def _apart(causes: list[Cause], search: Search, inputs: list[Input]) -> Iterator[str]:
    """Yield which input would tell the causes apart, if one of the usual ones does."""
    best, most = None, 1
    for n in range(1, len(inputs)):
        kinds: list[object] = []
        for cause in causes:
            result = search.result(cause, n)
            if not any(search.equal(result, kind) for kind in kinds):
                kinds.append(result)
        if len(kinds) > most:
            best, most = n, len(kinds)
    if best is not None:
        all_of_them = "" if most == len(causes) else f", into {most} groups"
        yield capitalized(f"{inputs[best].words} would tell them apart{all_of_them}.")
