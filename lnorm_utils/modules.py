"""Define the lessons' modules: layer norm, what comes before it, and what contains it."""

import math

import torch
from torch import Tensor, nn

from lnorm_utils.functional import Sizes, at_least_float32, layer_norm, shape_tuple

__all__ = ["FeedForward", "LayerNorm", "PositionalEncoding", "ResidualBlock", "ResidualStack"]

PLACEMENTS = ("post", "pre", "none")


class LayerNorm(nn.Module):
    """Layer normalization with a learned weight γ and bias β for each feature.

    y = weight · (x − mean) / √(var + eps) + bias, over the last axes. The mean and variance are
    computed anew for each row, in training and in evaluation.

    Args:
        normalized_shape: the sizes of the last axes, whose numbers share one mean and variance.
        eps: ε, added to the variance under the square root, in the squared unit of the input.
        elementwise_affine: whether there are parameters at all.
        bias: whether there is a β in addition to γ.
        device, dtype: the device and dtype of the parameters.

    Parameters: `weight`, which starts at 1, and `bias`, which starts at 0, both of shape
    `normalized_shape`; either is None if it's switched off. State dicts are interchangeable with
    those of `torch.nn.LayerNorm`.

    Raises:
        TypeError: the input is not a floating-point tensor.
        ValueError: the sizes of the input's last axes aren't `normalized_shape`.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450; arguments as in `torch.nn.LayerNorm`.

    >>> LayerNorm(3)(torch.tensor([[1.0, 2.0, 6.0]])).detach()
    tensor([[-0.9258, -0.4629,  1.3887]])
    """

    def __init__(
        self,
        normalized_shape: Sizes,
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
        self.weight = self.bias = None
        if elementwise_affine:
            ones = torch.ones(self.normalized_shape, device=device, dtype=dtype)
            self.weight = nn.Parameter(ones)
            self.bias = nn.Parameter(torch.zeros_like(ones)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalize `x`, of shape (*, *normalized_shape), and return a tensor of that shape."""
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class PositionalEncoding(nn.Module):
    """Scale the input and add sines and cosines of each position: √d_model · x + pe.

    It takes a tensor of shape (*, L, d_model) with L ≤ max_len, and returns one of the same shape
    and dtype.
    pe[l, 2i] = sin(l / 10000^(2i / d_model)) and pe[l, 2i + 1] = cos(l / 10000^(2i / d_model)).

    Args:
        max_len: the largest number of positions.
        d_model: the number of features, odd or even.

    Raises:
        TypeError: the input is not a floating-point tensor.
        ValueError: the input has more than `max_len` positions or doesn't have `d_model` features.

    Source: Vaswani et al. 2017, arXiv:1706.03762, sections 3.4 and 3.5.

    >>> PositionalEncoding(max_len=2, d_model=2)(torch.zeros(1, 2, 2))
    tensor([[[0.0000, 1.0000],
             [0.8415, 0.5403]]])
    """

    pe: Tensor  # (max_len, d_model)

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.max_len = max_len
        self.d_model = d_model
        position = torch.arange(max_len).unsqueeze(1)  # (max_len, 1)
        even = torch.arange(0, d_model, 2)  # (ceil(d_model / 2),)
        angle = position * torch.exp(even * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = angle.sin()
        pe[:, 1::2] = angle.cos()[:, : d_model // 2]  # if d_model is odd, there is one cosine fewer
        self.register_buffer("pe", pe, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Encode `x`, of shape (*, L, d_model) with L ≤ max_len, in the same shape and dtype."""
        at_least_float32(x)  # raises a TypeError for dtypes that aren't floating-point
        length, features = x.shape[-2:] if x.ndim >= 2 else (0, 0)
        if features != self.d_model or length > self.max_len:
            raise ValueError(
                f"PositionalEncoding was made for at most {self.max_len} positions of "
                f"{self.d_model} features, but the input has shape {tuple(x.shape)}."
            )
        return math.sqrt(self.d_model) * x + self.pe[:length].to(x.dtype)

    def extra_repr(self) -> str:
        return f"max_len={self.max_len}, d_model={self.d_model}"


class FeedForward(nn.Module):
    """Apply two linear maps, with a ReLU between them, to each row of a tensor (*, d_model).

    f(x) = W₂ · relu(W₁ · x + b₁) + b₂. The weights are initialized as Glorot & Bengio 2010
    proposed (Xavier, uniform), and the biases start at 0.

    Args:
        d_model: the number of features that come in and go out.
        d_hidden: the number of features between the two maps; by default `d_model`.
        dtype: the dtype of the parameters.

    Source: Vaswani et al. 2017, arXiv:1706.03762, equation 2.

    >>> FeedForward(4)(torch.ones(3, 2, 4)).shape
    torch.Size([3, 2, 4])
    """

    def __init__(
        self, d_model: int, d_hidden: int | None = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__()
        d_hidden = d_model if d_hidden is None else d_hidden
        self.first = nn.Linear(d_model, d_hidden, dtype=dtype)
        self.second = nn.Linear(d_hidden, d_model, dtype=dtype)
        for linear in (self.first, self.second):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (*, d_model) to a tensor of the same shape."""
        return self.second(self.first(x).relu())


class ResidualBlock(nn.Module):
    """Add the output of a feed-forward network f to the stream, with a layer norm LN.

    The stream has shape (*, d_model) before and after the block.

    "post": LN(x + f(x)), "pre": x + f(LN(x)), "none": x + f(x). LN is `nn.LayerNorm`, for speed.

    Args:
        d_model: the number of features.
        placement: where the layer norm is: "post", "pre", or "none".
        dtype: the dtype of the parameters.

    Submodules: `f`, and `norm`, which is None if the placement is "none".

    Raises:
        ValueError: `placement` isn't one of the three listed above.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.1, for "post"; Xiong et al. 2020,
    arXiv:2002.04745, for the names post-LN and pre-LN.

    >>> ResidualBlock(4, "pre")(torch.ones(3, 2, 4)).shape
    torch.Size([3, 2, 4])
    """

    def __init__(
        self, d_model: int, placement: str = "post", dtype: torch.dtype | None = None
    ) -> None:
        super().__init__()
        if placement not in PLACEMENTS:
            raise ValueError(
                f"placement must be one of {', '.join(map(repr, PLACEMENTS))}, but {placement!r} "
                "was given."
            )
        self.placement = placement
        self.f = FeedForward(d_model, dtype=dtype)
        self.norm = None if placement == "none" else nn.LayerNorm(d_model, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (*, d_model) to a tensor of the same shape."""
        if self.norm is None:
            return x + self.f(x)
        if self.placement == "post":
            return self.norm(x + self.f(x))
        return x + self.f(self.norm(x))

    def extra_repr(self) -> str:
        return f"placement={self.placement!r}"


class ResidualStack(nn.Module):
    """Send the stream through `depth` residual blocks and then, optionally, a final layer norm.

    The stream has shape (*, d_model) before and after the stack.

    Args:
        depth: the number of blocks.
        d_model: the number of features.
        placement: as in `ResidualBlock`.
        final_norm: whether a layer norm follows the last block. None makes the usual choice: no
            final norm for "post", whose last block already ends in a norm, but one for "pre" and
            "none".
        dtype: the dtype of the parameters.

    Submodules: `blocks`, and `final_norm`, which is None if the stack has no final norm.

    Raises:
        ValueError: `placement` isn't one of the three in `ResidualBlock`.

    Source: Vaswani et al. 2017, arXiv:1706.03762; Xiong et al. 2020, arXiv:2002.04745, table 1, for
    the final norm.

    >>> ResidualStack(3, 4, "pre").final_norm
    LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    def __init__(
        self,
        depth: int,
        d_model: int,
        placement: str = "post",
        final_norm: bool | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        has_final = placement != "post" if final_norm is None else final_norm
        blocks = (ResidualBlock(d_model, placement, dtype) for _ in range(depth))
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = nn.LayerNorm(d_model, dtype=dtype) if has_final else None

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (*, d_model) to a tensor of the same shape."""
        for block in self.blocks:
            x = block(x)
        return x if self.final_norm is None else self.final_norm(x)
