"""Find the number in a wrong piece that leads to a result."""

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["fitted"]

STARTS = torch.logspace(-12, 3, 136, dtype=torch.float64)
STARTS = torch.cat([STARTS, -STARTS[81:]])  # below 0 only what could be a factor
ROUNDS = 12
BEST = 2  # starts: what's cut off may not show at the best one
FIRST, SLOWEST = 0.2, 0.25  # of the result: what may be left at first, and by what it must shrink
STEP = 1e-6  # relative, for a slope


def fitted(run: Callable[[Tensor], Tensor], result: Tensor, within: float) -> float | None:
    """Return the number with which `run` gives a result, or None: the best starts, then Newton.

    Args:
        run: what comes out for several numbers at once, of shape (numbers, 1, …, 1).
        within: how far a number of the result may be off.
    """
    target = result.flatten()

    def off(numbers: Tensor) -> Tensor:
        """Return what each number leaves, (numbers, what a result has)."""
        values = run(numbers.reshape(-1, *[1] * result.ndim)).expand(len(numbers), *result.shape)
        return (values.flatten(1) - target).nan_to_num(torch.inf, torch.inf, -torch.inf)

    size = target.abs().mean()
    left = (off(STARTS).abs() / size).clamp(max=1).mean(-1)
    for least in left.unique()[:BEST]:
        found = _newton(off, STARTS[(left == least).int().argmax()], size, within)
        if found is not None:
            return found
    return None


def _newton(off: Callable, number: Tensor, size: Tensor, within: float) -> float | None:
    for n in range(ROUNDS):
        here, beside = off(torch.stack([number, number * (1 + STEP)]))
        if here.abs().mean() > FIRST * SLOWEST**n * size + within:
            return None
        is_near = bool((here.abs() <= within).all())
        slope = (beside - here) / STEP
        step = -(here @ slope) / (slope @ slope)
        if step.isfinite():
            number = number * step.clamp(-1, 1).exp()
        if is_near or not step.isfinite():
            return number.item() if is_near else None
    return None
