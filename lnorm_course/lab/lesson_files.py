"""A lesson as a student gets it: without outputs, and marked with the hash of its contents."""

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

# The course's own notebooks.
ORIGINALS = Path(__file__).parents[2] / "notebooks"

# What a lesson's file is called, or an appendix's, which has no number.
NAME = r"(?:\d\d|appendix)_\w+\.ipynb"

# In the metadata of a notebook, which JupyterLab keeps when it saves.
MARK = "lnorm_utils"
# What the kernel would write into an open notebook, so that JupyterLab calls it unsaved.
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
RECAP = "## Recap"  # how the last cell of the main way begins; side trips come after it
SIDE_TRIPS = re.compile(r", and \d+ for the side trips?(?=\.)")


class LessonError(ValueError):
    """Why a file can't be read as a notebook, in one sentence."""


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
    """Write a notebook, whole or not at all."""
    with whole(path) as draft:
        draft.write_text(as_text(notebook), encoding="utf-8", newline="\n")


def as_text(notebook: Mapping) -> str:
    """Return a notebook as its file has it."""
    return f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n"


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Name a draft to write, and put it into the place of `path` once that went well.

    If writing fails or is interrupted, what was at `path` stays as it was.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def cleared(notebook: Mapping) -> dict:
    """Return a copy without outputs and execution counts, marked with the hash of its contents."""
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    own = {"language_info": LANGUAGE, MARK: {"content_hash": content_hash(notebook)}}
    metadata = {**notebook["metadata"], **own}
    return {**notebook, "metadata": metadata, "cells": cells}


def content_hash(notebook: Mapping) -> str:
    """Return a word that changes when any cell does, and not when only outputs do."""
    cells = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def made_from(notebook: Mapping) -> str:
    """Return the hash of what a copy was made from; empty if it has no mark."""
    mark = notebook.get("metadata", {}).get(MARK)
    return str(mark.get("content_hash", "")) if isinstance(mark, Mapping) else ""


def main_way(notebook: Mapping) -> dict:
    """Return a lesson without its side trips, which are the cells after the recap."""
    kept: list[dict] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        kept.append({**cell, "source": SIDE_TRIPS.sub("", source)})
        if cell["cell_type"] == "markdown" and source.startswith(RECAP):
            break
    return {**notebook, "cells": kept}


def topics(notebook: Mapping) -> list[str]:
    """Name the banks of exercises that a lesson imports, such as "mean"."""
    return _found(BANK, notebook)


def exercises(notebook: Mapping) -> list[str]:
    """Name the exercises that a lesson checks."""
    return _found(CHECK, notebook)


def _found(pattern: re.Pattern, notebook: Mapping) -> list[str]:
    code = ("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code")
    return list(dict.fromkeys(name for source in code for name in pattern.findall(source)))
