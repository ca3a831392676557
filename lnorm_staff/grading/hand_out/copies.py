"""Write a copy of the course to hand out, without any answer."""

import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from lnorm_course.checking.exercise import CLOSED
from lnorm_course.lab.lesson_files import NAME, ORIGINALS, LessonError, cleared, read, write
from lnorm_course.lab.working_copy import lesson_named, lessons
from lnorm_staff.grading.hand_out.filled_in import answers_left_in

__all__ = ["COURSE", "CopyError", "student_zip", "tracked_files"]

COURSE = ORIGINALS.parent
FOR_STUDENTS = (
    *("notebooks", "lnorm_utils", "lnorm_course", "docs/troubleshooting.md", "LICENSE"),
    *("Makefile", "pyproject.toml", "constraints.txt", "environment.yml"),
    *(".binder", ".jupyter", ".gitignore"),
)
# What is made in these folders and isn't part of the course, where git doesn't say so.
MADE = re.compile(r"(^|/)(__pycache__|\.ipynb_checkpoints|\.\w+_cache)/")
README = """# Layer normalization, step by step

You need Python 3.11 or newer, `make`, and 1.5 GB of disk. Open a terminal in this folder and type

    make lab

The first call takes a few minutes. On Windows, in PowerShell:

    py -m venv .venv
    .venv\\Scripts\\python -m pip install -c constraints.txt -e ".[lab]"
    .venv\\Scripts\\python -m lnorm_course

JupyterLab opens with your own copy of the lessons, in the folder `my_lessons`. Start at the top of
a lesson; Shift+Enter runs a cell. What you write stays there, and so does your progress.

If something goes wrong, see [docs/troubleshooting.md](docs/troubleshooting.md).

To hand in a lesson, save it and hand in its notebook from `my_lessons`, under any name:

{lessons}
"""
NOTE = "`.solution()` is closed as long as this file is here.\n"
# A lesson imports the package in its first cell; this stands above, for whoever has only the file.
ALONE = """

*If the next cell says `ModuleNotFoundError`, this notebook is alone, and needs the folder that it \
came in. Get the course from your lecturer, unpack all of it, and start with its README.*"""
LINK = re.compile(rf"\[([^\]]*)\]\(({NAME})\)")


class CopyError(ValueError):
    """Why there is no copy, in one sentence for each reason."""


def student_zip(course: Path, archive: Path, wanted: Sequence[str] | None = None) -> None:
    """Pack a copy of a course with closed solutions and no answers; all of it or nothing.

    The archive has one folder of the same name. Nothing in it needs a permission that Python's
    `zipfile` drops when it unpacks.

    Args:
        course: the folder that contains `notebooks` and the packages.
        archive: where the copy is to be.
        wanted: the lessons to copy, such as "01" and "02"; all if none is named.

    Raises:
        CopyError: the archive or a lesson's name cannot be used, or a notebook contains an answer.
        OSError: the disk is full, or a folder must not be written to.
    """
    course, archive = course.resolve(), archive.resolve()
    if archive.suffix.lower() != ".zip" or archive.exists():
        problem = "already exists" if archive.exists() else "is not the name of a zip archive"
        raise CopyError(f"{archive} {problem}. Name another one.")
    try:
        chosen = [lesson_named(course / "notebooks", name).name for name in wanted or ()]
    except ValueError as problem:
        raise CopyError(str(problem)) from None
    archive.parent.mkdir(parents=True, exist_ok=True)
    packed = archive.with_name(f".{archive.name}.draft")
    with tempfile.TemporaryDirectory() as draft:
        copy = Path(draft) / archive.stem
        _write_copy(course, copy, chosen)
        try:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
                for path in sorted(copy.rglob("*")):
                    file.write(path, path.relative_to(copy.parent))
            packed.rename(archive)
        finally:
            packed.unlink(missing_ok=True)


def _write_copy(course: Path, copy: Path, chosen: Collection[str]) -> None:
    for name in tracked_files(course) or all_files(course):
        is_wanted = any(f"{name}/".startswith(f"{each}/") for each in FOR_STUDENTS)
        is_wanted &= name != "notebooks/.ruff.toml"
        # git tracks a deleted file until the next commit
        if is_wanted and (course / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(course / name, copy / name, follow_symlinks=False)
    for path in lessons(copy / "notebooks"):
        if chosen and path.name not in chosen:
            path.unlink()
    closed = copy / CLOSED.relative_to(COURSE)
    closed.write_text(NOTE, encoding="utf-8")
    handed_out = [path.name for path in lessons(copy / "notebooks")]
    listed = "\n".join(f"- `my_lessons/{name}`" for name in handed_out)
    (copy / "README.md").write_text(README.format(lessons=listed), encoding="utf-8")
    if found := list(_clear_notebooks(copy / "notebooks", handed_out)):
        raise CopyError("\n".join(found))


def all_files(course: Path) -> Iterator[str]:
    """Yield the files in the folders of the course, and none of the caches there."""
    for place in FOR_STUDENTS:
        for path in (course / place, *(course / place).rglob("*")):
            name = path.relative_to(course).as_posix()
            if not MADE.search(name):
                yield name


def tracked_files(course: Path) -> list[str]:
    """Return the files that git tracks; none without git, or where it tracks no file."""
    command = ["git", "-C", str(course), "ls-files", "-z"]
    try:
        run = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in run.stdout.decode(errors="surrogateescape").split("\0") if name]


def _clear_notebooks(notebooks: Path, names: Collection[str]) -> Iterator[str]:
    """Clear the outputs of all notebooks in a folder; yield a sentence for each answer in them."""
    for path in sorted(notebooks.rglob("*.ipynb")):
        try:
            notebook = read(path)
        except LessonError as problem:
            yield str(problem)
            continue
        yield from (f"{path.name}: {sentence}" for sentence in answers_left_in(notebook))
        cells = [_without_dead_links(cell, names) for cell in notebook["cells"]]
        if cells and cells[0]["cell_type"] == "markdown":
            cells[0] = {**cells[0], "source": "".join(cells[0]["source"]) + ALONE}
        write(cleared({**notebook, "cells": cells}), path)


def _without_dead_links(cell: dict, names: Collection[str]) -> dict:
    """Turn links to lessons that aren't in the copy into their words."""
    if cell["cell_type"] != "markdown":
        return cell

    def kept(link: re.Match) -> str:
        return link[0] if link[2] in names else link[1]

    return {**cell, "source": LINK.sub(kept, "".join(cell["source"]))}
