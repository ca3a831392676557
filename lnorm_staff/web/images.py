"""Move images into separate files, and put a collapsed description below each image."""

import base64
import hashlib
import io
import re
from pathlib import Path
from typing import Any

from lnorm_utils.words import inline

__all__ = ["in_files", "with_words"]

IMAGE = re.compile(r'src="data:image/(png|svg)(?:\+xml)?;base64,([^"]+)" ?([^>]*)>')
IN_WORDS = "**In words.** "
WIDE = re.compile(r'width="(?:7[5-9]|[89]\d|\d{3})\d"')  # 750 pixels or more, wider than a page

Cell = dict[str, Any]


def in_files(text: str, folder: Path, address: str) -> str:
    """Move the images in HTML into files, and reduce each PNG to 256 colors.

    Args:
        folder: the folder to which the images are written.
        address: the folder's address, relative to the page.
    """

    def moved(found: re.Match[str]) -> str:
        image, look = base64.b64decode(found[2]), found[3]
        if found[1] == "png":
            image, width, height = _lighter(image)
            look = look or f'width="{width}" height="{height}"'
        name = f"{hashlib.sha256(image).hexdigest()[:16]}.{found[1]}"
        (folder / name).write_bytes(image)
        return f'src="{address}{name}" {look} loading="lazy">'

    return IMAGE.sub(moved, text)


def _lighter(image: bytes) -> tuple[bytes, int, int]:
    """Return a PNG with 256 colors, and its width and height."""
    from PIL import Image

    made, drawn = io.BytesIO(), Image.open(io.BytesIO(image)).convert("RGB")
    drawn.quantize(method=Image.Quantize.MAXCOVERAGE).save(made, "png", optimize=True)
    return made.getvalue(), *drawn.size


def with_words(cell: Cell) -> Cell:
    """Put each picture's description below it, collapsed, and link the two for screen readers."""
    outputs: list[dict[str, Any]] = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        before = outputs[-1]["data"] if outputs and "data" in outputs[-1] else {}
        words = "".join(data.get("text/markdown", ""))
        if words.startswith(IN_WORDS):
            picture = "".join(before["text/html"])
            before["text/html"] = _described(picture, words.removeprefix(IN_WORDS))
        else:
            outputs.append(output)
    return {**cell, "outputs": outputs}


def _described(picture: str, words: str) -> str:
    name = f"words-{hashlib.sha256((picture + words).encode()).hexdigest()[:8]}"
    picture = picture.replace("<img ", f'<img aria-describedby="{name}" ', 1)
    wide = ' wide" tabindex="0' if WIDE.search(picture) else ""
    return (
        f'<div class="lnorm-picture{wide}">{picture}</div><details class="lnorm-words">'
        f'<summary>In words</summary><p id="{name}">{inline(words)}</p></details>'
    )
