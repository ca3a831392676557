"""The lessons as students hand them in: unattempted, and solved."""

import re

import freeze
import nbformat
from exercise_banks import BANK
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_course.checking.feedback import State
from lnorm_course.checking.prediction import Prediction
from lnorm_course.lab.lesson_files import ORIGINALS, topics

CHECK = re.compile(r"^(\w+)\.check\((\w+|\.\.\.)\)$", re.MULTILINE)
SOLVED = "# solved\n"
NOTEBOOKS = {path.stem: nbformat.read(path, 4) for path in sorted(ORIGINALS.glob("*.ipynb"))}
EXERCISES = {
    lesson: {name: e for topic in topics(notebook) for name, e in BANK[topic].items()}
    for lesson, notebook in NOTEBOOKS.items()
}
LESSONS = [lesson for lesson, exercises in EXERCISES.items() if exercises]
# For runs without `--all`: functions, classes, and gradients.
FEW = ["01_mean", "08_build_the_layer", "12_backward_pass"]


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell):
    return [o.data["text/plain"] for o in cell.outputs if "data" in o and "text/html" in o.data]


def solved(exercise):
    """Write the cell of a student who copied the solution."""
    code = exercise.shown_solution().code
    if isinstance(exercise, Prediction):
        return f"{SOLVED}{exercise.name}.check({code})"
    name = re.search(r"^(?:def|class) (\w+)", code, re.MULTILINE)[1]
    return f"{SOLVED}{code}\n\n\n{exercise.name}.check({name})"


def filled(lesson, folder):
    """Run a lesson with each exercise solved."""
    cells = []
    for cell in NOTEBOOKS[lesson].cells:
        asked = CHECK.findall(cell.source) if cell.cell_type == "code" else []
        cells += [new_code_cell(solved(EXERCISES[lesson][name])) for name, _ in asked] or [cell]
    path = folder / f"{lesson}.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return freeze.execute(path)


def test_every_exercise_is_asked_in_a_lesson_or_on_the_first_page():
    asked = [name for exercises in EXERCISES.values() for name in exercises]
    first_page = (ORIGINALS.parent / "docs" / "index.md").read_text("utf-8")
    asked += [name for name, _ in CHECK.findall(first_page)]
    assert sorted(asked) == sorted(name for bank in BANK.values() for name in bank)


def pytest_generate_tests(metafunc):
    """Fill in a few lessons, or with `--all` all."""
    if "to_fill" in metafunc.fixturenames:
        metafunc.parametrize("to_fill", LESSONS if metafunc.config.getoption("all") else FEW)


def test_a_lesson_with_all_solutions_filled_in_runs_and_all_are_right(to_fill, tmp_path):
    run = filled(to_fill, tmp_path)
    checked = [cell for cell in code_cells(run) if cell.source.startswith(SOLVED)]
    assert len(checked) == len(EXERCISES[to_fill])
    for cell in checked:
        assert text_of(cell)[0].startswith(State.RIGHT.value), cell.source
