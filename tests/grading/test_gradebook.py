"""Points go into the file that Moodle or Canvas exports, as its own importer reads it."""

import csv
import re
from dataclasses import replace

import pytest

from lnorm_staff.grading.grade import Grade
from lnorm_staff.grading.report.class_folder import GRADES, write_results
from lnorm_staff.grading.report.gradebook import read_gradebook
from lnorm_staff.tables import TableError

WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed","Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 4711","Ada Lovelace",ada@x.org,Submitted,,2.00,Yes,"Monday, 1 June","-",
"Participant 12","Zoë Müller",zoe@x.org,"No submission",7.00,2.00,Yes,-,"Tuesday, 2 June","=See <b>me</b>"
"""  # noqa: E501 - as Moodle writes it
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Old (9),01_mean (77),Final Score
,,,,,,Manual Posting,
    Points Possible,,,,,10,5,(read only)
"Lovelace, Ada",17,0042,alove,Group 1,8,,80
"Young, Cy",18,0043,cyoun,Group 1,3,4,30
"""


def graded(student, lesson="01_mean", state="right", number="", **more):
    return Grade(student, number, f"{student}.ipynb", "f.html", lesson, "one", state, **more)


@pytest.fixture
def written(tmp_path):
    """Write the results of a class; return what a lecturer is told, and the gradebook's lines."""

    def write(grades, text, encoding="utf-8"):
        (tmp_path / "list.csv").write_bytes(text.encode(encoding))
        *told, _ = write_results(grades, tmp_path, read_gradebook(tmp_path / "list.csv"))
        return told, (tmp_path / GRADES).read_bytes().decode()

    return write


def moodle(text, maximum):
    """Read a worksheet as Moodle does: the grades and comments that it changes, by number.

    The rules of `mod/assign/feedback/offline` (importgradeslib.php, locallib.php) and of
    lib/csvlib.class.php: commas, lines of one length, a backslash in front of a quote, three
    columns by name, no grade that is empty or above the maximum.
    """
    rows = text.removeprefix("\ufeff").splitlines()
    lines = list(csv.reader(rows, delimiter=",", escapechar="\\"))
    assert len({len(line) for line in lines}) == 1
    titles, *rows = lines
    assert {"Identifier", "Grade", "Last modified (grade)"} <= {*titles}
    found = {}
    for row in (dict(zip(titles, each, strict=True)) for each in rows):
        number, grade = row["Identifier"][len("Participant") :], row["Grade"]
        changes = grade != "" and 0 <= float(grade) <= maximum
        found[int(number)] = float(grade) if changes else None, row["Feedback comments"]
    return found


def canvas(text):
    """Read a gradebook as Canvas does: the points by student's number and assignment's title.

    The rules of lib/gradebook_importer.rb: the columns of students by place, all others by title
    but those of totals, the lines in front by their first cell.
    """
    lines = text.splitlines()
    counts = {len(next(csv.reader([line], delimiter=","))) for line in lines[:3]}
    assert len(counts) == 1
    header, *rows = csv.reader(lines)
    assert "Student" in header[0]
    assert "ID" in header[1]
    before = 3 + (2 if re.search(r"SIS\s+User\s+ID", header[2]) else 0)
    assert "Section" in header[before - 1]
    titles = [title for title in header[before:] if not re.search("(Current|Final) ", title)]
    found = {}
    for row in rows:
        if all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell) for cell in row):
            continue
        key = "possible" if "Points Possible" in row[0] else int(row[1])
        found[key] = {title: row[header.index(title)] for title in titles}
    return found


def test_moodle_reads_points_and_comments_from_its_own_worksheet_and_all_else_stays(written):
    grades = [
        graded("A. L.", number="4711", comment="Nice,\n really."),
        graded("A. L.", "02_variance", "wrong", "4711", points="0.5"),
        graded("new", number="5"),
    ]
    told, text = written(grades, WORKSHEET)
    assert moodle(text, 2) == {4711: (1.5, "one: Nice, really."), 12: (None, "=See <b>me</b>")}
    assert told == ["Students in list.csv with points: 1.", "Not in list.csv:\n  new"]
    before, after = (list(csv.reader(each.splitlines())) for each in (WORKSHEET, text[1:]))
    before[1][4], before[1][9] = "1.5", "one: Nice, really."
    assert after == [[*line, new] for line, new in zip(before, ["Remarks", "", ""], strict=True)]


