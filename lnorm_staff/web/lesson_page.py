"""A lesson as the web shows it: a notebook whose predictions and explorers are alive."""

import ast
import base64
import copy
import hashlib
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_course.explorers import explore_row
from lnorm_course.explorers.engine.stills import RUN, still_image
from lnorm_staff.web.baking import Call, calls_in, page_of
from lnorm_staff.web.code import only_shows
from lnorm_staff.web.questions import code_exercise, exercise_named, prediction

__all__ = ["LAB_ONLY", "explorer", "lesson_page", "with_handles"]

PROJECT = Path(__file__).parents[2]
CHECK = re.compile(r"^ *(\w+)\.check\(", re.MULTILINE)
CHECK_LINE = re.compile(r"^ *\w+\.check\(.*\)$", re.MULTILINE)
AIMS = re.compile(
    r"^(After this (?:lesson|appendix) you can)\n\n((?:- .*\n(?:  .*\n)*)+)", re.MULTILINE
)
# Which lessons it needs, which is said only to who hasn't begun them.
NEEDS = re.compile(r" \*\*You need:\*\* (.*\]\(.*)")
QUESTION = re.compile(r"^\d+\. (.+)\n?", re.MULTILINE)
PROGRESS = re.compile(r"^progress\(", re.MULTILINE)
FOLD = '<details class="lnorm-{}"><summary>{}</summary>'
# Where the words about an answer end: at a heading, or at what the reader does next.
NEXT = re.compile(r"^(?:#|\*\*(?:Predict|Your turn|Explore)\b)", re.MULTILINE)
LAB_ONLY = re.compile(r" ?<!-- lab -->.*?<!-- /lab -->", re.DOTALL)
# The pictures with which lessons open: what is given is solid, and what is asked for is dashed.
OPENINGS = "docs/openings"
ALT = re.compile(r'<img [^>]*?alt="([^"]+)"')
# Words to answer with: on a page they are chosen.
WRITE = re.compile(r'\bWrite (?=")')
# A word of the text that points into the row above it: `[mean](#row=mean)`.
HANDLE = re.compile(r"\[([^\]]+)\]\((#row=[^)]+)\)")
IMAGE = re.compile(r'src="data:image/png;base64,([^"]+)"')

Cell = dict[str, Any]


def lesson_page(
    notebook: Mapping[str, Any],
    bake: Callable[[str], Path],
    pictures: Path,
    up: str = "../",
    outcomes: Mapping[tuple[str, str], bytes] | None = None,
    name: str = "",
) -> dict[str, Any]:
    """Rewrite a lesson for the web.

    Below its title stands a picture that asks its question. The aims and the imports are folded,
    and code that only draws or asserts. A prediction becomes a form. What shows its answer is
    folded: the code after it, and the words after that. An exercise in code gets its hints and its
    solution. An explorer is drawn ahead. What stands between `<!-- lab -->` and `<!-- /lab -->`
    makes sense in JupyterLab only, and is left out.

    Args:
        notebook: with its outputs.
        bake: from the call of an explorer to the folder with its frames.
        pictures: the folder to which pictures are written.
        up: the way from the page to the top of the site.
        outcomes: what `all_outcomes` returns; needed if there is an exercise in code.
        name: of the notebook, such as "01_mean"; without it there's no picture below the title.
    """
    exercises, known = _exercises(notebook), outcomes or {}
    cells: list[Cell] = []
    first, *rest = notebook["cells"]
    imports, *others = (cell for cell in rest if cell["cell_type"] == "code")
    picture = _opening(name, up)
    if others and rest[1] is others[0] and (calls := calls_in("".join(others[0]["source"]))):
        opening = rest.pop(1)  # a picture that can be touched asks the lesson's question
        picture = explorer(calls[0], bake, up, _stills(opening, pictures, up))
    cells += _title("".join(first["source"]), picture)
    while rest:
        cell = rest.pop(0)
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cells.append({**cell, "source": WRITE.sub("Choose ", LAB_ONLY.sub("", source))})
        elif cell is imports:
            opening = FOLD.format("imports", "What the code below imports")
            cells += [_raw(opening), cell, _raw("</details>")]
        elif asked := [exercises[name] for name in CHECK.findall(source)]:
            label = "Show the answer" if isinstance(asked[-1], Prediction) else "Go on"
            cells += [*_asked(asked, cell, cells, known), *_folded(rest, label, pictures, up)]
        elif PROGRESS.search(source):
            cells.append(_raw('<p class="lnorm-progress"></p>'))
        elif calls := calls_in(source):
            stills = _stills(cell, pictures, up)
            cells += [_raw(explorer(call, bake, up, stills)) for call in calls]
        else:
            cells += _shown(_with_pictures(cell, pictures, up))
    for cell in (cell for cell in cells if cell["cell_type"] == "markdown"):
        cell["source"] = with_handles("".join(cell["source"]))
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    return {**notebook, "cells": numbered}


