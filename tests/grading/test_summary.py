"""What counts of each student, what the class believes, and the pages that say so."""

import re
import zipfile

import pytest

from lnorm_utils.grading.class_folder import FEEDBACK, REPORT, write_results
from lnorm_utils.grading.page import feedback_page, report_page
from lnorm_utils.grading.pictures import misconception_bars, right_bars
from lnorm_utils.grading.rows import Row
from lnorm_utils.grading.summary import summarize

BATCH, WORDS = "layer norm averages over the batch", "there is one mean for each sentence"


def row(student, exercise="one", state="right", mistake="", belief="", **more):
    given = {"id": "", "file": f"{student}.ipynb", "late": "", "lesson": "01_mean"}
    given |= {"feedback": f"{student}/feedback.html", **more}
    return Row(student, exercise=exercise, state=state, mistake=mistake, belief=belief, **given)


ROWS = [
    row("ada"),
    row("ada", "two", "wrong", "no keepdim", message="Pass `keepdim=True` & <look>."),
    row("bo", "one", "wrong", "3", f"{BATCH}; {WORDS}", late="late"),
    row("bo", "two", "wrong", "over dim 0", BATCH),
    row("cy", "one", "wrong", "8", BATCH),
    row("cy", "two", "crashed"),
    row("di", "three", "not attempted", lesson="02_variance"),
    row("ed", "", "not graded", lesson="", message="it is a link.", file="class/a.ipynb"),
]


def test_each_student_and_lesson_has_a_row_and_so_has_what_is_not_graded():
    grades = {grade.student: grade for grade in summarize(ROWS).grades}
    points = {name: (g.lesson, g.points, g.maximum) for name, g in grades.items()}
    assert points == {
        "ada": ("01_mean", 1, 2),
        "bo": ("01_mean", 0, 2),
        "cy": ("01_mean", 0, 2),
        "di": ("02_variance", 0, 1),
        "ed": ("", "", ""),
    }
    assert grades["bo"].late_files == "bo.ipynb"
    assert grades["cy"].remarks == "crashed: two"
    assert grades["di"].remarks == "not attempted: three"
    assert grades["ed"].remarks == "not graded: a.ipynb: it is a link."


def test_of_several_notebooks_on_a_lesson_the_best_counts_and_ids_tell_students_apart():
    rows = [
        row("ada", state="wrong", file="a.ipynb", mistake="3"),
        row("ada", file="b.ipynb"),
        row("ada", state="wrong", file="c.ipynb", mistake="3"),
        row("ada", state="wrong", file="d.ipynb", mistake="4", id="2"),
    ]
    summary = summarize(rows)
    assert [(grade.id, grade.points) for grade in summary.grades] == [("", 1), ("2", 0)]
    assert "b.ipynb" in summary.grades[0].remarks
    (count,) = summary.exercises
    assert (count.right, count.students, count.mistake, count.mistakes) == (1, 2, "4", 1)


def test_parts_that_overlap_count_once():
    assert summarize([*ROWS, *ROWS[:3]]).grades == summarize(ROWS).grades


def test_a_belief_counts_each_student_once_and_of_those_who_could_show_it():
    all_found = summarize(ROWS).misconceptions
    found = [(m.what, m.kind, m.students, m.of, m.exercises) for m in all_found]
    assert found == [
        (BATCH, "common belief", 2, 3, ["one", "two"]),
        (WORDS, "common belief", 1, 3, ["one"]),
        ("two: no keepdim", "mistake", 1, 3, ["two"]),
    ]


def test_the_pictures_show_the_counts():
    summary = summarize(ROWS)
    counts = [count for count in summary.exercises if count.lesson == "01_mean"]
    picture = right_bars("01_mean", counts)
    drawn = [[bar.get_width() for bar in bars] for bars in picture.axes[0].containers]
    assert drawn == [[1, 0], [2, 2], [0, 1]]  # right, wrong, crashed, of "one" and of "two"
    assert "one 1 of 3, two 0 of 3" in picture.alt
    picture = misconception_bars(summary.misconceptions)
    (bars,) = picture.axes[0].containers
    assert [bar.get_width() for bar in bars] == [2, 1, 1]
    assert f"{BATCH}, 2 of 3" in picture.alt


def test_the_report_says_it_all_without_a_name_or_another_file():
    page = report_page(summarize(ROWS))
    assert page.index(BATCH) < page.index("<img")
    assert "Pass <code>keepdim=True</code> &amp; &lt;look&gt;." in page
    assert len(re.findall(r'<img alt="[^"]{20,}" src="data:image/png;base64,', page)) == 3
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert not re.findall(r"\b(?:ada|bo|cy|di|ed)\b", re.sub(r'"[^"]*"', "", page))


@pytest.mark.parametrize("rows", [[], ROWS[-1:], ROWS[:1]])
def test_a_class_without_mistakes_or_without_work_has_a_report_too(tmp_path, rows):
    write_results(rows, tmp_path / "out")
    assert "<h1>" in (tmp_path / "out" / REPORT).read_text("utf-8")


def test_a_student_reads_each_verdict_and_why_a_file_is_not_graded():
    page = feedback_page("Ada <3", ROWS[:2], [ROWS[-1]])
    assert "Feedback for Ada &lt;3" in page
    assert "01_mean: 1 of 2 right" in page
    assert "Pass <code>keepdim=True</code> &amp; &lt;look&gt;." in page
    assert "a.ipynb: it is a link." in page


def test_no_feedback_is_lost_if_two_paths_are_the_same(tmp_path):
    rows = [row(name, feedback="a_b/feedback.html") for name in ("a:b", "a?b")]
    write_results(rows, tmp_path)
    with zipfile.ZipFile(tmp_path / FEEDBACK) as file:
        assert len({*file.namelist()}) == 2
