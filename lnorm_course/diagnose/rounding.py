"""Tell whether a layer computes in float16 or bfloat16 what comes in as float64."""

import torch
from torch import Tensor

from lnorm_course.diagnose.run import Run

__all__ = ["error_of", "is_single", "rounded_to"]

LARGE = 1e6  # more than float16 can hold


def error_of(value: object, right: Tensor) -> float:
    """Return the largest error, relative to 1 + |right|; infinity if they can't be compared."""
    if not isinstance(value, Tensor) or value.shape != right.shape:
        return float("inf")
    errors = (value.double() - right).abs() / (1 + right.abs())
    return float("inf") if errors.isnan().any() else errors.max().item()


def is_single(run: Run) -> bool:
    """Tell whether a layer computes in float32: the last digits of float64 change nothing."""
    x = run.inputs[0].x
    value = run.call(x)
    nearly = run.call(x * (1 + 1e-10))
    return isinstance(value, Tensor) and (value.dtype != torch.float64 or _equal(value, nearly))


def rounded_to(run: Run, right: Tensor) -> str | None:
    """Return "float16" or "bfloat16" if that explains small errors, and None otherwise."""
    x = run.inputs[0].x
    value = run.call(x)
    error = error_of(value, right)
    if not 1e-5 < error < 0.03:
        return None
    for name, dtype, most in (
        ("bfloat16", torch.bfloat16, 0.03),
        ("float16", torch.float16, 0.004),
    ):
        is_rounded = isinstance(value, Tensor) and _equal(value.to(dtype).to(value.dtype), value)
        if error < most and (is_rounded or _equal(run.call(x.to(dtype).double()), value)):
            return name
    far = run.call(LARGE * x)
    # An infinite number leaves NaN behind, and an infinite variance leaves nothing of x.
    is_lost = error_of(far, run.expected(0 * x)) < 1e-3
    if error < 0.004 and isinstance(far, Tensor) and (is_lost or not far.isfinite().all()):
        return "float16"
    return None


def _equal(one: object, other: object) -> bool:
    return isinstance(one, Tensor) and isinstance(other, Tensor) and torch.equal(one, other)
