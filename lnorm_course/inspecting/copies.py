"""Run a copy of a model, so that the model itself, its mode, and its statistics stay."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

__all__ = ["copied", "floats", "left_alone"]


def copied(model: nn.Module, function: str) -> nn.Module:
    """Copy a model, or raise a TypeError that says why that fails."""
    if not isinstance(model, nn.Module):
        name = getattr(model, "__name__", type(model).__name__)
        raise TypeError(f"{function} needs a module such as nn.Linear(4, 4), but got {name}.")
    try:
        return copy.deepcopy(model)
    except Exception as error:
        raise TypeError(
            f"{function} works on a copy of the model, and this one can't be copied: {error}"
        ) from error


@contextmanager
def left_alone() -> Iterator[None]:
    """Compute without gradients, and leave the caller's random state as it was."""
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def floats(value: object) -> list[Tensor]:
    """List the floating-point tensors in tuples, lists, and dicts."""
    leaves = tree_leaves(value)
    return [each for each in leaves if isinstance(each, Tensor) and each.is_floating_point()]
