"""How far layer norms with a mistake are from PyTorch's, and which of them a test catches."""

import math

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Slider, Switch, powers_of_ten
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_course.explorers.engine.own_data import rows_of
from lnorm_course.lessons.wrong_norms import (
    AFFINE_LEFT_OUT,
    EPS_OUTSIDE,
    ONE_PASS,
    UNBIASED,
    Norm,
    in_dtype_of_x,
)
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm, mean
from lnorm_utils.plotting.picture import BLACK, GRAY, PINK, SKY, YELLOW, in_style
from lnorm_utils.words import significant

__all__ = ["explore_broken"]

MOST_POINTS, MOST_FEATURES = 16, 64
POINTS, FEATURES = 4, 8  # at the start
LARGEST = 1e15
TOLERANCE = 1e-4
EQUAL = 2e-6  # what is less is rounding
FLOOR, CEILING = 1e-6, 1e4
OFF = 1e6  # where NaN is drawn, off the scale
RIGHT = "the right one"
SLIPPED: dict[str, tuple[Norm, int | tuple[int, ...]]] = {
    "ε outside the root": (EPS_OUTSIDE, -1),
    "E[x²] − E[x]²": (ONE_PASS, -1),
    "γ and β left out": (AFFINE_LEFT_OUT, -1),
    "mean over the batch too": (in_dtype_of_x, (0, 1)),
    "unbiased variance": (UNBIASED, -1),
}
VARIANTS = [RIGHT, *SLIPPED]
PRESETS: Presets = {
    "randn(4, 8)": {},
    "ε = 0.1": {"eps": 0.1},
    "an offset of 10,000": {"offset": 1e4},
    "tiny spread": {"spread": 1e-3},
    "one point": {"points": 1},
    "a good test": {"offset": 100.0, "eps": 0.1, "trained": True},
}