def explorer(call: Call, bake: Callable[[str], Path], up: str, still: str = "") -> str:
    """Write the place of an explorer as HTML.

    Args:
        bake: from the call of an explorer to the folder with its frames, of which only the name is
            kept. The row has none, because it computes in the browser.
        up: the way from the page to the top of the site.
        still: what stands there until the explorer is drawn.
    """
    if call.topic == "row":
        return _row(call, up, still)
    folder = bake(call.source)
    return (
        f'<div class="lnorm-live" id="{call.topic}" data-topic="{call.topic}" '
        f'data-folder="{up}baked/{folder.name}" data-preset="{html.escape(call.preset)}">'
        f"{still}{_json(page_of(folder, call.preset))}</div>"
    )


def _row(call: Call, up: str, still: str) -> str:
    row = explore_row(**({"preset": call.preset} if call.preset else {}))
    return (
        '<div class="lnorm-row-place">'
        f"{still or without_lab(still_image([row])['text/html'])}{_json(row.page)}</div>"
        f'<script type="module" src="{up}_static/row.js"></script>'
    )


def _json(page: Any) -> str:
    text = json.dumps(page, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<script type="application/json">{text}</script>'


def with_handles(text: str) -> str:
    """Make links of the words that point into a row; their addresses are no places of the page."""
    return HANDLE.sub(r'<a href="\2">\1</a>', text)


def _title(text: str, picture: str) -> Iterator[Cell]:
    """Yield a lesson's title, its picture, and its aims, folded, so that a question comes soon."""
    aims = AIMS.search(text)
    if aims is None:
        yield _words(text)
        return
    yield _words(text[: aims.start()])
    if picture:
        yield _raw(picture)
    yield from [_raw(FOLD.format("aims", aims[1])), _words(aims[2]), _raw("</details>")]
    rest = LAB_ONLY.sub("", text[aims.end() :])
    yield _words(NEEDS.sub(r' <span class="lnorm-needs">Builds on \1</span>', rest))


def _opening(name: str, up: str) -> str:
    """Return the picture that asks the question of a lesson as HTML; "" if it has none."""
    file = PROJECT / OPENINGS / f"{name}.svg"
    if not file.exists():
        return ""
    drawing = ElementTree.parse(file).getroot()
    *_, width, height = drawing.attrib["viewBox"].split()
    alt = html.escape(drawing.findtext("{http://www.w3.org/2000/svg}title", ""))
    size = f'width="{width}" height="{height}"'
    image = f'<img alt="{alt}" src="{up}{OPENINGS}/{file.name}" {size}>'
    return f'<div class="lnorm-drawn lnorm-asking">{image}</div>'


def _exercises(notebook: Mapping[str, Any]) -> dict[str, Exercise]:
    """Find the exercises that a lesson imports from their banks."""
    found: dict[str, Exercise] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "lnorm_course.exercises." in source:
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    room, _, topic = node.module.rpartition(".")
                    if room == "lnorm_course.exercises":
                        found |= {a.name: exercise_named(topic, a.name) for a in node.names}
    return found


def _asked(
    asked: list[Exercise],
    cell: Cell,
    before: list[Cell],
    outcomes: Mapping[tuple[str, str], bytes],
) -> Iterator[Cell]:
    """Yield what stands in place of a cell with checks.

    Args:
        before: the cells before it; if the last one lists the questions, each goes to its form.
        outcomes: those of the programs with gaps.
    """
    listed: list[str] = []
    text = "".join(before[-1]["source"])
    if len(asked) > 1:
        listed = QUESTION.findall(text)
        before[-1] = {**before[-1], "source": QUESTION.sub("", text)}
    for number, exercise in enumerate(asked):
        if number < len(listed):
            yield _words(f"**{number + 1}.** {listed[number]}")
        elif len(asked) > 1:
            yield _words(f"**{exercise.name.replace('_', ' ').capitalize()}**")
        if isinstance(exercise, Prediction):
            yield _raw(prediction(exercise, listed[number] if number < len(listed) else text))
        elif isinstance(exercise, CodeExercise):
            code = CHECK_LINE.sub("", "".join(cell["source"])).rstrip()
            known = outcomes.get((exercise.topic, exercise.name), b"")
            yield _raw(code_exercise(exercise, code, known))


def _folded(rest: list[Cell], label: str, pictures: Path, up: str) -> Iterator[Cell]:
    """Yield what shows an answer, folded: code, the words about it, and code that belongs to them.

    The words end at a heading, or at what the reader does next.
    """
    inside = list(_code(rest, pictures, up))
    if not inside:
        return
    if rest and rest[0]["cell_type"] == "markdown":
        text = LAB_ONLY.sub("", "".join(rest.pop(0)["source"]))
        found = NEXT.search(text)
        end = found.start() if found else len(text)
        inside += [_words(text[:end])] if end else []
        if found:
            rest.insert(0, _words(text[end:]))
        inside += _code(rest, pictures, up)
    if (
        rest
        and rest[0]["cell_type"] == "code"
        and "".join(rest[0]["source"]).startswith("explore_row(")
    ):
        calls = calls_in("".join(rest[0]["source"]))
        inside.append(_raw(_row(calls[0], up, _stills(rest.pop(0), pictures, up))))
    yield from [_raw(FOLD.format("answer", label)), *inside, _raw("</details>")]


def _code(rest: list[Cell], pictures: Path, up: str) -> Iterator[Cell]:
    """Take the cells with code that come next."""
    while rest and rest[0]["cell_type"] == "code" and not _is_for_the_reader(rest[0]):
        yield from _shown(_with_pictures(rest.pop(0), pictures, up))


def _shown(cell: Cell) -> list[Cell]:
    """Fold code that only draws or asserts, below what it shows."""
    if not only_shows("".join(cell["source"])):
        return [cell]
    outputs = [{**cell, "metadata": {**cell["metadata"], "tags": ["remove-input"]}}]
    alt = ALT.search(str(outputs))
    of = f'<span class="lnorm-unseen"> of {alt[1]}</span>' if alt else ""
    opening = _raw(FOLD.format("code", f"Show the code{of}"))
    return [
        *(outputs if cell["outputs"] else []),
        *(opening, {**cell, "outputs": []}, _raw("</details>")),
    ]


def _is_for_the_reader(cell: Cell) -> bool:
    source = "".join(cell["source"])
    return bool(CHECK.search(source) or PROGRESS.search(source) or calls_in(source))


def _with_pictures(cell: Cell, pictures: Path, up: str) -> Cell:
    """Write the pictures of a cell to files."""
    cell = copy.deepcopy(cell)
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            data.pop("image/png")
            picture = _in_files("".join(data["text/html"]), pictures, up)
            data["text/html"] = f'<div class="lnorm-picture" tabindex="0">{picture}</div>'
    return cell


def _stills(cell: Cell, pictures: Path, up: str) -> str:
    outputs = _with_pictures(cell, pictures, up)["outputs"]
    still = "".join("".join(output["data"].get("text/html", "")) for output in outputs)
    return without_lab(still)


def without_lab(still: str) -> str:
    """Leave out of a still image what makes sense in JupyterLab only."""
    return still.replace(RUN, "")


def _in_files(text: str, pictures: Path, up: str) -> str:
    def moved(found: re.Match[str]) -> str:
        image = base64.b64decode(found[1])
        name = f"{hashlib.sha256(image).hexdigest()[:16]}.png"
        (pictures / name).write_bytes(image)
        # The size stands in a PNG's first bytes; with it, nothing moves when the picture comes.
        width, height = (int.from_bytes(image[i : i + 4], "big") for i in (16, 20))
        size = f'width="{width}" height="{height}"'
        return f'src="{up}pictures/{name}" {size} loading="lazy"'

    return IMAGE.sub(moved, text)


def _raw(text: str) -> Cell:
    return _words(f"`````{{raw}} html\n{text}\n`````")


def _words(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": text}
