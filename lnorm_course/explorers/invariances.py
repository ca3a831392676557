"""Which changes of weights and points a norm doesn't notice."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from torch import Tensor

from lnorm_course.explorers.engine.controls import Choice, Slider, Switch, one_of
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels, line
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, BLUE, VERMILION, WHITE, in_style, limits
from lnorm_utils.words import capitalized, number, significant

__all__ = ["explore_invariances"]

# Chosen so that in every state what changes does so visibly: 4 points, 4 outputs, 3 features.
X = torch.tensor([[1.0, -0.6, 0.4], [0.3, 0.9, -0.8], [-0.7, 0.5, 1.1], [1.3, 0.8, 0.6]]).double()
W = torch.tensor([[0.9, -0.3, 0.5], [-0.6, 0.8, 0.2], [0.4, 1.0, -0.7], [-0.2, -0.9, 0.6]]).double()
C = torch.tensor([0.5, -0.3, 0.6]).double()
SAME = 1e-9
STOPS = [-1, 0.5, 1.5, 2]
LEAST = 0.01
WEIGHT_NORM = "weight norm"


class Factor(Slider):
    """A slider that refuses numbers near 0, where a norm is 0/0 or a change too small to count."""

    def checked(self, name: str, value: Any) -> float:
        value = super().checked(name, value)
        if abs(value) < LEAST:
            raise ValueError(
                f"{name} must be at least {LEAST} away from 0, because with ε = 0 a norm of zeros "
                f"is 0/0, but {value!r} was given."
            )
        return value


class Change(NamedTuple):
    """What is done to points and weights, and what that does to the outputs x Wᵀ."""

    apply: Callable[[float], tuple[Tensor, Tensor]]  # s -> x, W
    effect: str


def _first(s: float) -> Tensor:
    return torch.tensor([[s], [1.0], [1.0], [1.0]]).double()


CHANGES = {
    "s W": Change(lambda s: (X, s * W), "all outputs get the same factor"),
    "W + s c": Change(lambda s: (X, W + s * C), "all outputs of a point get the same number added"),
    "one weight vector × s": Change(
        lambda s: (X, _first(s) * W), "one output of each point gets a factor"
    ),
    "s x": Change(lambda s: (s * X, W), "all outputs get the same factor"),
    "x + s c": Change(lambda s: (X + s * C, W), "each output gets a number of its own added"),
    "one point × s": Change(
        lambda s: (_first(s) * X, W), "the outputs of one point get the same factor"
    ),
}
NORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "batch norm": lambda a: standardize(a, dim=0, eps=0.0),
    WEIGHT_NORM: lambda w: w / w.norm(dim=1, keepdim=True),
    "layer norm": lambda a: standardize(a, eps=0.0),
    "RMSNorm": lambda a: a / a.square().mean(-1, keepdim=True).sqrt(),
}
PRESETS: Presets = {
    "all weights": {"change": "s W"},
    "one weight vector": {"change": "one weight vector × s"},
    "weights shifted": {"change": "W + s c"},
    "… with RMSNorm": {"change": "W + s c", "norm": "RMSNorm"},
    "points shifted, batch norm": {"change": "x + s c", "norm": "batch norm"},
    "negative factor": {"change": "s W", "amount": -1},
    "norm in front": {"change": "s W", "before": True},
}


@in_style
def explore_invariances(
    change: str = "s W",
    norm: str = "layer norm",
    amount: float = 2,
    before: bool = False,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore which of six changes of points and weights four norms don't notice.

    Four points with three features go through a linear map to four outputs, with ε = 0 and without
    γ and β. An output that moves by less than 1e-9 counts as the same.

    Args:
        change: what is done, such as "s W", "one weight vector × s" or "x + s c".
        norm: "batch norm", "weight norm", "layer norm" or "RMSNorm".
        amount: s, from −1 to 2, and at least 0.01 from 0.
        before: whether the norm stands in front of the linear map, and not behind it. Weight norm
            stands in neither place, because it normalizes W.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument is not one of those.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, section 5.1 and table 1.

    >>> explore_invariances(preset="one weight vector").words[-30:]
    'Layer norm notices the change.'
    """
    one_of(change, CHANGES, "change")
    one_of(norm, NORMS, "norm")
    picture, (points, weights, outputs) = fixed_panels(
        "Points, weights, and outputs of a layer, before and after a change",
        *(3, 3.25, 4.4),
        {"left": 0.055, "right": 0.99, "bottom": 0.13, "top": 0.81, "wspace": 0.2},
        width_ratios=(1, 1, 1.25),
    )
    every = [c.apply(s) for c, s in product(CHANGES.values(), STOPS)]
    results = [outputs_of(n, x, w, b) for n, (x, w), b in product(NORMS, every, (False, True))]
    panels = [
        _panel(points, X, [x for x, _ in every], "points x", "point"),
        _panel(weights, W, [w for _, w in every], "weights W", "output"),
        _panel(outputs, X @ W.T, results, "outputs", "point"),
    ]
    picture.legend(handles=panels[0].marks, loc="upper center", ncols=3)

    def move(change: str, norm: str, amount: float, before: bool) -> str:
        x, w = CHANGES[change].apply(amount)
        first, now = outputs_of(norm, X, W, before), outputs_of(norm, x, w, before)
        for panel, old, new in zip(panels, (X, W, first), (x, w, now), strict=True):
            panel.show(old, new)
        moved = (now - first).abs()
        return _words(change, norm, amount, before and norm != WEIGHT_NORM, moved)

    controls = {
        "change": Choice("change", change, CHANGES),
        "norm": Choice("norm", norm, NORMS),
        "amount": Factor("s", amount, STOPS),
        "before": Switch(
            "norm before W", before, when=lambda values: values["norm"] != WEIGHT_NORM
        ),
    }
    moving = [mark for panel in panels for mark in panel.marks]
    return Explorer(picture, moving, move, controls, PRESETS, preset, presets, view=2)