@in_style
def explore_broken(
    points: int | None = None,
    features: int | None = None,
    offset: float = 0.0,
    spread: float = 1.0,
    eps: float = 1e-5,
    trained: bool = False,
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore on which data a layer norm with a mistake differs from PyTorch's enough to be caught.

    All layers compute in float32. What they are compared with are the numbers of `nn.LayerNorm` in
    float64, for the same input.

    Args:
        points: how many rows the input has, from 1 to 16; 4 at the start, or all of x.
        features: D, from 2 to 64; 8 at the start, or all of x.
        offset: added to all numbers, from 0 to 1e6.
        spread: what the numbers are multiplied by before that, from 1e-4 to 10. Without x it is
            their standard deviation.
        eps: ε, from 1e-8 to 0.1.
        trained: whether γ and β have been learned, or are still 1 and 0.
        x: (N, D) or (N, L, D), at most 16 rows of 2 to 64 features, with numbers up to 1e15, in
            place of random rows.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3, for the right one.

    >>> explore_broken(preset="one point").words[-42:]
    'γ and β left out, mean over the batch too.'
    """
    picture, (ax,) = fixed_panels(
        "Largest difference between layer norms with a mistake and PyTorch's",
        *(1, 6.7, 3.6),
        {"left": 0.285, "right": 0.97, "bottom": 0.15, "top": 0.85},
    )
    bars, missed, caught, nan = _panel(ax)
    picture.legend(handles=[missed, caught, nan], loc="upper center", ncols=3, fontsize=10)
    base = normal(MOST_POINTS, MOST_FEATURES, seed=91) if x is None else _own_rows(x)
    rows, columns = base.shape
    gamma, beta = 1 + 0.5 * normal(MOST_FEATURES, seed=92), normal(MOST_FEATURES, seed=93)

    def move(
        points: int, features: int, offset: float, spread: float, eps: float, trained: bool
    ) -> str:
        given = offset + spread * base[:points, :features]
        learned = (gamma[:features], beta[:features]) if trained else None
        distances = differences(given, eps, learned)
        _set_panel(bars, (missed, caught, nan), distances)
        deviation = spread if x is None else spread * base.std(correction=0).item()
        return f"{_verdict(distances)}{_rounded(given, offset, deviation)}"

    if points is None:
        points = POINTS if x is None else rows
    if features is None:
        features = FEATURES if x is None else columns
    controls = {
        "points": Slider("number of points, N", points, range(1, rows + 1)),
        "features": Slider("number of features, D", features, range(2, columns + 1)),
        "offset": Slider("offset", offset, [0.0, *powers_of_ten(0, 6)]),
        "spread": Slider("spread", spread, powers_of_ten(-4, 1)),
        "eps": Slider("ε", eps, powers_of_ten(-8, -1)),
        "trained": Switch("γ and β have been trained", trained),
    }
    moving = [bars, missed, caught, nan]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets)


def _own_rows(x: ArrayLike) -> Tensor:
    """Return rows (N, D) in float32, as all layers here compute."""
    rows = rows_of(x, least=(1, 2), most=(MOST_POINTS, MOST_FEATURES))
    if rows.abs().max() > LARGEST:
        raise ValueError(
            f"This explorer needs numbers from {significant(-LARGEST)} to {significant(LARGEST)}, "
            f"but got {significant(rows.flatten()[rows.abs().argmax()])}."
        )
    return rows.float()


def differences(x: Tensor, eps: float, learned: tuple[Tensor, Tensor] | None) -> NDArray:
    """Compute how far each variant is from PyTorch at most; NaN where it gives NaN."""
    size = x.shape[-1:]
    weight, bias = learned or (torch.ones(size), torch.zeros(size))
    exact = torch.nn.functional.layer_norm(x.double(), size, weight.double(), bias.double(), eps)
    # Without the offset where it changes nothing, so that the slip shows and not its rounding.
    start = dict.fromkeys(SLIPPED, x - mean(x))
    start |= {"E[x²] − E[x]²": x, "mean over the batch too": x - mean(x, (0, 1))}
    outputs = {
        name: norm(start[name], weight, bias, dim, eps) for name, (norm, dim) in SLIPPED.items()
    }
    outputs[RIGHT] = layer_norm(x, size, weight, bias, eps)
    y = torch.stack([outputs[name] for name in VARIANTS])
    return (y - exact).abs().amax((1, 2)).numpy()


def _panel(ax: Axes) -> list[Line2D]:
    """Draw the axes, and return what moves: bars, and dots of three kinds."""
    bars = line(ax, "-", color=GRAY, lw=6, solid_capstyle="butt", zorder=1)
    look = {"ms": 11, "mew": 0.7}
    dots = [
        line(ax, "o", color=SKY, label="within the tolerance", **look),
        line(ax, "D", color=PINK, label="caught", **look),
        line(ax, "X", color=YELLOW, label="caught, because it gives NaN", **look),
    ]
    ax.axvline(TOLERANCE, color=BLACK, ls="--", lw=1.5, zorder=0)
    ax.axvline(math.sqrt(CEILING * OFF), color=BLACK, lw=1, zorder=0)
    ax.text(1.8 * TOLERANCE, -0.72, "tolerance", va="center", fontsize=10)
    ax.set(xscale="log", xlim=(0.3 * FLOOR, 4 * OFF), ylim=(len(VARIANTS) - 0.5, -1.0))
    ax.set_yticks(range(len(VARIANTS)), VARIANTS, fontsize=10)
    ticks = [1e-4, 1e-2, 1, 100, CEILING]
    names = [f"< {significant(EQUAL)}", *map(significant, ticks), "NaN"]
    ax.set_xticks([FLOOR, *ticks, OFF], names)
    ax.minorticks_off()
    ax.set_xlabel("difference from nn.LayerNorm")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=GRAY, lw=0.5)
    ax.set_axisbelow(True)
    return [bars, *dots]


def _set_panel(bars: Line2D, dots: tuple[Line2D, Line2D, Line2D], distances: NDArray) -> None:
    places = np.where(distances < EQUAL, FLOOR, np.minimum(distances, CEILING))  # NaN stays
    rows = np.arange(len(places))
    ends = np.stack([np.full_like(places, FLOOR), places, np.full_like(places, np.nan)], 1)
    bars.set_data(ends.ravel(), np.repeat(rows, 3))
    is_nan = np.isnan(distances)
    is_caught = ~is_nan & (distances > TOLERANCE)
    for kind, mask in zip(dots, (~is_nan & ~is_caught, is_caught, is_nan), strict=True):
        kind.set_data(np.nan_to_num(places[mask], nan=OFF), rows[mask])


def _rounded(x: Tensor, offset: float, spread: float) -> str:
    """Say so where the spread is below the spacing of float32 numbers at the offset."""
    if spread >= np.spacing(np.float32(offset)):
        return ""
    tells = "no longer tells" if (x == x[:, :1]).all() else "hardly tells"
    return f" Float32 {tells} these numbers apart."


def _verdict(distances: NDArray) -> str:
    """Say which mistakes a tolerance of 1e-4 catches, and which ones pass."""
    told = dict(zip(VARIANTS, distances, strict=True))
    is_right = not told.pop(RIGHT) > TOLERANCE
    caught = [
        f"{name} (NaN)" if np.isnan(d) else name for name, d in told.items() if not d <= TOLERANCE
    ]
    missed = [name for name, d in told.items() if d <= TOLERANCE]
    count = f"{len(caught)} of {len(told)}" if missed else f"all {len(told)}"
    sentence = f"A tolerance of 1e−4 catches {count} mistakes: {', '.join(caught)}."
    passing = f" These get away: {', '.join(missed)}." if missed else ""
    return sentence + passing + ("" if is_right else " The right one differs as well.")
