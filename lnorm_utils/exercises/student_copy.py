"""Write a copy of the course to hand out, without any answer: `make student OUT=folder`."""

import argparse
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from lnorm_utils.exercises.exercise import CLOSED
from lnorm_utils.exercises.leftovers import leftovers

COURSE = Path(__file__).parents[2]
LEFT_OUT = [".git", ".venv", "__pycache__", ".ipynb_checkpoints", ".*_cache", ".progress*"]
NOTE = "`.solution()` is closed as long as this file is here.\n"


class CopyError(Exception):
    """Why there is no copy, in one sentence for each reason."""


def main(arguments: list[str] | None = None) -> int:
    """Write the copy and return 0, or print why there is none and return 1."""
    parser = argparse.ArgumentParser(prog="student_copy", description=__doc__)
    parser.add_argument("out", type=Path, help="a folder that is not there yet, or is empty")
    out = parser.parse_args(arguments).out.expanduser()
    try:
        student_copy(COURSE, out)
    except CopyError as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"{problem.filename or out}: {problem.strerror}.", file=sys.stderr)
        return 1
    print(f"The copy for students is in {out}. `.solution()` is closed in it.")
    return 0


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
        if found := list(answers(copy)):
            raise CopyError("\n".join(found))
        if out.exists():
            out.rmdir()
        copy.rename(out)


def copy_files(course: Path, copy: Path) -> None:
    """Copy the files that git tracks, or all but environment and caches where git knows none."""
    tracked = tracked_files(course)
    if not tracked:
        shutil.copytree(course, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in tracked:
        if (course / name).is_file():  # one that was deleted is tracked until the next commit
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(course / name, copy / name, follow_symlinks=False)


def tracked_files(course: Path) -> list[str]:
    """Name the files that git tracks; none if there is no git, or if it is not its folder."""
    command = ["git", "-C", str(course), "ls-files", "-z"]
    try:
        run = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in run.stdout.decode(errors="surrogateescape").split("\0") if name]


def answers(copy: Path) -> Iterator[str]:
    """Yield a sentence with notebook, cell and exercise for each answer in the notebooks."""
    import nbformat

    for path in sorted(copy.rglob("*.ipynb")):
        try:
            with warnings.catch_warnings(action="ignore"):  # that cells have no ids
                notebook = nbformat.read(path, as_version=4)
            found = list(leftovers(notebook))
        except Exception as problem:
            found = [f"nothing can be read: {' '.join(str(problem).split())[:100]}"]
        yield from (f"{path.name}: {sentence}" for sentence in found)


if __name__ == "__main__":
    sys.exit(main())
