"""A picture with sliders: its axes are drawn once, and what moves is drawn over them."""

import base64
import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import ipywidgets
from matplotlib.artist import Artist

from lnorm_utils.explorers.engine.controls import Control, buttons, one_of
from lnorm_utils.explorers.engine.drawing import POINTS_PER_INCH, svg
from lnorm_utils.explorers.engine.reruns import close_former_run
from lnorm_utils.plotting import Picture

__all__ = ["Explorer", "Presets"]

Presets = Mapping[str, Mapping[str, Any]]  # name → {control: value}

PIXELS_PER_INCH, LABEL_WIDTH = 96, "240px"
# Widgets have small text; a lecture needs larger.
LOOK = "<style>.lnorm-explorer { --jp-widgets-font-size: 15px; font-size: 16px }</style>"


class Explorer(ipywidgets.VBox):
    """A widget of labeled controls, a picture that follows them, and its words under it.

    The axes are drawn once. At each change `move` sets the artists that move, and only they are
    drawn again. Where no widget runs, the picture stands as a still image, with its words.

    Args:
        picture: from `new_picture`, with all that stands still drawn into it.
        moving: the artists of the picture that `move` changes.
        move: takes the value of each control by name, sets the artists, and returns the words: what
            there is to see now, in numbers.
        controls: name → control, from top to bottom.
        presets: name → {control: value}; what a preset leaves out stands where it started.
        preset: the preset to start with, in place of the controls' own starts.
        more_presets: an instructor's own, which stand behind the others.

    Raises:
        ValueError: a start or a preset is outside its control's range, a preset names a control
            that does not exist, or `preset` is unknown.

    >>> from lnorm_utils.explorers import Slider
    >>> from lnorm_utils.plotting import new_picture
    >>> picture, axes = new_picture("A dot on a line", 1, 1, 4, 1)
    >>> (dot,) = axes[0, 0].plot([0], [0], "o")
    >>> axes[0, 0].set_xlim(-1, 6)
    (-1.0, 6.0)
    >>> def move(place):
    ...     dot.set_xdata([place])
    ...     return f"The dot is at {place}."
    >>> explorer = Explorer(picture, [dot], move, {"place": Slider("place", 2, range(6))})
    >>> explorer.controls["place"].value = 5
    >>> explorer.words
    'The dot is at 5.'
    """

    def __init__(
        self,
        picture: Picture,
        moving: Sequence[Artist],
        move: Callable[..., str],
        controls: Mapping[str, Control],
        presets: Presets | None = None,
        preset: str | None = None,
        more_presets: Presets | None = None,
    ) -> None:
        start = {name: c.checked(name, c.start) for name, c in controls.items()}
        all_presets = {
            name: {**start, **_checked(name, values, controls)}
            for name, values in {**(presets or {}), **(more_presets or {})}.items()
        }
        if preset is not None:
            start = all_presets[one_of(preset, all_presets, "preset")]
        super().__init__()
        self.picture, self.moving, self.move, self.presets = picture, moving, move, all_presets
        self.is_setting = False
        self.when = {name: control.when for name, control in controls.items()}
        self.controls = {
            name: _dressed(
                c.widget({start[name], *(v[name] for v in all_presets.values())}), c.label
            )
            for name, c in controls.items()
        }
        self.chooser = _dressed(buttons(self.presets), "preset")
        self._set(start)
        self.foreground = ipywidgets.HTML()
        background = ipywidgets.HTML(LOOK + self._first_drawing())
        self.show()
        for widget in self.controls.values():
            widget.observe(self._on_change, "value")
        self.chooser.observe(self._on_preset, "value")
        width = picture.get_figwidth() * PIXELS_PER_INCH
        stage = ipywidgets.GridBox(
            [background, self.foreground],
            layout={"grid_template_columns": f"minmax(0, {width:.0f}px)", "margin": "8px 0 0 0"},
        )
        for layer in stage.children:
            layer.layout.grid_area, layer.layout.margin = "1 / 1", "0"
        self.chooser.layout.display = None if all_presets else "none"
        self.children = [self.chooser, *_rows(self.controls.values()), stage]
        self.add_class("lnorm-explorer")
        close_former_run(self)

    @property
    def values(self) -> dict[str, Any]:
        """The value of each control."""
        return {name: widget.value for name, widget in self.controls.items()}

    @property
    def words(self) -> str:
        """What there is to see now, in numbers."""
        return self.picture.words

    def show(self) -> None:
        """Move the artists to where the controls stand, and draw them over the background."""
        values = self.values
        self.picture.words = self.move(**values)
        words = html.escape(self.words)
        attributes = f'role="img" aria-label="{words}"'
        drawing = svg(self.picture, self.moving, attributes, "none", self.model_id)
        self.foreground.value = f"{drawing}<p>{words}</p>"
        for name, widget in self.controls.items():
            widget.disabled = not self.when[name](values)
        self.chooser.value = next((n for n, v in self.presets.items() if v == values), None)

    def still(self, attributes: str, text: str, name: str) -> str:
        """Draw what stands still, as an SVG, with the arguments of `svg`."""
        seen = [artist.get_visible() for artist in self.moving]
        for artist in self.moving:
            artist.set_visible(False)
        drawing = svg(self.picture, [self.picture], attributes, text, name)
        for artist, visible in zip(self.moving, seen, strict=True):
            artist.set_visible(visible)
        return drawing

    def close(self) -> None:
        """Let go of the figure, of all widgets and of what listens to them."""
        for widget in _tree(self):
            widget.unobserve_all()
            for part in (widget.layout, getattr(widget, "style", None)):
                if part is not None:
                    part.close()
            ipywidgets.Widget.close(widget)

    def _on_change(self, change: Mapping[str, Any]) -> None:
        if not self.is_setting:
            self.show()

    def _on_preset(self, change: Mapping[str, Any]) -> None:
        preset = self.presets.get(change["new"], self.values)
        if preset != self.values:
            self._set(preset)
            self.show()

    def _set(self, values: Mapping[str, Any]) -> None:
        self.is_setting = True
        for name, value in values.items():
            self.controls[name].value = value
        self.is_setting = False

    def _first_drawing(self) -> str:
        """Lay everything out, and draw what stands still."""
        self.move(**self.values)
        self.picture.set_dpi(POINTS_PER_INCH)
        self.picture.draw_without_rendering()
        drawing = self.still("", "path", f"{self.model_id}-back")
        self.picture.draw_without_rendering()
        # As an image it is one thing to the browser, not the thousands that a change would touch.
        source = f"data:image/svg+xml;base64,{_base64(drawing)}"
        return f'<img alt="" style="display: block; width: 100%" src="{source}">'

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, str], dict[str, Any]]:
        picture, words = self.picture, html.escape(self.words)
        png = _base64(picture.png())
        picture.draw_without_rendering()  # the labels of axes have moved to where the PNG has them
        image = f'<img alt="{html.escape(picture.alt)}" src="data:image/png;base64,{png}">'
        caption = f"<figcaption>{words} <em>Run this cell to get the sliders.</em></figcaption>"
        still = f'<figure style="margin: 0">{image}{caption}</figure>'
        plain = f"{picture.alt}. {self.words}"
        view = super()._repr_mimebundle_(**kwargs)
        data = {**view, "text/html": still, "image/png": png, "text/plain": plain}
        return data, {"lnorm_utils": {"has_still_image": True}}  # saving may drop the view


