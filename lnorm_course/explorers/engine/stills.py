"""Show a picture with controls as a still image where no widget runs."""

import base64
import html
from typing import Any, Protocol

from lnorm_utils.plotting.picture import image_tag

__all__ = ["RUN", "shown", "still_image"]

RUN = "<em>Run this cell, and you can change it.</em>"


class Still(Protocol):
    """Something that can be shown as a still image."""

    alt: str
    words: str

    def png(self) -> bytes:
        """Draw it as a PNG file."""


def still_image(explorer: Still) -> dict[str, str]:
    """Return the still image of an explorer with its words, as HTML, as plain text, and a PNG."""
    words, alt = explorer.words, explorer.alt
    image = base64.b64encode(explorer.png()).decode()
    caption = f"<figcaption>{html.escape(words)} {RUN}</figcaption>"
    figure = f'<figure style="margin: 0">{image_tag(image, alt)}{caption}</figure>'
    return {"text/html": figure, "image/png": image, "text/plain": f"{alt}. {words}"}


def shown(explorer: Still, bundle: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a notebook shows of a widget: its view, if it has one, and its still image.

    Args:
        bundle: what the widget says of itself, None without a front end.
    """
    view, _ = bundle or ({}, {})
    # Because of this mark, saving a notebook drops the view, which needs a kernel.
    return {**view, **still_image(explorer)}, {"lnorm_utils": {"has_still_image": True}}
