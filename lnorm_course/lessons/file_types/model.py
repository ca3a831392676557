"""Magika's network as in its ONNX file, but with the course's own layer norm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from lnorm_utils.modules import LayerNorm

__all__ = ["FileTypes", "magika", "with_norm"]

Formula = Callable[[Tensor, Any, Any], Tensor]  # a function of x, weight, and bias
NORMS = ("norm_1", "norm_2")


class FileTypes(nn.Module):
    """Recognize which of 214 types a file has, from its beginning and end.

    Its weights are random; `magika()` returns it with trained weights. The original multiplies a
    one-hot vector by a matrix and adds a bias. Here, an embedding's rows include the bias.

    Source: the model standard_v3_3 of the package magika 1.0.3; for Magika, Fratantonio et al.
    2024, arXiv:2409.13768.

    >>> FileTypes()(torch.zeros(3, 2048, dtype=torch.int64)).shape
    torch.Size([3, 214])
    """

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(257, 64)  # one row for each byte value, and one for padding
        self.norm_1 = LayerNorm(512, eps=1e-6)
        self.convolution = nn.Conv1d(256, 512, kernel_size=5)
        self.norm_2 = LayerNorm(512, eps=1e-6)
        self.to_kinds = nn.Linear(512, 214)

    def forward(self, codes: Tensor) -> Tensor:
        """Map `codes` of shape (N, 2048), int64 from 0 to 256, to logits (N, 214)."""
        x = gelu(self.embedding(codes), approximate="tanh")  # (N, 2048, 64)
        x = x.reshape(len(codes), 512, 256)  # 512 positions of four bytes, with 256 features each
        x = self.norm_1(x.mT)  # (N, 256, 512): the positions are on the last axis
        x = gelu(self.convolution(x), approximate="tanh")  # (N, 512, 508)
        return self.to_kinds(self.norm_2(x.amax(dim=-1)))  # the maximum over all positions


def magika() -> FileTypes:
    """Return the network with Magika's trained weights, in evaluation mode, in float32.

    The weights are stored in float16. `magika.json` in the same folder gives their source.
    """
    with torch.random.fork_rng(devices=[]):  # leaves the caller's random state unchanged
        model = FileTypes()
    with numpy.load(Path(__file__).with_name("magika.npz")) as weights:
        found = {name: torch.from_numpy(weights[name]).float() for name in weights.files}
    model.load_state_dict(found, assign=True)
    return model.eval()


class OtherNorm(nn.Module):
    """Computes f(x, weight, bias) in place of a norm, with that norm's weight and bias."""

    def __init__(self, f: Formula, norm: LayerNorm) -> None:
        super().__init__()
        self.f, self.weight, self.bias = f, norm.weight, norm.bias

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, self.weight, self.bias)


def with_norm(**formulas: Formula) -> FileTypes:
    """Return `magika()` with the given formulas in place of its norms.

    Args:
        formulas: for `norm_1`, `norm_2`, or both, a function of x and of the trained γ and β. γ
            and β have shape (512,); x has shape (N, 256, 512) in norm 1 and (N, 512) in norm 2.

    Raises:
        ValueError: a name is neither `norm_1` nor `norm_2`.

    >>> left_out = with_norm(norm_2=lambda x, weight, bias: x)
    >>> left_out(torch.zeros(1, 2048, dtype=torch.int64)).shape
    torch.Size([1, 214])
    """
    model = magika()
    for name, formula in formulas.items():
        if name not in NORMS:
            raise ValueError(f"The norms are {' and '.join(NORMS)}, but {name!r} was given.")
        setattr(model, name, OtherNorm(formula, getattr(model, name)))
    return model
