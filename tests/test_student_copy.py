"""The copy for students is whole, closed, and without any answer; or there is none."""

import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from lnorm_utils.exercises.feedback import Feedback, State
from lnorm_utils.exercises.leftovers import leftovers
from lnorm_utils.exercises.progress import Progress
from lnorm_utils.exercises.student_copy import COURSE, CopyError, answers, main, student_copy

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
]


def notebook(*sources, outputs=()):
    cells = [new_code_cell(source) for source in sources]
    cells[-1].outputs = list(outputs)
    return new_notebook(cells=cells)


def shown(thing):
    data = {"text/plain": repr(thing), "text/html": thing._repr_html_()}
    return [new_output("display_data", data={kind: data[kind]}) for kind in data]


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    (root / "lnorm_utils" / "exercises").mkdir(parents=True)
    (root / "notebooks").mkdir()
    nbformat.write(notebook(*EMPTY), root / "notebooks" / "01_mean.ipynb")
    (root / "lnorm_utils" / "exercises" / "exercise.py").touch()
    for trash in (".venv/lib", ".git", "a/__pycache__", ".ruff_cache", ".progress"):
        (root / trash).mkdir(parents=True)
        (root / trash / "file").touch()
    (root / ".progress.json").touch()
    return root


def files(folder):
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths}


ROOM = "lnorm_utils/exercises"
COPIED = {"notebooks/01_mean.ipynb", f"{ROOM}/exercise.py", f"{ROOM}/solutions_are_closed"}


def test_without_git_everything_but_environment_and_caches_is_copied(course, tmp_path):
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
    assert main([str(tmp_path / "copy")]) == 0
    assert capsys.readouterr().out.startswith("The copy for students is in ")
    program = "from lnorm_utils.exercises import Exercise; from lnorm_utils.exercises.lesson_01 "
    program += "import LESSON; print(*[e.solution() for e in Exercise.bank[LESSON].values()])"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=tmp_path / "copy", capture_output=True, text=True, check=True)
    said = set(run.stdout.replace("instructor. ", "instructor.\n").splitlines())
    assert said == {"Solution: closed by your instructor."}


def test_no_notebook_of_this_course_contains_an_answer():
    assert list(answers(COURSE / "notebooks")) == []


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
    with pytest.raises(CopyError, match=r"01_mean\.ipynb: nothing can be read"):
        student_copy(course, tmp_path / "copy")


def test_empty_attempts_are_no_answers():
    outputs = shown(Feedback(State.NOT_ATTEMPTED, "replace the three dots."))
    outputs += shown(Progress(question=State.NOT_ATTEMPTED))
    assert list(leftovers(notebook(*EMPTY, outputs=outputs))) == []


@pytest.mark.parametrize("source", FILLED)
def test_a_filled_in_attempt_is_found(source):
    (sentence,) = leftovers(notebook("1", source))
    assert sentence == "in code cell 2, the attempt of question is filled in."


@pytest.mark.parametrize("source", ["question.solution()", "print(question.solution())"])
def test_a_call_of_the_solution_is_found(source):
    (sentence,) = leftovers(notebook(source))
    assert sentence == "in code cell 1, the solution of question is called."


@pytest.mark.parametrize(
    "output",
    [
        *shown(Feedback(State.RIGHT, "")),
        *shown(Feedback(State.RIGHT, "Because.")),
        *shown(Feedback(State.SOLUTION, "", code="return 6")),
        *shown(Progress(question=State.RIGHT)),
        new_output("stream", text="first\nRight.\n"),
    ],
)
def test_a_saved_output_that_gives_an_answer_away_is_found(output):
    (sentence,) = leftovers(notebook(EMPTY[1], outputs=[output]))
    assert "code cell 1, a saved output says that question is solved" in sentence


def test_a_cell_that_is_not_python_is_not_handed_out():
    (sentence,) = leftovers(notebook("prediction = = 6\nquestion.check(prediction)"))
    assert sentence.startswith("in code cell 1, question cannot be looked at")
