"""Arrange the panels of a picture anew where there is less room than it was drawn for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from lnorm_utils.explorers.engine.drawing import POINTS_PER_INCH

__all__ = ["Arrangement", "arrangements"]

# Inches, so that text of 10 pt is 12 pixels high: in the 588 pixels that JupyterLab leaves beside
# its list of files on a screen of 1024 × 768, and in 360.
HALF, NARROW = 6.7, 3.9
# Inches: around a legend; the height of a panel in a narrow picture, what is over and right of it.
ROOM, PANEL, TITLE, RIGHT = 0.15, 2.7, 0.45, 0.15
BETWEEN = 3  # points between the numbers along an axis

Place = tuple[float, float, float, float]  # left, bottom, width and height, in inches


@dataclass(frozen=True)
class Arrangement:
    """A size of a picture, and where its panels are.

    Args:
        width, height: in inches.
        places: of each of the axes, in inches.
        rigid: the numbers of axes that keep their size, for they hold only text.
        legends: those that are seen.
    """

    width: float
    height: float
    places: tuple[Place, ...]
    rigid: frozenset[int]
    legends: tuple[Legend, ...]

    def apply(self, picture: Figure) -> None:
        """Arrange a picture so."""
        across, up = self.width, self.height
        picture.set_size_inches(across, up)
        for ax, (left, bottom, width, height) in zip(picture.axes, self.places, strict=True):
            ax.set_position((left / across, bottom / up, width / across, height / up))
        for legend in picture.legends:
            legend.set_visible(legend in self.legends)
        _thin_out(picture)
        _keep_inside(picture)


def arrangements(picture: Figure, fixed: bool) -> list[Arrangement]:
    """List a picture's own arrangement, and those for less and less room.

    Args:
        picture: drawn already, with 72 dots an inch; legends of the whole picture are at its top.
        fixed: whether its own is the only one.
    """
    width, height = map(float, picture.get_size_inches())
    places = tuple(_place(ax, width, height) for ax in picture.axes)
    rigid = frozenset(number for number, ax in enumerate(picture.axes) if not ax.axison)
    found = [Arrangement(width, height, places, rigid, tuple(picture.legends))]
    for fewer, arrange in ((HALF, _beside), (NARROW, _stacked)):
        if fewer < width and not fixed:
            legends = tuple(_fitting(legend, picture, fewer) for legend in found[0].legends)
            taller = sum(map(_height, legends)) - sum(map(_height, found[0].legends))
            found.append(arrange(found[0], fewer, taller, legends))
    found[0].apply(picture)
    return found


def _place(ax: Axes, width: float, height: float) -> Place:
    left, bottom, wide, high = ax.get_position().bounds
    return left * width, bottom * height, wide * width, high * height


def _fitting(legend: Legend, picture: Figure, width: float) -> Legend:
    """Return the legend, or one like it with fewer columns, if it has to be less wide."""
    texts = [text.get_text() for text in legend.get_texts()]
    handles = [handle for handle in legend.legend_handles if handle is not None]
    size = legend.get_texts()[0].get_fontsize()
    for columns in range(len(texts), 0, -1):
        if legend.get_window_extent().width < (width - ROOM) * POINTS_PER_INCH:
            break
        legend = picture.legend(handles, texts, loc="upper center", ncols=columns, fontsize=size)
    return legend


def _height(legend: Legend) -> float:
    return legend.get_window_extent().height / POINTS_PER_INCH


def _columns(places: Sequence[Place]) -> list[tuple[float, float, list[int]]]:
    """Group panels that stand one above the other: where a group begins and ends, and its numbers.

    From left to right.
    """
    groups: list[tuple[float, float, list[int]]] = []
    for number, (left, _, width, _) in sorted(enumerate(places), key=lambda item: item[1][0]):
        if groups and left < groups[-1][1]:
            begin, end, numbers = groups.pop()
            groups.append((begin, max(end, left + width), [*numbers, number]))
        else:
            groups.append((left, left + width, [number]))
    return groups


def _beside(
    own: Arrangement, width: float, taller: float, legends: tuple[Legend, ...]
) -> Arrangement:
    """Make the panels less wide, and leave the gaps between them as wide as they are."""
    groups, places = _columns(own.places), list(own.places)
    panels = sum(end - begin for begin, end, numbers in groups if not own.rigid & {*numbers})
    lost, share = 0.0, 1 - (own.width - width) / panels
    for begin, end, numbers in groups:
        here = 1.0 if own.rigid & {*numbers} else share
        for number in numbers:
            left, bottom, wide, high = own.places[number]
            places[number] = (begin - lost + here * (left - begin), bottom, here * wide, high)
        lost += (1 - here) * (end - begin)
    return replace(
        own, width=width, height=own.height + taller, places=tuple(places), legends=legends
    )


def _stacked(
    own: Arrangement, width: float, taller: float, legends: tuple[Legend, ...]
) -> Arrangement:
    """Put the columns of panels one below the other."""
    groups, places = _columns(own.places), list(own.places)
    low = min(bottom for _, bottom, _, _ in own.places)
    tall = max(bottom + high for _, bottom, _, high in own.places) - low
    ends = [0.0, *(end for _, end, _ in groups)]
    left = max(begin - end for (begin, _, _), end in zip(groups, ends, strict=False))
    floor = 0.0
    for begin, end, numbers in reversed(groups):
        across = (width - left - RIGHT) / (end - begin)
        up = 1.0 if own.rigid & {*numbers} else PANEL / tall
        for number in numbers:
            x, y, wide, high = own.places[number]
            place = (left + across * (x - begin), floor + low + up * (y - low))
            places[number] = (*place, across * wide, up * high)
        floor += low + up * tall + TITLE
    height = floor - TITLE + (own.height - low - tall) + taller
    return replace(own, width=width, height=height, places=tuple(places), legends=legends)


def _thin_out(picture: Figure) -> None:
    """Hide the numbers along an x axis that would be written over their neighbors."""
    labels = [[tick.label1 for tick in ax.xaxis.get_major_ticks()] for ax in picture.axes]
    for label in chain(*labels):
        label.set_visible(True)
    picture.draw_without_rendering()
    for those in labels:
        ended = -math.inf
        for label in those:
            box = label.get_window_extent()
            label.set_visible(box.width == 0 or box.x0 > ended + BETWEEN)
            ended = box.x1 if label.get_visible() and box.width else ended


def _keep_inside(picture: Figure) -> None:
    """Move titles and labels over and under panels that would end beyond the picture."""
    across = picture.get_size_inches()[0] * POINTS_PER_INCH
    for ax in picture.axes:
        for text in (ax.title, ax.xaxis.label):
            text.set_x(0.5)
            box = text.get_window_extent()
            beyond = max(box.x1 - across, 0) or min(box.x0, 0)
            text.set_x(0.5 - beyond / ax.get_window_extent().width)
