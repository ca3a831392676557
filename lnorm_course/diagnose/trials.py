"""Which inputs a layer gets: each shows something that the others hide."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lnorm_course.diagnose.norms import Norm
from lnorm_utils.words import dtype_name

__all__ = ["OVERFLOW", "NoGradientError", "Trial", "gradients", "parameter", "shapes_for"]
__all__ += ["TINY", "trials_for", "typical"]

LEADING = ((2, 3), (5,), (2, 3, 5))  # in front of the features; all sizes differ and are above 1
SQUARE = 32  # at most
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
TINY = "tiny rows (spread 1e-5 and 1e-8)"  # which show most of ε
OVERFLOW = "float16 with numbers of 300"  # whose square float16 can't hold


class NoGradientError(RuntimeError):
    """What comes out has no gradient."""


@dataclass(frozen=True, eq=False)
class Trial:
    """An input with what else goes in.

    Args:
        words: what is special about it, as words behind "on".
        x, weight, bias, eps: what goes in.
        kind: "main"; "gradient", if the gradient at x is compared; or what a layer may do otherwise
            and yet be explained: "shape", "width", "flat" rows, "far" from zero, or "dtype".
        dtype: that of what goes into the layer.
    """

    words: str
    x: Tensor
    eps: float
    weight: Tensor | None = None
    bias: Tensor | None = None
    kind: str = "main"
    dtype: torch.dtype = torch.float64

    def run(self, function: Callable[..., Tensor]) -> Tensor:
        """Return what comes out of a function of x, weight, bias, eps, or the gradient at x."""
        if self.kind == "gradient":
            return gradients(self, function)[0]
        with torch.no_grad():
            return function(self.x.clone(), self.weight, self.bias, self.eps)


def gradients(trial: Trial, function: Callable[..., Tensor], *others: Tensor) -> list[Tensor]:
    """Return the gradients at x and at others, for one gradient that comes in; 0 for none."""
    with torch.enable_grad():
        x = trial.x.clone().requires_grad_()
        y = function(x * 1, trial.weight, trial.bias, trial.eps)  # one may change it in place
    if not y.requires_grad:
        raise NoGradientError
    at = [x, *others]
    found = torch.autograd.grad((y * typical(y.shape, 51)).sum(), at, allow_unused=True)
    return [torch.zeros_like(a) if g is None else g for a, g in zip(at, found, strict=True)]


def shapes_for(norm: Norm) -> list[tuple[int, ...]]:
    """Return the shapes that an input may have: those that tell most first, a single row last."""
    shapes = [(*leading, *norm.shape) for leading in LEADING]
    if norm.is_channels_first:  # as the norm sees them, with the channels last
        return shapes[::-2]
    is_small = len(norm.shape) == 1 and norm.shape[0] <= SQUARE
    return [*shapes, *[norm.shape * 2] * is_small, norm.shape]


def trials_for(
    norm: Norm,
    shapes: Sequence[tuple[int, ...]],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    takes_eps: bool = False,
    widths: Sequence[int] = (),
    mean: float = 1e7,
) -> list[Trial]:
    """Return the inputs, the most typical one last.

    Args:
        shapes: those that an input may have; the first is taken for most inputs.
        widths: other numbers of features that it may have.
        mean: one at which E[x²] − E[x]² has no digit left.
    """
    main, *others = shapes
    plain = Trial("typical rows (spread 1 to 3)", typical(main), norm.eps, weight, bias)
    tiny, zeros = 1e-5 * _normal(main, 12), typical(main, 13) * (_normal(main, 14) > 0)
    more = []
    if len(main) > len(norm.shape):
        tiny[1::2] /= 1000  # where even the smallest ε shows
        zeros[0] = 0
        others.append((1, *main[1:]))
    away = plain.x - plain.x.mean(-1, keepdim=True)
    other = (1e-3, 0.3) if takes_eps else (norm.eps, norm.eps)

    def of(words: str, x: Tensor, kind: str = "main", eps: float = norm.eps) -> Trial:
        return replace(plain, words=words, x=x, eps=eps, kind=kind)

    def wide(width: int) -> Trial:
        g, b = (p if p is None else parameter((width,), n) for n, p in ((3, weight), (4, bias)))
        x = typical((*main[:-1], width), width)
        return replace(of(f"{width} features", x, "width"), weight=g, bias=b)

    def of_dtype(dtype: torch.dtype, words: str = "", scale: float = 1.0) -> Trial:
        x = (scale * away).to(dtype).double()
        return replace(of(words or dtype_name(dtype), x, "dtype"), dtype=dtype)

    if len(main) > 1:
        more.append(of("an input that isn't contiguous", away.mT.contiguous().mT, "shape"))
        more.append(of("a long batch of 67", typical((67, *main[1:]), 63), "shape"))
    return [
        *map(wide, widths),
        of_dtype(torch.float16, OVERFLOW, 300),
        *map(of_dtype, DTYPES),
        *more,
        of(f"rows with a mean of {mean:,.0f}", typical(main, 17) + mean, "far"),
        *(of(f"shape {s}", typical(s, 31 + len(s)), "shape") for s in others),
        of("the gradient", typical(main, 16), "gradient"),
        of("constant rows (spread 0)", torch.full_like(plain.x, 0.5), "flat"),
        of("rows of which half is 0", zeros, "flat"),
        of(TINY, tiny, "flat"),
        of("rows with a mean of 100", typical(main, 15) + 100, eps=other[1]),
        of("narrow rows (spread 0.003)", 0.003 * _normal(main, 11) + 0.01, eps=other[0]),
        plain,
    ]


def typical(shape: Sequence[int], seed: int = 1) -> Tensor:
    """Return numbers whose rows have means from −2 to 2 and spreads from 1 to 3."""
    of_rows = [_normal((*shape[:-1], 1), seed + n).tanh() for n in (1, 2)]
    return (2 + of_rows[0]) * _normal(shape, seed) + 2 * of_rows[1]


def parameter(shape: Sequence[int], seed: int) -> Tensor:
    """Return numbers for γ (seed 3) or β (seed 4), of both signs and none near 0 or 1."""
    x = _normal(shape, seed)
    return x.sign() * (x.abs() + 0.4)


def _normal(shape: Sequence[int], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64)
