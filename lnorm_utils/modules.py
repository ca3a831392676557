"""The two modules of the course: layer normalization and the positional encoding before it."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lnorm_utils.functional import in_statistics_dtype, layer_norm, shape_tuple

__all__ = ["LayerNorm", "PositionalEncoding"]


class LayerNorm(nn.Module):
    """Layer normalization with a learned weight γ and bias β for each feature.

    y = weight · (x − mean) / √(var + eps) + bias, over the last axes. Mean and variance are taken
    for each point anew, in training and evaluation alike.

    Args:
        normalized_shape: the sizes of the last axes, which share one mean and one variance.
        eps: added to the variance inside the root, in the squared unit of the input.
        elementwise_affine: whether there are parameters at all.
        bias: whether there is a β beside γ.
        device, dtype: of the parameters.

    Parameters: `weight`, which starts at 1, and `bias`, which starts at 0, both of shape
    `normalized_shape`; either is None where it was switched off. The state dict exchanges with
    that of `torch.nn.LayerNorm` in both directions.

    Raises:
        TypeError, ValueError: those of `lnorm_utils.layer_norm`, for `normalized_shape` when it is
            made and for the input when it is called.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450; arguments as in `torch.nn.LayerNorm`.

    >>> LayerNorm(3)(torch.tensor([[1.0, 2.0, 6.0]])).detach()
    tensor([[-0.9258, -0.4629,  1.3887]])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape_tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        kind = {"device": device, "dtype": dtype}
        shape = self.normalized_shape
        self.weight = nn.Parameter(torch.ones(shape, **kind)) if elementwise_affine else None
        has_bias = elementwise_affine and bias
        self.bias = nn.Parameter(torch.zeros(shape, **kind)) if has_bias else None

    def reset_parameters(self) -> None:
        """Set γ back to 1 and β back to 0."""
        if self.weight is not None:
            nn.init.ones_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize `x` of shape (*, *normalized_shape) to a tensor of the same shape."""
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class PositionalEncoding(nn.Module):
    """Scale the input and add a sine or cosine of its position: √d_model · x + pe.

    pe[l, 2i] = sin(l / 10000^(2i / d_model)) and pe[l, 2i + 1] = cos(l / 10000^(2i / d_model)).

    Args:
        max_len: the largest number of positions.
        d_model: the number of features, odd or even.

    Raises:
        TypeError, ValueError: `max_len` or `d_model` is not an integer above 0; the input is not a
            floating-point tensor; it has more than `max_len` positions or not `d_model` features.

    Source: Vaswani et al. 2017, arXiv:1706.03762, sections 3.4 and 3.5.

    >>> PositionalEncoding(max_len=2, d_model=2)(torch.zeros(1, 2, 2))
    tensor([[[0.0000, 1.0000],
             [0.8415, 0.5403]]])
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        for name, size in (("max_len", max_len), ("d_model", d_model)):
            if not isinstance(size, int):
                raise TypeError(f"{name} must be an integer, but {size!r} was given.")
            if size < 1:
                raise ValueError(f"{name} must be at least 1, but {size} was given.")
        self.max_len = max_len
        self.d_model = d_model
        position = torch.arange(max_len).unsqueeze(1)  # (max_len, 1)
        even = torch.arange(0, d_model, 2)  # (ceil(d_model / 2),)
        angle = position * torch.exp(even * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = angle.sin()
        pe[:, 1::2] = angle.cos()[:, : d_model // 2]  # an odd d_model has one cosine less
        self.register_buffer("pe", pe, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Encode `x` of shape (*, L, d_model), L ≤ max_len, to a tensor of its shape and dtype."""
        in_statistics_dtype(x)
        length, features = x.shape[-2:] if x.ndim >= 2 else (None, None)
        if features != self.d_model or length > self.max_len:
            raise ValueError(
                f"PositionalEncoding was made for at most {self.max_len} positions of "
                f"{self.d_model} features, but the input has shape {tuple(x.shape)}."
            )
        return math.sqrt(self.d_model) * x + self.pe[:length].to(x.dtype)

    def extra_repr(self) -> str:
        return f"max_len={self.max_len}, d_model={self.d_model}"
