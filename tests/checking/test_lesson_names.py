"""In a notebook, a check shows its verdict wherever it stands, and a lesson keeps its names."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELLS = [
    "%matplotlib inline\nfrom lnorm_utils import layer_norm as norm, standardize",
    "from lnorm_course.exercises.mean import center, how_many",
    "standardize = own = 7\nhow_many.check(6); own = 8",
    "norm, center = 1, 2\nhow_many.check(5)\nown = 9",
    "print(callable(standardize), callable(norm), own, type(center).__name__)",
    "how_many.check(6)",
    "from lnorm_course.exercises import mean\nmean.center.check(lambda x: x - x.mean(1, True) / 2)",
    "shape_left.check((3, 2, 1))",
    "no_lesson_has_this_name",
    "mean.center.check(lambda x: F.relu(x))",
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


def test_a_name_that_an_answer_took_is_put_back_and_told(outputs):
    words, page = words_and_page(outputs[2])
    assert words.startswith("Right: ")
    assert "the name `standardize` " in words
    assert "<code>standardize</code>" in page


def test_several_names_are_told_together(outputs):
    words, _ = words_and_page(outputs[3])
    assert words.startswith("Not yet: ")
    assert "the names `norm` and `center` " in words


def test_what_was_imported_is_there_again_and_own_names_stay(outputs):
    assert outputs[4][0].text == "True True 9 CodeExercise\n"


def test_nothing_is_said_where_nothing_was_taken(outputs):
    words, page = words_and_page(outputs[5])
    assert "to something else" not in words
    assert 'role="status"' in page


def test_numbers_beside_the_right_ones_are_shown_as_a_table(outputs):
    _, page = words_and_page(outputs[6])
    assert ">yours at [0]</th>" in page
    assert "≠" in page


def test_a_name_of_a_first_cell_that_was_not_run_is_told_where_it_comes_from(outputs):
    missing, unknown, inside = outputs[7:]
    assert missing[0].ename == "NameError"
    assert missing[1].text.startswith("`shape_left` comes from the first cell")
    assert [output.output_type for output in unknown] == ["error"]
    assert "`F` comes from the first cell" in words_and_page(inside)[0]
