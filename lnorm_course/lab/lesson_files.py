"""Lessons as students get them: without outputs, and marked with a hash of their contents."""

import contextlib
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = [
    "NAME",
    "ORIGINALS",
    "LessonError",
    "as_text",
    "cleared",
    "content_hash",
    "exercises",
    "made_from",
    "main_way",
    "read",
    "topics",
    "whole",
    "write",
]

# The folder with the course's own notebooks.
ORIGINALS = Path(__file__).parents[2] / "notebooks"

# Matches the file name of a numbered lesson or of an appendix.
NAME = r"(?:\d\d|appendix)_\w+\.ipynb"

# The course's key in a notebook's metadata, which JupyterLab keeps when it saves the notebook.
MARK = "lnorm_utils"
# A kernel adds this to a notebook that lacks it, and JupyterLab then shows the notebook as unsaved.
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": platform.python_version(),
}
BANK = re.compile(r"\blnorm_course\.exercises(?:\.| import )(?!progress|Exercise)(\w+)")
CHECK = re.compile(r"^\s*(\w+)\.check\(", re.MULTILINE)
RECAP = "## Recap"  # the last section of the main path; side trips come after it
SIDE_TRIPS = re.compile(r", and \d+ for the side trips?(?=\.)")


class LessonError(ValueError):
    """Raised with one sentence that says why a file can't be read as a notebook."""


def read(path: Path) -> dict:
    """Read a notebook.

    Raises:
        LessonError: the file isn't a notebook of format 4.
        OSError: the file can't be read at all.
    """
    try:
        notebook = json.loads(path.read_text("utf-8-sig"))
        content_hash(notebook)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LessonError(f"{path.name} can't be read as a notebook.") from None
    return notebook


def write(notebook: Mapping, path: Path) -> None:
    """Write a notebook either completely or not at all."""
    with whole(path) as draft:
        draft.write_text(as_text(notebook), encoding="utf-8", newline="\n")


def as_text(notebook: Mapping) -> str:
    """Return the text of a notebook's file."""
    return f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n"


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield the path of a draft to write to, and move the draft to `path` if writing succeeds.

    If writing fails or is interrupted, the file at `path` is unchanged.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def cleared(notebook: Mapping) -> dict:
    """Copy a notebook without outputs or execution counts, and add the hash of its contents."""
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    own = {"language_info": LANGUAGE, MARK: {"content_hash": content_hash(notebook)}}
    metadata = {**notebook["metadata"], **own}
    return {**notebook, "metadata": metadata, "cells": cells}


def content_hash(notebook: Mapping) -> str:
    """Return a hash that depends on the sources and types of cells, but not on their outputs."""
    cells = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def made_from(notebook: Mapping) -> str:
    """Return the hash of the lesson that a copy was made from, or "" if the copy isn't marked."""
    mark = notebook.get("metadata", {}).get(MARK)
    return str(mark.get("content_hash", "")) if isinstance(mark, Mapping) else ""


def main_way(notebook: Mapping) -> dict:
    """Return a lesson without the cells after the recap and without the minutes these take."""
    kept: list[dict] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        kept.append({**cell, "source": SIDE_TRIPS.sub("", source)})
        if cell["cell_type"] == "markdown" and source.startswith(RECAP):
            break
    return {**notebook, "cells": kept}


def topics(notebook: Mapping) -> list[str]:
    """Return the topics, such as "mean", whose exercises a lesson imports."""
    return _found(BANK, notebook)


def exercises(notebook: Mapping) -> list[str]:
    """Return the names of the exercises that a lesson checks."""
    return _found(CHECK, notebook)


def _found(pattern: re.Pattern, notebook: Mapping) -> list[str]:
    code = ("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code")
    return list(dict.fromkeys(name for source in code for name in pattern.findall(source)))
