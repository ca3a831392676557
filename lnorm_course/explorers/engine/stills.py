"""Show a picture with controls as a still image where no widget runs."""

import base64
import html
from collections.abc import Sequence
from typing import Protocol

from lnorm_utils.plotting.picture import image_tag

__all__ = ["RUN", "still_image"]

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
