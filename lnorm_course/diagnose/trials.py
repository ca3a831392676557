"""Which inputs a layer gets: each shows something that the others hide."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lnorm_course.diagnose.norms import Norm

__all__ = [
    "NoGradientError",
    "Trial",
    "gradients",
    "parameter",
    "shapes_for",
    "trials_for",
    "typical",
]

LEADING = ((2, 3), (5,), (2, 3, 5))  # in front of the features; all sizes differ and are above 1
WIDTHS = (7, 96, 768)
SQUARE = 32  # at most


class NoGradientError(RuntimeError):
    """What comes out has no gradient."""


@dataclass(frozen=True, eq=False)
class Trial:
    """An input with what else goes in.

    Args:
        words: what is special about it, as words behind "on".
        x, weight, bias, eps: what goes in.
        at_gradient: whether the gradient at x is compared, and not what comes out.
        kind: "main", or what another function may do otherwise: "shape", "width", or "flat".
    """

    words: str
    x: Tensor
    eps: float
    weight: Tensor | None
    bias: Tensor | None
    at_gradient: bool = False
    kind: str = "main"

    def run(self, function: Callable[..., Tensor]) -> Tensor:
        """Return what comes out of a function of x, weight, bias, eps, or the gradient at x."""
        if not self.at_gradient:
            with torch.no_grad():
                return function(self.x.clone(), self.weight, self.bias, self.eps)
        return gradients(self, function)[0]


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
    if norm.split:
        return [(6, *norm.shape, *places) for places in ((5,), (), (3, 2))]
    if norm.is_channels_first:  # as the norm sees them, with the channels last
        return [(2, 3, 5, *norm.shape), (2, 3, *norm.shape)]
    shapes = [(*leading, *norm.shape) for leading in LEADING]
    size = norm.shape[0]
    return [*shapes, *[(size, size)] * (len(norm.shape) == 1 and size <= SQUARE), norm.shape]


def trials_for(
    norm: Norm,
    shapes: Sequence[tuple[int, ...]],
    weight: Tensor | None,
    bias: Tensor | None,
    takes_eps: bool,
    any_width: bool,
) -> list[Trial]:
    """Return the inputs, the most typical one last.

    Args:
        norm: what is right.
        shapes: those that an input may have; the first is taken for most inputs.
        weight, bias: γ and β.
        takes_eps: whether the layer can be given another ε.
        any_width: whether it takes any number of features.
    """
    main, *others = shapes
    plain = Trial("typical rows (spread 1 to 3)", typical(main), norm.eps, weight, bias)
    small, tiny = _normal(main, 11), 1e-5 * _normal(main, 12)
    zeros = typical(main, 13) * (_normal(main, 14) > 0)
    has_rows = len(main) > len(norm.shape)
    if has_rows:
        tiny[1::2] /= 1000  # where even the smallest ε shows
        zeros[0] = 0
    other = (1e-3, 0.3) if takes_eps else (norm.eps, norm.eps)

    def of(words: str, x: Tensor, eps: float = norm.eps, kind: str = "main") -> Trial:
        return replace(plain, words=words, x=x, eps=eps, kind=kind)

    if has_rows and not norm.split:
        others.append((1, *main[1:]))
    trials = [_wide(plain, main, width) for width in WIDTHS if any_width and has_rows]
    trials += [of(f"shape {s}", typical(s, 31 + len(s)), kind="shape") for s in others]
    return [
        *trials,
        replace(plain, words="the gradient", x=typical(main, 16), at_gradient=True),
        of("constant rows (spread 0)", torch.full_like(plain.x, 0.5), kind="flat"),
        of("rows of which half is 0", zeros, kind="flat"),
        of("tiny rows (spread 1e-5 and 1e-8)", tiny, kind="flat"),
        of("rows with a mean of 100", typical(main, 15) + 100, other[1]),
        of("narrow rows (spread 0.003)", 0.003 * small + 0.01, other[0]),
        plain,
    ]


def _wide(plain: Trial, main: tuple[int, ...], width: int) -> Trial:
    x = typical((*main[:-1], width), width)
    weight, bias = (
        None if p is None else parameter((width,), seed)
        for p, seed in ((plain.weight, 3), (plain.bias, 4))
    )
    return replace(plain, words=f"{width} features", x=x, weight=weight, bias=bias, kind="width")


def typical(shape: Sequence[int], seed: int = 1) -> Tensor:
    """Return numbers whose rows have means from −2 to 2 and spreads from 1 to 3."""
    rows = (*shape[:-1], 1)
    spread, mean = 1 + 2 * _uniform(rows, seed + 1), 4 * _uniform(rows, seed + 2) - 2
    return spread * _normal(shape, seed) + mean


def parameter(shape: Sequence[int], seed: int) -> Tensor:
    """Return numbers for γ (seed 3) or β (seed 4), of both signs and none near 0 or 1."""
    x = _normal(shape, seed)
    return x.sign() * (x.abs() + 0.4)


def _normal(shape: Sequence[int], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64)


def _uniform(shape: Sequence[int], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(tuple(shape), generator=generator, dtype=torch.float64)
