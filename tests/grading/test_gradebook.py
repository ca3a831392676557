"""A class list is read as each system saves it, and its students get the points they earned."""

import csv

import pytest

from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.report.class_folder import CANVAS, GRADES, write_results
from lnorm_staff.grading.report.class_list import ClassListError, read_class_list

MOODLE = "{0}_{1}_assignsubmission_file_/feedback.html"
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Last modified (grade)"
"Participant 4711","Ada Lovelace",ada@x.org,Submitted,,"Monday, 1 June"
"Participant 12","Zoë Müller",zoe@x.org,"No submission",,-
"""
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Old (9),Final Score
,,,,,Manual Posting,
    Points Possible,,,,,10,(read only)
"Lovelace, Ada",17,0042,alove,Group 1,8,80
"Young, Cy",18,0043,cyoun,Group 1,,
"""


def graded(student, lesson="01_mean", state="right", feedback="feedback.html", number=""):
    return Grade(student, number, f"{student}.ipynb", "", feedback, lesson, "one", state)


def written(path, grades, text="", encoding="utf-8"):
    """Write the results of a class with this list; return how the tables are read again."""
    listed = None
    if text:
        (path / "list.csv").write_bytes(text.encode(encoding))
        listed = read_class_list(path / "list.csv")
    write_results(grades, path, listed)

    def read(name):
        with (path / name).open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    return read


def test_the_table_has_the_columns_of_moodle_s_worksheet_and_a_row_for_who_handed_in_nothing(
    tmp_path,
):
    feedback = MOODLE.format("Ada", 4711)
    grades = [
        graded("A. L.", feedback=feedback, number="4711"),
        graded("A. L.", "02_variance", "wrong", feedback, "4711"),
        graded("new", feedback=MOODLE.format("new", 5), number="5"),
    ]
    ada, zoe, new = written(tmp_path, grades, WORKSHEET)(GRADES)
    assert ada == {
        "Identifier": "Participant 4711",
        "Full name": "Ada Lovelace",
        "Email address": "ada@x.org",
        "01_mean": "1",
        "02_variance": "0",
        "Grade": "1",
        "Maximum grade": "2",
        "Last modified (grade)": "Monday, 1 June",
        "Late files": "",
        "Remarks": "",
    }
    assert (zoe["Identifier"], zoe["Grade"], zoe["01_mean"]) == ("Participant 12", "", "")
    assert zoe["Remarks"] == "handed in nothing"
    assert (new["Identifier"], new["Grade"]) == ("Participant 5", "1")
    assert "class list" in new["Remarks"]
    assert not (tmp_path / CANVAS).exists()


def test_canvas_gets_its_own_columns_and_the_points_that_are_possible(tmp_path):
    grades = [graded("lovelaceada", feedback="lovelaceada_17_23_feedback.html", number="17")]
    possible, ada, cy = written(tmp_path, grades, GRADEBOOK)(CANVAS)
    assert [*ada.values()] == ["Lovelace, Ada", "17", "0042", "alove", "Group 1", "1"]
    assert [*ada] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01_mean"]
    assert (cy["Student"], cy["01_mean"]) == ("Young, Cy", "")
    assert "Points Possible" in possible["Student"]
    assert possible["01_mean"] == "1"
    without_list = written(tmp_path, grades)(CANVAS)
    assert [(each["Student"], each["ID"]) for each in without_list[1:]] == [("lovelaceada", "17")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize(
    "text",
    [
        "First name;Surname;ID number;E-mail\r\nZoë;Müller;0042;zoe.m@x.org\r\n;;;\r\n",
        'Name,Student ID,Mail\n"Müller, Zoë",0042,zoe.m@x.org\n',
        "name\tidnumber\tusername\temail\nZoë Müller\t0042\tzm\tzoe.m@x.org\n",
    ],
)
def test_a_student_is_found_under_any_usual_name_in_any_usual_table(tmp_path, text, encoding):
    (tmp_path / "list.csv").write_bytes(text.encode(encoding))
    listed = read_class_list(tmp_path / "list.csv")
    (zoe,) = listed.members
    assert (zoe.number, zoe.email) == ("0042", "zoe.m@x.org")
    for name in ("Zoë Müller", "Müller Zoë", "mullerzoe", "zoe.m", "zoe.m@x.org", "ZOE MULLER"):
        assert listed.find(name) == zoe
    assert listed.find("Zoë") is listed.find("") is None


def test_two_students_of_one_name_get_nobody_else_s_points(tmp_path):
    text = "Name,Email\nAda L,ada1@x.org\nAda L,ada2@x.org\n"
    grades = [graded("Ada L"), graded("ada2", state="wrong")]
    found = {
        each["Email address"]: each["Grade"] for each in written(tmp_path, grades, text)(GRADES)
    }
    assert found == {"ada1@x.org": "", "ada2@x.org": "0", "": "1"}


@pytest.mark.parametrize("text", ["", "a,b\nc,d\n", "Section,Grade\n1,2\n", "name,email\nAda\n"])
def test_a_list_that_cannot_be_used_is_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(ClassListError, match=r"list.csv[^\n]*\.$"):
        read_class_list(tmp_path / "list.csv")
