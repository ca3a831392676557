"""Make the inputs that a layer is given, each of which shows something that the others hide."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from lnorm_utils.words import dtype_name

__all__ = ["APART", "DTYPES", "OF_DTYPES", "SURE", "WIDTHS", "Kind", "NoGradientError", "Trial"]
__all__ += ["parameter", "trials_for", "typical"]

WIDTHS = (7, 64, 96, 768)  # one of them is a power of 2, like the usual 8
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


class Kind(Enum):
    """What an input is for."""

    MAIN = "typical rows"
    AWAY = "rows that lie away from zero"
    FLAT = "rows that are narrow, or in which half of the numbers are 0"
    TINY = "rows so narrow that they show most of ε"
    GRADIENT = "the gradients are compared, not what comes out"
    PART = "a part of a pair of arrays"
    SHAPE = "a different shape or layout"
    WIDTH = "a different number of features"
    EDGE = "constant rows"
    FAR = "rows far from zero"
    DTYPE = "a different dtype"
    OVERFLOW = "numbers in float16 whose squares it can't hold"


SURE = (Kind.MAIN, Kind.AWAY, Kind.FLAT, Kind.TINY)  # an explanation has to fit all of these
OF_DTYPES = (Kind.DTYPE, Kind.OVERFLOW)
APART = (Kind.FAR, *OF_DTYPES)  # a wrong result on any of these shows by itself what is wrong


class NoGradientError(RuntimeError):
    """The output has no gradient."""


@dataclass(frozen=True, eq=False)
class Trial:
    """An input x, together with γ, β, and ε.

    Args:
        words: what is special about it, as a phrase that can follow "on".
        x, weight, bias, eps: what goes in.
        kind: what the trial is for.
        dtype: the dtype in which x, γ, and β go into the layer.
        roles: the parameters whose gradients are compared, besides that of x.
        axes: how many of the last axes are normalized.
        is_slice: whether x is a slice, which begins inside the memory of a larger tensor.
        of_x: whether the gradient of x is compared.
    """

    words: str
    x: Tensor
    eps: float
    weight: Tensor | None = None
    bias: Tensor | None = None
    kind: Kind = Kind.MAIN
    dtype: torch.dtype = torch.float64
    roles: tuple[str, ...] = ()
    axes: int = 1
    is_slice: bool = False
    of_x: bool = True

    def run(
        self, function: Callable[..., Tensor], held: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Return the output, or the gradients, of a function of x, weight, bias, and eps.

        Args:
            held: the parameters that the function holds itself instead of taking as arguments,
                keyed by role.

        Returns:
            The output, or the gradients as one row of numbers, with 0 where there's no gradient.
        """
        x, given = self.x.clone(), [p if p is None else p.clone() for p in (self.weight, self.bias)]
        x = torch.cat([x[:1], x])[1:] if self.is_slice else x
        if self.kind is not Kind.GRADIENT:
            with torch.no_grad():
                return function(x, *given, self.eps)
        values: dict[str, Any] = {"weight": given[0], "bias": given[1], **(held or {})}
        leaves = [x] * self.of_x + [values[role] for role in self.roles]
        for leaf in leaves:
            leaf.requires_grad_()
        with torch.enable_grad():
            y = function(x * 1, *given, self.eps)  # the function may change this copy in place
        if not y.requires_grad:
            raise NoGradientError
        found = torch.autograd.grad((y * typical(y.shape, 51)).sum(), leaves, allow_unused=True)
        parts = (
            torch.zeros_like(a) if g is None else g for a, g in zip(leaves, found, strict=True)
        )
        return torch.cat([part.double().flatten() for part in parts])

    def in_dtype(self) -> "Trial":
        """Return the trial with its tensors copied to its dtype."""
        given = (self.weight, self.bias)
        g, b = (p if p is None else p.to(self.dtype, copy=True) for p in given)
        return replace(self, x=self.x.to(self.dtype, copy=True), weight=g, bias=b)

    def rows(self, y: Tensor) -> Tensor:
        """Return numbers as a table; each row has the numbers that are normalized together."""
        return y.double().reshape(-1, self.x.shape[-self.axes :].numel())


