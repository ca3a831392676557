"""Which inputs a layer gets: each shows something that the others hide."""

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Input", "inputs_for", "parameter", "point_shape", "typical"]

LEADING = ((), (5,), (2, 3), (2, 1, 3))  # the axes in front of the features, by how many
PLACES = ((), (5,), (3, 2))  # the axes behind the channels


@dataclass(frozen=True, eq=False)
class Input:
    """An input, and what is special about it, as words behind "on"."""

    words: str
    x: Tensor
    eps: float
    is_shape: bool = False  # whether only its shape is special
    is_flat: bool = False  # whether its spread is so small that slips show only together


def point_shape(shape: tuple[int, ...], axes: int, has_channels: bool) -> tuple[int, ...] | None:
    """Return the shape of an input with this many axes; None if there is none.

    >>> point_shape((8,), 3, False), point_shape((8,), 3, True)
    ((2, 3, 8), (6, 8, 5))
    """
    if has_channels:
        return (6, *shape, *PLACES[axes - 2]) if 0 <= axes - 2 < len(PLACES) else None
    more = axes - len(shape)
    return (*LEADING[more], *shape) if 0 <= more < len(LEADING) else None


def typical(shape: tuple[int, ...], seed: int = 1) -> Tensor:
    """Return numbers with means from −2 to 2 and spreads from 1 to 3, as float32 holds them."""
    x = _normal(shape, seed)
    rows = (*shape[:-1], 1)
    return (
        ((1 + 2 * _uniform(rows, seed + 1)) * x + 4 * _uniform(rows, seed + 2) - 2).float().double()
    )


def inputs_for(
    shape: tuple[int, ...], axes: list[int], has_channels: bool, eps: float, takes_eps: bool
) -> list[Input]:
    """Return the inputs, the likeliest to tell first.

    Args:
        shape: of γ.
        axes: how many axes an input may have; the first is taken for most of them.
        has_channels: whether γ belongs to axis 1.
        eps: that of the reference.
        takes_eps: whether the layer can be given another one.
    """
    main, *others = (point_shape(shape, n, has_channels) for n in axes)
    assert main is not None
    small, tiny = _normal(main, 11), 1e-5 * _normal(main, 12)
    if tiny.ndim > 1:
        tiny[1::2] /= 1000  # where even the smallest ε shows
    other = (1e-3, 0.3) if takes_eps else (eps, eps)
    inputs = [
        Input("typical rows (spread 1 to 3)", typical(main), eps),
        Input("narrow rows (spread 0.003)", (0.003 * small + 0.01).float().double(), other[0]),
        Input("tiny rows (spread 1e-5 and 1e-8)", tiny.float().double(), eps, is_flat=True),
        Input(
            "constant rows (spread 0)",
            torch.full(main, 0.5, dtype=torch.float64),
            eps,
            is_flat=True,
        ),
    ]
    if takes_eps:
        inputs.append(Input(f"typical rows with ε = {other[1]}", typical(main, 21), other[1]))
    for sizes in others:
        if sizes is not None:
            words = f"an input of shape {sizes}"
            inputs.append(Input(words, typical(sizes, 31 + len(sizes)), eps, True))
    return inputs


def parameter(shape: tuple[int, ...], seed: int) -> Tensor:
    """Return numbers for γ (seed 3) or β (seed 4), of both signs and none near 0 or 1."""
    x = _normal(shape, seed)
    return (x.sign() * (x.abs() + 0.4)).float().double()


def _normal(shape: tuple[int, ...], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _uniform(shape: tuple[int, ...], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator, dtype=torch.float64)
