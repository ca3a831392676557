"""Grade notebooks that were handed in, each exercise by itself: `make grade SUBMISSION=folder`."""

import argparse
import csv
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from lnorm_utils.exercises.kernel import walls
from lnorm_utils.exercises.submissions import RIGHT, Grade, grade

OPEN = (
    "Careful: what was handed in can read and change your files and reach the network. On Linux, "
    "install bubblewrap to prevent that; elsewhere grade in a container."
)
COLUMNS = ["submission", "lesson", "exercise", "state", "mistake", "message"]


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each submission, write the CSV file if one is asked for, and return 0.

    Raises:
        SystemExit: the submission does not exist, or the CSV file cannot be written.
    """
    parser = argparse.ArgumentParser(prog="grade", description=__doc__)
    parser.add_argument("submission", type=Path, help="a notebook, or a folder of them")
    parser.add_argument("--csv", type=Path, help="also write all grades to this file")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a cell (60)")
    options = parser.parse_args(arguments)
    paths = dict(submissions(options.submission.expanduser()))
    if not paths:
        sys.exit(f"{options.submission} is neither a notebook nor a folder with one.")
    if not walls():
        print(OPEN, file=sys.stderr)
    with ExitStack() as stack:
        if options.csv:
            path = options.csv.expanduser()
            try:
                file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            except OSError as problem:
                sys.exit(f"{path} cannot be written: {problem.strerror}.")
            rows = csv.writer(file)
            rows.writerow(COLUMNS)
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        graded = pool.map(lambda path: grade(path, options.timeout), paths.values())
        for name, grades in zip(paths, graded, strict=True):
            print(table(name, grades), flush=True)
            if options.csv:
                rows.writerows(csv_rows(name, grades))
    return 0


def submissions(given: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the path of each notebook: the one given, or those below a folder."""
    if given.is_file():
        yield given.name, given
    for path in sorted(given.rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            yield path.relative_to(given).as_posix(), path


def table(name: str, grades: Iterable[Grade]) -> str:
    """Write the grades of a submission, one line for each exercise, and how many are right."""
    grades = list(grades)
    width = max(len(f"{g.exercise}  ".lstrip()) for g in grades)
    lines = [f"  {g.exercise:{width}}{words_of(g)}" for g in grades]
    return "\n".join([f"{printable(name)}: {total(grades)}", *lines, ""])


def total(grades: list[Grade]) -> str:
    """Count the right ones for each lesson, as "01_mean, 4 of 6 right"."""
    counts = []
    for lesson in dict.fromkeys(g.lesson for g in grades if g.lesson):
        states = [g.state for g in grades if g.lesson == lesson]
        counts.append(f"{lesson}, {states.count(RIGHT)} of {len(states)} right")
    return "; ".join(counts) or "0 right"


def words_of(g: Grade) -> str:
    """Write a state with the mistake's name, or with the reason if the mistake has none."""
    if g.state == RIGHT or g.state == "not attempted":
        return g.state
    return ": ".join(part for part in (g.state, g.mistake or g.message) if part)


def csv_rows(name: str, grades: Iterable[Grade]) -> Iterator[list[str]]:
    """Yield the rows of a submission, none of which a spreadsheet takes for a formula."""
    for g in grades:
        cells = [printable(name), g.lesson, g.exercise, g.state, g.mistake, g.message]
        yield [f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells]


def printable(name: str) -> str:
    """Replace what a file name may contain and a terminal or a file in UTF-8 may not."""
    return "".join(letter if letter.isprintable() else "�" for letter in name)


if __name__ == "__main__":
    sys.exit(main())
