"""List the norms of a model, what they average over, and what is unusual about them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from lnorm_diagnose.inspecting.copies import copied, floats, left_alone
from lnorm_utils.modules import LayerNorm
from lnorm_utils.words import significant

__all__ = ["Norm", "Norms", "norms_of"]

KNOWN = (LayerNorm, nn.LayerNorm, nn.RMSNorm)
NAMED = ("RMSNorm", "LayerNorm")  # endings of class names in other libraries, such as LlamaRMSNorm
LARGE_MEAN = 1.0  # in units of the spread; at this mean, RMSNorm is off by a factor of √2
LOST_DIGITS = 3.0
LARGE_EPS = 0.01  # as a fraction of the variance
NEAR_ZERO = 0.01  # as a fraction of the median of |γ|
HALFWAY = 0.5  # between 0 and 1, the initial values of γ − 1 and of γ
FAR_FROM_1 = 2.0  # γ is far from 1 if it's this many times as large, or as small
NOT_ABOVE_ZERO = 0.1  # if a weight is γ − 1, at least this fraction of it isn't above 0


@dataclass(frozen=True)
class Norm:
    """One norm of a model.

    Args:
        name: its name in `model.named_modules()`.
        kind: its class.
        over: which axes the mean is taken over, in words.
        eps: ε, in the squared unit of the input; None if the norm uses the ε of the dtype.
        gamma: the smallest, the median, and the largest γ; None if there is none, or if `weight`
            may be γ − 1, as in a class of another library.
        mean: the absolute mean of the input divided by its spread, as a median over the rows; None
            if nothing came in.
        remarks: what is unusual, one sentence each.

    >>> print(Norm("0", "LayerNorm", "the last axis", 1e-5, (0.5, 1.0, 2.0), None, ()))
    0 (LayerNorm): over the last axis, ε = 1e−5, γ from 0.5 to 2, median 1
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
    """What `norms_of` found: the `norms`, in the model's order, and what was `skipped`, and why.

    >>> Norms((), ("0: MyNorm isn't a class it knows.",))
    No norm that norms_of knows.
    Skipped 0: MyNorm isn't a class it knows.
    """

    norms: tuple[Norm, ...]
    skipped: tuple[str, ...]

    def __str__(self) -> str:
        found = [str(each) for each in self.norms] or ["No norm that norms_of knows."]
        return "\n".join([*found, *(f"Skipped {each}" for each in self.skipped)])

    __repr__ = __str__


def norms_of(model: nn.Module, *inputs: Any, **named: Any) -> Norms:
    """List the norms of a model, what they average over, and what is unusual about them.

    With inputs, it runs a copy of the model on them, in the model's current mode, and examines what
    comes into each norm. The model itself isn't changed. `norms_of` recognizes PyTorch's LayerNorm
    and RMSNorm and the course's LayerNorm. It takes another library's class for a norm over the
    last axis if its name ends in LayerNorm or RMSNorm and it has a `weight` and an `eps` or
    `variance_epsilon`. For other norms, it gives only the name of the class. If a
    `weight` may be either γ or γ − 1, it says which one the numbers look like, if they look like
    one. It can't see a norm that is written as a function inside another module's `forward`.

    Args:
        model: any module; a compiled one is examined as it was before `torch.compile`.
        inputs, named: what the model is called with. If no inputs are given, only the parameters
            are examined.

    Returns:
        `Norms`: print it, or read its `norms` and `skipped`.

    Raises:
        TypeError: `model` is not a module, can't be copied, or is TorchScript.
        Exception: whatever the model raises on these inputs.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, and Zhang & Sennrich 2019, arXiv:1910.07467,
    for the two norms.

    >>> norms_of(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)))
    1 (LayerNorm): over the last axis, 4 numbers, ε = 1e−5, γ = 1
    """
    copy = copied(model, "norms_of")
    modules = {name or "the model itself": module for name, module in copy.named_modules()}
    known = {name: module for name, module in modules.items() if _is_norm(module)}
    # Each call's entry: the mean and variance of each row, in float64, and the input's dtype.
    seen: dict[Any, list[tuple[Tensor, Tensor, torch.dtype]]] = defaultdict(list)

    def look(module: Any, args: tuple, kwargs: dict) -> None:
        shape = _shape(module)
        for x in (x for x in floats((args, kwargs))[:1] if x.shape[-len(shape) :] == shape):
            rows = x.detach().double().reshape(-1, math.prod(shape))
            seen[module].append((rows.mean(dim=-1), rows.var(dim=-1, correction=0), x.dtype))

    skipped = []
    for name, module in modules.items():
        kind = type(module).__name__
        if name in known:
            module.register_forward_pre_hook(look, with_kwargs=True)
        elif "norm" in kind.lower():
            like = _looks_like(getattr(module, "weight", None))
            skipped.append(f"{name}: {kind} isn't a class it knows.{like and f' {like}'}")
    if inputs or named:
        with left_alone():
            copy(*inputs, **named)
        not_called = "the model didn't call it on rows of this size."
        skipped += [f"what comes into {n}: {not_called}" for n, m in known.items() if m not in seen]
    norms = (_norm(name, module, seen[module]) for name, module in known.items())
    return Norms(tuple(_with_odd_eps([*norms])), tuple(skipped))


