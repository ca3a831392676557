"""Find the number in a wrong piece that leads to a result."""

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["fitted"]

STARTS = torch.logspace(-12, 3, 61, dtype=torch.float64)
STARTS = torch.cat([STARTS, -STARTS[36:]])  # below 0 only what could be a factor
ROUNDS = 12
FIRST = 0.35  # of the result: what may be left at first
STEP = 1e-6  # relative, for a slope


def fitted(run: Callable[[Tensor], Tensor], result: Tensor, within: float) -> float | None:
    """Return the number with which `run` gives a result, or None: the best start, then Newton.

    Args:
        run: what comes out for several numbers at once, of shape (numbers, 1, …, 1).
        within: how far a number of the result may be off.
    """

    def off(numbers: Tensor) -> Tensor:
        """Return what each number leaves, (numbers, what a result has)."""
        values = run(numbers.reshape(-1, *[1] * result.ndim)).expand(len(numbers), *result.shape)
        return (values - result).flatten(1).nan_to_num(torch.inf, torch.inf, -torch.inf)

    size = result.abs().mean()
    left = (off(STARTS).abs() / size).clamp(max=1).mean(-1)
    # What's cut off may not show at the best start, so there's a second one.
    for least in left.unique()[:2]:
        number = STARTS[(left == least).int().argmax()]
        for _ in range(ROUNDS if least <= FIRST else 0):
            here, beside = off(torch.stack([number, number * (1 + STEP)]))
            is_near = (here.abs() <= within).all()
            slope = (beside - here) / STEP
            step = -(here @ slope) / (slope @ slope)
            number = number * step.nan_to_num().clamp(-1, 1).exp()
            if is_near:  # and now a step nearer, unless 0 would do as well
                return None if (off(0 * STARTS[:1]).abs() <= within).all() else number.item()
    return None
