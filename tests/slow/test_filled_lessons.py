"""The lessons as students hand them in: unattempted, solved, and with every mistake made."""

import re
from concurrent.futures import ThreadPoolExecutor

import freeze
import nbformat
import pytest
from exercise_banks import BANK, known
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_utils.checking.feedback import State
from lnorm_utils.checking.prediction import Prediction
from lnorm_utils.lab.lesson_files import ORIGINALS, topics

CHECK = re.compile(r"^(\w+)\.check\((\w+|\.\.\.)\)$", re.MULTILINE)
SOLVED, WRONG = "# solved\n", "# wrong\n"
NOTEBOOKS = {path.stem: freeze.read(path) for path in sorted(ORIGINALS.glob("*.ipynb"))}
EXERCISES = {
    lesson: {name: e for topic in topics(notebook) for name, e in BANK[topic].items()}
    for lesson, notebook in NOTEBOOKS.items()
}
LESSONS = [lesson for lesson, exercises in EXERCISES.items() if exercises]


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


def wrong(exercise, number):
    """Write the cell of a student who makes the mistake of that number."""
    name = exercise.name
    if isinstance(exercise, Prediction):
        return f"{WRONG}{name}.check({name}.wrong[{number}].value)"
    return f"{WRONG}{name}.check({name}.attempt({name}.mistakes[{number}]))"


def filled(lesson, folder):
    """Run a lesson with each exercise solved, and before that with each of its mistakes made."""
    cells = []
    for cell in NOTEBOOKS[lesson].cells:
        asked = CHECK.findall(cell.source) if cell.cell_type == "code" else []
        for name, _ in asked:
            exercise = EXERCISES[lesson][name]
            tries = [wrong(exercise, n) for n in range(len(known(exercise)))]
            cells += [new_code_cell(source) for source in [*tries, solved(exercise)]]
        if not asked:
            cells.append(cell)
    path = folder / f"{lesson}.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return freeze.execute(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda lesson: filled(lesson, folder), LESSONS)
        return dict(zip(LESSONS, done, strict=True))


def test_every_exercise_is_asked_in_a_lesson():
    asked = [name for exercises in EXERCISES.values() for name in exercises]
    assert sorted(asked) == sorted(name for bank in BANK.values() for name in bank)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_exercises_of_a_lesson_stand_in_it_unattempted(lesson):
    notebook = nbformat.read(ORIGINALS / f"{lesson}.ipynb", as_version=4)
    asked = [(cell, CHECK.findall(cell.source)) for cell in code_cells(notebook)]
    assert {name for _, those in asked for name, _ in those} == set(EXERCISES[lesson])
    for cell, those in asked:
        if those:
            said = text_of(cell)
            assert len(said) == len(those)
            assert all(text.startswith(State.NOT_ATTEMPTED.value) for text in said), cell.source
            (name, attempt), *_ = those
            assert cell.source.startswith(start_of(EXERCISES[lesson][name], attempt))
            assert "..." in cell.source
    shown = {f'progress("{topic}")' for topic in topics(notebook)}
    progress = [text_of(c)[0] for c in code_cells(notebook) if c.source in shown]
    assert len(progress) == len(shown)
    assert all(said.startswith("0 of ") for said in progress)


def start_of(exercise, attempt):
    """Return how the cell of an exercise begins."""
    if isinstance(exercise, Prediction):
        return f"{exercise.name}.check(...)"
    return f"class {attempt}" if exercise.use_class else f"def {attempt}("


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_with_all_solutions_filled_in_runs_and_all_are_right(lesson, runs):
    checked = [c for c in code_cells(runs[lesson]) if c.source.startswith(SOLVED)]
    assert len(checked) == len(EXERCISES[lesson])
    for cell in checked:
        assert text_of(cell)[0].startswith(State.RIGHT.value), cell.source


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_with_a_mistake_filled_in_names_it(lesson, runs):
    said = {c.source: text_of(c) for c in code_cells(runs[lesson]) if c.source.startswith(WRONG)}
    for exercise in EXERCISES[lesson].values():
        for number, one in enumerate(known(exercise)):
            (words,) = said[wrong(exercise, number)]
            assert words.startswith(f"Not yet: {one.message}")
