"""Bound how far rounding can move a module's output, whatever kernel does the arithmetic."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lnorm_diagnose.inspecting.copies import floats

__all__ = ["Float64", "bound", "plain_operations", "sum_abs_terms"]

# Rounding goes up as often as down; its root mean square is u / √3. So n roundings add up to about
# √n · u / √3, and hardly ever to more than three times that.
LUCK = 2
SAMPLES = 9  # an odd number, so that the median is one of the samples
STEP = 2.0**-40  # moves inputs so little that, in float64, outputs respond linearly
LONGEST = 2.0**20  # a cutoff, because Cauchy-distributed numbers have no bound
LOWER = {torch.float16, torch.bfloat16, torch.float32}
KEEP_THEIR_SIZE = ("softmax", "cumsum", "cumprod", "logcumsumexp")  # they sum, yet keep the shape


class Float64(TorchDispatchMode):
    """Use float64 for every floating-point dtype that code asks for, and count the roundings.

    Attributes:
        operations: how many operations there were.
        terms: the total number of terms in their sums.
    """

    # Without this, PyTorch would take a second to import its compiler, only to hide this class.
    _should_skip_dynamo = classmethod(lambda cls: False)

    def __init__(self) -> None:
        super().__init__()
        self.operations = self.terms = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("dtype") in LOWER:
            kwargs["dtype"] = torch.float64
        result = func(*args, **kwargs)
        if (came_in := floats((args, kwargs))) and (given := floats(result)):
            self.operations += 1
            self.terms += _terms(func, args, kwargs, came_in, result, given)
        return result


def _terms(
    func: Any, args: tuple, kwargs: dict, came_in: list[Tensor], result: Any, given: list[Tensor]
) -> int:
    """Count the terms that are summed for each number of a result, or overestimate them."""
    if count := flop_registry.get(func.overloadpacket):  # products and convolutions
        operations = count(*args, **kwargs, out_val=result)
        return operations // (2 * max(1, given[0].numel()))
    if any(name in func.overloadpacket.__name__ for name in KEEP_THEIR_SIZE):
        return came_in[0].shape[args[1]] if came_in[0].ndim else 1
    # A norm also returns its means: one for each group of numbers that share it.
    least = min((each.numel() for each in given if each.numel()), default=1)
    return max(1, max(each.numel() for each in came_in) // least)


@contextmanager
def plain_operations() -> Iterator[None]:
    """Compute attention with products and a softmax, so that its terms can be counted."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _moved(seed: int) -> Callable[[Tensor], Tensor]:
    """Return a function that moves numbers, in float64, by Cauchy-distributed fractions of them."""
    generator = torch.Generator().manual_seed(seed)

    def move(x: Tensor) -> Tensor:
        share = torch.empty(x.shape, dtype=torch.float64).cauchy_(generator=generator)
        return x.double() * (1 + STEP * share.clamp_(-LONGEST, LONGEST).to(x.device))

    return move


def sum_abs_terms(right: Tensor, run: Callable[[Callable[[Tensor], Tensor]], Tensor]) -> Tensor:
    """Return Σ |∂y/∂x · x| for each number y of an output; `run` gives the output for moved inputs.

    A sum of Cauchy-distributed numbers with scales a, b, c … is itself Cauchy-distributed, with
    scale a + b + c + …, and the median of its absolute values is that scale (Trejo and Kreinovich,
    2001).
    """
    samples = [run(_moved(seed)) for seed in range(SAMPLES)]
    return (torch.stack(samples) - right).abs().median(dim=0).values / STEP


def bound(
    unit_roundoff: float, right: Tensor, weight: Tensor | float, operations: int, terms: int
) -> Tensor:
    """Return how far rounding can move each number of an output; `first_wrong` says why.

    Args:
        unit_roundoff: half of `torch.finfo(dtype).eps`.
        operations: the number of operations that lead to the output.
        terms: the total number of terms in their sums.
    """
    of_sums = min(unit_roundoff, torch.finfo(torch.float32).eps / 2)
    roundings = operations**0.5 * unit_roundoff + terms**0.5 * of_sums
    return LUCK * roundings * (right.abs() + weight)
