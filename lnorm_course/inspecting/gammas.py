"""What is unusual about a norm's γ, and whether its `weight` holds γ or γ − 1."""

from typing import Any

from torch import Tensor

from lnorm_utils.words import significant

__all__ = ["about_gamma", "looks_like"]

NEAR_ZERO = 0.01  # of the median of |γ|
HALFWAY = 0.5  # from 0, where γ − 1 starts, to 1, where γ does
NOT_ABOVE_ZERO = 0.1  # of the numbers, at least, where they are γ − 1


def looks_like(weight: Any) -> list[str]:
    """Say whether a weight looks like γ or like γ − 1: a guess, because training moves both.

    >>> from torch import tensor
    >>> looks_like(tensor([0.3, -0.2, 0.1])), looks_like(tensor([8.7, 9.1]))
    (['Its `weight` looks like γ − 1: the mean is 0.067.'], [])
    """
    if not isinstance(weight, Tensor) or weight.dim() != 1 or not len(weight):
        return []
    kept, mean = _kept(weight), weight.detach().double().mean().item()
    return [f"Its `weight` looks like {kept}: the mean is {significant(mean, 2)}."] if kept else []


def _kept(weight: Tensor) -> str:
    """Return what a weight looks like, "γ" or "γ − 1", or nothing if it's far from both."""
    mean = weight.detach().double().mean().item()
    if abs(mean - 1) < HALFWAY:
        return "γ"
    low = (weight <= 0).double().mean().item() >= NOT_ABOVE_ZERO
    return "γ − 1" if low and abs(mean) < HALFWAY else ""


def about_gamma(gamma: Tensor | None) -> list[str]:
    """Say what is unusual about the γ of a norm that multiplies by `weight`."""
    if gamma is None or not len(gamma):
        return []
    if _kept(gamma) == "γ − 1":
        advice = "If the model's code multiplies by 1 + weight, add 1 to load it here."
        return [*looks_like(gamma), advice]
    off = int((gamma.abs() <= NEAR_ZERO * gamma.abs().median()).sum())
    return [f"γ is near 0 for {off} of {len(gamma)}, which switches these off."] if off else []
