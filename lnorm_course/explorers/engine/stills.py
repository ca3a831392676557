"""Show a picture with controls as a still image where no widget runs."""

import base64
import html
from collections.abc import Sequence
from typing import Any, Protocol

import ipywidgets

from lnorm_utils.plotting.picture import image_tag

__all__ = ["RUN", "let_boxes_have_stills", "still_image"]

RUN = "<em>Run this cell to get the sliders.</em>"


class Still(Protocol):
    """Something that can be shown as a still image."""

    alt: str
    words: str

    def png(self) -> bytes:
        """Draw it as a PNG file."""


def still_image(explorers: Sequence[Still]) -> dict[str, str]:
    """Return the still images of explorers with their words, as HTML, as plain text, and a PNG."""
    figures, texts, images = [], [], []
    for explorer in explorers:
        words, alt = explorer.words, explorer.alt
        images.append(base64.b64encode(explorer.png()).decode())
        caption = f"<figcaption>{html.escape(words)} {RUN}</figcaption>"
        figures.append(f'<figure style="margin: 0">{image_tag(images[-1], alt)}{caption}</figure>')
        texts.append(f"{alt}. {words}")
    return {"text/html": "".join(figures), "image/png": images[0], "text/plain": "\n".join(texts)}


def let_boxes_have_stills(is_one: type, shell: Any = None) -> None:
    """Let a box of ipywidgets with explorers in it have their still images as well.

    Args:
        is_one: the class of explorers.
        shell: IPython's; where it is left out, the one that runs, if any.
    """
    from IPython import get_ipython

    shell = shell or get_ipython()
    formatter = getattr(shell, "display_formatter", None)
    if formatter is None or formatter.mimebundle_formatter.for_type(ipywidgets.Box):
        return

    def bundle(box: ipywidgets.Box, **kwargs: Any) -> Any:
        view = box._repr_mimebundle_(**kwargs)
        if not (inside := _inside(box, is_one)):
            return view
        return {**view, **still_image(inside)}, {"lnorm_utils": {"has_still_image": True}}

    formatter.mimebundle_formatter.for_type(ipywidgets.Box, bundle)


def _inside(box: ipywidgets.Box, is_one: type) -> list[Any]:
    found = []
    for child in box.children:
        if isinstance(child, is_one):
            found.append(child)
        elif isinstance(child, ipywidgets.Box):
            found += _inside(child, is_one)
    return found