@pytest.mark.parametrize("comment", ["C:\\", 'not \\"6\\"', "\\\\"])
def test_a_backslash_in_a_comment_moves_no_cell(written, comment):
    _, text = written([graded("A. L.", number="4711", comment=comment)], WORKSHEET)
    assert moodle(text, 2)[4711][0] == 1


@pytest.mark.parametrize(
    ("maximum", "number"),
    [("2.00", 2), ("3,50", 3.5), ("1.000.00", 1000), ("1,000.00", 1000), ("3.00", 0), ("", 0)],
)
def test_a_maximum_that_is_not_that_of_the_lessons_is_told(written, maximum, number):
    grades = [graded("Ada Lovelace", lesson) for lesson in ("01_mean", "02_variance", "03_x")]
    sheet = WORKSHEET.replace('",', '";').replace(",", ";").replace("2.00", maximum)
    told, _ = written(grades, sheet)
    differs = f"The gradebook's maximum for all lessons is {number:g}, but there are 3 points."
    assert told[1:] == ([f"{differs} Set it to 3."] if number else [])


def test_canvas_gets_the_lessons_only_because_other_columns_may_be_out_of_date(written):
    ada = "lovelaceada"
    grades = [graded(ada, number="17"), graded(ada, "02_variance", "wrong", "17")]
    told, text = written(grades, GRADEBOOK)
    assert told[1].startswith("The gradebook's maximum for 01_mean is 5")
    assert canvas(text) == {
        "possible": {"01_mean (77)": "5", "02_variance": "1"},
        17: {"01_mean (77)": "1", "02_variance": "0"},
        18: {"01_mean (77)": "4", "02_variance": ""},
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_a_student_is_found_under_a_name_or_an_account_of_the_gradebook(written, encoding):
    for name in ("Zoë Müller", "zoe", "zoe@x.org", "ZOË MÜLLER", "Müller, Zoe\u0308", "muller_zoe"):
        _, text = written([graded(name)], WORKSHEET, encoding)
        assert moodle(text, 2)[12][0] == 1
    for name in ("Zoë", ""):
        told, _ = written([graded(name)], WORKSHEET.replace("zoe@", "z@"), encoding)
        assert told[:2] == ["Students in list.csv with points: 0.", f"Not in list.csv:\n  {name}"]


def test_two_students_of_one_name_get_nobody_else_s_points(written):
    text = WORKSHEET.replace("Zoë Müller", "Ada Lovelace")
    grades = [graded("Ada Lovelace"), graded("zoe", state="wrong")]
    told, text = written(grades, text)
    assert moodle(text, 2) == {4711: (None, ""), 12: (0, "=See <b>me</b>")}
    assert told[1] == "No unique match in list.csv:\n  Ada Lovelace"
    told, text = written([graded("Zoë Müller", state="wrong"), graded("Muller, Zoé")], WORKSHEET)
    assert moodle(text, 2)[12][0] == 0
    assert told[1] == "No unique match in list.csv:\n  Muller, Zoé"


def test_what_is_not_judged_leaves_its_cells_as_they_were_until_a_person_gives_points(written):
    one, other = graded("zoe", "02_variance"), graded("zoe", state="not judged")
    for points, found in (("", None), ("0.5", 1.5)):
        told, text = written([one, replace(other, points=points)], WORKSHEET)
        assert moodle(text, 9)[12][0] == (found or 7)
        assert ("zoe: one" in told[0]) == (not points)


@pytest.mark.parametrize("text", ["", "a,b\nc,d\n", "Section,Grade\n1,2\n", f"{GRADEBOOK}x,1\n"])
def test_a_table_that_is_no_gradebook_is_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(TableError, match=r"list.csv[^\n]*\.$"):
        read_gradebook(tmp_path / "list.csv")
