"""Draw a picture state by state: what stands still once, and what moves for each state."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, TypedDict
from uuid import uuid4

from matplotlib.artist import Artist

from lnorm_course.explorers.engine.arrangements import Arrangement, arrangements
from lnorm_course.explorers.engine.controls import Control, Slider
from lnorm_course.explorers.engine.drawing import POINTS_PER_INCH, drawn, svg
from lnorm_utils.plotting import Picture

__all__ = ["Frame", "Frames", "State", "key"]

State = Sequence[int]  # for each control the place of its value among its stops; a button's count


class Frame(TypedDict):
    """What the browser shows of a state."""

    state: State  # the state itself, or the one that is shown in its place
    svg: str  # what moves, to be put into an svg element
    words: str
    off: list[int]  # the numbers of the controls that mean nothing in this state
    most: dict[int, int]  # number of a slider → the last of its stops that means anything


def key(arrangement: int, state: State) -> str:
    """Name a frame."""
    return f"{arrangement}:{','.join(map(str, state))}"


class Frames:
    """The frames of a picture.

    Args:
        picture, moving, move, controls, narrow: as in `Explorer`.
        stops: name → what can be chosen, or None for a button.
    """

    def __init__(
        self,
        picture: Picture,
        moving: Sequence[Artist],
        move: Callable[..., str],
        controls: Mapping[str, Control],
        stops: Mapping[str, list[Any] | None],
        start: Mapping[str, Any],
        narrow: str,
    ) -> None:
        self.picture, self.moving, self.controls, self.stops = picture, moving, controls, stops
        self._move = move
        self._lock = RLock()  # what a browser changes may be heard in another thread
        self.name = f"e{uuid4().hex[:8]}"  # no other explorer has it
        self._stand_at: Mapping[str, Any] | None = None
        self._backgrounds: dict[Arrangement, str] = {}
        self.move_to(start)
        picture.set_dpi(POINTS_PER_INCH)
        self.arrangements = arrangements(picture, narrow)
        self._arranged = self.arrangements[0]

    def settled(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values, those too large to mean anything replaced by the largest that do."""
        settled = dict(values)
        for name, most in self._limits(values).items():
            settled[name] = min(settled[name], self._stops_of(name)[most])
        return settled

    def state(self, values: Mapping[str, Any]) -> list[int]:
        """Write values as a state."""
        return [
            values[name] if stops is None else stops.index(values[name])
            for name, stops in self.stops.items()
        ]

    def values(self, state: State) -> dict[str, Any]:
        """Read a state as values."""
        return {
            name: place if stops is None else stops[place]
            for place, (name, stops) in zip(state, self.stops.items(), strict=True)
        }

    def move_to(self, values: Mapping[str, Any]) -> str:
        """Move the artists, and return the words."""
        with self._lock:
            if values != self._stand_at:
                self._stand_at = None  # in case `move` raises
                words = self._move(**values)
                if not isinstance(words, str):
                    raise TypeError(
                        "The function that moves the artists must return its words, a str, but it "
                        f"returned {words!r}."
                    )
                self.picture.words, self._stand_at = words, dict(values)
            return self.picture.words

    def frame(self, arrangement: int, state: State) -> Frame:
        """Draw what moves."""
        values = self.settled(self.values(state))
        with self._lock:
            words = self.move_to(values)
            self._arrange(self.arrangements[arrangement])
            drawing = drawn(self.picture, self.moving, "none", f"{self.name}{arrangement}")
        numbers = {name: number for number, name in enumerate(self.controls)}
        return {
            "state": self.state(values),
            "svg": drawing.encode("ascii", "xmlcharrefreplace").decode(),  # a byte a letter
            "words": words,
            "off": self.off(values),
            "most": {numbers[name]: most for name, most in self._limits(values).items()},
        }

    def off(self, values: Mapping[str, Any]) -> list[int]:
        """List the numbers of the controls that have no effect now."""
        return [n for n, c in enumerate(self.controls.values()) if not c.when(values)]

    def background(self, arrangement: int) -> str:
        """Draw what stands still, as the address of an image that holds itself."""
        chosen = self.arrangements[arrangement]
        if chosen not in self._backgrounds:
            # An image is one thing to the browser, not the thousands that a change would touch.
            encoded = base64.b64encode(self.still("", "path", arrangement).encode()).decode()
            self._backgrounds[chosen] = f"data:image/svg+xml;base64,{encoded}"
        return self._backgrounds[chosen]

    def still(self, attributes: str, text: str, arrangement: int = 0) -> str:
        """Draw what stands still, as an SVG, with the arguments of `drawing.svg`."""
        self._arrange(self.arrangements[arrangement])
        seen = [artist.get_visible() for artist in self.moving]
        for artist in self.moving:
            artist.set_visible(False)
        drawing = svg(self.picture, [self.picture], attributes, text, f"{self.name}b{arrangement}")
        for artist, visible in zip(self.moving, seen, strict=True):
            artist.set_visible(visible)
        self.picture.draw_without_rendering()
        return drawing

    def units(self, artist: Artist) -> list[list[float]]:
        """Tell for each arrangement how many inches to the right and up a unit of the axes is."""
        ax, units = artist.axes, []
        assert ax is not None
        with self._lock:
            for arrangement in self.arrangements:
                self._arrange(arrangement)
                (x0, y0), (x1, y1) = ax.transData.transform([(0, 0), (1, 1)])
                units.append([(x1 - x0) / POINTS_PER_INCH, (y1 - y0) / POINTS_PER_INCH])
        return units

    def png(self) -> bytes:
        """Draw the whole picture as a PNG file, in its first arrangement."""
        self._arrange(self.arrangements[0])
        png = self.picture.png()
        self.picture.draw_without_rendering()  # the PNG has moved the labels of axes
        return png

    def _arrange(self, arrangement: Arrangement) -> None:
        if arrangement != self._arranged:
            arrangement.apply(self.picture)
            self._arranged = arrangement

    def _limits(self, values: Mapping[str, Any]) -> dict[str, int]:
        """Return slider → the place of the last of its stops that means anything now."""
        return {
            name: self._last(self._stops_of(name), control.most(values))
            for name, control in self.controls.items()
            if isinstance(control, Slider) and control.most is not None
        }

    def _stops_of(self, name: str) -> list[Any]:
        return self.stops[name] or []

    @staticmethod
    def _last(stops: Iterable[float], most: float) -> int:
        return max(sum(stop <= most for stop in stops) - 1, 0)
