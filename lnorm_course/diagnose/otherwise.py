"""Name what was done if a layer is layer norm, or RMSNorm, with one thing done otherwise."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature

from torch import Tensor

from lnorm_course.checking.comparing import same
from lnorm_course.diagnose.own_slips import AS_RMS_NORM
from lnorm_course.diagnose.run import Run
from lnorm_course.diagnose.variants import Variants

__all__ = ["done_otherwise"]


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered / (variance + eps).sqrt() * weight + bias


def with_its_variance_apart(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return (x - x.mean(dim=-1, keepdim=True)) / (variance + eps).sqrt() * weight + bias


def standardized(x: Tensor, eps: float) -> Tensor:
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered / (variance + eps).sqrt()


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight


def done_otherwise(run: Run, results: Mapping[int, object], rights: list[Tensor]) -> str:
    """Return in a sentence what was done; empty if no variant gives all of the results.

    It knows norms of one last axis, and nothing of the rest.
    """
    reference = run.reference
    if reference.has_channels or len(reference.shape) != 1:
        return ""
    given = tuple(p for p in (run.weight, run.bias) if p is not None)
    functions: list[Callable] = [layer_norm, with_its_variance_apart, standardized]
    if reference.base:
        functions = [rms_norm] if reference.base == AS_RMS_NORM else []
    inputs = [(each.x, *given, each.eps) for each in run.inputs]
    equal = partial(same, within=run.within)
    wrong = [n for n, right in enumerate(rights) if not equal(results[n], right)]
    fitting = [f for f in functions if len(signature(f).parameters) == len(inputs[0])]
    names = (Variants(function, inputs, equal).name(results, wrong) for function in fitting)
    return next(filter(None, names), "")
