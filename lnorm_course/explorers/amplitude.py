"""Lesson 3: what ε inside or outside the square root does to a row with a small spread."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from lnorm_course.explorers.engine import Explorer, Slider, key, line, panel, powers_of_ten
from lnorm_utils.data import normal
from lnorm_utils.functional import standardize, variance
from lnorm_utils.plotting.picture import BLACK, DATA, GRAY, LAYER_NORM, SPREAD, in_style
from lnorm_utils.words import number, significant

__all__ = ["explore_amplitude"]

# The axis of σ is linear from 0 to 0.0001. The curves look bent there, so they need points, too.
DRAWN = np.array([0, *powers_of_ten(-6, -5), *powers_of_ten(-5, 0, each=8)[1:]])
BEFORE, AFTER = 1.2, 0  # the heights of the two strips of dots
CONTROLS = {
    "amplitude": Slider("σ of the row before", 1.0, [0, *powers_of_ten(-4, 0, each=8)]),
    "eps": Slider("ε", 1e-5, powers_of_ten(-8, 0)),
}
PRESETS: dict[str, dict[str, Any]] = {
    "far above √ε": {},
    "as small as √ε": {"amplitude": 0.00316},
    "far below √ε": {"amplitude": 1e-4},
    "ε = 0.1 is too large for this row": {"amplitude": 0.0316, "eps": 0.1},
    "constant row": {"amplitude": 0},
}


class _Normed(NamedTuple):
    """A row (64,) before and after layer norm, the σ of the result, and two curves.

    `inside` and `outside` are σ after layer norm for each σ in `DRAWN`, with ε inside or
    outside the square root.
    """

    x: NDArray
    y: NDArray
    sigma: float
    inside: NDArray
    outside: NDArray


def _shape() -> torch.Tensor:
    """Return a row (64,) with mean 0 and standard deviation 1."""
    return standardize(normal(64, seed=3).double(), eps=0.0)


def _normed(amplitude: float, eps: float) -> _Normed:
    """Normalize the row scaled to standard deviation `amplitude`, and to each σ in `DRAWN`."""
    x = torch.tensor([amplitude, *DRAWN])[:, None] * _shape()
    y = standardize(x, eps=eps)
    sigma, *inside = variance(y).sqrt().flatten().tolist()
    return _Normed(x[0].numpy(), y[0].numpy(), sigma, np.array(inside), DRAWN / (DRAWN + eps))


@in_style
def explore_amplitude(preset: str | None = None, **start: Any) -> Explorer:
    """Explore the standard deviation of a row after layer norm.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, equation 3; ε is inside the square root, as
    in PyTorch.

    >>> explore_amplitude(preset="as small as √ε").words[46:73]
    'After layer norm it is 0.71'
    """
    row = _shape().numpy()
    strips, left = panel("a row before and after layer norm", xlabel="value", ylim=(-0.6, 2))
    left.set_xlim(-1.1 * np.abs(row).max(), 1.1 * np.abs(row).max())
    left.set_yticks([BEFORE, AFTER], ["before", "after"], rotation=90, va="center")
    left.tick_params(axis="y", length=0)
    key(left, ("○ if ε were 0", "#767676"), ("|–| mean ± σ", SPREAD))
    heights = 0.28 * np.linspace(-1, 1, len(row) + 2)[1:-1]
    exact = line(left, "o", row, AFTER + heights, ms=6, mfc="none", mec=GRAY)
    dots = [
        line(left, "o", row, height + heights, color=DATA, ms=5, mew=0.5)
        for height in (BEFORE, AFTER)
    ]
    sizes = [line(left, "|-", color=SPREAD, mec=SPREAD, ms=10, mew=2.5) for _ in dots]
    above: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 11}
    texts = [left.text(0, height + 0.4, "", **above) for height in (BEFORE, AFTER)]

    curves, right = panel("its σ after against its σ before", xlabel="σ before", ylabel="σ after")
    right.set_xscale("symlog", linthresh=1e-4, linscale=0.5)
    right.set(xlim=(-2e-5, 1.5), ylim=(0, 1.08))
    ticks = [0, *powers_of_ten(-3, 0, each=1)]
    right.set_xticks(ticks, [significant(tick) for tick in ticks])
    right.axhline(1, color=GRAY, lw=1.5, zorder=0)
    key(right, ("– ε inside √", LAYER_NORM), ("- - outside", BLACK), ("★ this row", SPREAD))
    outside = line(right, "--", DRAWN, color=BLACK)
    inside = line(right, "-", DRAWN, color=LAYER_NORM)
    here = line(right, "*", color=SPREAD, ms=17, clip_on=False)

    def show(found: _Normed, amplitude: float, eps: float) -> str:
        inside.set_ydata(found.inside)
        outside.set_ydata(found.outside)
        here.set_data([amplitude], [found.sigma])
        exact.set_visible(amplitude > 0)
        both = (found.x, amplitude, BEFORE), (found.y, found.sigma, AFTER)
        for dot, size, text, (x, sigma, height) in zip(dots, sizes, texts, both, strict=True):
            dot.set_xdata(x)
            size.set_data([-sigma, 0, sigma], [height - 0.38] * 3)
            text.set_text(f"σ = {number(sigma, beside=0)}")
        if amplitude == 0:
            return (
                "All 64 features are equal, so without ε, layer norm would divide 0 by 0. With ε, "
                "inside the square root or outside, every feature becomes 0."
            )
        return (
            f"Before, σ is {significant(amplitude)}, which is {number(amplitude / math.sqrt(eps))} "
            f"times √ε. After layer norm it is {number(found.sigma)}; with ε outside the square "
            f"root it would be {number(amplitude / (amplitude + eps))}."
        )

    panels: Any = {strips: [exact, *dots, *sizes, *texts], curves: [outside, inside, here]}
    return Explorer(panels, _normed, show, CONTROLS, PRESETS, preset, start)
