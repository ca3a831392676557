"""A widget that is shown as a still image where no widget runs."""

import base64
import html
import json
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from lnorm_utils.plotting.picture import image_tag

__all__ = ["RUN", "Still", "of_record", "still_image"]

HERE = Path(__file__).parent
RUN = "<em>Run this cell, and you can change it.</em>"
# Maps a cell's id to the cell's last run (a message id), and to the widgets that the run created.
_last_run: dict[str, tuple[str, list[anywidget.AnyWidget]]] = {}


def of_record(name: str) -> tuple[str, str, dict[str, Any]]:
    """Return a recorded picture's script and style, and the record itself.

    Args:
        name: the name of its files in the parent folder; `make tool NAME=name` creates the record.
    """
    own = HERE.parent
    controls, draw, end, look, style, record = (
        file.read_text("utf-8")
        for file in (
            HERE / "controls.js",
            own / f"{name}.js",
            HERE / "record.js",
            HERE / "explorer.css",
            own / f"{name}.css",
            own / f"{name}.json",
        )
    )
    script = f'{controls}\nconst [NAME, RECORDED] = ["{name}", {record}];\n{draw}\n{end}'
    return script, look + style, json.loads(record)


class Still(anywidget.AnyWidget):
    """A widget that has a still image of itself, and that is closed when its cell runs again.

    Subclasses have `alt`, which says in general what the picture shows; `words`, which says what
    its still image shows in particular; and `png()`, which draws that image as a PNG file.

    Args:
        page: everything that a browser needs in order to begin.
    """

    page = traitlets.Dict().tag(sync=True)

    def __init__(self, page: dict[str, Any], **traits: Any) -> None:
        super().__init__(page=page, **traits)
        _close_former_run(self)

    def close(self) -> None:
        """Close the widget, and remove its observers."""
        self.unobserve_all()
        self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view, _ = super()._repr_mimebundle_(**kwargs) or ({}, {})  # None without a front end
        # Because of this mark, saving a notebook drops the view, which would need a kernel.
        return {**view, **still_image(self)}, {"lnorm_utils": {"has_still_image": True}}


def still_image(widget: Any) -> dict[str, str]:
    """Return a widget's still image with its words, as HTML, plain text, and PNG."""
    words, alt = widget.words, widget.alt
    image = base64.b64encode(widget.png()).decode()
    caption = f"<figcaption>{html.escape(words)} {RUN}</figcaption>"
    figure = f'<figure style="margin: 0">{image_tag(image, alt)}{caption}</figure>'
    return {"text/html": figure, "image/png": image, "text/plain": f"{alt}. {words}"}


def _close_former_run(made: anywidget.AnyWidget) -> None:
    """Register a widget under its cell's current run, and close the widgets of the previous run.

    Outside a notebook, or if the front end doesn't say which cell is running, this does nothing.
    """
    from IPython import get_ipython

    get_parent = getattr(get_ipython(), "get_parent", dict)
    message: dict[str, Any] = get_parent()
    cell = message.get("metadata", {}).get("cellId")
    if cell is None:
        return
    run = message["header"]["msg_id"]
    former_run, former = _last_run.get(cell, (run, []))
    if former_run != run:
        for one in former:
            one.close()
        former = []
    _last_run[cell] = (run, [*former, made])
