"""Which changes to weights and points leave a norm's outputs the same."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lnorm_course.explorers.engine import WIDTH, Choice, Explorer, Slider, Switch, key, line, panel
from lnorm_utils.functional import standardize
from lnorm_utils.plotting.picture import BLACK, PINK, RIGHT, Picture, in_style, limits
from lnorm_utils.words import capitalized, number, significant

__all__ = ["explore_invariances"]

# 4 points, 4 outputs, and 3 features, chosen so that all changes are visible in every state.
X = torch.tensor([[1.0, -0.6, 0.4], [0.3, 0.9, -0.8], [-0.7, 0.5, 1.1], [1.3, 0.8, 0.6]]).double()
W = torch.tensor([[0.9, -0.3, 0.5], [-0.6, 0.8, 0.2], [0.4, 1.0, -0.7], [-0.2, -0.9, 0.6]]).double()
C = torch.tensor([0.5, -0.3, 0.6]).double()
FIRST = torch.tensor([[1.0], [0.0], [0.0], [0.0]]).double()  # s**FIRST is a column of s, 1, 1, 1
SAME = 1e-9  # outputs that change by less count as the same
STOPS = [-1, 0.5, 1.5, 2]
WEIGHT_NORM = "weight norm"


# Maps the name of each change to a function of s that returns the changed x and W, and to the
# effect on the outputs x Wᵀ.
CHANGES: dict[str, tuple[Callable[[float], tuple[Tensor, Tensor]], str]] = {
    "s W": (lambda s: (X, s * W), "all outputs get the same factor"),
    "W + s c": (lambda s: (X, W + s * C), "the same number is added to all outputs of a point"),
    "one weight vector × s": (lambda s: (X, s**FIRST * W), "one output of each point is scaled"),
    "s x": (lambda s: (s * X, W), "all outputs get the same factor"),
    "x + s c": (lambda s: (X + s * C, W), "each output has its own number added to it"),
    "one point × s": (lambda s: (s**FIRST * X, W), "all outputs of one point are scaled alike"),
}
NORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "batch norm": lambda a: standardize(a, dim=0, eps=0.0),
    WEIGHT_NORM: lambda w: w / w.norm(dim=1, keepdim=True),
    "layer norm": lambda a: standardize(a, eps=0.0),
    "RMSNorm": lambda a: a / a.square().mean(-1, keepdim=True).sqrt(),
}
CONTROLS = {
    "change": Choice("change", "s W", CHANGES),
    "norm": Choice("norm", "layer norm", NORMS),
    "amount": Slider("s", 2, STOPS),
    # Weight norm comes neither before nor after W, because it normalizes W itself.
    "before": Switch("norm before W", False, when=lambda values: values["norm"] != WEIGHT_NORM),
}
PRESETS: dict[str, dict[str, Any]] = {
    "all weights": {},
    "one weight vector": {"change": "one weight vector × s"},
    "weights shifted": {"change": "W + s c"},
    "… with RMSNorm": {"change": "W + s c", "norm": "RMSNorm"},
    "points shifted, batch norm": {"change": "x + s c", "norm": "batch norm"},
    "negative factor": {"amount": -1},
    "norm in front": {"before": True},
}


def _changed(change: str, norm: str, amount: float, before: bool) -> list[list[Tensor]]:
    """Compute points (4, 3), weights (4, 3), and outputs (4, 4), before and after a change."""
    pairs = (X, W), CHANGES[change][0](amount)
    return [[x, w, _outputs(norm, x, w, before)] for x, w in pairs]


def _outputs(norm: str, x: Tensor, w: Tensor, before: bool) -> Tensor:
    """Compute the outputs (N, K) for points (N, D) and weights (K, D), using the given norm."""
    if norm == WEIGHT_NORM:
        return x @ NORMS[norm](w).T
    return NORMS[norm](x) @ w.T if before else NORMS[norm](x @ w.T)


@in_style
def explore_invariances(preset: str | None = None, **start: Any) -> Explorer:
    """Explore which of six changes to points and weights go unnoticed by each of four norms.

    Source: Ba, Kiros & Hinton 2016, arXiv:1607.06450, section 5.1 and table 1.

    >>> explore_invariances(preset="one weight vector").words[-67:]
    'Layer norm after W notices: 16 of 16 outputs change, by up to 0.53.'
    """
    goes_in = Picture("the points and the weights of a layer", WIDTH, 2.8)
    comes_out, last = panel("its outputs, before and after a change", height=2.2)
    every = [_changed(*state) for state in product(CHANGES, NORMS, STOPS, (False, True))]
    axes, drawn = (*goes_in.subplots(2), last), []
    names = (("points x", "point"), ("weights W", "output"), ("outputs", "point"))
    for n, (ax, (name, group)) in enumerate(zip(axes, names, strict=True)):
        count, each = every[0][0][n].shape
        ax.set(xlim=(-0.5, count - 0.5), ylabel=name)
        ax.set_ylim(limits(torch.stack([after[n] for _, after in every]).numpy(), 0.1))
        ax.set_xticks(range(count), [f"{group} {place}" for place in range(count)])
        ax.tick_params(axis="x", length=0)
        for edge in range(1, count):
            ax.axvline(edge - 0.5, color=BLACK, lw=0.5, zorder=0)
        ax.axhline(0, color=BLACK, lw=0.5, zorder=0)
        at = (np.arange(count)[:, None] + np.linspace(-0.3, 0.3, each)).ravel()
        looks = {"o": ("none", 10), ".": (RIGHT, 7), "^": (PINK, 7)}
        drawn.append([line(ax, kind, at, mfc=c, ms=size) for kind, (c, size) in looks.items()])
        if n != 1:
            key(ax, ("○ before", BLACK), ("● after, the same", RIGHT), ("▲ changed", PINK))

    def show(found: list[list[Tensor]], change: str, norm: str, amount: float, before: bool) -> str:
        for marks, old, new in zip(drawn, *found, strict=True):
            was, now = old.numpy().ravel(), new.numpy().ravel()
            same = np.abs(now - was) <= SAME
            heights = was, np.where(same, now, np.nan), np.where(same, np.nan, now)
            for mark, values in zip(marks, heights, strict=True):
                mark.set_ydata(values)
        what = re.sub(r"\bs\b", significant(amount), change).replace("+ −", "− ")
        place = "" if norm == WEIGHT_NORM else " before W" if before else " after W"
        notices = "doesn't notice: no output changes."
        if many := int((~same).sum()):
            most = number(np.abs(now - was).max())
            notices = f"notices: {many} of {same.size} outputs change, by up to {most}."
        effect = f"{what}: without a norm, {CHANGES[change][1]}"
        return f"{effect}. {capitalized(norm)}{place} {notices}"

    panels = {goes_in: drawn[0] + drawn[1], comes_out: drawn[2]}
    return Explorer(panels, _changed, show, CONTROLS, PRESETS, preset, start)
