"""Move a notebook's images into separate files, and put a folded description below each image."""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lnorm_utils.words import inline

__all__ = ["in_files", "with_words"]

IMAGE = re.compile(r'src="data:image/(png|svg)(?:\+xml)?;base64,([^"]+)" ?([^>]*)>')
IN_WORDS = "**In words.** "
WIDE = re.compile(r'width="(?:7[5-9]|[89]\d|\d{3})\d"')  # 750 pixels or more, wider than a page

Cell = dict[str, Any]


def in_files(cells: Sequence[Cell], folder: Path, address: str) -> Iterator[Cell]:
    """Yield cells whose images have been moved into files.

    Args:
        cells: the cells of a notebook, with their outputs.
        folder: the folder to which the images are written.
        address: the folder's address, relative to the page.
    """

    def moved(found: re.Match[str]) -> str:
        image = base64.b64decode(found[2])
        name = f"{hashlib.sha256(image).hexdigest()[:16]}.{found[1]}"
        (folder / name).write_bytes(image)
        # An explorer's still image has no size in HTML, but a PNG's first bytes contain its size.
        width, height = (int.from_bytes(image[i : i + 4], "big") for i in (16, 20))
        look = found[3] or f'width="{width}" height="{height}"'
        return f'src="{address}{name}" {look} loading="lazy">'

    for cell in cells:
        outputs = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                data = {"text/html": IMAGE.sub(moved, "".join(data["text/html"]))}
                output = {**output, "data": data}
            outputs.append(output)
        yield {**cell, "outputs": outputs} if "outputs" in cell else cell


def with_words(cell: Cell) -> Cell:
    """Put each picture's description, folded, below it, and link the two for screen readers."""
    outputs: list[dict[str, Any]] = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        before = outputs[-1]["data"] if outputs and "data" in outputs[-1] else {}
        words = "".join(data.get("text/markdown", ""))
        if words.startswith(IN_WORDS):
            before["text/html"] = _described(before["text/html"], words.removeprefix(IN_WORDS))
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
