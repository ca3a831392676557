"""Write a copy of the course to hand out, without any answer: `make student OUT=folder`."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lnorm_utils.exercises.engine.exercise import CLOSED
from lnorm_utils.grading.filled_in import answers_left_in
from lnorm_utils.lab.lesson_files import ORIGINALS, LessonError, cleared, read, write

COURSE = ORIGINALS.parent
# What is made in the folder of the course and isn't part of it.
LEFT_OUT = [".git", ".venv", "__pycache__", ".ipynb_checkpoints", ".*_cache", "my_lessons", "build"]
# For whoever makes the course: its tests compare outputs, which a copy for students hasn't got.
FOR_AUTHORS = ("tests", "docs", ".ci", ".github", "README.md")
README = """# Layer normalization, step by step

You need Python 3.11 or newer and `make`. Open a terminal in this folder and type

    make lab

The first call takes a few minutes. On Windows, in PowerShell:

    py -m venv .venv
    .venv\\Scripts\\python -m pip install -c constraints.txt -e ".[lab,test]"
    .venv\\Scripts\\python -m lnorm_utils

JupyterLab opens with your own copy of the lessons, in the folder `my_lessons`. Start at the top of
a lesson; Shift+Enter runs a cell. What you write stays there, and so does your progress.
"""
NOTE = "`.solution()` is closed as long as this file is here.\n"


class CopyError(Exception):
    """Why there is no copy, in one sentence for each reason."""


def student_copy(course: Path, out: Path) -> None:
    """Copy a course, close its solutions, and look for answers; all of it or nothing.

    Args:
        course: the folder that contains `notebooks` and `lnorm_utils`.
        out: where the copy is to be.

    Raises:
        CopyError: the folder cannot be used, or a notebook contains an answer.
        OSError: the disk is full, or a folder must not be written to.
    """
    course, out = course.resolve(), out.resolve()
    if out == course or course in out.parents:
        raise CopyError(f"{out} lies inside the course: name a folder outside of it.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CopyError(f"{out} exists and is not an empty folder: name another.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as draft:
        copy = Path(draft) / "course"
        copy_files(course, copy)
        (copy / CLOSED.relative_to(COURSE)).write_text(NOTE, encoding="utf-8")
        (copy / "README.md").write_text(README, encoding="utf-8")
        if found := list(clear_notebooks(copy / "notebooks")):
            raise CopyError("\n".join(found))
        if out.exists():
            out.rmdir()
        copy.rename(out)


def copy_files(course: Path, copy: Path) -> None:
    """Copy what students need: files that git tracks; without git, all but what is made here."""
    tracked = tracked_files(course)
    if not tracked:
        ignore = shutil.ignore_patterns(*LEFT_OUT, *FOR_AUTHORS)
        shutil.copytree(course, copy, symlinks=True, ignore=ignore)
    for name in tracked:
        if name.split("/")[0] in FOR_AUTHORS:
            continue
        if (course / name).is_file():  # git tracks a deleted file until the next commit
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(course / name, copy / name, follow_symlinks=False)


def tracked_files(course: Path) -> list[str]:
    """Return the files that git tracks; none without git, or where it tracks no file."""
    command = ["git", "-C", str(course), "ls-files", "-z"]
    try:
        run = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in run.stdout.decode(errors="surrogateescape").split("\0") if name]


def clear_notebooks(notebooks: Path) -> Iterator[str]:
    """Clear the outputs of all notebooks in a folder; yield a sentence for each answer in them."""
    for path in sorted(notebooks.rglob("*.ipynb")):
        try:
            notebook = read(path)
        except LessonError as problem:
            yield str(problem)
            continue
        yield from (f"{path.name}: {sentence}" for sentence in answers_left_in(notebook))
        write(cleared(notebook), path)