def trials_for(
    plain: Trial,
    shapes: Sequence[tuple[int, ...]],
    takes_eps: bool = False,
    widths: Sequence[int] = (),
    mean: float = 1e7,
) -> list[Trial]:
    """Return the trials, with the most typical one last.

    Args:
        plain: a trial that gives γ, β, ε, the gradients to compare, and the number of axes to
            normalize.
        shapes: the shapes that an input may have; most inputs have the first one.
        widths: further numbers of features that an input may have.
        mean: a mean at which E[x²] − E[x]² has no correct digit left.
    """
    main, *others = shapes
    has_rows = len(main) > plain.axes
    tiny, zeros = 1e-5 * _normal(main, 12), typical(main, 13) * (_normal(main, 14) > 0)
    constant, away = torch.full(main, 0.5).double(), typical(main)
    away -= away.mean(-1, keepdim=True)
    if has_rows:
        tiny[1::2] /= 1000  # so that even a tiny ε has an effect
        constant[0] = 0
        others.append((1, *main[1:]))
    batches = {
        "an input that isn't contiguous": away.mT.contiguous().mT if has_rows else away,
        "a long batch of 67": typical((67, *main[1:]), 63),
        **{f"shape {shape}": typical(shape, 31 + len(shape)) for shape in others},
    }

    def of(words: str, x: Tensor, kind: Kind = Kind.MAIN, eps: float = plain.eps) -> Trial:
        words += f" and ε = {eps:g}" * (eps != plain.eps)
        return replace(plain, words=words, x=x, eps=eps, kind=kind)

    def wide(width: int) -> Trial:
        given = ((3, plain.weight), (4, plain.bias))
        g, b = (p if p is None else parameter((width,), seed) for seed, p in given)
        x = typical((*main[:-1], width), width)
        return replace(of(f"{width} features", x, Kind.WIDTH), weight=g, bias=b)

    def of_dtype(words: str, dtype: torch.dtype, kind: Kind = Kind.DTYPE) -> Trial:
        scale = 300 if kind is Kind.OVERFLOW else 1
        x = (scale * away).to(dtype).double()
        x[:has_rows] = 0  # so that it shows if ε becomes 0 in this dtype
        return replace(of(words, x, kind), dtype=dtype)

    part = replace(of("a slice of a larger tensor", typical(main, 19), Kind.SHAPE), is_slice=True)
    of_roles = of("the gradient where x needs none", typical(main, 18), Kind.GRADIENT)
    return [
        *map(wide, widths),
        of_dtype("float16 with numbers of 300", torch.float16, Kind.OVERFLOW),
        *(of_dtype(dtype_name(dtype), dtype) for dtype in DTYPES),
        of(f"rows with a mean of {mean:,.0f}", typical(main, 17) + mean, Kind.FAR),
        *(of(words, x, Kind.SHAPE) for words, x in batches.items()),
        part,
        of("constant rows (all 0 or all 0.5)", constant, Kind.EDGE),
        *[replace(of_roles, of_x=False)] * bool(plain.roles),
        of("the gradient", typical(main, 16), Kind.GRADIENT),
        of("rows in which half of the numbers are 0", zeros, Kind.FLAT),
        of("tiny rows (spread 1e-5 and 1e-8)", tiny, Kind.TINY),
        of(
            "rows with a mean of 100",
            typical(main, 15) + 100,
            Kind.AWAY,
            0.3 if takes_eps else plain.eps,
        ),
        of(
            "narrow rows (spread 0.003)",
            0.003 * _normal(main, 11) + 0.01,
            eps=1e-3 if takes_eps else plain.eps,
        ),
        of("typical rows (spread 1 to 3)", typical(main)),
    ]


def typical(shape: Sequence[int], seed: int = 1) -> Tensor:
    """Return numbers whose rows have means from −2 to 2 and spreads from 1 to 3."""
    of_rows = [_normal((*shape[:-1], 1), seed + n).tanh() for n in (1, 2)]
    return (2 + of_rows[0]) * _normal(shape, seed) + 2 * of_rows[1]


def parameter(shape: Sequence[int], seed: int) -> Tensor:
    """Return numbers of both signs, none near 0, for γ (seed 3) or β (seed 4)."""
    x = _normal(shape, seed)
    return x.sign() * (x.abs() + 0.4)


def _normal(shape: Sequence[int], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64)
