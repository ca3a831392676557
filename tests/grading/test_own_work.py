"""Which notebooks are run: those with something of a student's own, and not too many."""

import zipfile

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_course.lab.lesson_files import ORIGINALS, read, write
from lnorm_staff.grading.collect.handed_in import HandedIn
from lnorm_staff.grading.collect.own_work import with_work
from lnorm_staff.grading.collect.whose import Student
from lnorm_staff.grading.grade import UNTOUCHED
from lnorm_staff.grading.hand_out.copies import COURSE, student_zip

IMPORT = "from lnorm_course.exercises.standardize import formula"


def test_of_one_student_only_so_many_notebooks_are_run_and_the_others_say_why(tmp_path):
    given = [(f"{n}.ipynb", who) for who in ("ada", "bo") for n in range(100, 142)]
    nbformat.write(new_notebook(cells=[new_code_cell(IMPORT)]), tmp_path / "a")
    files = [HandedIn(Student(who), name, tmp_path / "a") for name, who in given]
    found = [*with_work([HandedIn(Student("ada"), "essay.pdf", reason="no"), *files])]
    assert [bool(file.path) for file in found] == [False, *([True] * 40 + [False] * 2) * 2]
    assert all(file.path or file.reason for file in found)


def test_a_lesson_as_it_is_handed_out_is_untouched_until_a_cell_of_code_changes(tmp_path):
    student_zip(COURSE, tmp_path / "copy.zip", ["03"])
    with zipfile.ZipFile(tmp_path / "copy.zip") as archive:
        archive.extractall(tmp_path)
    (path,) = (tmp_path / "copy").rglob("03_*.ipynb")
    for each in (path, ORIGINALS / path.name):
        (file,) = with_work([HandedIn(Student("ada"), each.name, each)])
        assert (file.path, file.state) == (None, UNTOUCHED)
    notebook = read(path)
    next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")["source"] = ["1 + 1"]
    write(notebook, path)
    (file,) = with_work([HandedIn(Student("ada"), path.name, path)])
    assert file.path == path
