"""Write a copy of the course to hand out, without any answer."""

import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from lnorm_course.checking.exercise import CLOSED
from lnorm_course.lab.lesson_files import (
    NAME,
    ORIGINALS,
    LessonError,
    cleared,
    main_way,
    read,
    write,
)
from lnorm_course.lab.working_copy import lesson_named, lessons
from lnorm_staff.grading.hand_out.filled_in import answers_left_in

COURSE = ORIGINALS.parent
FOR_STUDENTS = (
    *("notebooks", "lnorm_utils", "lnorm_course", "docs/troubleshooting.md", "LICENSE"),
    *("Makefile", "pyproject.toml", "constraints.txt", "environment.yml"),
    *(".binder", ".jupyter", ".gitignore"),
)
NOT_FOR_STUDENTS = ("notebooks/.ruff.toml",)
# What is made in these folders and isn't part of the course, where git doesn't say so.
MADE = ("__pycache__", ".ipynb_checkpoints", ".*_cache")
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
came in. {where}, unpack all of it, and start with its README.*"""
NO_ADDRESS = "Get the course from your lecturer"
LINK = re.compile(rf"\[([^\]]*)\]\(({NAME})\)")


class CopyError(Exception):
    """Why there is no copy, in one sentence for each reason."""


def student_copy(
    course: Path,
    out: Path,
    wanted: Sequence[str] | None = None,
    where: str = "",
    side_trips: bool = True,
) -> None:
    """Copy a course, close its solutions, and look for answers; all of it or nothing.

    Args:
        course: the folder that contains `notebooks` and the packages.
        out: where the copy is to be.
        wanted: the lessons to copy, such as "01" and "02"; all if none is named.
        where: where students get the copy, which a notebook that is alone tells.
        side_trips: whether the copy has what comes after the recap of a lesson.

    Raises:
        CopyError: the folder or a lesson's name cannot be used, or a notebook contains an answer.
        OSError: the disk is full, or a folder must not be written to.
    """
    course, out = course.resolve(), out.resolve()
    if out == course or course in out.parents:
        raise CopyError(f"{out} is inside the course. Name a folder outside of it.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CopyError(f"{out} already exists and isn't an empty folder. Name another one.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as draft:
        copy = _drafted(course, Path(draft) / "course", wanted, where, side_trips)
        if out.exists():
            out.rmdir()
        copy.rename(out)


def student_zip(
    course: Path,
    archive: Path,
    wanted: Sequence[str] | None = None,
    where: str = "",
    side_trips: bool = True,
) -> None:
    """Do what `student_copy` does, but write a zip archive, with one folder of the same name.

    Nothing in it needs a permission that Python's `zipfile` drops when it unpacks.
    """
    course, archive = course.resolve(), archive.resolve()
    if archive.suffix.lower() != ".zip" or archive.exists():
        problem = "already exists" if archive.exists() else "is not the name of a zip archive"
        raise CopyError(f"{archive} {problem}. Name another one.")
    archive.parent.mkdir(parents=True, exist_ok=True)
    packed = archive.with_name(f".{archive.name}.draft")
    with tempfile.TemporaryDirectory() as draft:
        copy = _drafted(course, Path(draft) / archive.stem, wanted, where, side_trips)
        try:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
                for path in sorted(copy.rglob("*")):
                    file.write(path, path.relative_to(copy.parent))
            packed.rename(archive)
        finally:
            packed.unlink(missing_ok=True)


def _drafted(
    course: Path, copy: Path, wanted: Sequence[str] | None, where: str, side_trips: bool
) -> Path:
    chosen = {path.name for path in _chosen(course / "notebooks", wanted)}
    copy_files(course, copy)
    for path in lessons(copy / "notebooks"):
        if path.name not in chosen:
            path.unlink()
    closed = copy / CLOSED.relative_to(COURSE)
    closed.write_text(NOTE, encoding="utf-8")
    listed = "\n".join(f"- `my_lessons/{name}`" for name in sorted(chosen))
    (copy / "README.md").write_text(README.format(lessons=listed), encoding="utf-8")
    if found := list(clear_notebooks(copy / "notebooks", where, side_trips)):
        raise CopyError("\n".join(found))
    return copy


def _chosen(notebooks: Path, wanted: Sequence[str] | None) -> list[Path]:
    if not wanted:
        return lessons(notebooks)
    try:
        return [lesson_named(notebooks, name) for name in wanted]
    except ValueError as problem:
        raise CopyError(str(problem)) from None


def copy_files(course: Path, copy: Path) -> None:
    """Copy what students need: files that git tracks; without git, all but what is made there."""
    for name in tracked_files(course) or all_files(course):
        is_inside = [f"{name}/".startswith(f"{each}/") for each in FOR_STUDENTS]
        is_outside = [f"{name}/".startswith(f"{each}/") for each in NOT_FOR_STUDENTS]
        # git tracks a deleted file until the next commit
        if any(is_inside) and not any(is_outside) and (course / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(course / name, copy / name, follow_symlinks=False)


def all_files(course: Path) -> Iterator[str]:
    """Yield the files in the folders of the course, and none of the caches there."""
    for place in FOR_STUDENTS:
        for path in (course / place, *(course / place).rglob("*")):
            name = path.relative_to(course)
            if path.is_file() and not any(fnmatch(p, made) for p in name.parts for made in MADE):
                yield name.as_posix()


def tracked_files(course: Path) -> list[str]:
    """Return the files that git tracks; none without git, or where it tracks no file."""
    command = ["git", "-C", str(course), "ls-files", "-z"]
    try:
        run = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in run.stdout.decode(errors="surrogateescape").split("\0") if name]


def clear_notebooks(notebooks: Path, where: str = "", side_trips: bool = True) -> Iterator[str]:
    """Clear the outputs of all notebooks in a folder; yield a sentence for each answer in them."""
    names = {path.name for path in lessons(notebooks)}
    for path in sorted(notebooks.rglob("*.ipynb")):
        try:
            notebook = read(path)
        except LessonError as problem:
            yield str(problem)
            continue
        yield from (f"{path.name}: {sentence}" for sentence in answers_left_in(notebook))
        handed_out = notebook if side_trips else main_way(notebook)
        cells = [_without_dead_links(cell, names) for cell in handed_out["cells"]]
        if cells and cells[0]["cell_type"] == "markdown":
            said = f"Get the course from {where}" if where else NO_ADDRESS
            source = "".join(cells[0]["source"]) + ALONE.format(where=said)
            cells[0] = {**cells[0], "source": source}
        write(cleared({**notebook, "cells": cells}), path)


def _without_dead_links(cell: dict, names: Collection[str]) -> dict:
    """Turn links to lessons that aren't in the copy into their words."""
    if cell["cell_type"] != "markdown":
        return cell

    def kept(link: re.Match) -> str:
        return link[0] if link[2] in names else link[1]

    return {**cell, "source": LINK.sub(kept, "".join(cell["source"]))}
