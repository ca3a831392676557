"""Arrange the panels of a picture anew where there is less room than it was drawn for."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from lnorm_course.explorers.engine.drawing import POINTS_PER_INCH

__all__ = ["Arrangement", "View", "arrangements"]

# Inches, so that text of 10 pt is 12 pixels high: in the 588 pixels that JupyterLab leaves beside
# its list of files on a screen of 1024 × 768, and in the 324 that a page has on a phone with 360.
HALF, NARROW = 6.7, 3.75
# Inches: around a legend; the height of a panel in a narrow picture, what is over and right of it.
ROOM, PANEL, TITLE, RIGHT = 0.15, 2.1, 0.4, 0.15
LEAST_LEFT, BESIDE = 0.25, 0.12  # inches: left of a panel, and of what is written left of it
BETWEEN = 3  # points between the numbers along an axis

Place = tuple[float, float, float, float]  # left, bottom, width and height, in inches


class View(NamedTuple):
    """A part of a picture that can be shown alone: its name, and in inches where it is."""

    name: str
    top: float  # from the top of the picture
    height: float


@dataclass(frozen=True)
class Arrangement:
    """A size of a picture, and where its panels are.

    Args:
        width, height: in inches.
        places: of each of the axes, in inches.
        rigid: the numbers of axes that keep their size, for they hold only text.
        legends: those that are seen.
        views: parts of the picture, one above the other; none where all of it is shown at once.
    """

    width: float
    height: float
    places: tuple[Place, ...]
    rigid: frozenset[int]
    legends: tuple[Legend, ...]
    views: tuple[View, ...] = ()

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


def arrangements(picture: Figure, narrow: str) -> list[Arrangement]:
    """List a picture's own arrangement, and those for less and less room.

    Args:
        picture: drawn already, with 72 dots an inch; legends of the whole picture are at its top.
        narrow: what becomes of the panels, as in `Explorer`.
    """
    width, height = map(float, picture.get_size_inches())
    places = tuple(_place(ax, width, height) for ax in picture.axes)
    rigid = frozenset(number for number, ax in enumerate(picture.axes) if not ax.axison)
    found = [Arrangement(width, height, places, rigid, tuple(picture.legends))]
    ways = {"views": (_beside, _stacked), "beside": (_small, _small), "fixed": ()}[narrow]
    for fewer, arrange in zip((HALF, NARROW), ways, strict=False):
        if fewer < width:
            found.append(arrange(found[0], picture, fewer))
    found[0].apply(picture)
    return found


def _place(ax: Axes, width: float, height: float) -> Place:
    left, bottom, wide, high = ax.get_position().bounds
    return left * width, bottom * height, wide * width, high * height


def _fitting(
    legend: Legend, picture: Figure, width: float, only: Collection[str] | None = None
) -> Legend | None:
    """Return the legend, or one like it with fewer columns, if it has to be less wide.

    Args:
        only: the names that it may have; all of them by default.
    """
    pairs = [
        (handle, text.get_text())
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        if handle is not None and (only is None or text.get_text() in only)
    ]
    if not pairs:
        return None
    handles, texts = zip(*pairs, strict=True)
    size, found = legend.get_texts()[0].get_fontsize(), legend if only is None else None
    for columns in range(len(texts), 0, -1):
        if found and found.get_window_extent().width < (width - ROOM) * POINTS_PER_INCH:
            break
        found = picture.legend(
            handles, texts, loc="upper center", ncols=columns, fontsize=size, columnspacing=1.0
        )
    return found


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


def _beside(own: Arrangement, picture: Figure, width: float) -> Arrangement:
    """Make the panels less wide, and leave the gaps between them as wide as they are."""
    fitting = [_fitting(legend, picture, width) for legend in own.legends]
    legends = tuple(legend for legend in fitting if legend)
    taller = sum(map(_height, legends)) - sum(map(_height, own.legends))
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


def _small(own: Arrangement, picture: Figure, width: float) -> Arrangement:
    """Keep panels side by side, and make all smaller, with no more between them than is needed."""
    fitting = [_fitting(legend, picture, width) for legend in own.legends]
    legends = tuple(legend for legend in fitting if legend)
    taller = sum(map(_height, legends)) - sum(map(_height, own.legends))
    margins = [_left_of(ax) for ax in picture.axes]
    share = (width - sum(margins) - RIGHT) / sum(wide for _, _, wide, _ in own.places)
    places, at = [], 0.0
    for (_, bottom, wide, high), margin in zip(own.places, margins, strict=True):
        places.append((at + margin, bottom, share * wide, share * high))
        at += margin + share * wide
    height = own.height - (1 - share) * own.places[0][3] + taller
    return replace(own, width=width, height=height, places=tuple(places), legends=legends)


def _left_of(ax: Axes) -> float:
    """Tell how many inches the numbers and the label of a y axis take, beside a bit of room."""
    box = ax.yaxis.get_tightbbox()
    return BESIDE + (ax.bbox.x0 - box.x0 if box else 0) / POINTS_PER_INCH


def _stacked(own: Arrangement, picture: Figure, width: float) -> Arrangement:
    """Put the columns of panels one below the other, each a view with a legend of its own."""
    groups, places = _columns(own.places), list(own.places)
    low = min(bottom for _, bottom, _, _ in own.places)
    tall = max(bottom + high for _, bottom, _, high in own.places) - low
    parts = [_legends_of(own, picture, width, numbers) for _, _, numbers in groups]
    ups = [1.0 if own.rigid & {*numbers} else PANEL / tall for _, _, numbers in groups]
    each = max(
        low + up * tall + above + sum(ROOM + _height(legend) for legend in legends)
        for up, (above, legends) in zip(ups, parts, strict=True)
    )
    # What the whole picture says above its panels is in no view.
    over = own.height - low - tall if picture.texts else 0.0
    height, before = over + each * len(groups), 0.0
    views: list[View] = []
    seen: list[Legend] = []
    for (begin, end, numbers), up, (above, legends) in zip(groups, ups, parts, strict=True):
        ceiling = height - over - each * len(views)
        views.append(View(_name(picture.axes[numbers[0]]), height - ceiling, each))
        for legend in legends:
            legend.set_bbox_to_anchor((0, 0, 1, ceiling / height), picture.transFigure)
            ceiling -= _height(legend) + ROOM
        seen += legends
        left = max(begin - before, LEAST_LEFT)
        across = (width - left - RIGHT) / (end - begin)
        floor = ceiling - above - up * tall - low
        for number in numbers:
            x, y, wide, high = own.places[number]
            place = (left + across * (x - begin), floor + low + up * (y - low))
            places[number] = (*place, across * wide, up * high)
        before = end
    return replace(
        own,
        width=width,
        height=height,
        places=tuple(places),
        legends=tuple(seen),
        views=tuple(views) if len(views) > 1 else (),
    )


def _legends_of(
    own: Arrangement, picture: Figure, width: float, numbers: Sequence[int]
) -> tuple[float, list[Legend]]:
    """Tell how much room some panels need above them for titles, and return legends for them."""
    axes = [picture.axes[number] for number in numbers]
    names = {str(artist.get_label()) for ax in axes for artist in ax.get_children()}
    found = [_fitting(legend, picture, width, names) for legend in own.legends]
    above = TITLE if any(ax.get_title() for ax in axes) else ROOM
    return above, [legend for legend in found if legend]


def _name(ax: Axes) -> str:
    return str(ax.get_label() or ax.get_title() or ax.get_ylabel() or ax.get_xlabel())


def _thin_out(picture: Figure) -> None:
    """Hide the numbers along an x axis that would be written over their neighbors."""
    shown = [ax.xaxis for ax in picture.axes if ax.xaxis.get_tick_params()["labelbottom"]]
    labels = [[tick.label1 for tick in axis.get_major_ticks()] for axis in shown]
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
