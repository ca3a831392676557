"""A notebook file, as the rules look at it."""

import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat

from lnorm_course.lab.lesson_files import main_way

FURTHER = "## Further: "
# How long things take whoever does everything: fitted to a student who did nine lessons by the
# clock. It is off by about 3 minutes for one lesson, and by less than 2 % for all.
WORDS_A_MINUTE = 200
CODE_LINES_A_MINUTE = 5
MINUTES = {"prediction": 1, "exercise": 4, "explorer": 4}


@dataclass(frozen=True)
class Lesson:
    """A notebook file, as it is written and as it is read."""

    path: Path

    @cached_property
    def text(self):
        return self.path.read_text("utf-8")

    @cached_property
    def notebook(self):
        with warnings.catch_warnings(action="ignore"):  # a rule speaks about ids
            return nbformat.reads(self.text, as_version=4)

    def cells(self, cell_type):
        return [cell for cell in self.notebook.cells if cell.cell_type == cell_type]

    def outputs(self):
        """Yield each output with the number of its code cell, counted from 1."""
        for number, cell in enumerate(self.cells("code"), start=1):
            for output in cell.outputs:
                yield number, output

    @cached_property
    def main_way(self):
        """The cells up to the recap, and with it; all of them if there is none."""
        return self.notebook.cells[: len(main_way(self.notebook)["cells"])]

    @property
    def side_trips(self):
        """The cells after the recap."""
        return self.notebook.cells[len(self.main_way) :]


def minutes(cells):
    """Return how many minutes cells take a student, to the nearest five."""
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    lines = sum(bool(line.strip()) for line in code.splitlines())
    exercises = prose.count("**Your turn")
    predictions = len(re.findall(r"^\w+\.check\(", code, flags=re.MULTILINE)) - exercises
    taken = (
        len(prose.split()) / WORDS_A_MINUTE
        + lines / CODE_LINES_A_MINUTE
        + predictions * MINUTES["prediction"]
        + exercises * MINUTES["exercise"]
        + prose.count("**Explore") * MINUTES["explorer"]
    )
    return 5 * round(taken / 5)


if __name__ == "__main__":
    for path in sorted(Path("notebooks").glob("*.ipynb")):
        lesson = Lesson(path)
        print(f"{path.stem:28}{minutes(lesson.main_way):4} + {minutes(lesson.side_trips)}")
