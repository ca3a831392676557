"""How much layer norms with a mistake differ from PyTorch's, and which mistakes a test catches."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine import Explorer, Slider, Switch, key, line, panel
from lnorm_course.lessons import wrong_norms
from lnorm_utils.data import normal
from lnorm_utils.functional import layer_norm, mean
from lnorm_utils.plotting.picture import BLACK, DATA, GRAY, RIGHT, in_style
from lnorm_utils.words import significant

__all__ = ["explore_broken"]

TOLERANCE = 1e-4
EQUAL = 2e-6  # smaller differences are only rounding errors
FLOOR, CEILING = 1e-6, 1e4
OFF = 1e6  # the position of NaN, beyond the scale
SLIPPED: dict[str, tuple[wrong_norms.NormFunction, int | tuple[int, ...]]] = {
    "ε outside the root": (wrong_norms.EPS_OUTSIDE, -1),
    "E[x²] − E[x]²": (wrong_norms.ONE_PASS, -1),
    "γ and β left out": (wrong_norms.AFFINE_LEFT_OUT, -1),
    "mean over the batch too": (wrong_norms.in_dtype_of_x, (0, 1)),
    "unbiased variance": (wrong_norms.UNBIASED, -1),
}
VARIANTS = ["the right one", *SLIPPED]
CONTROLS = {
    "points": Slider("number of points, N", 4, [1, 2, 4, 16]),
    "features": Slider("number of features, D", 8, [2, 8, 64]),
    "offset": Slider("offset", 0.0, [0.0, 1.0, 100.0, 1e4, 1e6]),
    "spread": Slider("spread", 1.0, [1e-3, 0.01, 0.1, 1.0]),
    "eps": Slider("ε", 1e-5, [1e-8, 1e-5, 1e-3, 0.1]),
    "trained": Switch("γ and β have been trained", False),
}
PRESETS: dict[str, dict[str, Any]] = {
    "randn(4, 8)": {},
    "ε = 0.1": {"eps": 0.1},
    "an offset of 10,000": {"offset": 1e4},
    "tiny spread": {"spread": 1e-3},
    "one point": {"points": 1},
    "a good test": {"offset": 100.0, "eps": 0.1, "trained": True},
}


def _compared(
    points: int, features: int, offset: float, spread: float, eps: float, trained: bool
) -> NDArray:
    """Return each variant's largest error in float32, compared with PyTorch's norm in float64."""
    x = offset + spread * normal(16, 64, seed=91)[:points, :features]
    size = x.shape[-1:]
    weight, bias = torch.ones(size), torch.zeros(size)
    if trained:
        weight = 1 + 0.5 * normal(64, seed=92)[:features]
        bias = normal(64, seed=93)[:features]
    exact = torch.nn.functional.layer_norm(x.double(), size, weight.double(), bias.double(), eps)
    y = torch.stack([layer_norm(x, size, weight, bias, eps), *_slipped(x, weight, bias, eps)])
    return (y - exact).abs().amax((1, 2)).numpy()


def _slipped(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> list[Tensor]:
    """Compute the outputs of the layers with a mistake."""
    # Where the offset changes nothing, it's removed, so that rounding doesn't hide the mistake.
    start = dict.fromkeys(SLIPPED, x - mean(x))
    start |= {"E[x²] − E[x]²": x, "mean over the batch too": x - mean(x, (0, 1))}
    return [norm(start[name], weight, bias, dim, eps) for name, (norm, dim) in SLIPPED.items()]


@in_style
def explore_broken(preset: str | None = None, **start: Any) -> Explorer:
    """Explore which data make a faulty layer norm differ enough from PyTorch's to be caught.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equations 3 and 4, for the correct norm.

    >>> explore_broken(preset="one point").words[:54]
    'A tolerance of 1e−4 catches unbiased variance. It miss'
    """
    picture, ax = panel("differences from PyTorch of layer norms with a mistake", 3.4, xscale="log")
    ax.set(xlim=(0.5 * FLOOR, 5 * OFF), ylim=(len(VARIANTS) - 0.6, -1.05), yticks=[])
    ticks = [1e-4, 1e-2, 1, 100, CEILING]
    names = [f"< {significant(EQUAL)}", *map(significant, ticks), "NaN"]
    ax.set_xticks([FLOOR, *ticks, OFF], names)
    ax.minorticks_off()
    ax.set_xlabel("difference from nn.LayerNorm")
    ax.grid(axis="x", color=GRAY, lw=0.5)
    ax.set_axisbelow(True)
    ax.axvline(TOLERANCE, color=BLACK, ls="--", lw=1.5, zorder=0)
    ax.axvline(math.sqrt(CEILING * OFF), color=BLACK, lw=1, zorder=0)
    ax.text(1.5 * TOLERANCE, -0.85, "tolerance", va="center", fontsize=10)
    for row, name in enumerate(VARIANTS):
        white = {"fc": "white", "ec": "none", "pad": 1}
        ax.text(FLOOR, row - 0.44, name, va="center", fontsize=10, bbox=white)
    key(ax, ("● missed", DATA), ("◆ caught", RIGHT), ("✖ caught: NaN", BLACK))
    bars = line(ax, "-", color=GRAY, lw=5, solid_capstyle="butt")
    kinds = (("o", DATA), ("D", RIGHT), ("X", BLACK))
    dots = [line(ax, kind, color=color, ms=9, mew=0.7) for kind, color in kinds]

    def show(distances: NDArray, offset: float, spread: float, **_: Any) -> str:
        places = np.where(distances < EQUAL, FLOOR, np.minimum(distances, CEILING))  # NaN stays NaN
        rows, ends = np.arange(len(places)), np.full((len(places), 3), np.nan)
        ends[:, 0], ends[:, 1] = FLOOR, places
        bars.set_data(ends.ravel(), np.repeat(rows, 3))
        is_nan, is_missed = np.isnan(distances), distances <= TOLERANCE
        for kind, mask in zip(dots, (is_missed, ~is_missed & ~is_nan, is_nan), strict=True):
            kind.set_data(np.nan_to_num(places[mask], nan=OFF), rows[mask])
        mistakes = [*zip(SLIPPED, is_missed[1:], strict=True)]
        caught, missed = ([name for name, got in mistakes if got == to] for to in (False, True))
        is_blurred = spread < np.spacing(np.float32(offset))
        begin = "Float32 hardly tells these numbers apart: a" if is_blurred else "A"
        return (
            f"{begin} tolerance of 1e−4 catches {', '.join(caught) or 'nothing'}. It "
            f"misses {', '.join(missed) or 'nothing'}."
        )

    return Explorer({picture: [bars, *dots]}, _compared, show, CONTROLS, PRESETS, preset, start)
