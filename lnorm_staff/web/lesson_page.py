"""A lesson in the web edition: a notebook whose predictions and explorers are interactive."""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from lnorm_course import explorers
from lnorm_course.checking.code_exercise import CodeExercise
from lnorm_course.checking.exercise import Exercise
from lnorm_course.checking.prediction import Prediction
from lnorm_course.exercises.progress_report import import_banks
from lnorm_course.explorers.engine.stills import RUN, still_image
from lnorm_course.lab.lesson_files import CHECK
from lnorm_staff.exercise_words import LAB_ONLY, QUESTION
from lnorm_staff.web.baking import Call, calls_in, in_script, page_of
from lnorm_staff.web.exercises import code_exercise, options, prediction, unseen
from lnorm_staff.web.images import with_words

__all__ = ["OPENINGS", "explorer", "lesson_page", "with_handles"]

PROJECT = Path(__file__).parents[2]
UP = "../"  # the path from a lesson's page to the top of the site
CHECK_LINE = re.compile(r"^ *\w+\.check\(.*\)$", re.MULTILINE)
PROGRESS = re.compile(r"^progress\(", re.MULTILINE)
# Matches the aims of a lesson: the list below its title, and the line above the list.
AIMS = re.compile(r"^(\w.*)\n\n((?:- .*\n(?:  .*\n)*)+)", re.MULTILINE)
FOLD = '<details class="lnorm-{}"><summary>{}</summary>'
# The text about an answer ends at a heading, or at a paragraph that begins in bold.
NEXT = re.compile(r"^(?:#|\*\*)", re.MULTILINE)
# In the pictures that open lessons, solid lines show what is given, and dashed lines what is asked.
OPENINGS = "docs/openings"
# Matches a word in the text that refers to a part of the row above: `[mean](#row=mean)`.
HANDLE = re.compile(r"\[([^\]]+)\]\((#row=[^)]+)\)")

IN_BROWSER = ("row", "rings", "stream")  # these explorers draw themselves in the browser

Cell = dict[str, Any]


def lesson_page(
    notebook: Mapping[str, Any], name: str, draw: Callable[[str], Path]
) -> dict[str, Any]:
    """Rewrite a lesson for the web.

    Below the title comes a picture that poses the lesson's question. The aims and the imports are
    collapsed. A prediction becomes a form, and predictions about earlier lessons share a collapsed
    card. The code and the text that show an answer are collapsed. A code exercise gets its hints
    and its solution. An explorer is drawn ahead of time. Text between `<!-- lab -->` and
    `<!-- /lab -->` makes sense only in JupyterLab, and is left out.

    Args:
        notebook: the notebook, with its outputs.
        name: the notebook's name, such as "01_mean".
        draw: a function that, given a call to an explorer, returns the folder with its frames.
    """
    import_banks()
    exercises = {name: each for bank in Exercise.bank.values() for name, each in bank.items()}
    first, *rest = (
        {**cell, "source": LAB_ONLY.sub("", "".join(cell["source"]))} for cell in notebook["cells"]
    )
    imports, *others = (cell for cell in rest if cell["cell_type"] == "code")
    picture = _opening(name)
    if others and rest[1] is others[0] and (calls := calls_in(others[0]["source"])):
        # An explorer, not a still picture, poses this lesson's question.
        picture = explorer(calls[0], draw, UP, _still(rest.pop(1)))
    cells = list(_title(first["source"], picture))
    while rest:
        cell = rest.pop(0)
        source = cell["source"]
        if cell["cell_type"] == "markdown":
            cells.append(cell)
        elif cell is imports:
            opening = FOLD.format("imports", "What the code below imports")
            cells += [_raw(opening), cell, _raw("</details>")]
        elif asked := [exercises[name] for name in CHECK.findall(source)]:
            recalls = cells[-1]["source"].startswith("## Before you start")
            forms = [*_asked(asked, cell, cells), *_folded(rest, asked[-1])]
            card = FOLD.format("recall", "Three questions about earlier lessons")
            cells += [_raw(card), *forms, _raw("</details>")] if recalls else forms
        elif PROGRESS.search(source):
            cells.append(_raw('<p class="lnorm-progress"></p>'))
        elif calls := calls_in(source):
            cells += [_raw(explorer(call, draw, UP, _still(cell))) for call in calls]
        else:
            cells.append(with_words(cell))
    for cell in (cell for cell in cells if cell["cell_type"] == "markdown"):
        cell["source"] = with_handles(cell["source"])
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    return {**notebook, "cells": numbered}


def explorer(call: Call, draw: Callable[[str], Path], up: str, still: str = "") -> str:
    """Write, as HTML, the element in which a page shows an explorer.

    Args:
        draw: a function that, given a call to an explorer, returns the folder with its frames. It
            isn't called for explorers that draw themselves in the browser.
        up: the path from the page to the top of the site.
        still: the still image to show until the explorer is drawn.
    """
    if call.topic in IN_BROWSER:
        return _place(call, still)
    folder = draw(call.source)
    return (
        f'<div class="lnorm-live" id="{call.topic}" data-topic="{call.topic}" '
        f'data-folder="{up}baked/{folder.name}" data-preset="{html.escape(call.preset)}">'
        f"{still}{in_script(page_of(folder, call.preset))}</div>"
    )


