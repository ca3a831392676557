"""`norms_of`: the norms of a model, what they average over, and what is unusual about them."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_course.inspecting.copies import copied, floats, left_alone
from lnorm_utils.modules import LayerNorm
from lnorm_utils.words import significant

__all__ = ["Norm", "Norms", "norms_of"]

KNOWN = (LayerNorm, nn.LayerNorm, nn.RMSNorm)
LARGE_MEAN = 1.0  # of the spread; there RMSNorm is off by √2
LOST_DIGITS = 3.0
LARGE_EPS = 0.01  # of the variance
NEAR_ZERO = 0.01  # of the median of |γ|
HALFWAY = 0.5  # from 0, where γ − 1 starts, to 1, where γ does
NOT_ABOVE_ZERO = 0.1  # of the numbers, at least, where they are γ − 1
_Statistics = tuple[Tensor, torch.dtype]  # mean and variance of each row in float64; that of x


@dataclass(frozen=True)
class Norm:
    """One norm of a model.

    Args:
        name: where it stands, as in `model.named_modules()`.
        kind: its class.
        over: what shares one mean, in words.
        eps: ε, in the squared unit of the input; None if the norm takes that of the dtype.
        gamma: the least, the median, and the largest γ; None if there is none.
        mean: the mean over the spread of what came in, a median over the rows and without its
            sign; None if nothing came in.
        remarks: what is unusual, one sentence each.
    """

    name: str
    kind: str
    over: str
    eps: float | None
    gamma: tuple[float, float, float] | None
    mean: float | None
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        facts = [f"{self.name} ({self.kind}): over {self.over}"]
        facts.append("ε of the dtype" if self.eps is None else f"ε = {significant(self.eps)}")
        if self.gamma is not None:
            low, median, high = map(significant, self.gamma)
            wide = f"γ from {low} to {high}, median {median}"
            facts.append(f"γ = {median}" if low == high else wide)
        if self.mean is not None:
            facts.append(f"mean {significant(round(self.mean, 2), 3)} times the spread")
        return "\n".join([", ".join(facts), *(f"    {each}" for each in self.remarks)])


@dataclass(frozen=True)
class Norms:
    """What `norms_of` found: the `norms`, in the model's order, and what was `skipped`, and why."""

    norms: tuple[Norm, ...]
    skipped: tuple[str, ...]

    def __str__(self) -> str:
        found = [str(each) for each in self.norms] or ["No norm that norms_of knows."]
        return "\n".join([*found, *(f"Skipped {each}" for each in self.skipped)])

    __repr__ = __str__


def norms_of(model: nn.Module, *inputs: Any, **named: Any) -> Norms:
    """List the norms of a model, what they average over, and what is unusual about them.

    With inputs it runs a copy of the model on them, in the mode in which the model is, and looks at
    what comes into each norm. The model itself stays as it is. It knows PyTorch's LayerNorm and
    RMSNorm and the course's LayerNorm. Of other norms it tells the class, and whether `weight`
    looks like γ or like γ − 1. A norm that is written as a function, inside another module's
    `forward`, isn't seen.

    Args:
        model: any module; of a compiled one, what it was before `torch.compile`.
        inputs, named: what it's called with. Without any only the parameters are looked at.

    Returns:
        `Norms`: print it, or read its `norms` and `skipped`.

    Raises:
        TypeError: `model` is not a module, can't be copied, or is TorchScript.
        Exception: whatever the model raises on these inputs.

    Source: the course's lessons 2, 13 and 14; Ba, Kiros & Hinton 2016, arXiv:1607.06450.

    >>> norms_of(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)))
    1 (LayerNorm): over the last axis, 4 numbers, ε = 1e−5, γ = 1
    """
    copy = copied(model, "norms_of")
    found: dict[str, Any] = {}
    seen: dict[str, list[_Statistics]] = defaultdict(list)
    skipped = []

    def look_at(name: str) -> Callable:
        def look(module: Any, args: tuple, kwargs: dict) -> None:
            for x in floats((args, kwargs))[:1]:
                rows = x.detach().double().reshape(-1, math.prod(module.normalized_shape))
                statistics = rows.mean(dim=-1), rows.var(dim=-1, correction=0)
                seen[name].append((torch.stack(statistics), x.dtype))

        return look

    for name, module in copy.named_modules():
        if isinstance(module, KNOWN):
            found[name] = module
            module.register_forward_pre_hook(look_at(name), with_kwargs=True)
        elif "norm" in type(module).__name__.lower():
            unknown = f"{_spoken(name)}: {type(module).__name__} isn't a class it knows."
            skipped.append(" ".join([unknown, *_looks_like(getattr(module, "weight", None))]))
    if inputs or named:
        with left_alone():
            copy(*inputs, **named)
        not_called = "the model didn't call it on these inputs."
        skipped += [f"what comes into {_spoken(n)}: {not_called}" for n in found if n not in seen]
    norms = (_norm(name, module, seen[name]) for name, module in found.items())
    return Norms(tuple(norms), tuple(skipped))


