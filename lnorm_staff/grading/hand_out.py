"""Write a copy of the course to hand out, without any answers."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lnorm_course.checking.exercise import CLOSED
from lnorm_course.lab import lesson_files
from lnorm_course.lab.lesson_files import CHECK, NAME, ORIGINALS, LessonError
from lnorm_course.lab.working_copy import lessons

__all__ = ["COURSE", "answers_left_in", "student_zip"]

COURSE = ORIGINALS.parent
FOR_STUDENTS = (
    *("lnorm_utils", "lnorm_diagnose", "lnorm_course", "docs/troubleshooting.md", "LICENSE"),
    *("Makefile", "pyproject.toml", "constraints.txt", "environment.yml", ".binder", ".jupyter"),
    ".gitignore",
)
CACHE = re.compile(r"__pycache__|\.ipynb_checkpoints|\.\w+_cache")
README = Path(__file__).with_name("copy_readme.md").read_text("utf-8")
NOTE = "`.solution()` is closed as long as this file is here.\n"
# A lesson imports the package in its first code cell. This note goes above that cell, for anyone
# who has only the notebook.
ALONE = """

*If the next cell raises `ModuleNotFoundError`, this notebook is missing the folder that it came \
in. Get the course from your lecturer, unpack all of it, and start with its README.*"""
LINK = re.compile(rf"\[([^\[\]]*)\]\(({NAME})\)")  # a link to a lesson
DOTS = re.compile(r"(?:^|[=:(]) *\.\.\.\)? *(?:#.*)?$", re.MULTILINE)  # dots in place of an answer
SOLUTION = re.compile(r"^ *(\w+)\.solution\(", re.MULTILINE)


def student_zip(course: Path, archive: Path, wanted: Sequence[str] | None = None) -> None:
    """Pack, completely or not at all, a copy of a course with closed solutions and no answers.

    The archive contains a single folder with the archive's name. No file in it needs a permission
    that Python's `zipfile` drops when unpacking.

    Args:
        course: the folder that contains `notebooks` and the packages.
        archive: the zip file to write.
        wanted: the names of the lessons to copy, such as "01_mean"; None or empty for all of them.

    Raises:
        LessonError: the archive's name can't be used, or a notebook can't be read or contains an
            answer.
        OSError: the disk is full, or a folder can't be written to.
    """
    course, archive = course.resolve(), archive.resolve()
    if archive.suffix.lower() != ".zip" or archive.exists():
        problem = "already exists" if archive.exists() else "is not the name of a zip archive"
        raise LessonError(f"{archive} {problem}. Choose a different name.")
    handed_out = [p for p in lessons(course / "notebooks") if not wanted or p.stem in wanted]
    names = [path.name for path in handed_out]
    texts = {CLOSED.relative_to(COURSE).as_posix(): NOTE, "README.md": README}
    problems: list[str] = []
    for path in handed_out:
        text = json.dumps(lesson_files.read(path))
        notebook = json.loads(LINK.sub(lambda link: link[0 if link[2] in names else 1], text))
        problems += (f"{path.name}: {sentence}" for sentence in answers_left_in(notebook))
        cells = notebook["cells"]
        if cells and cells[0]["cell_type"] == "markdown":
            cells[0] = {**cells[0], "source": "".join(cells[0]["source"]) + ALONE}
        copy = lesson_files.cleared({**notebook, "cells": cells})
        texts[f"notebooks/{path.name}"] = lesson_files.as_text(copy)
    if problems:
        raise LessonError("\n".join(problems))
    archive.parent.mkdir(parents=True, exist_ok=True)
    kind = zipfile.ZIP_DEFLATED
    with lesson_files.whole(archive) as draft, zipfile.ZipFile(draft, "w", kind) as packed:
        for path in _files(course):
            packed.write(path, archive.stem / path.relative_to(course))
        for own, text in texts.items():
            packed.writestr(f"{archive.stem}/{own}", text)


def _files(course: Path) -> Iterator[Path]:
    """Yield the files that are packed for students without changes."""
    for place in FOR_STUDENTS:
        for path in (course / place, *sorted((course / place).rglob("*"))):
            parts = path.relative_to(course).parts
            if path.is_file() and not any(map(CACHE.fullmatch, parts)):
                yield path


def answers_left_in(notebook: Mapping) -> Iterator[str]:
    """Yield a sentence for each code cell that contains an answer.

    A cell without answers has `...` for each exercise that it checks, and shows no solution.
    """
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, source in enumerate(map("".join, code), start=1):
        left = SOLUTION.findall(source)
        if len(checked := CHECK.findall(source)) > len(DOTS.findall(source)):
            left += checked
        if left:
            yield f"in code cell {number}, an answer to {', '.join(left)} is filled in or shown."
