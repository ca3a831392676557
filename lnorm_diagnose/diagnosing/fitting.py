"""Find the number in a distractor that leads to a result."""

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["fitted", "nearest"]

STARTS = torch.logspace(-12, 5, 69, dtype=torch.float64)
STARTS = torch.cat([STARTS, -STARTS[36:]])  # negative numbers only where they can be factors
AROUND = torch.linspace(-0.6, 0.8, 29, dtype=torch.float64)  # relative steps past both neighbors
FIRST = 0.35  # the largest mean error in the first look, as a fraction of the result's mean size
LOOKS, CLOSER = 14, 8.0
LOOSE, CLOSE = 3.0, 1e-6


def nearest(run: Callable[[Tensor], Tensor], result: Tensor, limit: Tensor) -> float | None:
    """Return a number for which the output of `run` is close to a result, or None if none is found.

    The search zooms in step by step, and gives up as soon as no number between two neighbors can
    be near enough.

    Args:
        run: takes several candidates at once, in a tensor of shape (candidates, 1, …, 1), and
            returns the output for each.
        limit: about how far each element of the output may be from the result.
    """
    size, y, numbers, most = result.abs().mean(), result.flatten(), STARTS, FIRST
    most_off = LOOSE * limit.flatten() + CLOSE * y.abs()  # callers check more closely
    enough = (most_off / size).mean()
    for look in range(LOOKS):
        left = _off(run, result, numbers)
        shares = (left / size).clamp(max=1).mean(-1)
        best = int(shares.argmin())
        around = shares[max(0, best - 1) : best + 2].max()
        if shares[best] > most or shares[best] - 2 * (around - shares[best]) > enough:
            return None
        number, most = numbers[best], shares[best].item()
        numbers = number * (1 + AROUND / CLOSER**look)
    return number.item() if (left[best] <= most_off).all() else None


def fitted(run: Callable[[Tensor], Tensor], result: Tensor, limit: Tensor) -> float | None:
    """Return the number with which `run` gives this result; None if none does, or if 0 does."""
    number = nearest(run, result, limit)
    if number is None:
        return None
    would_0_do = (_off(run, result, 0 * STARTS[:1]) <= limit.flatten()).all()
    return None if would_0_do else number


def _off(run: Callable[[Tensor], Tensor], result: Tensor, numbers: Tensor) -> Tensor:
    """Return how far off the outputs are, as a tensor (numbers, elements of a result)."""
    values = run(numbers.reshape(-1, *[1] * result.ndim)).expand(len(numbers), *result.shape)
    return (values - result).flatten(1).nan_to_num(torch.inf, torch.inf, -torch.inf).abs()
