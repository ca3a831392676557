"""The names that people rely on; after a release: python tests/project/released_names.py

They are what the rooms export, the exercises, and the columns of the tables that grading writes.
`released_names.txt` has those of the last release.
"""

import csv
import importlib
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
RELEASED = Path(__file__).with_suffix(".txt")
# Lessons and students import from these; the others are inner rooms.
ROOMS = (
    *("", ".clinic", ".examples", ".exercises", ".explorers", ".file_types", ".functional"),
    *(
        ".backward",
        ".inspecting",
        ".measures",
        ".modules",
        ".plotting",
        ".speed",
        ".training",
        ".transformer",
    ),
)


def names_of_today():
    """Return all of them."""
    sys.path[:0] = [str(PROJECT), str(PROJECT / "tests" / "tools")]
    from exercise_banks import BANK

    rooms = [importlib.import_module(f"lnorm_utils{room}") for room in ROOMS]
    exported = {f"{room.__name__}.{name}" for room in rooms for name in room.__all__}
    exercises = {f"lnorm_utils.exercises.{topic}.{name}" for topic in BANK for name in BANK[topic]}
    return exported | exercises | set(columns())


def columns():
    """Yield `table: column` for each table that grading writes."""
    from lnorm_utils.grading.report.class_folder import write_results

    with tempfile.TemporaryDirectory() as folder:
        write_results([], Path(folder))
        for path in Path(folder).glob("*.csv"):
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from (f"{path.name}: {column}" for column in next(csv.reader(file)))


if __name__ == "__main__":
    RELEASED.write_text("\n".join(sorted(names_of_today())) + "\n", encoding="utf-8")
