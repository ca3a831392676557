"""What several explorers draw: panels with fixed margins, lines with markers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from lnorm_utils.plotting.picture import BLACK, Picture, new_picture

__all__ = ["fixed_panels", "line"]


def fixed_panels(
    alt: str,
    columns: int,
    width: float,
    height: float,
    margins: Mapping[str, float],
    **options: Any,
) -> tuple[Picture, list[Axes]]:
    """Make panels side by side whose places do not depend on what is drawn in them.

    Args:
        alt: what the picture shows, in one phrase.
        columns: how many panels.
        width, height: of one panel, in inches.
        margins: the arguments of `subplots_adjust`.
        options: those of `subplots`, such as `sharey`.
    """
    picture, axes = new_picture(alt, 1, columns, width, height, layout=None, **options)
    picture.subplots_adjust(**margins)
    return picture, list(axes[0])


def line(ax: Axes, kind: str, x: ArrayLike = (), y: ArrayLike | None = None, **look: Any) -> Line2D:
    """Draw a line or markers, of Matplotlib's kind such as "o-"; markers have a black edge.

    Without `y`, all points are at height zero until `set_data` or `set_ydata` moves them.
    """
    y = np.zeros(np.shape(x)) if y is None else y
    return ax.plot(x, y, kind, **{"mec": BLACK, **look})[0]
