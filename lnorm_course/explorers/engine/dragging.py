"""A point of a picture that can be dragged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from matplotlib.lines import Line2D

__all__ = ["Drag"]


@dataclass(frozen=True)
class Drag:
    """A marker that a hand can drag along the stops of some sliders.

    Args:
        artist: the marker, one of those that move.
        moves: the names of the sliders that a hand moves with it.
        place: from the values of these sliders, and of those it depends on, where the marker is,
            in the coordinates of its axes, which are linear. Only the way from one place to
            another counts.
        depends_on: the names of other sliders that change this way.
    """

    artist: Line2D
    moves: Sequence[str]
    place: Callable[..., Iterable[float]]
    depends_on: Sequence[str] = ()

    def page(self, stops: Mapping[str, list[Any] | None]) -> dict[str, Any]:
        """Tell the browser the numbers of the sliders, and where the marker is at which stops."""
        numbers, names = [*stops], [*self.moves, *self.depends_on]
        ranges = [range(len(stops[name] or ())) for name in names]
        places = {}
        for at in product(*ranges):
            values = {name: (stops[name] or ())[i] for name, i in zip(names, at, strict=True)}
            places[",".join(map(str, at))] = [round(float(c), 3) for c in self.place(**values)]
        return {
            "moves": [numbers.index(name) for name in self.moves],
            "depends": [numbers.index(name) for name in self.depends_on],
            "places": places,
        }