def _place(call: Call, still: str) -> str:
    make = getattr(explorers, f"explore_{call.topic}")
    widget = make(**({"preset": call.preset} if call.preset else {}))
    still = still or still_image(widget)["text/html"].replace(RUN, "")
    return f'<div class="lnorm-{call.topic}-place">{still}{in_script(widget.page)}</div>'


def with_handles(text: str) -> str:
    """Turn references to parts of a row into links; their addresses aren't anchors on the page."""
    return HANDLE.sub(r'<a href="\2">\1</a>', text)


def _title(text: str, picture: str) -> Iterator[Cell]:
    """Yield the title, the picture, and collapsed aims, so that the first question comes early."""
    if (aims := AIMS.search(text)) is None:
        yield _words(text)
        return
    yield _words(text[: aims.start()])
    if picture:
        yield _raw(picture)
    yield from [_raw(FOLD.format("aims", aims[1])), _words(aims[2]), _raw("</details>")]
    yield _words(text[aims.end() :])


def _opening(name: str) -> str:
    """Return, as HTML, the picture that poses the lesson's question, or "" if there is none."""
    file = PROJECT / OPENINGS / f"{name}.svg"
    if not file.exists():
        return ""
    drawing = ElementTree.parse(file).getroot()
    *_, width, height = drawing.attrib["viewBox"].split()
    alt = html.escape(drawing.findtext("{http://www.w3.org/2000/svg}title", ""))
    size = f'width="{width}" height="{height}"'
    image = f'<img alt="{alt}" src="{UP}{OPENINGS}/{file.name}" {size}>'
    return f'<div class="lnorm-opening">{image}</div>'


def _asked(asked: list[Exercise], cell: Cell, before: list[Cell]) -> Iterator[Cell]:
    """Yield the cells that replace a cell that checks answers.

    Args:
        before: the cells before the one that checks answers. Questions and choices listed in the
            last of these cells move to the forms.
    """
    text = before[-1]["source"]
    questions = QUESTION.findall(text) if len(asked) > 1 else []
    if questions:
        before[-1] = {**before[-1], "source": QUESTION.sub("", text)}
    for number, exercise in enumerate(asked):
        question = questions[number] if number < len(questions) else text
        if isinstance(exercise, Prediction):
            shown, choices = options(question, exercise)
            if questions:
                yield _words(f"**{number + 1}.** {shown}")
            else:
                before[-1] = {**before[-1], "source": shown}
            yield _raw(prediction(exercise, question, choices))
        elif isinstance(exercise, CodeExercise):
            code = CHECK_LINE.sub("", cell["source"]).rstrip()
            yield _raw(code_exercise(exercise, code))


def _folded(rest: list[Cell], exercise: Exercise) -> Iterator[Cell]:
    """Yield, collapsed, the cells that show an answer: the code, its explanation, and pictures.

    The answer ends before a heading, a paragraph that begins in bold, or something for the reader
    to do. A picture of rings that comes before the answer only poses the question again, so it
    isn't collapsed.
    """
    yield from _picture(rest, "rings")
    inside = list(_code(rest))
    if not inside:
        return
    left = None
    while left != len(rest):
        left = len(rest)
        inside += [*_words_here(rest), *_code(rest), *_picture(rest, *IN_BROWSER)]
    label = "Show the answer" if isinstance(exercise, Prediction) else "Go on"
    fold = FOLD.format("answer", label + unseen(exercise))
    yield from [_raw(fold), *inside, _raw("</details>")]


def _words_here(rest: list[Cell]) -> Iterator[Cell]:
    """Take from `rest` the text up to a heading or a paragraph that begins in bold."""
    if rest and rest[0]["cell_type"] == "markdown":
        text = rest[0]["source"]
        end = found.start() if (found := NEXT.search(text)) else len(text)
        rest[:1] = [_words(text[end:])] if found else []
        if end:
            yield _words(text[:end])


def _code(rest: list[Cell]) -> Iterator[Cell]:
    """Take from `rest` the code cells that come next."""
    while rest and rest[0]["cell_type"] == "code" and not _is_for_the_reader(rest[0]["source"]):
        yield with_words(rest.pop(0))


def _picture(rest: list[Cell], *topics: str) -> Iterator[Cell]:
    """Take the next cell from `rest` if it's an explorer on one of the given topics."""
    if rest and rest[0]["cell_type"] == "code":
        calls = calls_in(rest[0]["source"])
        if calls and calls[0].topic in topics:
            yield _raw(_place(calls[0], _still(rest.pop(0))))


def _is_for_the_reader(source: str) -> bool:
    return bool(CHECK.search(source) or PROGRESS.search(source) or calls_in(source))


def _still(cell: Cell) -> str:
    """Return an explorer's still image, without what makes sense only in JupyterLab."""
    data = [output.get("data", {}) for output in cell["outputs"]]
    return "".join("".join(one.get("text/html", "")) for one in data).replace(RUN, "")


def _raw(text: str) -> Cell:
    return _words(f"`````{{raw}} html\n{text}\n`````")


def _words(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": text}
