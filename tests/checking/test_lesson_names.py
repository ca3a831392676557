"""In a notebook, a check shows its verdict wherever it stands, and a lesson keeps its names."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELLS = [
    "%precision 4\nfrom lnorm_utils import layer_norm as norm, standardize",
    "from lnorm_course.exercises.mean import center, how_many",
    "standardize = own = 7\nhow_many.check(6); own = 8",
    "norm, center = 1, 2\nhow_many.check(5)\nown = 9",
    "print(callable(standardize), callable(norm), own, type(center).__name__)",
    "how_many.check(6)",
]


@pytest.fixture(scope="module")
def outputs():
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    options = {"shutdown_kernel": "immediate", "allow_errors": True}
    NotebookClient(notebook, kernel_name="python3", **options).execute()
    return [cell.outputs for cell in notebook.cells]


def words_and_page(outputs):
    (output,) = outputs
    assert output.output_type == "display_data"
    return output.data["text/plain"], output.data["text/html"]


def test_names_that_answers_took_are_put_back_and_told(outputs):
    words, page = words_and_page(outputs[2])
    assert words.startswith("Right: ")
    assert "You used `standardize` for" in words
    assert "<code>standardize</code>" in page
    words, _ = words_and_page(outputs[3])
    assert "You used `norm` and `center` for" in words
    assert outputs[4][0].text == "True True 9 CodeExercise\n"
    words, page = words_and_page(outputs[5])
    assert "You used" not in words
    assert 'role="status"' in page
