"""Find the notebooks that were handed in, and write their grades as a table or as CSV."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from lnorm_utils.grading.grade import RIGHT, Grade

__all__ = ["COLUMNS", "csv_rows", "submissions", "table"]

COLUMNS = ["submission", "lesson", "exercise", "state", "mistake", "message"]


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
