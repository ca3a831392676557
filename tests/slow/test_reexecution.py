"""The strict suite is green on an honest notebook and red, for the right reason, on any other."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernel_start
import nbval.kernel
import pytest
from compared_outputs import read_record, record_of
from sample_notebooks import course, edit, sample_notebook

PROJECT = Path(__file__).parent.parent.parent
NUMBER = 2  # the cell of the sample notebook that computes one
PICTURE = 3  # the one that shows a picture
RIGHT = "outputs compared: 6, notebooks: 1, as on record"


@pytest.fixture(scope="module")
def frozen_course(tmp_path_factory):
    return course(tmp_path_factory.mktemp("frozen"), sample=sample_notebook("'the end'")).parent


@pytest.fixture
def root(frozen_course, tmp_path):
    """Hold a course of one notebook that a test may break."""
    return shutil.copytree(frozen_course, tmp_path / "course")


@pytest.fixture
def notebook(root):
    return root / "notebooks" / "sample.ipynb"


def run_suite(root, *options, arguments=("notebooks",), **environment):
    """Run pytest with the project's settings on a course; return its exit code and its words."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings = ["-c", PROJECT / "pyproject.toml", "--rootdir", root, "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *settings, "--color=no", "-n", "0", *options]
    run = subprocess.run(
        [*command, *arguments], cwd=root, env=clean | environment, capture_output=True, text=True
    )
    return run.returncode, run.stdout + run.stderr


def assert_red(run, *sentences):
    code, words = run
    assert code, words
    for sentence in sentences:
        assert sentence in words


def assert_green(run, sentence):
    code, words = run
    assert not code, words
    assert sentence in words


def source(path, cell, text):
    edit(path, lambda cells: cells[cell].update(source=text))


def clear(cells):
    for cell in cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_untouched_notebook_is_green(root, workers):
    assert_green(run_suite(root, "-n", str(workers)), RIGHT)


def test_a_wrong_saved_number_is_red(root, notebook):
    edit(notebook, lambda cells: cells[NUMBER].outputs[1].data.update({"text/plain": "43"}))
    assert_red(run_suite(root), "Cell outputs differ", "'43' == '42'", "compared 4 outputs, not 6")


@pytest.mark.parametrize("workers", [0, 2])
def test_a_notebook_without_outputs_and_counts_is_red(root, notebook, workers):
    edit(notebook, clear)
    run = run_suite(root, "-n", str(workers))
    assert_red(run, "4 passed", "sample.ipynb: nbval compared 0 outputs, not 6.")


def test_a_deleted_cell_is_red(root, notebook):
    edit(notebook, lambda cells: cells.pop(NUMBER))
    assert_red(run_suite(root), "3 passed", "sample.ipynb: nbval compared 4 outputs, not 6.")


def test_a_cell_exempt_from_comparison_is_red(root, notebook):
    source(notebook, NUMBER, "# NBVAL_IGNORE_OUTPUT\n6 * 7")
    assert_red(run_suite(root), "4 passed", "sample.ipynb: nbval compared 4 outputs, not 6.")


def test_output_on_stderr_is_red(root, notebook):
    source(notebook, -2, "import sys; print('!', file=sys.stderr)\n'the end'")
    assert_red(run_suite(root), "Unexpected output fields from running code: {'stderr'")


def test_a_dying_kernel_is_red(root, notebook):
    source(notebook, NUMBER, "import os; os._exit(1)")
    run = run_suite(root, "--nbval-cell-timeout=3")
    assert_red(run, "Timeout of 3 seconds exceeded while executing cell", "os._exit(1)")


def test_an_endless_loop_is_red(root, notebook):
    source(notebook, NUMBER, "while True: pass")
    run = run_suite(root, "--nbval-cell-timeout=3")
    assert_red(run, "Timeout of 3 seconds exceeded executing cell", "while True: pass")


def test_a_kernel_that_dies_at_its_birth_is_started_once_more():
    births = iter([RuntimeError("Kernel died before replying"), "a kernel"])

    def start(name):
        birth = next(births)
        if isinstance(birth, RuntimeError):
            raise birth
        return f"{birth} named {name}"

    assert kernel_start.with_second_try(start)("python3") == "a kernel named python3"
    assert hasattr(nbval.kernel.start_new_kernel, "__wrapped__")


def test_a_truncated_file_is_red(root, notebook):
    notebook.write_text(notebook.read_text("utf-8")[:-100], encoding="utf-8")
    assert_red(run_suite(root), "Notebook does not appear to be JSON")


def test_a_missing_notebook_is_red(root, notebook):
    notebook.unlink()
    assert_red(run_suite(root), "sample.ipynb is on record, but there is no such notebook.")


def test_a_notebook_that_is_not_on_record_is_red(root, notebook):
    shutil.copy(notebook, notebook.with_name("more.ipynb"))
    assert_red(run_suite(root), "more.ipynb is not on record: nbval compared 6 outputs.")


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--nbval-lax", "--nbval-lax compares almost nothing"),
        ("--nbval-sanitize-with=patterns.cfg", "Sanitized numbers are not compared"),
        ("--override-ini=addopts=-p compared_outputs", "only run as tests with --nbval"),
    ],
)
def test_options_that_weaken_the_comparison_are_refused(root, option, sentence):
    assert_red(run_suite(root, option), sentence)


def test_a_selection_of_cells_is_not_counted(root):
    assert_green(run_suite(root, "-k", "sample"), "not counted, because only some cells ran")
    run = run_suite(root, arguments=["notebooks/sample.ipynb::Cell 0"])
    assert_green(run, "not counted, because only some cells ran")


def test_tests_of_something_else_are_not_bothered(root, notebook):
    notebook.unlink()
    (root / "test_else.py").write_text("def test_else(): pass")
    code, words = run_suite(root, arguments=["test_else.py"])
    assert not code, words
    assert "outputs compared" not in words


def test_a_lesson_is_red_when_the_operation_changes(tmp_path):
    name = "03_standardize.ipynb"
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(PROJECT / "notebooks" / name, folder)
    record_of(folder).parent.mkdir()
    number = read_record(PROJECT / "notebooks")[name]
    record_of(folder).write_text(f'{{"{name}": {number}}}')
    functional = (
        shutil.copytree(PROJECT / "lnorm_utils", tmp_path / "lnorm_utils") / "functional.py"
    )
    right = functional.read_text("utf-8")
    wrong = right.replace("(var + float(eps)).rsqrt()", "1 / (var.sqrt() + eps)")
    assert wrong != right

    unchanged = run_suite(tmp_path, PYTHONPATH=str(tmp_path))
    assert_green(unchanged, f"outputs compared: {number}, notebooks: 1, as on record")
    functional.write_text(wrong, encoding="utf-8")
    changed = run_suite(tmp_path, PYTHONPATH=str(tmp_path))
    assert_red(changed, "Cell outputs differ", "Tensor-likes are not close")


def test_a_picture_with_other_words_is_red(root, notebook):
    in_html(notebook, "one pixel", "two pixels")
    assert_red(run_suite(root), "mismatch 'text/html'")


def test_a_picture_with_other_pixels_is_green(root, notebook):
    in_html(notebook, "AAAABQABpfZFQAAAAABJRU5ErkJg", "AAAABQABpfZFQAAAAABJRU5ErkJh")
    assert_green(run_suite(root), RIGHT)


def in_html(path, old, new):
    def change(cells):
        data = cells[PICTURE].outputs[0].data
        assert old in data["text/html"]
        data["text/html"] = data["text/html"].replace(old, new)

    edit(path, change)
