"""Files that a class hands in, and for each the row of the table that it has to give."""

import csv
import io
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lnorm_course.checking.feedback import inline
from lnorm_staff.grading.__main__ import main

IMPORTS = "from lnorm_course.exercises.mean import *"
TIMEOUT = 15
# Each exercise of the lesson, a right and a wrong answer.
ANSWERS = {
    "that_train": ("6", "3"),
    "how_many": ("6", "3"),
    "shape_left": ("(3, 2, 1)", "(3, 2)"),
    "row_means": ("lambda x: x.mean(-1, keepdim=True)", "lambda x: x.mean(-1)"),
    "center": ("lambda x: x - x.mean(-1, True)", "lambda x: x - x.mean(0, True)"),
    "for_one_sentence": ("10", "5120"),
    "swap": ("lambda x: x.transpose(0, 1)", "lambda x: x.reshape(x.shape[1], x.shape[0], -1)"),
    "last_word": ("(9, 10)", "(5, 6)"),
}


def cell(exercise, letter):
    """Write what a student did: right, wrong, untouched (.), a crash, or a loop without an end."""
    right, wrong = ANSWERS[exercise]
    attempt = {"w": wrong, ".": "..."}.get(letter, right)
    before = {"c": "1 / 0\n", "h": "while True: pass\n"}.get(letter, "")
    return f"{before}attempt = {attempt}\n{exercise}.check(attempt)"


def notebook(letters, more=""):
    """Write a notebook on lesson 1, with a letter for each exercise; a dash for none."""
    pairs = zip(ANSWERS, letters, strict=True)
    cells = [cell(exercise, letter) for exercise, letter in pairs if letter != "-"]
    made = new_notebook(cells=[new_code_cell(source) for source in (IMPORTS, more, *cells)])
    return nbformat.writes(made).encode()


def archive(*files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files:
            file.writestr(name, data)
    return packed.getvalue()


ALL = notebook("rrrrrrrr")
OTHER_LESSON = "# from lnorm_course.exercises.variance import *"
# As Moodle exports it, but for the end of the folders' names, which is the same for all.
MOODLE = {
    "Ada Lovelace_1/01_mean.ipynb": ALL,
    "Max Müller_2/01_mean.ipynb": notebook("wwwwwwww"),
    "Ελένη Παππά_3/01_mean.ipynb": notebook("wrr..r.."),
    "O'Neil, Bo_4/01_MEAN.IPYNB": notebook("wrwr-rr."),
    "Cy Young_5/my work.ipynb": notebook("wrcrrrrr"),
    "Di Ng_6/01_mean.ipynb": notebook("wrrrrrhr"),
    "Ed Poe_7/01_mean.ipynb": notebook("wrrrwrww"),
    "Flo Re_8/01_mean.ipynb": notebook("rrrrrrrr", OTHER_LESSON),
    "Gus Lo_9/work.zip": archive(("my_lessons/01_mean.ipynb", ALL), ("__MACOSX/._a.ipynb", b"")),
    "Hal Ie_10/01_mean.py": b"print(6)",
    "Ina Ko_11/01_mean.ipynb": b"{",
    "Jo Wu_12/01_mean.ipynb": b" " * 21_000_000,
    "Ka Li_13/work.zip": archive(("../../01_mean.ipynb", ALL)),
    "Mo Ra_15/work.zip": b"PK, and no archive",
    "Nu Xi_16/onlinetext.html": b"<p>Hi",
}
CANVAS = {
    "youngpat_21_901_01_mean.ipynb": notebook("wr.r.rr."),
    "zimmersue_LATE_22_902_01_mean.ipynb": ALL,
    "zimmersue_23_903_01_mean-1.ipynb": notebook("wwrwrrwr"),
    "adamsbo_24_904_holiday.ipynb": nbformat.writes(new_notebook()).encode(),
}
NBGRADER = {
    "submitted/bitdiddle/week1/01_mean.ipynb": notebook("wrrrrrr."),
    "submitted/hacker/week1/01_mean.ipynb": notebook("........"),
    "submitted/reasoner/week1/01_mean.ipynb": notebook("wrwwwwww"),
    "submitted/reasoner/week1/01_mean_kept_1.ipynb": notebook("wrrww..."),
}
# Student, points, and a part of the remarks; a file that isn't graded has no points.
TABLE = """
Ada Lovelace | 5 |
Max Müller   | 0 |
Ελένη Παππά  | 2 | not attempted: row_means, center
O'Neil, Bo   | 2 | missing: center
Cy Young     | 3 | crashed: shape_left
Di Ng        | 4 |
Ed Poe       | 3 |
Flo Re       | 5 |
Gus Lo       | 5 |
Hal Ie       |   | 01_mean.py: not graded: it is neither
Ina Ko       |   | can't be read as a notebook
Jo Wu        |   | it has 21 MB
Ka Li        | 5 |
Mo Ra        |   | it can't be read as a zip archive
Nu Xi        |   | onlinetext.html: not graded: it is neither a notebook
youngpat     | 2 | not attempted: shape_left, center
zimmersue    | 5 |
zimmersue    | 2 |
adamsbo      |   | it imports no exercises
bitdiddle    | 4 |
hacker       | 0 | not attempted
reasoner     | 2 | 2 notebooks, of which 01_mean_kept_1.ipynb counts
Αλέξης       | 1 | missing
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Hand everything in, grade it, and return the folder with the results."""
    folder = tmp_path_factory.mktemp("class")
    moodle = {name.replace("/", "_assignsubmission_file_/"): MOODLE[name] for name in MOODLE}
    (folder / "moodle.zip").write_bytes(archive(*moodle.items()))
    (folder / "canvas.zip").write_bytes(archive(*CANVAS.items()))
    for path, data in {**NBGRADER, "odd/Αλέξης/01_mean.ipynb": notebook("-r------")}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    given = [str(folder / name) for name in ("moodle.zip", "canvas.zip", "submitted", "odd")]
    out = str(folder / "out")
    assert main(["grade", *given, "--out", out, "--timeout", str(TIMEOUT), "--as-root"]) == 0
    return folder / "out"


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_student_has_the_points_that_the_work_earns(graded):
    rows = table(graded / "grades.csv")
    found = [(row["student"], row["points"], row["remarks"]) for row in rows]
    expected = [[part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines()]
    assert sorted(row[:2] for row in found) == sorted(
        (name, points) for name, points, _ in expected
    )
    for student, points, remark in expected:
        (told,) = [row[2] for row in found if row[:2] == (student, points)]
        assert remark in told if remark else not told, student


def test_feedback_goes_back_under_the_paths_that_each_system_takes(graded):
    with zipfile.ZipFile(graded / "feedback.zip") as file:
        names = file.namelist()
        told = file.read("Max Müller_2_assignsubmission_file_/feedback.html").decode()
    assert "zimmersue_LATE_22_902_feedback.html" in names
    assert "reasoner/feedback.html" in names
    rows = [row for row in table(graded / "exercises.csv") if row["student"] == "Max Müller"]
    assert {row["exercise"] for row in rows} == {*ANSWERS}
    assert all(inline(row["message"]) in told for row in rows)
