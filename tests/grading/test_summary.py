"""What counts of each student, what the class believes, and the pages that say so."""

import re
import zipfile

import pytest

from lnorm_course.slips.beliefs import Belief
from lnorm_staff.grading.grade import FURTHER, Grade
from lnorm_staff.grading.report.class_folder import (
    EXERCISES,
    FEEDBACK,
    REPORT,
    write_results,
)
from lnorm_staff.grading.report.exercises_table import read_grades, write_grades
from lnorm_staff.grading.report.page import feedback_page, report_page
from lnorm_staff.grading.report.summary import summarize

BATCH, WORDS = Belief.OVER_THE_BATCH.value, Belief.ONE_MEAN_PER_SENTENCE.value
BATCH_CODE, WORDS_CODE = Belief.OVER_THE_BATCH.code, Belief.ONE_MEAN_PER_SENTENCE.code


def graded(student, exercise="one", state="right", mistake="", belief="", **more):
    given = {"id": "", "file": f"{student}.ipynb", "late": "", "lesson": "01_mean"}
    given |= {"feedback": f"{student}/feedback.html", **more}
    return Grade(student, exercise=exercise, state=state, mistake=mistake, belief=belief, **given)


CLASS = [
    graded("ada"),
    graded("ada", "two", "wrong", "no keepdim", message="Pass `keepdim=True` & <look>."),
    graded("bo", "one", "wrong", "3", f"{BATCH_CODE} {WORDS_CODE}", late="late"),
    graded("bo", "two", "wrong", "over dim 0", BATCH_CODE),
    graded("cy", "one", "wrong", "8", BATCH_CODE),
    graded("cy", "two", "crashed"),
    graded("di", "three", "not attempted", lesson="02_variance"),
    graded("ed", "", "not graded", lesson="", message="it is a link.", file="class/a.ipynb"),
]


def test_each_student_and_lesson_has_a_row_and_so_has_what_is_not_graded():
    found = {each.student: each for each in summarize(CLASS).lessons}
    points = {name: (p.lesson, p.points, p.maximum) for name, p in found.items()}
    assert points == {
        "ada": ("01_mean", 1, 2),
        "bo": ("01_mean", 0, 2),
        "cy": ("01_mean", 0, 2),
        "di": ("02_variance", 0, 1),
        "ed": ("", "", ""),
    }
    assert found["bo"].late_files == "bo.ipynb"
    assert found["cy"].remarks == "crashed: two"
    assert found["di"].remarks == "not attempted: three"
    assert found["ed"].remarks == "not graded: a.ipynb: it is a link."


def test_of_several_notebooks_on_a_lesson_the_best_counts_and_ids_tell_students_apart():
    grades = [
        graded("ada", state="wrong", file="a.ipynb", mistake="3"),
        graded("ada", file="b.ipynb"),
        graded("ada", state="wrong", file="c.ipynb", mistake="3"),
        graded("ada", state="wrong", file="d.ipynb", mistake="4", id="2"),
    ]
    summary = summarize(grades)
    assert [(grade.id, grade.points) for grade in summary.lessons] == [("", 1), ("2", 0)]
    assert "b.ipynb" in summary.lessons[0].remarks
    (count,) = summary.exercises
    assert (count.right, count.students, count.mistake, count.mistakes) == (1, 2, "4", 1)


def test_side_trips_give_no_points_and_are_counted_apart(tmp_path):
    more = [
        graded("ada", "three", further=FURTHER),
        graded("bo", "three", "not attempted", further=FURTHER),
    ]
    summary = summarize([*CLASS, *more])
    ada, bo = summary.lessons[:2]
    assert (ada.points, ada.maximum, bo.points, bo.maximum) == (1, 2, 0, 2)
    assert bo.remarks == summarize(CLASS).lessons[1].remarks
    assert [count.exercise for count in summary.exercises if count.further] == ["three"]
    (page,) = [feedback_page("ada", summary.graded["ada", ""], [])]
    assert "1 of 2 right, and 1 of 1 further" in page
    assert "three (further)" in report_page(summary)
    write_grades(tmp_path / EXERCISES, more)
    assert [*read_grades(tmp_path / EXERCISES)] == more


def test_the_same_code_is_remarked_on_for_the_lecturer_and_not_for_the_students(tmp_path):
    grades = [graded("ada", answer="a1", id="7"), graded("bo", answer="a1"), graded("cy")]
    ada, bo, cy = (grade.remarks for grade in write_results(grades, tmp_path).lessons)
    assert (ada, bo, cy) == ("same code as bo in one", "same code as ada (7) in one", "")
    with zipfile.ZipFile(tmp_path / FEEDBACK) as file:
        assert not any(b"same code" in file.read(name) for name in file.namelist())


def test_a_belief_counts_each_student_once_and_of_those_who_could_show_it():
    all_found = summarize(CLASS).misconceptions
    found = [(m.what, m.kind, m.students, m.of, m.exercises) for m in all_found]
    assert found == [
        (BATCH, "common belief", 2, 3, ["one", "two"]),
        (WORDS, "common belief", 1, 3, ["one"]),
        ("two: no keepdim", "mistake", 1, 3, ["two"]),
    ]


def test_the_report_says_it_all_without_a_name_or_another_file():
    page = report_page(summarize(CLASS))
    assert page.index(BATCH) < page.index("<img")
    assert "Pass <code>keepdim=True</code> &amp; &lt;look&gt;." in page
    assert len(re.findall(r'<img alt="[^"]{20,}" src="data:image/png;base64,', page)) == 3
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert not re.findall(r"\b(?:ada|bo|cy|di|ed)\b", re.sub(r'"[^"]*"', "", page))


@pytest.mark.parametrize("grades", [[], CLASS[-1:], CLASS[:1]])
def test_a_class_without_mistakes_or_without_work_has_a_report_too(tmp_path, grades):
    write_results(grades, tmp_path / "out")
    assert "<h1>" in (tmp_path / "out" / REPORT).read_text("utf-8")


def test_a_student_reads_each_verdict_and_why_a_file_is_not_graded():
    page = feedback_page("Ada <3", CLASS[:2], [CLASS[-1]])
    assert "Feedback for Ada &lt;3" in page
    assert "01_mean: 1 of 2 right" in page
    assert "Pass <code>keepdim=True</code> &amp; &lt;look&gt;." in page
    assert "a.ipynb: it is a link." in page


def test_no_feedback_is_lost_if_two_paths_are_the_same_somewhere(tmp_path):
    grades = [graded(name, feedback=f"{name}_b/feedback.html") for name in ("a", "A")]
    write_results([*grades, graded("a:b", feedback="a_b/feedback.html")], tmp_path)
    with zipfile.ZipFile(tmp_path / FEEDBACK) as file:
        assert len({name.lower() for name in file.namelist()}) == 3
