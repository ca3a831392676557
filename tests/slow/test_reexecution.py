"""The strict suite is green on an honest notebook and red, for the right reason, on any other."""

import os
import re
import shutil
import sys

import kernel_start
import nbval.kernel
import pytest
from compared_outputs import read_record, record_of
from copies import PROJECT, run
from sample_notebooks import course, edit, sample_notebook

from lnorm_utils.lab.lesson_files import ORIGINALS

NUMBER = 2  # the cell of the sample notebook that computes one
PICTURE = 3  # the one that shows a picture
GREEN = "outputs compared: 6, notebooks: 1, as on record"


@pytest.fixture(scope="module")
def frozen_course(tmp_path_factory):
    return course(tmp_path_factory.mktemp("frozen"), sample=sample_notebook("'the end'")).parent


@pytest.fixture
def root(frozen_course, tmp_path):
    """A course of one notebook that a test may break."""
    return shutil.copytree(frozen_course, tmp_path / "course")


@pytest.fixture
def notebook(root):
    return root / "notebooks" / "sample.ipynb"


def run_suite(root, *options, arguments=("notebooks",), imports=PROJECT):
    """Run pytest with the project's settings on a course; return its exit code and its words."""
    settings = ["-c", PROJECT / "pyproject.toml", "--rootdir", root, "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *settings, "--color=no", "-n", "0", *options]
    outer = {name: "" for name in os.environ if name.startswith("PYTEST_")}
    done = run(root, [*command, *arguments], **outer, PYTHONPATH=str(imports))
    return done.returncode, done.stdout + done.stderr


def assert_red(run, *sentences):
    code, words = run
    assert code, words
    for sentence in sentences:
        assert sentence in words


def assert_green(run, sentence):
    code, words = run
    assert not code, words
    assert sentence in words


def replace_source(cell, text):
    return lambda cells: cells[cell].update(source=text)


def replace_in_html(old, new):
    def change(cells):
        data = cells[PICTURE].outputs[0].data
        assert old in data["text/html"]
        data["text/html"] = data["text/html"].replace(old, new)

    return change


def clear(cells):
    for cell in cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)


def of_many(frozen_course, folder, changes):
    """Make a course of copies of the sample notebook, each changed in its own way."""
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    sample = frozen_course / "notebooks" / "sample.ipynb"
    for name, change in changes.items():
        edit(shutil.copy(sample, notebooks / f"{name}.ipynb"), change)
    record_of(notebooks).parent.mkdir(parents=True)
    numbers = ", ".join(f'"{name}.ipynb": 6' for name in changes)
    record_of(notebooks).write_text(f"{{{numbers}}}")
    return folder


@pytest.mark.parametrize("workers", [0, 2])
def test_an_untouched_notebook_is_green_and_so_is_one_with_other_pixels(root, notebook, workers):
    if workers:
        edit(notebook, replace_in_html("BQABpfZFQAAAAABJRU5ErkJg", "BQABpfZFQAAAAABJRU5ErkJh"))
    assert_green(run_suite(root, "-n", str(workers)), GREEN)


# What nbval alone would pass, and what it then compares: changed notebook → number of outputs.
UNCOMPARED = {
    "cleared": (clear, 0),
    "deleted": (lambda cells: cells.pop(NUMBER), 4),
    "exempt": (replace_source(NUMBER, "# NBVAL_IGNORE_OUTPUT\n6 * 7"), 4),
}


def test_notebooks_whose_outputs_are_not_all_compared_are_red(frozen_course, tmp_path):
    changes = {name: change for name, (change, _) in UNCOMPARED.items()}
    compared = {name: number for name, (_, number) in UNCOMPARED.items()}
    course = of_many(frozen_course, tmp_path, {**changes, "missing": clear, "honest": list})
    (course / "notebooks" / "missing.ipynb").unlink()
    shutil.copy(course / "notebooks" / "honest.ipynb", course / "notebooks" / "more.ipynb")
    code, words = run_suite(course, "-n", "2")
    assert code, words
    assert " failed" not in words
    said = set(re.findall(r"^(\w+\.ipynb.*)\. Run `make notebooks`", words, re.MULTILINE))
    assert said == {
        *(f"{name}.ipynb: nbval compared {n} outputs, not 6" for name, n in compared.items()),
        "missing.ipynb is on record, but there is no such notebook",
        "more.ipynb is not on record: nbval compared 6 outputs",
    }


