"""Draw the pictures of a lesson again, sharp, and arranged for a screen and for a phone."""

import ast
import contextlib
import gzip
import html
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lnorm_course.explorers.engine.arrangements import NARROW, Arrangement, arrangements
from lnorm_course.explorers.engine.drawing import POINTS_PER_INCH, svg
from lnorm_staff.web.fingerprint import fingerprint
from lnorm_staff.web.narrowing import for_phone
from lnorm_utils.plotting.picture import Picture

__all__ = ["redraw", "with_drawings"]

PROJECT = Path(__file__).parents[2]
# What the pictures of lessons depend on.
DRAWING = ("lnorm_utils", "lnorm_course/explorers", "lnorm_course/lessons")
PIXELS = 96  # of a page, in an inch
PHONE = "(max-width: 46rem)"
# Letters look like those of the page, whatever machine has drawn them.
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Helvetica, Arial, sans-serif"
FONTS = re.compile(r"(?<=font-family: )[^;\"]+")
NO_EFFECT = re.compile(r"^(?:print|assert_close)$|\.check$")  # of what is called so

Cell = dict[str, Any]


def redraw(job: tuple[Path, Path]) -> Path:
    """Draw all pictures of a lesson, unless that has been done before, and return the folder.

    Only the cells that a picture needs are run. The folder has for each of these cells a picture
    for screens and, if that is too wide for a phone, another one. `sizes.json` has their sizes.

    Args:
        job: the notebook, with its outputs, and the folder of folders, one for each lesson.

    Raises:
        ValueError: a cell draws another picture than the one that is saved in the notebook.
    """
    path, cache = job
    cells = json.loads(path.read_text("utf-8"))["cells"]
    needed = list(_needed([cell for cell in cells if cell["cell_type"] == "code"]))
    folder = cache / f"{path.stem}-{_fingerprint(needed)}"
    if not (folder / "sizes.json").exists():  # written last
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {name: _write(folder, name, picture) for name, picture in _pictures(path, needed)}
        (folder / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
    return folder


def with_drawings(notebook: Mapping[str, Any], folder: Path, up: str) -> dict[str, Any]:
    """Put the drawings of `redraw` in the place of a lesson's saved pictures.

    Args:
        notebook: with its outputs.
        folder: with the drawings.
        up: the way from the page to the top of the site.
    """
    sizes = json.loads((folder / "sizes.json").read_text("utf-8"))
    cells = []
    for cell in notebook["cells"]:
        if cell.get("id") in sizes:
            shown = _shown(_saved(cell)[0], sizes[cell["id"]], f"{up}drawn/{folder.name}/")
            outputs = [
                {**output, "data": {"text/html": shown}} if _is_image(output) else output
                for output in cell["outputs"]
            ]
            cell = {**cell, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _shown(alt: str, sizes: Mapping[str, tuple[float, float]], folder: str) -> str:
    """Write a picture as HTML: `sizes` has the name of each file, and its width and height."""
    (wide, size), *others = sizes.items()

    def pixels(size: tuple[float, float]) -> str:
        return 'width="{:.0f}" height="{:.0f}"'.format(*(PIXELS * inches for inches in size))

    narrow = "".join(
        f'<source media="{PHONE}" srcset="{folder}{name}" {pixels(other)}>'
        for name, other in others
    )
    kind = "lnorm-drawn" if others or size[0] < NARROW + 1 else "lnorm-drawn wide"
    keys = ' tabindex="0"' if "wide" in kind else ""
    return (
        f'<div class="{kind}"{keys}><picture>{narrow}<img alt="{html.escape(alt)}" '
        f'src="{folder}{wide}" {pixels(size)} loading="lazy"></picture></div>'
    )


def _is_image(output: Mapping[str, Any]) -> bool:
    return "image/png" in output.get("data", {})


def _saved(cell: Cell) -> tuple[str, str]:
    """Return what a cell's saved picture is called, and its words."""
    data = [output.get("data", {}) for output in cell["outputs"]]
    alts = ["".join(d["text/plain"]) for d in data if "image/png" in d]
    words = ["".join(d["text/markdown"]) for d in data if "text/markdown" in d]
    return "".join(alts), "".join(words)


def _needed(cells: list[Cell]) -> Iterator[Cell]:
    """Yield the cells with a picture without sliders, and those that make what they use, in order.

    A cell makes a name if it binds it, or if it calls something on it or with it for its effect.
    """
    used: set[str] = set()
    kept = []
    for cell in reversed(cells):
        tree = ast.parse("".join(cell["source"]))
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        draws = any(map(_is_image, cell["outputs"])) and "explore_" not in "".join(cell["source"])
        if draws or _made(tree) & used:
            used |= {node.id for node in names}
            kept.append(cell)
    return reversed(kept)


def _made(tree: ast.Module) -> set[str]:
    made: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            made |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and not NO_EFFECT.search(ast.unparse(call.func)):
            made |= {name.id for name in ast.walk(call) if isinstance(name, ast.Name)}
    return made


def _pictures(path: Path, cells: list[Cell]) -> Iterator[tuple[str, Picture]]:
    """Run cells, and yield the id and the picture of each that shows one."""
    room: dict[str, Any] = {"__name__": "__main__"}
    os.environ["LNORM_PROGRESS"] = ""  # what a student has solved is not asked for
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body[-1]
        shown = ast.unparse(tree.body.pop()) if isinstance(last, ast.Expr) else "None"
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(tree, path.name, "exec"), room)
            picture = eval(shown, room)
        if isinstance(picture, Picture):
            if _saved(cell) != (picture.alt, f"**In words.** {picture.words}"):
                raise ValueError(
                    f"{path.name}: the cell {cell['id']} draws another picture than the one that "
                    f"is saved. Run `make notebooks`.\n{_saved(cell)}\n{picture.words}"
                )
            yield cell["id"], picture


def _write(folder: Path, name: str, picture: Picture) -> dict[str, tuple[float, float]]:
    """Write a picture for screens and one for phones; return the name and the size of each file."""
    picture.png()  # which lays it out
    picture.set_dpi(POINTS_PER_INCH)
    for part in (picture.patch, *(ax.patch for ax in picture.axes)):
        part.set_visible(False)  # the page shines through
    picture.draw_without_rendering()
    own, *others = arrangements(picture, narrow="beside")
    found = [_write_one(folder, f"{name}.wide", picture, own)]
    if others and not _has_words_along_x(picture):
        narrow = for_phone(picture, others[-1].legends)
        found.append(_write_one(folder, f"{name}.narrow", picture, narrow))
    return dict(found)


def _has_words_along_x(picture: Picture) -> bool:
    """Tell whether words stand along an axis, which can't be left out as some numbers can."""
    labels = [label.get_text() for ax in picture.axes for label in ax.get_xticklabels()]
    return any(any(map(str.isalpha, label)) for label in labels if "$" not in label)


def _write_one(
    folder: Path, name: str, picture: Picture, arrangement: Arrangement
) -> tuple[str, tuple[float, float]]:
    """Write a picture as SVG, or as PNG where that's smaller, and return its name and its size."""
    arrangement.apply(picture)
    text = FONTS.sub(FONT, svg(picture, [picture], "", "none", name)).encode()
    image = io.BytesIO()
    picture.savefig(image, format="png", dpi=2 * PIXELS, transparent=True)
    is_small = len(gzip.compress(text)) <= len(image.getvalue())
    file = folder / f"{name}.{'svg' if is_small else 'png'}"
    file.write_bytes(text if is_small else image.getvalue())
    return file.name, (arrangement.width, arrangement.height)


def _fingerprint(cells: list[Cell]) -> str:
    """Name everything that the pictures of a lesson depend on."""
    files = [p for room in DRAWING for p in (PROJECT / room).rglob("*.py")]
    own = (Path(__file__).with_name(f"{name}.py") for name in ("narrowing", "redrawing"))
    shown = (json.dumps([cell["id"], cell["source"], _saved(cell)]) for cell in cells)
    return fingerprint([*files, *own], *shown)
