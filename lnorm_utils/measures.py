"""Measure how much a linear decoder recovers, and how large gradients are."""

from collections.abc import Callable

import torch
from torch import Tensor

from lnorm_utils.modules import ResidualStack

__all__ = ["decoder_r2", "gradient_norms", "linear_decoder"]


def gradient_norms(stack: ResidualStack, x: Tensor, direction: Tensor) -> Tensor:
    """Measure the norm of the loss's gradient in each block: ‖∂ loss / ∂ its parameters‖.

    The loss is the mean over the rows of stack(x) · direction, so that its gradient at the output
    is the same for every stack. The gradients already stored in the parameters don't change.

    Args:
        stack: a stack whose blocks have d_model features.
        x: (*, d_model), of the stack's dtype.
        direction: one direction for all rows, (d_model,), or one for each row, in the shape of x.

    Returns:
        (depth,): the square root of the summed squares of each block's gradients.

    Raises:
        ValueError: `direction` has neither of these shapes.

    Source: Xiong et al. 2020, arXiv:2002.04745, figure 3, which shows such norms for a transformer.

    >>> from lnorm_utils.data import normal, residual_stack
    >>> points = normal(8, 64, seed=1, dtype=torch.float64)
    >>> gradient_norms(residual_stack(3, "post", seed=0), points, points[0]).shape
    torch.Size([3])
    """
    if direction.shape not in (x.shape, x.shape[-1:]):
        raise ValueError(
            f"direction must have the shape {tuple(x.shape[-1:])} or that of x, {tuple(x.shape)}, "
            f"but its shape is {tuple(direction.shape)}."
        )
    loss = (stack(x) * direction).sum(-1).mean()
    groups = [list(block.parameters()) for block in stack.blocks]
    grads = iter(torch.autograd.grad(loss, [p for group in groups for p in group]))
    zero = torch.zeros(())
    squares = [sum((next(grads).square().sum() for _ in group), zero) for group in groups]
    return torch.stack(squares).sqrt()


def decoder_r2(codes: Tensor, targets: Tensor) -> float:
    """Score how much of `targets` a linear decoder recovers from `codes`: R² = 1 − SSE / SST.

    The decoder is a least-squares fit with a constant. It's fitted on the first half of the points
    and scored on the second half. SST is measured around the second half's own mean, and SSE and
    SST are summed over all target features.

    Args:
        codes: (N, D), the points after some transformation.
        targets: (N, K), the points before that transformation.

    Returns:
        1.0 if everything is recovered; about 0.0 if nothing is, or less if N is small.

    Raises:
        ValueError: `codes` or `targets` doesn't have two axes; they hold different numbers of
            points, or fewer than 4; a value isn't finite; or the second half of `targets` is
            constant.

    Source: Hastie, Tibshirani & Friedman 2009, The Elements of Statistical Learning, section 3.2,
    for the fit.

    >>> from lnorm_utils.data import normal
    >>> points = normal(100, 2, seed=0)
    >>> round(decoder_r2(3 * points + 1, points), 4)
    1.0
    """
    return linear_decoder(codes, targets)[1]


def linear_decoder(codes: Tensor, targets: Tensor) -> tuple[Callable[[Tensor], Tensor], float]:
    """Fit the decoder of `decoder_r2`, which can then decode other points.

    Args:
        codes: (N, D), the points after some transformation.
        targets: (N, K), the points before that transformation.

    Returns:
        The decoder, which turns codes (M, D) into targets (M, K), in float64 and in the unit of the
        targets; and the score that `decoder_r2` returns.

    Raises:
        ValueError: as in `decoder_r2`.

    Source: Hastie, Tibshirani & Friedman 2009, The Elements of Statistical Learning, section 3.2.

    >>> from lnorm_utils.data import normal
    >>> points = normal(100, 2, seed=0)
    >>> decode, _ = linear_decoder(3 * points + 1, points)
    >>> decode(torch.tensor([[4.0, 7.0]])).round(decimals=4)
    tensor([[1., 2.]], dtype=torch.float64)
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
    total = (targets[half:] - targets[half:].mean(0)).square().sum()
    if total == 0:
        raise ValueError("A decoder needs targets that differ, but their second half is constant.")
    code_mean, target_mean = codes[:half].mean(0), targets[:half].mean(0)
    # Normalized features are linearly dependent, except for float32 rounding errors of about 1e-6
    # of the largest singular value. The decoder must not use these errors, so rtol cuts them off.
    fit = torch.linalg.pinv(codes[:half] - code_mean, rtol=1e-4) @ (targets[:half] - target_mean)

    def decode(others: Tensor) -> Tensor:
        return (others.detach().double() - code_mean) @ fit + target_mean

    r2 = 1 - (targets[half:] - decode(codes[half:])).square().sum() / total
    return decode, float(r2)
