"""Run a copy of a model, so that the model itself, its mode, and its statistics don't change."""

import copy
import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

__all__ = ["copied", "floats", "left_alone", "quiet"]

# Classes that only call another module, and the attribute in which they store it.
WRAPPERS = {
    "OptimizedModule": "_orig_mod",  # of torch.compile
    "DataParallel": "module",
    "DistributedDataParallel": "module",
}


def copied(model: nn.Module, function: str) -> nn.Module:
    """Copy a model without its wrappers, or raise a TypeError that says why it can't be copied."""
    if not isinstance(model, nn.Module):
        name = getattr(model, "__name__", type(model).__name__)
        raise TypeError(f"{function} needs a module such as nn.Linear(4, 4), but got {name}.")
    if any(isinstance(each, torch.jit.ScriptModule) for each in model.modules()):
        raise TypeError(
            f"{function} can't look into TorchScript: give it the model as it was before "
            "torch.jit.script or torch.jit.trace."
        )
    try:
        mine = copy.deepcopy(_inside(model))
    except Exception as error:
        raise TypeError(
            f"{function} works on a copy of the model, and this one can't be copied: {error}"
        ) from error
    for parent in [*mine.modules()]:
        parent._modules.update({name: _inside(each) for name, each in parent._modules.items()})
    return mine


def _inside(module: Any) -> Any:
    """Return the module that a wrapper calls, or the module itself if it isn't a wrapper."""
    name = WRAPPERS.get(type(module).__name__)
    return _inside(getattr(module, name)) if name else module


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress printing, warnings, and logging, because only trials and copies are run."""
    nowhere, level = io.StringIO(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(nowhere), redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


@contextmanager
def left_alone() -> Iterator[None]:
    """Compute without output or gradients, and leave the caller's random state unchanged."""
    with torch.no_grad(), torch.random.fork_rng(), quiet():
        torch.manual_seed(0)
        yield


def floats(value: object) -> list[Tensor]:
    """List the floating-point tensors in tuples, lists, and dicts."""
    leaves = tree_leaves(value)
    return [each for each in leaves if isinstance(each, Tensor) and each.is_floating_point()]
