"""What counts of each student, what the class believes, and the pages that say so."""

import re
import zipfile
from dataclasses import replace

import pytest

from lnorm_course.lab.lesson_files import ORIGINALS, exercises, read
from lnorm_course.lab.working_copy import lessons
from lnorm_diagnose.slips.misconceptions import Misconception
from lnorm_staff.exercise_words import exercise_words
from lnorm_staff.grading.grade import FURTHER, Grade
from lnorm_staff.grading.report.class_folder import FEEDBACK, REPORT, write_results
from lnorm_staff.grading.report.page import feedback_page, report_page
from lnorm_staff.grading.report.summary import counted_of, maximum_of, mistake_counts, summarize

BATCH, WORDS = Misconception.OVER_THE_BATCH.value, Misconception.ONE_MEAN_PER_SENTENCE.value
BATCH_CODE, WORDS_CODE = Misconception.OVER_THE_BATCH.code, Misconception.ONE_MEAN_PER_SENTENCE.code


def graded(student, exercise="one", state="right", mistake="", codes="", **more):
    given = {"id": "", "file": f"{student}.ipynb", "lesson": "01_mean"}
    given |= {"feedback": f"{student}/feedback.html", "misconception": codes, **more}
    return Grade(student, exercise=exercise, state=state, mistake=mistake, **given)


CLASS = [
    graded("ada"),
    graded("ada", "two", "wrong", "no keepdim", message="Pass `keepdim=True` & <look>."),
    graded("bo", "one", "wrong", "3", f"{BATCH_CODE} {WORDS_CODE}"),
    graded("bo", "two", "wrong", "over dim 0", BATCH_CODE),
    graded("cy", "one", "wrong", "8", BATCH_CODE),
    graded("cy", "two", "crashed"),
    graded("di", "three", "not attempted", lesson="02_variance"),
    graded("ed", "", "not graded", lesson="", message="it is a link.", file="class/a.ipynb"),
]


def test_each_student_has_points_in_each_lesson_and_remarks_on_the_rest():
    found = {each.name: each for each in summarize(CLASS)}
    points = [[*each.points.items()] for each in found.values()]
    assert points == [[("01_mean", 1)], *[[("01_mean", 0)]] * 2, [("02_variance", 0)], []]
    assert maximum_of(summarize(CLASS)) == {"01_mean": 2, "02_variance": 1}
    assert found["cy"].remarks == "01_mean, 0 of 2 right; wrong: one; crashed: two."
    assert found["di"].remarks == "02_variance, 0 of 1 right; not attempted: three."
    assert found["ed"].remarks == "a.ipynb: not graded: it is a link."


def test_of_several_notebooks_on_a_lesson_the_best_counts_and_ids_tell_students_apart():
    grades = [
        graded("ada", state="wrong", file="a.ipynb", mistake="3"),
        graded("ada", file="b.ipynb"),
        graded("ada", state="wrong", file="c.ipynb", mistake="3"),
        graded("ada", state="wrong", file="d.ipynb", mistake="4", id="2"),
    ]
    students = summarize(grades)
    points = [(each.id, each.points["01_mean"]) for each in students]
    assert points == [("", 1), ("2", 0)]
    assert "01_mean: 3 notebooks were handed in; b.ipynb counts." in students[0].remarks
    assert [each.what for each in mistake_counts(counted_of(students))] == ["4"]
    assert "1&nbsp;of&nbsp;2</td>\n<td>1&nbsp;wrong</td>" in report_page(students)


def test_two_parts_of_a_lesson_are_merged_by_exercise_and_what_is_not_graded_is_told_first():
    parts = [
        [graded("ed", "one", file="1.ipynb"), graded("ed", "two", "missing", file="1.ipynb")],
        [graded("ed", "one", "wrong", file="2.ipynb"), graded("ed", "two", file="2.ipynb")],
    ]
    (student,) = summarize([*parts[0], *parts[1], CLASS[-1]])
    assert (student.points, student.total) == ({"01_mean": 2}, 2)
    assert student.remarks.splitlines() == [
        "a.ipynb: not graded: it is a link.",
        "01_mean: 2 notebooks were handed in; the best grade per exercise counts.",
    ]


def test_side_trips_give_no_points_and_are_counted_apart():
    more = [graded("ada", "three", further=FURTHER)]
    more += [graded("bo", "three", "not attempted", further=FURTHER)]
    students = summarize([*CLASS, *more])
    ada, bo = students[:2]
    assert (ada.points, bo.points) == ({"01_mean": 1}, {"01_mean": 0})
    assert maximum_of(students)["01_mean"] == 2
    assert bo.remarks == summarize(CLASS)[1].remarks
    assert "1 of 2 right, and 1 of 1 further" in feedback_page(ada)
    assert "<code>three</code> (further)" in report_page(students)


