"""A picture with controls: a figure for each panel, drawn once, and the artists that move in it."""

import asyncio
import base64
import contextlib
import io
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import traitlets
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.image import imread, imsave
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from lnorm_course.explorers.engine.controls import Control, one_of
from lnorm_course.explorers.engine.drawing import POINTS_PER_INCH, drawn, svg
from lnorm_course.explorers.engine.stills import Still
from lnorm_utils.plotting.picture import BLACK, Picture
from lnorm_utils.words import capitalized

__all__ = ["SCRIPT", "Explorer", "Frame", "Positions", "key", "line", "panel"]

WIDTH = 3.75  # in inches; on a phone 360 pixels wide, 10 pt text is 12 pixels high
HERE = Path(__file__).parent
# The scripts that draw an explorer on any page.
SCRIPT = "\n".join((HERE / name).read_text("utf-8") for name in ("controls.js", "explorer.js"))

Positions = tuple[int, ...]  # for each control, the index of its current stop
Frame = dict[str, Any]  # what a browser needs to show a state


def panel(alt: str, height: float = 2.5, **look: Any) -> tuple[Picture, Axes]:
    """Create a panel; a page shows panels side by side, or stacked if there isn't enough room.

    Args:
        alt: what the panel shows, in one phrase.
        height: the height in inches; two panels of 2.5 and their controls fit on a phone's screen.
        look: the arguments of `Axes.set`. The axis limits are the same for every state.
    """
    picture = Picture(alt, WIDTH, height)
    ax = picture.subplots()
    ax.set(**look)
    return picture, ax


def key(ax: Axes, *names: tuple[str, str]) -> None:
    """Write two or three names above a panel, each in its mark's color, as a legend."""
    places: Any = ("left", "center", "right") if len(names) > 2 else ("left", "right")
    for (name, color), place in zip(names, places, strict=False):
        ax.set_title(name, loc=place, color=color, fontsize=11)


def line(ax: Axes, kind: str, x: ArrayLike = (), y: ArrayLike | None = None, **look: Any) -> Line2D:
    """Draw a line or markers in a Matplotlib format such as "o-"; markers have a black edge.

    Without `y`, all points are at height zero until `set_data` or `set_ydata` moves them.
    """
    y = np.zeros(np.shape(x)) if y is None else y
    return ax.plot(x, y, kind, **{"mec": BLACK, **look})[0]