# Changed notebook → what is said of the cell that fails.
FAILING = {
    "number": (
        lambda cells: cells[NUMBER].outputs[1].data.update({"text/plain": "43"}),
        "'43' == '42'",
    ),
    "words": (replace_in_html("one pixel", "two pixels"), "mismatch 'text/html'"),
    "stderr": (
        replace_source(-2, "import sys; print('!', file=sys.stderr)\n'the end'"),
        "Unexpected output fields from running code: {'stderr'",
    ),
    "endless": (
        replace_source(NUMBER, "while True: pass"),
        "Timeout of 3 seconds exceeded executing cell",
    ),
    "dying": (
        replace_source(NUMBER, "import os; os._exit(1)"),
        "Timeout of 3 seconds exceeded while executing cell",
    ),
}


def test_notebooks_with_a_cell_that_does_something_else_are_red(frozen_course, tmp_path):
    changes = {name: change for name, (change, _) in FAILING.items()}
    course = of_many(frozen_course, tmp_path, {**changes, "honest": list})
    code, words = run_suite(course, "--nbval-cell-timeout=3")
    assert code, words
    _, *sections = re.split(r"^_+ notebooks/(\w+)\.ipynb::Cell \d _+$", words, flags=re.MULTILINE)
    failures = dict(zip(sections[::2], sections[1::2], strict=True))
    assert list(failures) == sorted(FAILING)
    for name, (_, said) in FAILING.items():
        assert said in failures[name], name


def test_a_truncated_file_is_red(root, notebook):
    notebook.write_text(notebook.read_text("utf-8")[:-100], encoding="utf-8")
    assert_red(run_suite(root), "Notebook does not appear to be JSON")


def test_a_kernel_that_dies_at_its_birth_is_started_once_more():
    births = iter([RuntimeError("Kernel died before replying"), "a kernel"])

    def start(name):
        birth = next(births)
        if isinstance(birth, RuntimeError):
            raise birth
        return f"{birth} named {name}"

    assert kernel_start.with_second_try(start)("python3") == "a kernel named python3"
    assert hasattr(nbval.kernel.start_new_kernel, "__wrapped__")


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


@pytest.mark.parametrize(
    ("options", "arguments"),
    [(["-k", "sample"], ["notebooks"]), ([], ["notebooks/sample.ipynb::Cell 0"])],
)
def test_a_selection_of_cells_is_not_counted(root, options, arguments):
    said = run_suite(root, *options, arguments=arguments)
    assert_green(said, "not counted, because only some cells ran")


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
    shutil.copy(ORIGINALS / name, folder)
    record_of(folder).parent.mkdir(parents=True)
    number = read_record(ORIGINALS)[name]
    record_of(folder).write_text(f'{{"{name}": {number}}}')
    package = shutil.copytree(PROJECT / "lnorm_utils", tmp_path / "lnorm_utils")
    right = (package / "functional.py").read_text("utf-8")
    wrong = right.replace("(var + float(eps)).rsqrt()", "1 / (var.sqrt() + eps)")
    assert wrong != right

    unchanged = run_suite(tmp_path, imports=tmp_path)
    assert_green(unchanged, f"outputs compared: {number}, notebooks: 1, as on record")
    (package / "functional.py").write_text(wrong, encoding="utf-8")
    changed = run_suite(tmp_path, imports=tmp_path)
    assert_red(changed, "Cell outputs differ", "Tensor-likes are not close")
