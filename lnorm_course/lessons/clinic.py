"""Six small networks that are mathematically correct but fail in half precision.

Each network has one fault, which has no effect in float64. The steps where the fault could be are
modules, so that forward hooks see the output of each step.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lnorm_utils.data import normal, projection

__all__ = ["Patient", "patient"]

FEATURES = 16


class Patient(NamedTuple):
    """A network in float16 or bfloat16, and an input (N, 16) on which it fails."""

    network: nn.Module
    x: Tensor


class Step(nn.Module):
    """A function wrapped in a module, so that a forward hook sees its result."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Tensor) -> Tensor:
        return self.function(*tensors)


class HandmadeNorm(nn.Module):
    """Layer norm over the last axis without γ and β, computed step by step in the input's dtype.

    Args:
        var: computes the variances (*, 1) from the rows (*, D) and their deviations from the mean.
        eps: ε.
    """

    def __init__(self, var: Callable[[Tensor, Tensor], Tensor], eps: float) -> None:
        super().__init__()
        self.center = Step(lambda x: x - x.mean(-1, keepdim=True))
        self.variance = Step(var)
        self.divide = Step(lambda centered, var: centered / (var + eps).sqrt())

    def forward(self, x: Tensor) -> Tensor:
        centered = self.center(x)
        return self.divide(centered, self.variance(x, centered))


class Attention(nn.Module):
    """Replace each row by a weighted mean of all rows, with weights proportional to exp(score)."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = Step(lambda x: (x / x.shape[-1] ** 0.5) @ x.T)
        self.exp = Step(torch.exp)
        self.weights = Step(lambda exp: exp / exp.sum(-1, keepdim=True))

    def forward(self, x: Tensor) -> Tensor:
        return self.weights(self.exp(self.scores(x))) @ x


class Positions(nn.Module):
    """Add the sine and cosine of the position to the first two features of each row."""

    def forward(self, x: Tensor) -> Tensor:
        position = torch.arange(len(x)).to(x.dtype)
        pattern = torch.stack([position.sin(), position.cos()], dim=1)
        return x + nn.functional.pad(pattern, (0, x.shape[-1] - 2))


def patient(number: int) -> Patient:
    """Create one of the six patients by its number; each call returns a new network.

    Raises:
        ValueError: there is no patient with this number.

    >>> patient(1).x.shape, patient(6).x.dtype
    (torch.Size([8, 16]), torch.bfloat16)
    """
    if type(number) is not int or number not in _PATIENTS:
        raise ValueError(f"number must be from 1 to {len(_PATIENTS)}, but {number!r} was given.")
    network, x, dtype = _PATIENTS[number]()
    return Patient(network.to(dtype).requires_grad_(False), x.to(dtype))


def _two_passes(x: Tensor, centered: Tensor) -> Tensor:
    return centered.square().mean(-1, keepdim=True)


def _squares(x: Tensor, centered: Tensor) -> Tensor:
    return x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square()


def _network(**modules: nn.Module) -> nn.Sequential:
    """Chain modules, and end with a linear map that has no bias, so that zeros stay zeros."""
    last = projection(FEATURES, FEATURES, seed=0, bias=False)
    return nn.Sequential(OrderedDict(modules, last=last))


def _layer_norm() -> nn.LayerNorm:
    return nn.LayerNorm(FEATURES, elementwise_affine=False)


def _first() -> tuple[nn.Module, Tensor, torch.dtype]:
    x = normal(8, FEATURES, seed=1)
    x[[2, 5], 3] = 400.0  # an outlier feature, as in trained transformers
    return _network(norm=HandmadeNorm(_two_passes, 1e-5)), x, torch.float16


def _second() -> tuple[nn.Module, Tensor, torch.dtype]:
    x = normal(8, FEATURES, seed=2)
    x[6:] = 0.0  # two rows of padding
    return _network(norm=HandmadeNorm(_two_passes, 1e-12)), x, torch.float16


def _third() -> tuple[nn.Module, Tensor, torch.dtype]:
    x = normal(8, FEATURES, seed=10) + 30.0  # like raw measurements, far from zero
    return _network(norm=HandmadeNorm(_squares, 1e-5)), x, torch.bfloat16


def _fourth() -> tuple[nn.Module, Tensor, torch.dtype]:
    widen, narrow = projection(FEATURES, 256, seed=1), projection(256, FEATURES, seed=2)
    with torch.no_grad():
        narrow.weight[3].abs_().mul_(20.0)  # as if one feature had grown in training
    x = normal(8, FEATURES, seed=4)
    x[[1, 4]] *= 3000.0
    network = _network(widen=widen, relu=nn.ReLU(), narrow=narrow, norm=_layer_norm())
    return network, x, torch.float16


def _fifth() -> tuple[nn.Module, Tensor, torch.dtype]:
    x = normal(8, FEATURES, seed=5)
    x[3] *= 2.0
    return _network(attention=Attention(), norm=_layer_norm()), x, torch.float16


def _sixth() -> tuple[nn.Module, Tensor, torch.dtype]:
    x = normal(1, FEATURES, seed=6).expand(300, FEATURES).clone()  # the same word 300 times
    return _network(positions=Positions(), norm=_layer_norm()), x, torch.bfloat16


_PATIENTS = dict(enumerate((_first, _second, _third, _fourth, _fifth, _sixth), start=1))