class Explorer(Still):
    """A widget with labeled controls, panels that follow them, and words that say what they show.

    The panels are drawn once. For each state, `computed` makes the data, `show` moves some of the
    artists, and only those are redrawn. Where no widget runs, a still image of the panels
    appears, together with the words.

    `state` and `preset` (the name of the current preset, or "") can be set and observed.

    Args:
        panels: maps each figure to the artists that move in it, which are drawn over the others.
        computed: takes the value of each control by name, and returns the data to show.
        show: takes what `computed` returns and the same values by name; sets the artists, and says
            in at most two sentences what there is to see. `computed` and `show` must depend on
            nothing else, because frames are cached.
        controls: the controls by name, from top to bottom.
        presets: maps each preset's name to {control: value}; a control that is left out has its
            start value.
        preset: the name of the preset to start with.
        start: {control: value}, which overrides the controls' start values and the preset.
        drags: maps a marker to the sliders that are set when it is dragged.

    Raises:
        ValueError: `preset` is unknown, a preset or `start` has an unknown control, a preset's
            value isn't a stop, or `start` has a value that its control doesn't accept.

    >>> from lnorm_course.explorers.engine import Slider
    >>> picture, ax = panel("a dot on a line", xlim=(-1, 6))
    >>> dot = line(ax, "o", [0])
    >>> def computed(place):
    ...     return place**2
    >>> def show(square, place):
    ...     dot.set_ydata([square])
    ...     return f"The square of {place} is {square}."
    >>> controls = {"place": Slider("place", 2, range(6))}
    >>> Explorer({picture: [dot]}, computed, show, controls, {"the last": {"place": 5}}).words
    'The square of 2 is 4.'
    """

    # This is text, because anywidget keeps a reference to each widget whose script is a file.
    _esm = SCRIPT + (HERE / "kernel.js").read_text("utf-8")
    _css = (HERE / "explorer.css").read_text("utf-8")
    state: Any = traitlets.List().tag(sync=True)
    preset = traitlets.Unicode()

    def __init__(
        self,
        panels: Mapping[Picture, Sequence[Artist]],
        computed: Callable[..., Any],
        show: Callable[..., str],
        controls: Mapping[str, Control],
        presets: Mapping[str, Mapping[str, Any]],
        preset: str | None = None,
        start: Mapping[str, Any] | None = None,
        drags: Mapping[Line2D, Sequence[str]] | None = None,
    ) -> None:
        self.panels, self.controls = panels, controls
        self.computed, self.show = computed, show
        self.stops = {name: [*control.options] for name, control in controls.items()}
        self.name = f"e{uuid4().hex[:8]}"  # unique on the page
        self.drags = drags or {}
        for number, artist in enumerate(self.drags):
            artist.set_gid(f"{self.name}drag{number}")
        first = {name: control.start for name, control in controls.items()}
        self.presets = {name: self.state_of({**first, **some}) for name, some in presets.items()}
        if preset is not None:
            first = self.values_of(self.presets[one_of(preset, self.presets, "preset")])
        nearest = {
            name: controls[one_of(name, controls, "the name of a control")].nearest(name, value)
            for name, value in (start or {}).items()
        }
        state = self.state_of({**first, **nearest})
        self._loop: asyncio.AbstractEventLoop | None = None
        with contextlib.suppress(RuntimeError):  # there may be no event loop
            self._loop = asyncio.get_running_loop()
        self.move_to(state)
        for picture, moving in panels.items():
            picture.set_dpi(POINTS_PER_INCH)
            picture.lay_out()
            for part in moving:
                part.set_animated(True)  # so that the figure is drawn without it, but saved with it
        page = {**self.about(), "start": state, "frame": self.frame(state)}
        super().__init__(page=page, state=[*state])
        self.on_msg(self._on_message)

    @property
    def alt(self) -> str:
        """A description of what the panels show."""
        return capitalized(", and ".join(picture.alt for picture in self.panels))

    @property
    def words(self) -> str:
        """A description of what there is to see in the current state."""
        return self.move_to(tuple(self.state))

    def state_of(self, values: Mapping[str, Any]) -> Positions:
        """Convert the values of all controls to a state."""
        for name in values:
            one_of(name, self.stops, "the name of a control")
        return tuple(s.index(one_of(values[name], s, name)) for name, s in self.stops.items())

    def values_of(self, state: Sequence[int]) -> dict[str, Any]:
        """Convert a state to the value of each control."""
        return {name: self.stops[name][at] for name, at in zip(self.stops, state, strict=True)}

    def states(self) -> list[Positions]:
        """List all states; the last control varies fastest."""
        return [*itertools.product(*(range(len(stops)) for stops in self.stops.values()))]

    def move_to(self, state: Sequence[int]) -> str:
        """Update the artists to show a state, and return the words that say what it shows."""
        values = self.values_of(state)
        return self.show(self.computed(**values), **values)

    def frame(self, state: Positions) -> Frame:
        """Draw the moving artists in a state, and return what a browser needs."""
        words, values = self.move_to(state), self.values_of(state)
        svgs = [
            drawn(picture, moving, f"{self.name}{number}")
            for number, (picture, moving) in enumerate(self.panels.items())
        ]
        off = [n for n, control in enumerate(self.controls.values()) if not control.when(values)]
        return {"state": [*state], "svgs": svgs, "words": words, "off": off}

    def about(self) -> dict[str, Any]:
        """Return everything that a page needs besides the frames."""
        names = [*self.controls]
        figures: list[Any] = [*self.panels]
        return {
            "controls": [
                {"kind": c.kind, "label": c.label, "texts": c.texts()}
                for c in self.controls.values()
            ],
            "presets": [{"name": name, "state": [*at]} for name, at in self.presets.items()],
            "panels": [
                {"alt": p.alt, "size": [*p.get_size_inches()], "background": self._background(n)}
                for n, p in enumerate(figures)
            ],
            "drags": [
                {"panel": figures.index(a.figure), "sliders": [names.index(n) for n in sliders]}
                for a, sliders in self.drags.items()
            ],
        }

    def png(self) -> bytes:
        """Draw all panels, side by side, as a PNG file."""
        self.move_to(tuple(self.state))
        images = [imread(io.BytesIO(picture.png())) for picture in self.panels]
        most = max(map(len, images))
        white = [np.pad(i, ((0, most - len(i)), (0, 0), (0, 0)), constant_values=1) for i in images]
        file = io.BytesIO()
        imsave(file, np.hstack(white), format="png")
        return file.getvalue()

    @traitlets.validate("state")
    def _known_state(self, proposal: Any) -> list[int]:
        state, sizes = proposal["value"], [*map(len, self.stops.values())]
        if len(state) != len(sizes) or not all(map(range.__contains__, map(range, sizes), state)):
            raise ValueError(f"state must have an index below each of {sizes}, but got {state}.")
        return state

    @traitlets.validate("preset")
    def _known_preset(self, proposal: Any) -> str:
        return one_of(proposal["value"], ["", *self.presets], "preset")

    @traitlets.observe("state")
    def _name_state(self, change: Any) -> None:
        state = tuple(change["new"])
        self.preset = next((name for name, at in self.presets.items() if at == state), "")

    @traitlets.observe("preset")
    def _go_to_preset(self, change: Any) -> None:
        self.state = [*self.presets.get(change["new"], self.state)]

    def _on_message(self, _: object, content: Mapping[str, Any], buffers: object) -> None:
        """Handle a browser's message, in any thread; only the kernel's main thread draws."""

        def answer() -> None:
            self.send(self.frame(tuple(content["state"])))

        if self._loop is None:
            answer()
        else:
            self._loop.call_soon_threadsafe(answer)

    def _background(self, number: int) -> str:
        """Return an image of what doesn't move in a panel, as a data URL."""
        picture = [*self.panels][number]
        drawing = svg(picture, [picture], f"{self.name}s{number}")
        return f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"
