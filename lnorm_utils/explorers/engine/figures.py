"""What several explorers draw: panels with fixed margins, lines with markers, histograms."""

from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from numpy.typing import ArrayLike, NDArray

from lnorm_utils.plotting.picture import BLACK, STYLE, Picture, new_picture

__all__ = ["count", "fixed_panels", "histogram", "in_style", "line", "whole_numbers"]

# A decorator: what the function draws has the fonts, the lines and the axes of the course.
in_style = matplotlib.rc_context(STYLE)


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


def histogram(ax: Axes, edges: NDArray, values: ArrayLike = (), **look: Any) -> StepPatch:
    """Draw a histogram of values with these edges of the bins."""
    return ax.stairs(np.histogram(values, edges)[0], edges, **look)


def count(bars: StepPatch, values: ArrayLike, empty: float = 0.0) -> None:
    """Let a histogram show the counts of other values; NaN for `empty` leaves out empty bins."""
    counts = np.histogram(values, bars.get_data()[1])[0]
    bars.set_data(np.where(counts, counts, empty))


def whole_numbers(axes: Iterable[Axis], **options: Any) -> None:
    """Let axes have ticks at whole numbers only."""
    for axis in axes:
        locator: Any = axis.get_major_locator()
        locator.set_params(integer=True, **options)
