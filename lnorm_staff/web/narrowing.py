"""Arrange a picture without sliders for a phone: panels below each other."""

import textwrap
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.legend import Legend

from lnorm_course.explorers.engine.arrangements import NARROW, Arrangement
from lnorm_course.explorers.engine.drawing import POINTS_PER_INCH
from lnorm_utils.plotting.picture import Picture

__all__ = ["for_phone"]

MARGIN = 0.06  # inches, at the edges of the picture and between panels
LAST = 0.15  # inches, for half of the last number along an axis
GAP = 0.1  # inches, between a legend and the panels
LEAST = 0.5  # of its width is what a panel may be squeezed to


@dataclass(frozen=True)
class Panel:
    """A panel and the room around it for numbers, labels and titles, all in inches."""

    width: float
    height: float
    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def of(cls, ax: Axes) -> "Panel":
        inner, outer = ax.get_window_extent(), ax.get_tightbbox()
        if outer is None:  # it shows nothing
            outer = inner
        sizes = (
            inner.width,
            inner.height,
            inner.x0 - outer.x0,
            outer.x1 - inner.x1,
            inner.y0 - outer.y0,
            outer.y1 - inner.y1,
        )
        return cls(*(max(size, 0) / POINTS_PER_INCH for size in sizes))


def for_phone(picture: Picture, legends: tuple[Legend, ...]) -> Arrangement:
    """Arrange a picture for a phone; titles that are too wide get more lines.

    Args:
        picture: laid out and drawn already, with 72 dots an inch.
        legends: those that are seen, as wide as a phone at most.
    """
    _break_texts(picture)
    axes, columns, rows = _in_order(picture)
    panels = [Panel.of(ax) for ax in axes]
    left, right = (max(getattr(panel, side) for panel in panels) for side in ("left", "right"))
    wide = max(panel.width for panel in panels)
    right = max(right, LAST)

    def width(across: int) -> float:
        return (NARROW - MARGIN) / across - left - right - MARGIN

    fits = [n for n in range(columns, 0, -1) if width(n) >= min(LEAST * wide, wide)]
    across = fits[0] if fits else 1
    if rows > 1 and across < columns:  # what was below each other is now side by side, or stays so
        axes = sorted(axes, key=lambda ax: _place(ax)[::-1])
        across = rows if across >= rows else 1
    scale = width(across) / wide
    heights = []
    for start in range(0, len(axes), across):
        line = [Panel.of(ax) for ax in axes[start : start + across]]
        square = any(ax.get_aspect() == 1 for ax in axes[start : start + across])
        inner = max(panel.height * (min(scale, 1) if square else 1) for panel in line)
        heights.append((max(p.bottom for p in line), inner, max(p.top for p in line)))
    above, below = _room(picture, legends)
    total = sum(map(sum, heights)) + MARGIN * (len(heights) + 1) + above + below
    places = {}
    ceiling = total - above
    for number, (bottom, inner, top) in enumerate(heights):
        floor = ceiling - MARGIN - top - inner
        for column, ax in enumerate(axes[number * across :][:across]):
            x = MARGIN + column * (NARROW - MARGIN) / across + left
            places[ax] = (x, floor, width(across), inner)
        ceiling = floor - bottom
    own_places = tuple(places[ax] for ax in picture.axes)
    return Arrangement(NARROW, total, own_places, frozenset(), legends)


def _break_texts(picture: Picture) -> None:
    """Break titles that are too wide, and what stands on the right of a panel."""
    picture.draw_without_rendering()  # a file may have been written with more dots an inch
    most = (NARROW - 4 * MARGIN) * POINTS_PER_INCH
    for ax in picture.axes:
        width, title = ax.title.get_window_extent().width, ax.get_title()
        if width > most and "\n" not in title:
            ax.set_title(textwrap.fill(title, int(0.9 * len(title) * most / width)))
        for text in ax.texts:
            if text.get_window_extent().x0 > ax.get_window_extent().x1:
                text.set_text(text.get_text().replace(" = ", "\n= "))
    picture.draw_without_rendering()


def _place(ax: Axes) -> tuple[int, int]:
    """Return the row and the column of a panel."""
    spec = ax.get_subplotspec()
    return (spec.rowspan.start, spec.colspan.start) if spec else (0, 0)


def _in_order(picture: Picture) -> tuple[list[Axes], int, int]:
    """Return the panels row by row, and how many columns and rows they have."""
    axes = sorted(picture.axes, key=_place)
    rows, columns = zip(*map(_place, axes), strict=True)
    return axes, max(columns) + 1, max(rows) + 1


def _room(picture: Picture, legends: tuple[Legend, ...]) -> tuple[float, float]:
    """Return how high the legends above and below the panels are, in inches."""
    middle = picture.get_size_inches()[1] * POINTS_PER_INCH / 2
    boxes = [legend.get_window_extent() for legend in legends]
    above = [box.height / POINTS_PER_INCH + GAP for box in boxes if box.y1 > middle]
    below = [box.height / POINTS_PER_INCH + GAP for box in boxes if box.y1 <= middle]
    return sum(above), sum(below)