def test_a_misconception_counts_each_student_once_and_of_those_who_could_show_it():
    found = [
        (each.what, each.is_misconception, each.students, each.of, {g.exercise for g in each.shown})
        for each in mistake_counts(counted_of(summarize(CLASS)))
    ]
    assert found == [
        (BATCH, True, 2, 3, {"one", "two"}),
        (WORDS, True, 1, 3, {"one"}),
        ("no keepdim", False, 1, 3, {"two"}),
    ]


def test_the_report_says_it_all_without_a_name_or_another_file():
    found = [graded(who, "one", "wrong", "8", BATCH_CODE) for who in "qrstuvwxyz"]
    said = [replace(each, message="My own words.", quoted="own words.") for each in found[:6]]
    said += [replace(each, message="Ours.") for each in found[6:]]
    page = report_page(summarize([*CLASS, graded("ada", "how_many"), *said]))
    assert exercise_words()["how_many"] in page
    assert "Pass <code>keepdim=True</code> &amp; &lt;look&gt;." in page
    assert "Ours." in page
    assert "My own words." not in page
    assert '<progress value="12" max="13"></progress> 12&nbsp;of&nbsp;13' in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert not re.findall(r"\b(?:ada|bo|cy|di|ed)\b", re.sub(r'"[^"]*"', "", page))
    rows = page.split("students read</th>")[1].partition("</table>")[0].split("<tr>")[1:]
    # A picture is recommended for a misconception, and for no other mistake.
    assert ["<code>explore_" in row for row in rows] == [True, True, False]
    link = '<a href="https://x.org/notebooks/05_batch_vs_layer_norm.html#batch=batch-of-two">'
    assert link in report_page(summarize(CLASS), "https://x.org/")


def test_each_exercise_of_a_lesson_has_words_which_are_those_above_its_check():
    checked = [name for path in lessons(ORIGINALS) for name in exercises(read(path))]
    asked = exercise_words()
    assert [*asked] == checked
    assert all(10 < len(words) < 600 and "**" not in words for words in asked.values())
    for path in lessons(ORIGINALS):  # also where one cell checks a list of questions
        texts = ["".join(c["source"]) for c in read(path)["cells"] if c["cell_type"] == "markdown"]
        plain = re.sub(r"<!-- lab -->.*?<!-- /lab -->|\]\([^)]*\)|[][*\s]", "", "".join(texts))
        for name in exercises(read(path)):
            assert re.sub(r"[][*\s]", "", asked[name]) in plain, name
    assert len({*asked.values()}) > 0.9 * len(asked)  # a list has a question for each
    page = report_page(summarize(graded("ada", name) for name in asked))
    assert not re.search(r"[$\\]|\*\w", page.partition("</style>")[2])  # a formula is one there
    assert page.count("<math") == sum(words.count("$") for words in asked.values()) / 2


@pytest.mark.parametrize("grades", [[], CLASS[-1:], CLASS[:1]])
def test_a_class_without_mistakes_or_without_work_has_a_report_too(tmp_path, grades):
    write_results(grades, tmp_path)
    assert "<h1>" in (tmp_path / REPORT).read_text("utf-8")


def test_a_student_reads_each_verdict_what_a_person_says_and_why_a_file_is_not_graded():
    mine = "def f(x):\n    return x < 1"
    given = [CLASS[0], replace(CLASS[1], points="0.5", comment="Nearly & soon.", attempt=mine)]
    unread = replace(CLASS[-1], student="ada", comment="Come & see me.")
    (student,) = summarize(replace(each, student="Ada <3") for each in [*given, unread])
    page = feedback_page(student)
    assert "Feedback for Ada &lt;3" in page
    assert "01_mean: 1 of 2 right" in page
    assert "Points: 1.5 of 2." in page
    assert "Pass <code>keepdim=True</code> &amp; &lt;look&gt;." in page
    assert "Nearly &amp; soon." in page
    assert "<pre>def f(x):\n    return x &lt; 1</pre>" in page
    assert "a.ipynb: it is a link. Come &amp; see me." in page


def test_no_feedback_is_lost_if_two_paths_are_the_same_somewhere(tmp_path):
    grades = [graded(name, feedback=f"{name}_b/feedback.html") for name in ("a", "A")]
    write_results([*grades, graded("a:b", feedback="a_b/feedback.html")], tmp_path)
    with zipfile.ZipFile(tmp_path / FEEDBACK) as file:
        assert len({name.lower() for name in file.namelist()}) == 3