def _with_odd_eps(norms: list[Norm]) -> Iterator[Norm]:
    """Yield the norms, with a remark on each whose ε isn't the one that most of them have."""
    usual, count = Counter(norm.eps for norm in norms).most_common(1)[0] if norms else (None, 0)
    of_most = "that of its dtype" if usual is None else significant(usual)
    for norm in norms:
        is_odd = norm.eps != usual and 2 * count > len(norms) > 2
        odd = (f"{count} of {len(norms)} norms have a different ε: {of_most}.",) * is_odd
        yield replace(norm, remarks=norm.remarks + odd)


def _is_norm(module: nn.Module) -> bool:
    weight, named = getattr(module, "weight", None), type(module).__name__.endswith(NAMED)
    is_vector = isinstance(weight, Tensor) and weight.dim() == 1
    return isinstance(module, KNOWN) or (named and is_vector and isinstance(_eps(module), float))


def _eps(module: Any) -> Any:
    return getattr(module, "eps", getattr(module, "variance_epsilon", None))


def _shape(module: Any) -> tuple[int, ...]:
    return tuple(module.normalized_shape if isinstance(module, KNOWN) else module.weight.shape)


def _norm(name: str, module: Any, calls: list[tuple[Tensor, Tensor, torch.dtype]]) -> Norm:
    weight = getattr(module, "weight", None)
    gamma = None if weight is None or not len(weight) else weight.detach().double().flatten()
    summary, ratio, remarks = None, None, []
    if all(type(module).forward is not kind.forward for kind in KNOWN):
        own = "Its class has a forward of its own, so this is what it should do;"
        remarks.append(f"{own} `diagnose` tells what it does.")
    if not isinstance(module, KNOWN):
        remarks += filter(None, [_looks_like(weight)])
    elif gamma is not None:
        summary = gamma.min().item(), gamma.median().item(), gamma.max().item()
        remarks += _about_gamma(gamma)
    if calls:
        means, variances, dtypes = zip(*calls, strict=True)
        mean, var = torch.cat(means), torch.cat(variances)
        # For a constant row, the ratio is infinite, or 0 if the mean is 0, too.
        ratio = (mean.abs() / var.sqrt()).nan_to_num(0.0, torch.inf).median().item()
        remarks += [
            *_about_mean(module, ratio, {*dtypes}),
            *_about_eps(module, mean, var, {*dtypes}),
        ]
    shape = _shape(module)
    axes = "axis" if len(shape) == 1 else f"{len(shape)} axes"
    over = f"the last {axes}, {' × '.join(map(str, shape))} numbers"
    return Norm(name, type(module).__name__, over, _eps(module), summary, ratio, tuple(remarks))


def _looks_like(weight: Any) -> str:
    """Say whether a weight looks like γ or like γ − 1: a guess, because training moves both."""
    if not isinstance(weight, Tensor) or weight.dim() != 1 or not len(weight):
        return ""
    mean, is_low = weight.detach().double().mean().item(), _is_less_by_one(weight)
    kept = "γ − 1" if is_low else "γ" if abs(mean - 1) < HALFWAY else ""
    return f"Its `weight` looks like {kept}: the mean is {significant(mean, 2)}." if kept else ""


def _is_less_by_one(weight: Tensor) -> bool:
    is_near_0 = weight.detach().double().mean().abs().item() < HALFWAY
    return is_near_0 and (weight <= 0).double().mean().item() >= NOT_ABOVE_ZERO


def _about_gamma(gamma: Tensor) -> Iterator[str]:
    off = int((gamma.abs() <= NEAR_ZERO * gamma.abs().median()).sum())
    if _is_less_by_one(gamma):
        yield _looks_like(gamma)
        yield "If the model's code multiplies by 1 + weight, add 1 to load it here."
        return
    if not 1 / FAR_FROM_1 < gamma.abs().median() < FAR_FROM_1:
        yield "γ is far from 1, its initial value: either training moved it, or it's γ − 1."
    if off:
        yield f"γ is near 0 for {off} of {len(gamma)} features, which switches these off."


def _about_mean(module: Any, ratio: float, dtypes: set[torch.dtype]) -> Iterator[str]:
    if ratio < LARGE_MEAN or not isinstance(module, KNOWN):
        return
    is_rms = isinstance(module, nn.RMSNorm)
    other = "layer norm" if is_rms else "RMSNorm"
    yield f"The mean is larger than the spread, so {other} would give other numbers."
    digits, has = 2 * math.log10(ratio), max(-math.log10(torch.finfo(d).eps) for d in dtypes)
    if not is_rms and digits >= min(LOST_DIGITS, has):
        lost = "all" if digits >= has else f"about {digits:.0f}"
        yield f"E[x²] − E[x]² would lose {lost} of the {has:.0f} digits of the variance."


def _about_eps(module: Any, mean: Tensor, var: Tensor, dtypes: set[torch.dtype]) -> Iterator[str]:
    what, below = "variance", var
    if not isinstance(module, (LayerNorm, nn.LayerNorm)):
        what, below = "mean square", var + mean.square()  # if it's small, so is the variance
    # RMSNorm's own ε is that of the dtype in which it computes: float32 for half precision.
    own = max(torch.finfo(torch.promote_types(each, torch.float32)).eps for each in dtypes)
    if many := int((below * LARGE_EPS < (own if _eps(module) is None else _eps(module))).sum()):
        yield (
            f"ε is more than {LARGE_EPS:.0%} of the {what} in {many:,} of {len(below):,} rows, "
            "which come out with a spread below 1."
        )
