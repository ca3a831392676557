"""The lessons as students hand them in: unattempted, solved, and with every mistake made."""

import re
from concurrent.futures import ThreadPoolExecutor

import freeze
import nbformat
import pytest
from exercise_banks import BANK, PROJECT, is_prediction
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from lnorm_utils.exercises.engine.feedback import State

CHECK = re.compile(r"^(\w+)\.check\((\w+)\)$", re.MULTILINE)


def lesson_file(lesson):
    return PROJECT / "notebooks" / f"{lesson}.ipynb"


def exercise_cells(notebook):
    """Return {exercise name: its cell}."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {CHECK.search(c.source)[1]: c for c in cells if CHECK.search(c.source)}


def text_of(cell):
    return [o.data["text/plain"] for o in cell.outputs if "data" in o and "text/html" in o.data]


def solved(exercise):
    """Write the cell of a student who copied the solution."""
    name = exercise.answers[0].__name__
    attempt = f"{name}()" if is_prediction(exercise) else name
    return f"{exercise.source()}\n\n\n{exercise.name}.check({attempt})"


def wrong(exercise, number):
    """Write the cell of a student who makes the mistake of that number."""
    call = "()" if is_prediction(exercise) else ""
    return f"{exercise.name}.check({exercise.name}.mistakes[{number}]{call})"


def executed(notebook):
    client = NotebookClient(notebook, timeout=60, kernel_name="python3")
    return client.execute(cwd=str(PROJECT / "notebooks"))


def filled(lesson):
    """Run a lesson with each exercise solved, and before that with each of its mistakes made."""
    notebook = freeze.read(lesson_file(lesson))
    cells = []
    for cell in notebook.cells:
        found = CHECK.search(cell.source) if cell.cell_type == "code" else None
        if found:
            exercise = BANK[lesson][found[1]]
            tries = [wrong(exercise, n) for n in range(len(exercise.mistakes))]
            cells += [new_code_cell(source) for source in [*tries, solved(exercise)]]
        else:
            cells.append(cell)
    notebook.cells = cells
    return executed(notebook)


@pytest.fixture(scope="module")
def runs():
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(BANK, pool.map(filled, BANK), strict=True))


@pytest.mark.parametrize("lesson", BANK)
def test_every_exercise_of_the_bank_stands_in_its_lesson_unattempted(lesson):
    notebook = nbformat.read(lesson_file(lesson), as_version=4)
    cells = exercise_cells(notebook)
    assert set(cells) == set(BANK[lesson])
    for name, cell in cells.items():
        (said,) = text_of(cell)
        assert said.startswith(State.NOT_ATTEMPTED.value), name
        attempt = CHECK.search(cell.source)[2]
        start = start_of(BANK[lesson][name], attempt)
        assert cell.source.startswith(start)
        assert "..." in cell.source
    progress = [c for c in notebook.cells if c.source == f'progress("{lesson}")']
    assert f"0 of {len(cells)} exercises are right." in text_of(progress[0])[0]


def start_of(exercise, attempt):
    """Say how the cell begins: of a class it may have to be found out what it is made from."""
    if is_prediction(exercise):
        return f"{attempt} = ..."
    return f"class {attempt}" if exercise.trial else f"def {attempt}("


@pytest.mark.parametrize("lesson", BANK)
def test_a_lesson_with_all_solutions_filled_in_runs_and_all_are_right(lesson, runs):
    cells = [c for c in runs[lesson].cells if c.cell_type == "code"]
    right = [
        c for c in cells if c.source.startswith(("def ", "class ")) and CHECK_ANY.search(c.source)
    ]
    assert len(right) == len(BANK[lesson])
    for cell in right:
        assert text_of(cell)[0].startswith(State.RIGHT.value), cell.source


CHECK_ANY = re.compile(r"^\w+\.check\(\w+(\(\))?\)$", re.MULTILINE)


@pytest.mark.parametrize("lesson", BANK)
def test_a_lesson_with_a_mistake_filled_in_names_it(lesson, runs):
    said = {c.source: text_of(c) for c in runs[lesson].cells if ".mistakes[" in c.source}
    for exercise in BANK[lesson].values():
        for number, mistake in enumerate(exercise.mistakes):
            (words,) = said[wrong(exercise, number)]
            assert words.startswith(f"Not yet: {mistake.__name__.replace('_', ' ')}. ")