def _norm(name: str, module: Any, calls: list[_Statistics]) -> Norm:
    weight = getattr(module, "weight", None)
    gamma = None if weight is None or not len(weight) else weight.detach().double().flatten()
    ratio, remarks = None, [*_about_class(module), *_about_gamma(gamma)]
    if calls:
        mean, var = torch.cat([each for each, _ in calls], dim=1)
        # A constant row counts as infinite, 0 / 0 as 0.
        ratio = (mean.abs() / var.sqrt()).nan_to_num(0.0, torch.inf).median().item()
        dtypes, has_mean = {dtype for _, dtype in calls}, not isinstance(module, nn.RMSNorm)
        remarks += [*_about_mean(ratio, has_mean, dtypes)]
        remarks += [*_about_eps(module.eps, has_mean, mean.square(), var, dtypes)]
    summary = None
    if gamma is not None:
        summary = gamma.min().item(), gamma.median().item(), gamma.max().item()
    shape = tuple(module.normalized_shape)
    axes = "axis" if len(shape) == 1 else f"{len(shape)} axes"
    over = f"the last {axes}, {' × '.join(map(str, shape))} numbers"
    kind = type(module).__name__
    return Norm(name or "the model", kind, over, module.eps, summary, ratio, tuple(remarks))


def _kept(weight: Tensor) -> str:
    """Return what a weight looks like, "γ" or "γ − 1", or nothing if it's far from both."""
    mean = weight.detach().double().mean().item()
    if abs(mean - 1) < HALFWAY:
        return "γ"
    low = (weight <= 0).double().mean().item() >= NOT_ABOVE_ZERO
    return "γ − 1" if low and abs(mean) < HALFWAY else ""


def _looks_like(weight: Any) -> list[str]:
    """Say whether a weight looks like γ or like γ − 1: a guess, because training moves both."""
    if not isinstance(weight, Tensor) or weight.dim() != 1 or not len(weight):
        return []
    kept, mean = _kept(weight), weight.detach().double().mean().item()
    return [f"Its `weight` looks like {kept}: the mean is {significant(mean, 2)}."] if kept else []


def _about_gamma(gamma: Tensor | None) -> Iterator[str]:
    if gamma is None:
        return
    off = int((gamma.abs() <= NEAR_ZERO * gamma.abs().median()).sum())
    if _kept(gamma) == "γ − 1":
        yield from _looks_like(gamma)
        yield "If the model's code multiplies by 1 + weight, add 1 to load it here."
    elif off:
        yield f"γ is near 0 for {off} of {len(gamma)}, which switches these off."


def _about_class(module: Any) -> Iterator[str]:
    if all(type(module).forward is not kind.forward for kind in KNOWN):
        yield "Its class has a forward of its own; `diagnose` tells what that computes."


def _about_mean(ratio: float, has_mean: bool, dtypes: set[torch.dtype]) -> Iterator[str]:
    if ratio < LARGE_MEAN:
        return
    other = "RMSNorm" if has_mean else "layer norm"
    yield f"The mean is larger than the spread, so {other} would give other numbers."
    digits, has = 2 * math.log10(ratio), max(-math.log10(torch.finfo(d).eps) for d in dtypes)
    if has_mean and digits >= min(LOST_DIGITS, has):
        lost = "all" if digits >= has else f"about {digits:.0f}"
        yield f"E[x²] − E[x]² would lose {lost} of the {has:.0f} digits of the variance."


def _about_eps(
    eps: float | None, has_mean: bool, square: Tensor, var: Tensor, dtypes: set[torch.dtype]
) -> Iterator[str]:
    # RMSNorm's own is that of the dtype in which it computes: float32 for half precision.
    own = max(torch.finfo(torch.promote_types(each, torch.float32)).eps for each in dtypes)
    below = var if has_mean else var + square
    if many := int((below * LARGE_EPS < (own if eps is None else eps)).sum()):
        what = "variance" if has_mean else "mean square"
        yield (
            f"ε is more than {LARGE_EPS:.0%} of the {what} in {many:,} of {len(below):,} rows, "
            "which come out with a spread below 1."
        )


def _spoken(name: str) -> str:
    return name or "the model itself"
