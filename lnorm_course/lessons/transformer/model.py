"""A small transformer that predicts the next character, with one of four placements of norms."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from lnorm_utils.modules import FeedForward, LayerNorm, PositionalEncoding

__all__ = ["PLACES", "CausalAttention", "Transformer", "TransformerBlock", "attention"]

# Maps each place of the norms to the formula that adds a branch f to the stream x, and to a
# function that creates a norm.
PLACES: dict[str, tuple[str, Callable[[int], nn.Module]]] = {
    "no norm": ("x + f(x)", lambda d_model: nn.Identity()),
    "post-LN": ("norm(x + f(x))", LayerNorm),
    "pre-LN": ("x + f(norm(x))", LayerNorm),
    "pre-RMSNorm": ("x + f(norm(x))", lambda d_model: nn.RMSNorm(d_model, eps=1e-5)),
}
START = 0.02  # the standard deviation of the initial weights


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Average the values up to each position, with weights softmax(q · kᵀ / √D + mask).

    Args:
        q, k, v: (*, L, D), the queries, keys, and values of L positions.

    Returns:
        (*, L, D). Position l depends only on the keys and values of positions 0 to l.

    Source: Vaswani et al. 2017, arXiv:1706.03762, equation 1 and section 3.2.3.

    >>> q = k = torch.zeros(3, 1)
    >>> attention(q, k, torch.tensor([[2.0], [4.0], [9.0]])).flatten()
    tensor([2., 3., 5.])
    """
    length, features = q.shape[-2:]
    scores = q @ k.transpose(-1, -2) / math.sqrt(features)  # (*, L, L)
    later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(diagonal=1)
    return scores.masked_fill(later, -math.inf).softmax(dim=-1) @ v


class CausalAttention(nn.Module):
    """Let each position read from itself and all earlier positions, in several heads at once.

    Args:
        d_model: the number of features.
        heads: the number of parts that the features are split into, each with its own `attention`.

    Raises:
        ValueError: `heads` doesn't divide `d_model`.

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2.

    >>> CausalAttention(8, heads=2)(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        if d_model % heads:
            raise ValueError(f"heads must divide d_model = {d_model}, but {heads} was given.")
        self.heads = heads
        self.reads = nn.Linear(d_model, 3 * d_model)
        self.writes = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (N, L, d_model) to a tensor of the same shape."""
        points, length, _ = x.shape
        parts = self.reads(x).reshape(points, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # (N, heads, L, d_model / heads) each
        mixed = attention(q, k, v).transpose(1, 2)  # (N, L, heads, d_model / heads)
        return self.writes(mixed.flatten(2))


class TransformerBlock(nn.Module):
    """Add attention to the stream, and then a feed-forward network, each with its own norm.

    Args:
        d_model: the number of features.
        heads: as in `CausalAttention`.
        place: one of `PLACES`.

    Raises:
        ValueError: `place` is unknown, or `heads` doesn't divide `d_model`.

    Source: Vaswani et al. 2017, arXiv:1706.03762, figure 1; Xiong et al. 2020, arXiv:2002.04745,
    table 1, for post-LN and pre-LN.

    >>> TransformerBlock(8, 2, "pre-LN")(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, d_model: int, heads: int, place: str) -> None:
        super().__init__()
        if place not in PLACES:
            names = ", ".join(map(repr, PLACES))
            raise ValueError(f"place must be one of {names}, but {place!r} was given.")
        self.is_post = place == "post-LN"
        make_norm = PLACES[place][1]
        self.branches = nn.ModuleList(
            [CausalAttention(d_model, heads), FeedForward(d_model, 4 * d_model)]
        )
        self.norms = nn.ModuleList([make_norm(d_model), make_norm(d_model)])

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (N, L, d_model) to a tensor of the same shape."""
        for f, norm in zip(self.branches, self.norms, strict=True):
            x = norm(x + f(x)) if self.is_post else x + f(norm(x))
        return x


class Transformer(nn.Module):
    """Predict the next character at each of up to `length` positions.

    It has an embedding, a positional encoding, blocks, a final norm if `place` begins with "pre",
    and a linear map to a logit for each character. Weights and embeddings are initialized from
    N(0, 0.02²), as most of GPT-2's are, and biases to 0; unlike in GPT-2, positions are encoded as
    sines and cosines, and nothing is scaled by depth. With 64 features, the embeddings, which the
    positional encoding multiplies by √64, initially have a spread of √64 · 0.02 = 0.16, compared
    with about 0.7 for the sines and cosines. The argument `embeddings` makes the embeddings larger.

    Args:
        characters: V, the number of distinct characters.
        place: the place of the norms, one of `PLACES`.
        depth, d_model, heads: the numbers of blocks, of features, and of attention heads.
        length: the largest number of positions.
        seed: seeds the weights. The caller's random state is left unchanged.
        embeddings: the factor by which the initial embeddings are multiplied.

    Raises:
        ValueError: as in `TransformerBlock`; also, an input has more than `length` positions.

    Source: Vaswani et al. 2017, arXiv:1706.03762.

    >>> Transformer(37)(torch.zeros(2, 5, dtype=torch.int64)).shape
    torch.Size([2, 5, 37])
    """

    def __init__(
        self,
        characters: int,
        place: str = "pre-LN",
        depth: int = 6,
        d_model: int = 64,
        heads: int = 4,
        length: int = 64,
        seed: int = 0,
        embeddings: float = 1,
    ) -> None:
        super().__init__()
        self.length = length
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(characters, d_model)
            self.position = PositionalEncoding(length, d_model)
            self.blocks = nn.Sequential(
                *(TransformerBlock(d_model, heads, place) for _ in range(depth))
            )
            has_final = place.startswith("pre")
            self.final_norm = PLACES[place][1](d_model) if has_final else nn.Identity()
            self.to_characters = nn.Linear(d_model, characters)
            for module in self.modules():
                if isinstance(module, nn.Embedding | nn.Linear):
                    nn.init.normal_(module.weight, std=START)
                if isinstance(module, nn.Linear):
                    nn.init.zeros_(module.bias)
            with torch.no_grad():
                self.embedding.weight.mul_(embeddings)

    def forward(self, codes: Tensor) -> Tensor:
        """Map `codes` of shape (N, L), int64, to logits (N, L, V)."""
        stream = self.blocks(self.position(self.embedding(codes)))  # (N, L, d_model)
        return self.to_characters(self.final_norm(stream))
