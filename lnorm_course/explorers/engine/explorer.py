"""A picture with controls: what moves is drawn for each state, and sent before it is asked for."""

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import anywidget
import traitlets
from matplotlib.artist import Artist

from lnorm_course.explorers.engine.controls import Control, one_of
from lnorm_course.explorers.engine.dragging import Drag
from lnorm_course.explorers.engine.frames import Frame, Frames, State, key
from lnorm_course.explorers.engine.reruns import close_former_run
from lnorm_course.explorers.engine.stills import let_boxes_have_stills, still_image
from lnorm_utils.plotting import Picture

__all__ = ["SCRIPT", "Explorer", "Presets"]

Presets = Mapping[str, Mapping[str, Any]]  # name → {control: value}

SLICE, PAUSE = 0.01, 0.002  # seconds: drawing ahead, and then listening to the browser
HERE = Path(__file__).parent
# What draws an explorer in any page.
SCRIPTS = ("controls.js", "dragging.js", "explorer.js")
SCRIPT = "\n".join((HERE / name).read_text("utf-8") for name in SCRIPTS)


class _Setting(traitlets.TraitType):
    """What a control is set to: the nearest value that it takes."""

    def validate(self, obj: "Explorer", value: Any) -> Any:
        return obj.nearest(str(self.name), value)


class _Values(traitlets.Dict):
    """The values of all controls; those that are left out stay."""

    def validate(self, obj: "Explorer", value: Any) -> dict[str, Any]:
        given: dict[str, Any] = super().validate(obj, value) or {}
        for name in given:
            one_of(name, obj.controls, "the name of a control")
        near = {name: obj.nearest(name, value) for name, value in given.items()}
        return {**{name: getattr(obj, name) for name in obj.controls}, **near}


class _Preset(traitlets.Unicode):
    """The name of a preset, or "" where none is shown."""

    def validate(self, obj: "Explorer", value: Any) -> str:
        return one_of(value, ["", *obj.presets], "preset")


