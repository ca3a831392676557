"""The tensors of the course, from their seeds, and the decoder that measures what one has lost.

No function here touches the caller's random state. N points, L positions, D features.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from lnorm_utils.modules import PositionalEncoding, ResidualStack

__all__ = [
    "decoder_r2",
    "dummy_points",
    "encoded_points",
    "gradient_norms",
    "linear_decoder",
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


def gradient_norms(stack: ResidualStack, x: Tensor, slope: Tensor) -> Tensor:
    """Measure how strongly each block is asked to move: ‖∂ loss / ∂ its parameters‖.

    The loss is the mean over the rows of stack(x) · slope, so that it has the same slope at the
    output of every stack. The gradients that the parameters hold are left alone.

    Args:
        stack: of blocks of d_model features.
        x: (*, d_model).
        slope: (d_model,).

    Returns:
        (depth,), for each block the root of the summed squares over all its parameters.

    Source: Xiong et al. 2020, arXiv:2002.04745, figure 3, which shows such norms for a transformer.

    >>> points = normal(8, 64, seed=1, dtype=torch.float64)
    >>> gradient_norms(residual_stack(3, "post", seed=0), points, points[0]).shape
    torch.Size([3])
    """
    loss = (stack(x) @ slope).mean()
    groups = [list(block.parameters()) for block in stack.blocks]
    grads = iter(torch.autograd.grad(loss, [p for group in groups for p in group]))
    squares = [sum(next(grads).square().sum() for _ in group) for group in groups]
    return torch.stack(squares).sqrt()


class LinearDecoder(NamedTuple):
    """What `linear_decoder` fits: targets = (codes − code_mean) · weight + target_mean."""

    weight: Tensor
    code_mean: Tensor
    target_mean: Tensor
    r2: float

    def __call__(self, codes: Tensor) -> Tensor:
        """Decode codes (N, D) to targets (N, K), float64."""
        return (codes.detach().double() - self.code_mean) @ self.weight + self.target_mean


def linear_decoder(codes: Tensor, targets: Tensor) -> LinearDecoder:
    """Fit a linear decoder of `targets` from `codes`, and score it: R² = 1 − SSE / SST.

    The decoder, least squares with a constant, is fitted on the first half of the points and
    scored on the second, around the second half's own mean and over all target features together.

    Args:
        codes: (N, D), what is left of the points.
        targets: (N, K), what the points were.

    Returns:
        The decoder, a function of codes (N, D); its `weight` (D, K), `code_mean` (D,) and
        `target_mean` (K,); its score `r2`.

    Raises:
        ValueError: the two do not hold the same number of points, or fewer than 4; a value is not
            finite; the second half of `targets` is constant.

    Source: Hastie, Tibshirani & Friedman 2009, The Elements of Statistical Learning, section 3.2,
    for the fit.

    >>> points = normal(100, 2, seed=0)
    >>> torch.allclose(linear_decoder(3 * points + 1, points)(3 * points + 1), points.double())
    True
    """
    if codes.ndim != 2 or targets.ndim != 2 or len(codes) != len(targets) or len(codes) < 4:
        raise ValueError(
            "A decoder needs codes (N, D) and targets (N, K) of the same N ≥ 4 points, but got "
            f"{tuple(codes.shape)} and {tuple(targets.shape)}."
        )
    codes, targets = codes.detach().double(), targets.detach().double()
    if not (codes.isfinite().all() and targets.isfinite().all()):
        raise ValueError("A decoder needs finite numbers, but got NaN or infinity.")
    half = len(codes) // 2
    spread = (targets[half:] - targets[half:].mean(0)).square().sum()
    if spread == 0:
        raise ValueError("A decoder needs targets that differ, but the second half is constant.")
    code_mean, target_mean = codes[:half].mean(0), targets[:half].mean(0)
    codes, targets = codes - code_mean, targets - target_mean
    # Normalized features depend on each other. What keeps them from doing so exactly is float32
    # rounding, about 1e-6 of the largest, and rcond hides it from the decoder.
    fit = torch.linalg.lstsq(codes[:half], targets[:half], rcond=1e-4, driver="gelsd").solution
    r2 = 1 - (targets[half:] - codes[half:] @ fit).square().sum() / spread
    return LinearDecoder(fit, code_mean, target_mean, float(r2))


def decoder_r2(codes: Tensor, targets: Tensor) -> float:
    """Score how much of `targets` a linear decoder recovers from `codes`: R² = 1 − SSE / SST.

    Arguments and errors are those of `linear_decoder`, of which this is the score.

    Returns:
        1.0 where everything is recovered, about 0.0 where nothing is.

    >>> points = normal(100, 2, seed=0)
    >>> round(decoder_r2(3 * points + 1, points), 4)
    1.0
    """
    return linear_decoder(codes, targets).r2
