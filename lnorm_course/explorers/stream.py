"""The residual stream of a stack: its spread and gradients, for each placement of the norms."""

from typing import Any

import numpy as np
import traitlets

from lnorm_course.explorers import row
from lnorm_course.explorers.engine.controls import one_of
from lnorm_course.explorers.engine.stills import Still, of_record
from lnorm_utils.plotting import new_picture
from lnorm_utils.plotting.picture import BLUE, SPREAD
from lnorm_utils.words import counted, significant

__all__ = ["Stream", "explore_stream"]

SCRIPT, STYLE, RECORDED = of_record("stream")
PLACES = {"post": "post-LN", "pre": "pre-LN", "none": "no norm"}
# Presets limit the options so that students can't see a result before a lesson asks about it.
ONE = {"depths": [1], "depth": 1, "has": ["place"], "back": False, "place": "post"}
ONE |= {"final": "off", "own": "one"}
TWO = ONE | {"depths": [1, 2], "depth": 2, "place": "pre"}
DEEP = TWO | {"depths": RECORDED["depths"], "depth": 24, "has": ["place", "final"], "final": "on"}
BACK = DEEP | {"has": ["place", "final", "own"], "back": True, "place": "post"}
PRESETS: dict[str, dict[str, Any]] = {
    "1 block": ONE,
    "2 blocks, pre-LN": TWO,
    "6 blocks, pre-LN": DEEP | {"depths": RECORDED["depths"][:5], "depth": 6},
    "24 blocks, pre-LN": DEEP,
    "24 blocks, pre-LN, no final norm": DEEP | {"final": "off"},
    "24 blocks, post-LN, gradients": BACK,
    "24 blocks, post-LN, own directions": BACK | {"own": "own"},
}


class Stream(Still):
    """The widget of `explore_stream`; it draws recorded stacks in the browser."""

    _esm = SCRIPT
    _css = STYLE + row.STYLE
    _row = traitlets.Unicode(row.SCRIPT).tag(sync=True)  # draws the row that opens on a tap
    alt = "Residual blocks around a trunk, which is as wide as the spread of the rows in it"

    def __init__(self, page: dict[str, Any]) -> None:
        super().__init__(page)
        place, depth = page["place"], page["depth"]
        leaves = [leaves for *_, leaves in RECORDED["spreads"][place][:depth]]
        self.after, self.back = [RECORDED["enters"], *leaves], []
        first, last = (significant(self.after[end], 2) for end in (0, -1))
        self.words = f"{PLACES[place]}: the spread is {first} before the first block, and {last} "
        self.words += f"after {counted(depth, 'block')}."
        if page["back"]:  # the presets with gradients always start with post-LN
            kind = f"{place}{', own directions' * (page['own'] == 'own')}"
            self.back = RECORDED["gradients"][kind][f"{depth}"]
            first, last = (significant(self.back[end], 2) for end in (0, -1))
            self.words += f" The gradient norm is {first} in block 1, and {last} in block {depth}."

    def png(self) -> bytes:
        """Draw the still image: the trunk, and next to it the gradients if there are any."""
        picture, (axes,) = new_picture(self.alt, 1, 2 if self.back else 1, 5.5, 3.2)
        places, half = np.arange(len(self.after)), np.array(self.after) / 2
        axes[0].fill_betweenx(places, -half, half, color=SPREAD, alpha=0.5)
        axes[0].set(xlim=(-2.5, 2.5), title="spread", ylabel="after block")
        if self.back:
            norms = np.array(self.back)
            axes[1].barh(places[1:] - 0.5, norms, 0.8, -norms / 2, color=BLUE)
            axes[1].set(xlim=(-25, 25), title="gradient norm")
        for ax in axes:
            ax.set(ylim=(places[-1], 0), xticks=[], yticks=places[:: 4 if len(places) > 9 else 1])
        return picture.png()


def explore_stream(preset: str = "24 blocks, pre-LN") -> Stream:
    """Explore the residual stream of a stack: move the norms, and see how wide it becomes.

    Args:
        preset: what to start with, such as "1 block" or "24 blocks, post-LN, own directions"; the
            latter also draws the gradients of the blocks.

    Raises:
        ValueError: `preset` is unknown.

    Source: Xiong et al. 2020, arXiv:2002.04745, theorem 1 and figure 3, for transformers.

    >>> explore_stream("2 blocks, pre-LN").words
    'pre-LN: the spread is 0.98 before the first block, and 1.4 after 2 blocks.'
    """
    return Stream(PRESETS[one_of(preset, PRESETS, "preset")])