class Explorer(anywidget.AnyWidget):
    """A widget of labeled controls, a picture that follows them, and its words under it.

    The axes are drawn once. For each state `move` sets the artists that move, and only they are
    drawn again. The browser keeps what was drawn, and asks ahead for the states that may come next.
    Where no widget runs, the picture stands as a still image, with its words.

    Each control is a trait: `explorer.eps` can be read, set, observed and linked, and so can
    `explorer.values`, a dict of all of them, and `explorer.preset`, the name of the preset that is
    shown, or "". A number that is set goes to the nearest stop of its slider.

    Args:
        picture: from `new_picture`, with all that stands still drawn into it.
        moving: the artists of the picture that `move` changes.
        move: takes the value of each control by name, sets the artists, and returns the words: what
            there is to see now, in numbers.
        controls: name → control, from top to bottom.
        presets: name → {control: value}; what a preset leaves out stands where it started.
        preset: the preset to start with, in place of the controls' own starts.
        more_presets: an instructor's own, which stand behind the others.
        narrow: what happens where there is little room. "views": one panel at a time is shown.
            "beside": the panels stay side by side, and get smaller. "fixed": the picture keeps its
            size in inches, and is scrolled.
        view: the number of the panel that is shown first then, or the name of a `Choice` that
            chooses the panel.
        drags: points of the picture that can be dragged, which moves sliders.

    Raises:
        ValueError: a start or a preset is outside its control's range, a preset names a control
            that does not exist, or `preset` is unknown.
        TypeError: presets are no mappings, or `move` does not return a str.

    >>> from lnorm_course.explorers import Slider
    >>> from lnorm_utils.plotting import new_picture
    >>> picture, axes = new_picture("A dot on a line", 1, 1, 4, 1)
    >>> (dot,) = axes[0, 0].plot([0], [0], "o")
    >>> axes[0, 0].set_xlim(-1, 6)
    (-1.0, 6.0)
    >>> def move(place):
    ...     dot.set_xdata([place])
    ...     return f"The dot is at {place}."
    >>> explorer = Explorer(picture, [dot], move, {"place": Slider("place", 2, range(6))})
    >>> explorer.place = 5
    >>> explorer.words
    'The dot is at 5.'
    """

    # Their text, for anywidget holds on to each widget that is made of a file.
    _esm = SCRIPT + (HERE / "widget.js").read_text("utf-8")
    _css = (HERE / "explorer.css").read_text("utf-8")
    page = traitlets.Dict().tag(sync=True)
    values = _Values()
    preset = _Preset()

    def __init__(
        self,
        picture: Picture,
        moving: Sequence[Artist],
        move: Callable[..., str],
        controls: Mapping[str, Control],
        presets: Presets | None = None,
        preset: str | None = None,
        more_presets: Presets | None = None,
        narrow: Literal["views", "beside", "fixed"] = "views",
        view: int | str = 0,
        drags: Sequence[Drag] = (),
    ) -> None:
        one_of(narrow, ("views", "beside", "fixed"), "narrow")
        if isinstance(view, str):
            one_of(view, controls, "view")
        for name in controls:
            if hasattr(Explorer, name):
                raise ValueError(f"A control needs another name, because {name!r} is taken.")
        start = {name: c.checked(name, c.start) for name, c in controls.items()}
        self.presets = {
            name: {**start, **_checked(name, values, controls)}
            for name, values in {**_mapping(presets), **_mapping(more_presets)}.items()
        }
        if preset is not None:
            start = self.presets[one_of(preset, self.presets, "preset")]
        self.controls = dict(controls)
        self.stops = {
            name: c.stops_with([start[name], *(v[name] for v in self.presets.values())])
            for name, c in controls.items()
        }
        self.frames = Frames(picture, moving, move, self.controls, self.stops, start, narrow)
        for number, drag in enumerate(drags):
            drag.artist.set_gid(f"{self.frames.name}drag{number}")
        self._view, self._drags = view, drags
        self._asked: dict[int, tuple[State, bool]] = {}  # arrangement → what a browser waits for
        self._wanted: list[tuple[int, State]] = []
        self._is_drawing = self._is_closed = False
        self._loop = _running_loop()
        start = self.frames.settled(start)
        self.add_traits(**{name: _Setting(value).tag(sync=True) for name, value in start.items()})
        layout = {"width": "100%", "min_width": "0"}  # or it would have no room beside another one
        super().__init__(
            page=self._page(start), values=start, preset=self._named(start), layout=layout
        )
        self.observe(self._on_control, [*controls])
        self.observe(self._on_values, "values")
        self.observe(self._on_preset, "preset")
        self.on_msg(self._on_message)
        let_boxes_have_stills(Explorer)
        close_former_run(self)

    @property
    def picture(self) -> Picture:
        """The picture, with its artists where the controls stand."""
        self.frames.move_to(self.values)
        return self.frames.picture

    @property
    def moving(self) -> Sequence[Artist]:
        """The artists that move, where the controls stand."""
        self.frames.move_to(self.values)
        return self.frames.moving

    @property
    def alt(self) -> str:
        """What the picture shows."""
        return self.frames.picture.alt

    def png(self) -> bytes:
        """Draw the whole picture as a PNG file."""
        self.frames.move_to(self.values)
        return self.frames.png()

    @property
    def words(self) -> str:
        """What there is to see now, in numbers."""
        return self.frames.move_to(self.values)

    def frame(self, arrangement: int = 0) -> Frame:
        """Draw what the browser shows now."""
        return self.frames.frame(arrangement, self.frames.state(self.values))

    def nearest(self, name: str, value: Any) -> Any:
        """Return what a control can be set to that is nearest to a value."""
        return self.controls[name].nearest(name, value, self.stops[name])

    def close(self) -> None:
        """Let go of the figure, of the widget and of what listens to it."""
        self._is_closed = True
        self.unobserve_all()
        self.layout.close()
        super().close()

    def _page(self, start: Mapping[str, Any]) -> dict[str, Any]:
        """Describe all that the browser needs to begin with."""
        frames, state = self.frames, self.frames.state(start)
        chooses = [number for number, name in enumerate(self.controls) if name == self._view]
        return {
            "alt": frames.picture.alt,
            "controls": [
                {
                    "name": name,
                    "label": control.label,
                    "kind": control.kind,
                    "values": self.stops[name],
                    "texts": control.texts(self.stops[name]),
                }
                for name, control in self.controls.items()
            ],
            "presets": [{"name": n, "state": frames.state(v)} for n, v in self.presets.items()],
            "start": state,
            "off": {
                ",".join(map(str, frames.state(v))): frames.off(v)
                for v in (start, *self.presets.values())
            },
            "sizes": [[each.width, each.height] for each in frames.arrangements],
            "views": [each.views for each in frames.arrangements],
            "view": 0 if chooses else self._view,
            "chooses_view": chooses,
            "drags": [
                {**drag.page(self.stops), "units": frames.units(drag.artist)}
                for drag in self._drags
            ],
            "backgrounds": {0: frames.background(0)},
            "frames": {key(0, state): frames.frame(0, state)},
        }

    def _named(self, values: Mapping[str, Any]) -> str:
        return next((name for name, v in self.presets.items() if v == values), "")

    def _on_control(self, change: Mapping[str, Any]) -> None:
        self._set({name: getattr(self, name) for name in self.controls})

    def _on_values(self, change: Mapping[str, Any]) -> None:
        self._set(change["new"])

    def _on_preset(self, change: Mapping[str, Any]) -> None:
        self._set(self.presets.get(change["new"], self.values))

    def _set(self, values: Mapping[str, Any]) -> None:
        """Let the controls, `values` and `preset` agree."""
        values = self.frames.settled(values)
        with self.hold_sync(), self.hold_trait_notifications():
            for name, value in values.items():
                self.set_trait(name, value)
            self.values, self.preset = values, self._named(values)

    def _on_message(self, _: object, content: Mapping[str, Any], buffers: object) -> None:
        """Hear the browser, maybe in another thread; only the kernel's main one may draw."""
        arrangement = content["arrangement"]
        if "now" in content:  # a browser waits for the latest state only
            _, background = self._asked.get(arrangement, ((), False))
            self._asked[arrangement] = content["now"], content["background"] or background
        if "next" in content:
            self._wanted = [(arrangement, state) for state in content["next"]]
        if self._loop is None:
            self._answer()
        else:
            self._loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        """Draw at once what a browser has to show, and ahead what it may show next."""
        while self._asked and not self._is_closed:
            arrangement, (state, background) = self._asked.popitem()
            images = {arrangement: self.frames.background(arrangement)} if background else {}
            found = {key(arrangement, state): self.frames.frame(arrangement, state)}
            self.send({"frames": found, "backgrounds": images})
        if not self._is_drawing:
            self._draw_later()

    def _draw_later(self) -> None:
        self._is_drawing = bool(self._wanted and not self._is_closed)
        if self._is_drawing:
            (self._loop or asyncio.get_running_loop()).call_later(PAUSE, self._draw_ahead)

    def _draw_ahead(self) -> None:
        """Draw for a moment, send what was drawn, and come back if more is wanted."""
        end, found = time.perf_counter() + SLICE, {}
        while (wanted := self._wanted) and not (self._asked or self._is_closed):
            wanted_frame = wanted.pop(0)
            found[key(*wanted_frame)] = self.frames.frame(*wanted_frame)
            if time.perf_counter() > end:
                break
        if found:
            self.send({}, [gzip.compress(json.dumps(found).encode(), compresslevel=1)])
        self._draw_later()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view, _ = super()._repr_mimebundle_(**kwargs) or ({}, {})
        # Because of this mark, saving a notebook drops the view, which needs a kernel.
        return {**view, **still_image([self])}, {"lnorm_utils": {"has_still_image": True}}


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _mapping(presets: Presets | None) -> Presets:
    if not isinstance(presets or {}, Mapping) or not all(
        isinstance(values, Mapping) for values in (presets or {}).values()
    ):
        raise TypeError(
            "presets must be a dict such as {'far apart': {'difference': 1.0}}, but "
            f"{presets!r} was given."
        )
    return presets or {}


def _checked(
    preset: str, values: Mapping[str, Any], controls: Mapping[str, Control]
) -> dict[str, Any]:
    name = f"preset {preset!r}: the name of a control"
    return {key: controls[one_of(key, controls, name)].checked(key, v) for key, v in values.items()}
