"""`norms_of`: the norms of a model, what they average over, and what is unusual about them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from lnorm_course.inspecting.copies import copied, floats, left_alone
from lnorm_course.inspecting.gammas import about_gamma, looks_like
from lnorm_utils.modules import LayerNorm
from lnorm_utils.words import counted, dtype_name, significant

__all__ = ["Norm", "Norms", "norms_of"]

LARGE_MEAN = 1.0  # of the spread; there RMSNorm is off by √2
LOST_DIGITS = 3.0
LARGE_EPS = 0.01  # of the variance
HALF = (torch.float16, torch.bfloat16)


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


@dataclass(frozen=True)
class _Known:
    """How to read a kind of norm: its rows, each with the numbers that share one mean."""

    kind: type[nn.Module]
    over: Callable[[Any], str]
    rows: Callable[[Any, Tensor], Tensor]
    has_mean: bool = True


def _last(module: Any) -> str:
    shape = tuple(module.normalized_shape)
    axes = "axis" if len(shape) == 1 else f"{len(shape)} axes"
    return f"the last {axes}, {' × '.join(map(str, shape))} numbers"


def _last_rows(module: Any, x: Tensor) -> Tensor:
    return x.flatten(-len(module.normalized_shape)).flatten(0, -2)


def _batch(module: Any) -> str:
    stored = not module.training and module.running_mean is not None
    now = ", which it now takes from its running statistics" if stored else ""
    return f"the batch and all places, for each of {counted(module.num_features, 'channel')}{now}"


KNOWN = [
    _Known(LayerNorm, _last, _last_rows),
    _Known(nn.LayerNorm, _last, _last_rows),
    _Known(nn.RMSNorm, _last, _last_rows, has_mean=False),
    _Known(
        nn.GroupNorm,
        lambda m: (
            f"{counted(m.num_channels // m.num_groups, 'channel')} of an example and all its places"
        ),
        lambda m, x: x.reshape(len(x) * m.num_groups, -1),
    ),
    _Known(
        _InstanceNorm,
        lambda m: "all places of one channel of an example",
        # An input without a batch has two axes for InstanceNorm1d, three for 2d, and so on.
        lambda m, x: x.flatten(1 - m._get_no_batch_dim()).flatten(0, -2),
    ),
    _Known(_BatchNorm, _batch, lambda m, x: x.transpose(0, 1).flatten(1)),
]


def norms_of(model: nn.Module, *inputs: Any, **named: Any) -> Norms:
    """List the norms of a model, what they average over, and what is unusual about them.

    With inputs it runs a copy of the model on them, in the mode in which the model is, and looks at
    what comes into each norm. The model itself stays as it is. It knows PyTorch's LayerNorm,
    RMSNorm, GroupNorm, InstanceNorm and BatchNorm and the course's LayerNorm. Of other norms it
    tells the class, and whether `weight` looks like γ or like γ − 1. A norm that is written as a
    function, inside another module's `forward`, isn't seen.

    Args:
        model: any module.
        inputs, named: what it's called with. Without any only the parameters are looked at.

    Returns:
        `Norms`: print it, or read its `norms` and `skipped`.

    Raises:
        TypeError: `model` is not a module, or can't be copied.
        Exception: whatever the model raises on these inputs.

    Source: the course's lessons 2, 13 and 14; Ba, Kiros & Hinton 2016, arXiv:1607.06450.

    >>> norms_of(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)))
    1 (LayerNorm): over the last axis, 4 numbers, ε = 1e−5, γ = 1
    """
    copy = copied(model, "norms_of")
    found: dict[str, tuple[nn.Module, _Known, _Seen]] = {}
    skipped = []
    for name, module in copy.named_modules():
        known = next((each for each in KNOWN if isinstance(module, each.kind)), None)
        if known is not None:
            found[name] = (module, known, _Seen(module, known))
        elif "norm" in type(module).__name__.lower():
            unknown = f"{_spoken(name)}: {type(module).__name__} isn't a class it knows."
            skipped.append(" ".join([unknown, *looks_like(getattr(module, "weight", None))]))
    if inputs or named:
        for module, _, seen in found.values():
            module.register_forward_pre_hook(seen.look, with_kwargs=True)
        with left_alone():
            copy(*inputs, **named)
        skipped += [
            f"what comes into {_spoken(name)}: the model didn't call it on these inputs."
            for name, (_, _, seen) in found.items()
            if not seen.variances
        ]
    norms = tuple(_norm(name, *each) for name, each in found.items())
    return Norms(norms, tuple(skipped))


@dataclass
class _Seen:
    """What came into a norm, over all its calls: mean over spread and variance of each row."""

    module: nn.Module
    known: _Known
    means: list[Tensor] = field(default_factory=list)
    variances: list[Tensor] = field(default_factory=list)
    dtypes: set[torch.dtype] = field(default_factory=set)

    def look(self, module: nn.Module, args: tuple, kwargs: dict) -> None:
        """Note the statistics of a call, in float64."""
        for x in floats((args, kwargs))[:1]:
            rows = self.known.rows(module, x.detach().double())  # (rows, numbers)
            mean, var = rows.mean(dim=-1), rows.var(dim=-1, correction=0)
            self.means.append(mean)
            self.variances.append(var)
            self.dtypes.add(x.dtype)


def _norm(name: str, module: Any, known: _Known, seen: _Seen) -> Norm:
    weight = getattr(module, "weight", None)
    gamma = None if weight is None else weight.detach().double().flatten()
    ratio, remarks = None, [*_about_class(module, known), *about_gamma(gamma)]
    if seen.variances:
        means, variances = torch.cat(seen.means), torch.cat(seen.variances)
        ratio = _over_spread(means, variances)
        remarks += _about_mean(ratio, known, seen.dtypes)
        remarks += _about_eps(module, known, means, variances, seen.dtypes)
    summary = None
    if gamma is not None and len(gamma):
        summary = (gamma.min().item(), gamma.median().item(), gamma.max().item())
    kind = type(module).__name__
    return Norm(
        name or "the model", kind, known.over(module), module.eps, summary, ratio, tuple(remarks)
    )


def _over_spread(means: Tensor, variances: Tensor) -> float:
    """Return the median of |mean| / spread; a constant row counts as infinite, 0 / 0 as 0."""
    return (means.abs() / variances.sqrt()).nan_to_num(0.0, torch.inf).median().item()


def _about_class(module: Any, known: _Known) -> list[str]:
    found = []
    own = type(module).forward is not known.kind.forward
    if own and not type(module).__module__.startswith("torch."):
        found.append("Its class has a forward of its own; `diagnose` tells what that computes.")
    running = getattr(module, "running_var", None)
    if running is not None and running.dtype in HALF:
        found.append(f"Its running statistics are kept in {dtype_name(running.dtype)}.")
    return found


def _about_mean(ratio: float, known: _Known, dtypes: set[torch.dtype]) -> list[str]:
    if ratio < LARGE_MEAN:
        return []
    if not known.has_mean:
        return ["The mean is larger than the spread, so layer norm would give other numbers."]
    found = ["The mean is larger than the spread, so RMSNorm would give other numbers."]
    digits = 2 * torch.tensor(ratio).log10().item()
    has = max(_digits(dtype) for dtype in dtypes)
    if digits >= LOST_DIGITS or digits >= has:
        lost = "all" if digits >= has else f"about {digits:.0f}"
        found.append(f"E[x²] − E[x]² would lose {lost} of the {has:.0f} digits of the variance.")
    return found


def _about_eps(
    module: Any, known: _Known, means: Tensor, variances: Tensor, dtypes: set[torch.dtype]
) -> list[str]:
    found = []
    # RMSNorm's own is that of the dtype in which it computes: float32 for half precision.
    own = max(torch.finfo(each).eps for each in {torch.float32 if d in HALF else d for d in dtypes})
    eps = own if module.eps is None else module.eps
    square = variances if known.has_mean else variances + means.square()
    many = int((square * LARGE_EPS < eps).sum())
    if many:
        what = "variance" if known.has_mean else "mean square"
        found.append(
            f"ε is more than {LARGE_EPS:.0%} of the {what} in {many:,} of {len(square):,} rows, "
            "which come out with a spread below 1."
        )
    largest = (means.square() + variances).max().item()
    for dtype in dtypes & {*HALF}:
        if largest > torch.finfo(dtype).max:
            found.append(
                f"The mean of x² is more than {dtype_name(dtype)} can hold, so the statistics must "
                "be computed in float32, as PyTorch does."
            )
    return found


def _digits(dtype: torch.dtype) -> float:
    return -torch.tensor(torch.finfo(dtype).eps).log10().item()


def _spoken(name: str) -> str:
    return name or "the model itself"
