"""The copy for students is whole, closed, and without any answer; or there is none."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lnorm_utils.grading.__main__ import main
from lnorm_utils.grading.filled_in import answers_left_in
from lnorm_utils.grading.hand_out import CopyError, student_copy

CODE = 'def f(x):\n    """Return x."""\n    ...\n\n\nquestion.check(f)'
CLASS = """class C(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.weight = ...

    def forward(self, x):  # (N, D) -> (N, D)
        ...


question.check(C)"""
EMPTY = [
    "import torch",
    "prediction = ...\nquestion.check(prediction)",
    CODE,
    "question.check()",
    "question.check(...)",
    "question.check(attempt=...)",
    "print(prediction)\nprediction = ...\nquestion.check(prediction)",
    "prediction = ...\nimport torch as other\nquestion.check(prediction)",
    "prediction = ...\nprediction = ...\nquestion.check(prediction)",
    "prediction = ...\nother = 6\nquestion.check(prediction)",
    "def f(x): ...\n\n\ndef g(x):\n    return x\n\n\nquestion.check(f)",
    "question.hint()",
    "solution()",
    "check(6)",
    "# question.check(6)",
    CLASS,
]
FILLED = [
    CLASS.replace("    ...", "    return x"),
    CLASS.replace("weight = ...", "weight = nn.Parameter(torch.ones(size))"),
    CLASS.replace("super().__init__()", "super().__init__(size)"),
    CLASS.replace("    def forward", "    @once\n    def forward"),
    CLASS.replace("class C(", "@once\nclass C("),
    "prediction = 6\nquestion.check(prediction)",
    "prediction = ...\nprediction = 6\nquestion.check(prediction)",
    "question.check(6)",
    "question.check(attempt=prediction)",
    "def f(x):\n    return x\n\n\nquestion.check(f)",
    "def f(x):\n    ...\n    return x[..., 0]\n\n\nquestion.check(f)",
    "f = lambda x: x\nquestion.check(f)",
    "from answers import f\nquestion.check(f)",
    "if True:\n    print(question.check(1))",
    "question.check(prediction)",
    "prediction = other = ...\nquestion.check(prediction)",
    "prediction = ...\nfor prediction in [6]: pass\nquestion.check(prediction)",
    "prediction = ...\nimport answers as prediction\nquestion.check(prediction)",
    "prediction = ...\nimport prediction\nquestion.check(prediction)",
    "prediction = ...\nif (prediction := 6): pass\nquestion.check(prediction)",
    "prediction = ...\ndef prediction(x):\n    return x\n\n\nquestion.check(prediction)",
    "prediction = ...\nasync def prediction(x): ...\n\n\nquestion.check(prediction)",
    "if True:\n    prediction = ...\nquestion.check(prediction)",
    "other = ...\nquestion.check(prediction)",
    "prediction = 6\nother = ...\nquestion.check(prediction)",
    "question.check(..., prediction)",
    "question.check(..., attempt=prediction)",
    'def f(x):\n    """Return x."""\n    return x\n\n\nquestion.check(f)',
    "def f(x):\n    y = 6\n    ...\n\n\nquestion.check(f)",
    "def f(x):\n    ...\n    super().__init__()\n    x.add_(1)\n\n\nquestion.check(f)",
    "@once\ndef f(x):\n    ...\n\n\nquestion.check(f)",
]


def notebook(*sources, outputs=()):
    cells = [new_code_cell(source) for source in sources]
    cells[-1].outputs = list(outputs)
    return new_notebook(cells=cells)


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    (root / "lnorm_utils" / "exercises").mkdir(parents=True)
    (root / "notebooks").mkdir()
    nbformat.write(notebook(*EMPTY), root / "notebooks" / "01_mean.ipynb")
    (root / "lnorm_utils" / "exercises" / "exercise.py").touch()
    for trash in (
        ".venv/lib",
        ".git",
        "a/__pycache__",
        ".ruff_cache",
        "my_lessons",
        "tests",
        "docs",
    ):
        (root / trash).mkdir(parents=True)
        (root / trash / "file").touch()
    return root


def files(folder):
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths}


ROOM = "lnorm_utils/exercises"
COPIED = {
    *("README.md", "notebooks/01_mean.ipynb"),
    *(f"{ROOM}/exercise.py", f"{ROOM}/solutions_are_closed"),
}


def test_without_git_everything_is_copied_but_caches_and_what_only_authors_need(course, tmp_path):
    student_copy(course, tmp_path / "new" / "copy")
    assert files(tmp_path / "new" / "copy") == COPIED
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["copy"]


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_with_git_what_it_tracks_is_copied_as_it_is_now(course, tmp_path):
    shutil.rmtree(course / ".git")
    for name in ("tracked", "deleted", "private"):
        (course / name).write_text("then")
    for command in (["init", "-q"], ["add", "notebooks", "lnorm_utils", "tracked", "deleted"]):
        subprocess.run(["git", "-C", course, *command], check=True)
    (course / "tracked").write_text("now")
    (course / "deleted").unlink()
    (tmp_path / "copy").mkdir()
    student_copy(course, tmp_path / "copy")
    assert files(tmp_path / "copy") == {*COPIED, "tracked"}
    assert (tmp_path / "copy" / "tracked").read_text() == "now"


def test_in_the_copy_of_this_course_the_instructor_has_closed_the_solutions(tmp_path, capsys):
    assert main(["student", str(tmp_path / "copy")]) == 0
    assert capsys.readouterr().out.startswith("The copy for students is in ")
    program = "from lnorm_utils.exercises import Exercise; from lnorm_utils.exercises.mean "
    program += "import TOPIC; print(*[e.solution() for e in Exercise.bank[TOPIC].values()])"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=tmp_path / "copy", capture_output=True, text=True, check=True)
    said = set(run.stdout.replace("instructor. ", "instructor.\n").splitlines())
    assert said == {"Solution: closed by your instructor."}


@pytest.mark.parametrize("place", ["notebooks/copy", ".", "../full", "../file"])
def test_a_folder_that_cannot_be_used_is_refused_in_one_sentence(course, place):
    (course.parent / "full").mkdir()
    (course.parent / "full" / "thesis").touch()
    (course.parent / "file").touch()
    before = files(course.parent)
    with pytest.raises(CopyError, match=r"^/.* (lies inside the course|exists and is not).*\.$"):
        student_copy(course, course / place)
    assert files(course.parent) == before


def test_with_an_answer_there_is_no_copy_and_the_sentence_names_it(course, tmp_path):
    nbformat.write(notebook("1", FILLED[0]), course / "notebooks" / "02_variance.ipynb")
    before = files(tmp_path)
    with pytest.raises(CopyError) as problem:
        student_copy(course, tmp_path / "copy")
    sentence = "02_variance.ipynb: in code cell 2, the attempt of question is filled in."
    assert str(problem.value) == sentence
    assert files(tmp_path) == before
    assert not (tmp_path / "copy").exists()


def test_an_unreadable_notebook_is_not_handed_out(course, tmp_path):
    (course / "notebooks" / "01_mean.ipynb").write_text("{")
    with pytest.raises(CopyError, match=r"01_mean\.ipynb can't be read as a notebook"):
        student_copy(course, tmp_path / "copy")


def test_empty_attempts_are_no_answers():
    assert list(answers_left_in(notebook(*EMPTY))) == []


def test_the_notebooks_of_the_copy_show_no_output(course, tmp_path):
    outputs = [new_output("stream", text="Right.")]
    nbformat.write(notebook("6 * 7", outputs=outputs), course / "notebooks" / "01_mean.ipynb")
    student_copy(course, tmp_path / "copy")
    (cell,) = nbformat.read(tmp_path / "copy" / "notebooks" / "01_mean.ipynb", 4).cells
    assert (cell.source, cell.outputs, cell.execution_count) == ("6 * 7", [], None)


@pytest.mark.parametrize("source", FILLED)
def test_a_filled_in_attempt_is_found(source):
    (sentence,) = answers_left_in(notebook("1", source))
    assert sentence == "in code cell 2, the attempt of question is filled in."


def test_several_answers_in_a_cell_are_all_told_and_each_once():
    source = "one.check(1); one.check(2); two.check(...); lesson.two.check(3); one.solution()"
    assert list(answers_left_in(notebook(source))) == [
        "in code cell 1, the attempt of one is filled in.",
        "in code cell 1, the attempt of lesson.two is filled in.",
        "in code cell 1, the solution of one is called.",
    ]


def test_cells_without_code_are_neither_counted_nor_searched():
    made = notebook("1", "question.check(6)")
    made.cells.insert(0, new_markdown_cell("question.check(6)"))
    assert list(answers_left_in(made)) == ["in code cell 2, the attempt of question is filled in."]


@pytest.mark.parametrize("source", ["question.solution()", "print(question.solution())"])
def test_a_call_of_the_solution_is_found(source):
    (sentence,) = answers_left_in(notebook(source))
    assert sentence == "in code cell 1, the solution of question is called."


def test_a_cell_that_is_not_python_is_not_handed_out():
    source = "prediction = = 6\nquestion.check(prediction)\nother.solution()"
    why = "cannot be looked at, because the cell is not Python or too long."
    assert list(answers_left_in(notebook(source))) == [
        f"in code cell 1, question {why}",
        f"in code cell 1, other {why}",
    ]
    assert list(answers_left_in(notebook("prediction = = 6"))) == []


def test_why_there_is_no_copy_is_told_on_the_error_channel(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["student", str(tmp_path / "file")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"{tmp_path / 'file'} exists and is not an empty folder: name another.\n"


def test_a_folder_that_cannot_be_made_is_told_in_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["student", str(tmp_path / "file" / "copy")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"{tmp_path / 'file'}: File exists.\n"


def test_a_disk_that_says_no_more_than_that_is_told_with_the_folder(tmp_path, monkeypatch, capsys):
    def full(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copy2", full)
    monkeypatch.setattr(shutil, "copytree", full)
    assert main(["student", str(tmp_path / "copy")]) == 1
    assert capsys.readouterr().err == f"{tmp_path / 'copy'}: No space left on device.\n"


def test_a_folder_below_folders_that_are_not_there_is_made(course, tmp_path):
    student_copy(course, tmp_path / "a" / "b" / "copy")
    assert files(tmp_path / "a" / "b" / "copy") == COPIED


def test_the_copy_is_drafted_beside_its_place_so_that_it_appears_in_one_go(
    course, tmp_path, monkeypatch
):
    seen = []
    rename = Path.rename

    def watched(path, target):
        seen.append(sorted(each.name for each in target.parent.iterdir()))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", watched)
    student_copy(course, tmp_path / "new" / "copy")
    ((draft,),) = seen
    assert draft.startswith(".copy.")


def test_the_solutions_are_closed_by_a_file_that_says_so(course, tmp_path):
    student_copy(course, tmp_path / "copy")
    note = (tmp_path / "copy" / ROOM / "solutions_are_closed").read_text("utf-8")
    assert note == "`.solution()` is closed as long as this file is here.\n"


def test_all_answers_are_told_one_below_the_other(course, tmp_path):
    for name in ("02_variance", "03_standardize"):
        nbformat.write(notebook(FILLED[0]), course / "notebooks" / f"{name}.ipynb")
    with pytest.raises(CopyError) as problem:
        student_copy(course, tmp_path / "copy")
    assert str(problem.value) == (
        "02_variance.ipynb: in code cell 1, the attempt of question is filled in.\n"
        "03_standardize.ipynb: in code cell 1, the attempt of question is filled in."
    )


@pytest.mark.skipif(os.name != "posix", reason="elsewhere not everybody may make a link")
@pytest.mark.parametrize("known_to_git", [True, False])
def test_a_link_is_copied_as_a_link(course, tmp_path, known_to_git):
    if known_to_git and not shutil.which("git"):
        pytest.skip("there is no git")
    (course / "link").symlink_to("notebooks/01_mean.ipynb")
    if known_to_git:
        shutil.rmtree(course / ".git")
        for command in (["init", "-q"], ["add", "notebooks", "lnorm_utils", "link"]):
            subprocess.run(["git", "-C", course, *command], check=True)
    student_copy(course, tmp_path / "copy")
    assert os.readlink(tmp_path / "copy" / "link") == "notebooks/01_mean.ipynb"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is always text")
@pytest.mark.skipif(not shutil.which("git"), reason="there is no git")
def test_a_file_whose_name_is_no_text_is_copied(course, tmp_path):
    shutil.rmtree(course / ".git")
    name = os.fsdecode(b"caf\xe9")
    (course / name).touch()
    for command in (["init", "-q"], ["add", "notebooks", "lnorm_utils", name]):
        subprocess.run(["git", "-C", course, *command], check=True)
    student_copy(course, tmp_path / "copy")
    assert (tmp_path / "copy" / name).exists()
