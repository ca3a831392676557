"""Lesson 10: the scale along the residual stream, by depth and place of the norm."""

import numpy as np
from numpy.typing import ArrayLike

from lnorm_course.explorers.engine.controls import Choice, Slider
from lnorm_course.explorers.engine.explorer import Explorer, Presets
from lnorm_course.explorers.engine.figures import fixed_panels
from lnorm_course.explorers.residual import DEPTHS, PLACEMENTS, line_panel, stacks_at, told
from lnorm_utils.plotting.picture import in_style

__all__ = ["explore_stream"]

PRESETS: Presets = {
    "24 blocks, pre-LN": {"depth": 24, "placement": "pre-LN"},
    "24 blocks, post-LN": {"depth": 24, "placement": "post-LN"},
    "24 blocks, no norm": {"depth": 24, "placement": "no norm"},
    "6 blocks, pre-LN": {"depth": 6, "placement": "pre-LN"},
}
ENDS = {
    "pre-LN": ", which a final norm brings back to 1",
    "post-LN": ", because each block ends in a norm",
    "no norm": ", which a final norm brings back to 1",
}
SMALL = 0.1  # from here on, ε is nothing beside the variance


@in_style
def explore_stream(
    depth: int = 6,
    placement: str = "pre-LN",
    x: ArrayLike | None = None,
    preset: str | None = None,
    presets: Presets | None = None,
) -> Explorer:
    """Explore how the scale of the stream depends on depth and on the norm's place.

    The stacks, and what is drawn of them, are those of `explore_residual`.

    Args:
        depth: the number of blocks, from 2 to 24.
        placement: "post-LN", "pre-LN" or "no norm".
        x: (N, D) or (N, L, D), what enters the stream, at most 256 rows of at most 128 features,
            in place of 64 random rows of 64.
        preset, presets: the preset to start with, and more of them, as in `Explorer`.

    Raises:
        ValueError: an argument has another shape or range, or a value is not finite.

    Source: Xiong et al. 2020, arXiv:2002.04745, lemma 2, for the scale in pre-LN.

    >>> explore_stream(preset="24 blocks, pre-LN").words[:47]
    '24 blocks, pre-LN. The stream begins with scale'
    """
    stacks = stacks_at(x)
    picture, (ax,) = fixed_panels(
        "Scale of the stream after each block",
        *(1, 6.7, 3.6),
        {"left": 0.1, "right": 0.985, "bottom": 0.14, "top": 0.87},
    )
    every = [stacks.scales(depth, place) for depth in DEPTHS for place in PLACEMENTS.values()]
    panel = line_panel(ax, "scale of the stream", "after block", every)
    shown = [*panel.medians.values(), panel.ends[0]]
    picture.legend(handles=shown, loc="upper center", ncols=4, columnspacing=1.2, fontsize=10)

    def move(depth: int, placement: str) -> str:
        scales = {name: stacks.scales(depth, place) for name, place in PLACEMENTS.items()}
        panel.show(scales, placement)
        course = np.median(scales[placement], axis=0)
        return (
            f"{depth} blocks, {placement}. The stream begins with scale {told(course[0])} and ends "
            f"with {told(course[-1])}{ENDS[placement] if course[-1] > SMALL else ''}."
        )

    controls = {
        "depth": Slider("number of blocks", depth, DEPTHS),
        "placement": Choice("place of the norm", placement, PLACEMENTS),
    }
    return Explorer(picture, panel.all, move, controls, PRESETS, preset, presets)