def _checked(
    preset: str, values: Mapping[str, Any], controls: Mapping[str, Control]
) -> dict[str, Any]:
    name = f"preset {preset!r}: the name of a control"
    return {key: controls[one_of(key, controls, name)].checked(key, v) for key, v in values.items()}


def _base64(content: str | bytes) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


def _dressed(widget: ipywidgets.DOMWidget, label: str) -> ipywidgets.DOMWidget:
    """Give a control its text, and room for it."""
    widget.description = widget.tooltip = label
    if isinstance(widget, ipywidgets.Checkbox):
        widget.indent, widget.layout.width = False, "auto"
        return widget
    widget.layout.width = "100%" if hasattr(widget.style, "button_width") else "min(100%, 640px)"
    if hasattr(widget.style, "description_width"):
        widget.style.description_width = LABEL_WIDTH
    return widget


def _rows(widgets: Iterable[ipywidgets.Widget]) -> Iterator[ipywidgets.Widget]:
    """Put boxes to tick that follow each other into one row."""
    for boxes, group in groupby(widgets, lambda widget: isinstance(widget, ipywidgets.Checkbox)):
        if boxes:
            look = {"margin": f"0 0 0 {LABEL_WIDTH}", "flex_flow": "row wrap"}
            yield ipywidgets.HBox(list(group), layout=look)
        else:
            yield from group


def _tree(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    below = (w for child in getattr(widget, "children", ()) for w in _tree(child))
    return [widget, *below]
