"""Where the project and its lessons are, for the tests and the tools."""

import functools
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
NOTEBOOK_PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
# An appendix is a notebook without a number. It follows every rule for lessons, but it has no
# explorer, and no row in the tables of the README, the map, and the page on teaching.
LESSON_PATHS = [path for path in NOTEBOOK_PATHS if path.name[0].isdigit()]
# The files with all `make` targets: those for everybody, and those for authors and lecturers.
MAKEFILES = [PROJECT / "Makefile", PROJECT / "course.mk"]
MAKEFILE = "\n".join(path.read_text("utf-8") for path in MAKEFILES)
PRESET = r'(explore_\w+)\(preset="(.+?)"\)'


@functools.cache
def named_presets():
    """Return the explorers that lessons and pages show, each with the name of a preset."""
    pages = [*NOTEBOOK_PATHS, *PROJECT.glob("docs/**/*.md"), PROJECT / "README.md"]
    texts = (page.read_text("utf-8").replace('\\"', '"') for page in pages)
    return {found for text in texts for found in re.findall(PRESET, text)}


def rows_below(text, heading):
    """Return the rows of the table in a section of a page, without the column headings."""
    section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]
