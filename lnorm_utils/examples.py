"""The tensors and networks of the course, from their seeds.

No function here touches the caller's random state. N points, L positions, D features.
"""

import torch
from torch import Tensor, nn

from lnorm_utils.modules import PositionalEncoding, ResidualStack

__all__ = [
    "dummy_points",
    "encoded_points",
    "nine_sentences",
    "normal",
    "projected_sequence",
    "projection",
    "residual_stack",
    "source_sequence",
    "two_words",
]


def normal(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw standard normal numbers of the given shape from their own seed.

    >>> normal(2, 3, seed=0).shape
    torch.Size([2, 3])
    """
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def encoded_points() -> Tensor:
    """Three points at two positions with four features, scaled and positionally encoded: (3, 2, 4).

    >>> encoded_points()[0, 0]
    tensor([-3.8049,  1.9899, -1.7325,  2.1359])
    """
    return PositionalEncoding(max_len=2, d_model=4)(normal(3, 2, 4, seed=34))


def dummy_points() -> Tensor:
    """Four points at one position with 256 features, positionally encoded: (4, 1, 256).

    >>> dummy_points()[0, 0, :3]
    tensor([-14.4193,  10.0495,  -7.8116])
    """
    return PositionalEncoding(max_len=1, d_model=256)(normal(4, 1, 256, seed=23))


def source_sequence() -> Tensor:
    """One sequence of two corners of a square, two coordinates each: (1, 2, 2).

    >>> source_sequence()[0, 0]
    tensor([1.0349, 0.9661])
    """
    return torch.tensor([[[1.0349, 0.9661], [0.8055, -0.9169]]])


def projected_sequence() -> Tensor:
    """The two corners, projected to six features and positionally encoded: (1, 2, 6).

    >>> projected_sequence()[0, 0, :3]
    tensor([-2.0934,  1.5040,  1.8742])
    """
    with torch.no_grad():
        return PositionalEncoding(max_len=2, d_model=6)(
            projection(2, 6, seed=11)(source_sequence())
        )


def two_words() -> Tensor:
    """One sentence of two words with three features each: (1, 2, 3).

    >>> two_words()[0, 1]
    tensor([0.5000, 0.1000, 0.1000])
    """
    return torch.tensor([[[0.2, 0.1, 0.3], [0.5, 0.1, 0.1]]])


def nine_sentences() -> Tensor:
    """Three sentences at their first word, eight features each: (3, 8), rounded to 4 decimals.

    >>> nine_sentences()[0, :3]
    tensor([ 0.4467, -1.3007, -0.0920])
    """
    return torch.tensor(
        [
            [0.4467, -1.3007, -0.0920, -1.2152, 0.3026, -0.2864, -1.5821, -0.0724],
            [-0.7923, 0.0367, 0.8204, 0.7569, 0.8571, 0.5695, 0.5892, -1.6977],
            [1.1445, -0.0371, -0.3484, -1.1498, -0.2298, 0.0535, -0.1654, -0.3413],
        ]
    )


def projection(in_features: int, out_features: int, seed: int, bias: bool = True) -> nn.Linear:
    """Make an `nn.Linear` whose initial weights come from their own seed.

    >>> projection(2, 6, seed=11).weight.shape
    torch.Size([6, 2])
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return nn.Linear(in_features, out_features, bias=bias)


def residual_stack(
    depth: int, placement: str, seed: int, d_model: int = 64, final_norm: bool | None = None
) -> ResidualStack:
    """Make a `ResidualStack` in float64 whose initial weights come from their own seed.

    Training makes small differences large, and in float64 those of rounding stay too small to see.
    A stack begins with the blocks of every shorter one from the same seed.

    >>> len(residual_stack(12, "pre", seed=0).blocks)
    12
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return ResidualStack(depth, d_model, placement, final_norm, dtype=torch.float64)