def outputs_of(norm: str, x: Tensor, w: Tensor, before: bool) -> Tensor:
    """Compute the outputs (N, K) of points (N, D) and weights (K, D) with this norm."""
    if norm == WEIGHT_NORM:
        return x @ NORMS[norm](w).T
    return NORMS[norm](x) @ w.T if before else NORMS[norm](x @ w.T)


class Panel(NamedTuple):
    """What moves in one panel: what was, what stayed, and what changed."""

    marks: list[Line2D]
    places: NDArray

    def show(self, old: Tensor, new: Tensor) -> None:
        """Show numbers before and after."""
        was, now = old.numpy().ravel(), new.numpy().ravel()
        same = np.abs(now - was) <= SAME
        for mark, values in zip(
            self.marks,
            (was, np.where(same, now, np.nan), np.where(same, np.nan, now)),
            strict=True,
        ):
            mark.set_data(self.places, values)


def _panel(ax: Axes, first: Tensor, every: list[Tensor], title: str, group: str) -> Panel:
    count, each = first.shape
    whole: dict[str, Any] = {"clip_on": False}  # at an edge, too
    marks = [
        line(ax, "o", color=WHITE, ms=11, mew=1.5, label="before", **whole),
        line(ax, "o", color=BLUE, ms=7, label="after, the same", **whole),
        line(ax, "^", color=VERMILION, ms=9, label="after, changed", **whole),
    ]
    low, high = limits(torch.stack(every).numpy())
    ax.set(title=title, xlim=(-0.5, count - 0.5), ylim=(low, high), xlabel=group)
    ax.set_xticks(range(count), [str(n) for n in range(count)])
    for edge in range(1, count):
        ax.axvline(edge - 0.5, color=BLACK, lw=0.5, zorder=0)
    ax.axhline(0, color=BLACK, lw=0.5, zorder=0)
    places = np.arange(count)[:, None] + np.linspace(-0.3, 0.3, each)
    return Panel(marks, places.ravel())


def _words(change: str, norm: str, amount: float, before: bool, moved: Tensor) -> str:
    what = re.sub(r"\bs\b", significant(amount), change).replace("+ −", "− ")
    effect = "" if before else f"Without a norm, {CHANGES[change].effect}. "
    place = "" if norm == WEIGHT_NORM else f" {'before' if before else 'after'} W"
    name = capitalized(norm)
    many = int((~(moved <= SAME)).sum())
    if not many:
        return (
            f"{what}: {effect}With {norm}{place}, all {moved.numel()} outputs stay the same. "
            f"{name} doesn't notice the change."
        )
    sign = " A negative factor flips signs." * (amount < 0 and "+" not in change)
    return (
        f"{what}: {effect}With {norm}{place}, {many} of {moved.numel()} outputs change, by up to "
        f"{number(moved.max())}.{sign} {name} notices the change."
    )
