"""What is found in a folder or an archive: whose it is, and why a file isn't graded."""

import json
import os
import time
import tracemalloc
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lnorm_course.lab.lesson_files import read, write
from lnorm_staff.grading.collect import handed_in
from lnorm_staff.grading.collect.handed_in import LARGEST, collect
from lnorm_staff.grading.collect.whose import students_at, whose
from lnorm_staff.grading.grade import NOT_GRADED, ON_ANOTHER, STRAY, UNTOUCHED
from lnorm_staff.grading.hand_out.copies import COURSE, student_zip
from lnorm_staff.grading.run.grade_many import CHECK

MEAN = "from lnorm_course.exercises.mean import how_many"


def notebook(*cells):
    """Write a notebook with these cells of code, as bytes."""
    return nbformat.writes(new_notebook(cells=list(map(new_code_cell, cells)))).encode()


WORK = notebook(MEAN)
MOODLE = "Ada Lovelace_17_assignsubmission_file_"


@pytest.fixture
def collected(tmp_path):
    """Collect what is in a folder: {file: reason}, with an empty reason for what is graded."""
    (tmp_path / "class").mkdir()

    def reasons(given="class"):
        before = {*tmp_path.rglob("*")}
        found = list(collect([tmp_path / given]))
        assert {*tmp_path.rglob("*")} == before  # nothing is unpacked to the disk
        assert all(bool(file.cells) != bool(file.whole.message) for file in found)
        return {file.whole.file: file.whole.message for file in found}

    return reasons


def graded(found):
    """Return the names of those that are graded."""
    return [name for name, reason in found.items() if not reason]


def put(path, data=WORK):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def archive(path, *files):
    """Write an archive of names, or of pairs of a name or a ZipInfo and what is in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for each in files:
            file.writestr(*(each if isinstance(each, tuple) else (each, WORK)))
    return path


@pytest.mark.parametrize(
    ("file", "name", "number", "feedback"),
    [
        (f"x.zip/{MOODLE}/01_mean.ipynb", "Ada Lovelace", "17", f"{MOODLE}/feedback.html"),
        (f"x/{MOODLE}01_mean.ipynb", "Ada Lovelace", "17", f"{MOODLE}/feedback.html"),
        ("x/poeed_17_23_01_mean.ipynb", "poeed", "17", "poeed_17_23_feedback.html"),
        ("x/poeed_LATE_1_2_work.zip/a.ipynb", "poeed", "1", "poeed_LATE_1_2_feedback.html"),
        ("x/submitted/ada/week_1/01_mean.ipynb", "ada", "", "ada/feedback.html"),
        ("week_1_2_a/ada/01_mean.ipynb", "ada", "", "ada/feedback.html"),
        ("x/ada/work.zip/my_lessons/01_mean.ipynb", "ada", "", "ada/feedback.html"),
        ("x/Ελένη Παππά_01_mean.ipynb", "Ελένη Παππά", "", "Ελένη Παππά/feedback.html"),
        ("x/01_mean ada (1).ipynb", "ada", "", "ada/feedback.html"),
        ("x/..:/01_mean.ipynb", "..:", "", "_/feedback.html"),
        (f"x/{'均' * 80}/a.ipynb", "均" * 80, "", f"{'均' * 50}/feedback.html"),
    ],
)  # fmt: skip
def test_the_names_tell_whose_a_file_is_and_where_feedback_goes(file, name, number, feedback):
    path = file.split("/")
    found = whose(path, students_at([path]))
    assert (found.student, found.id, found.feedback) == (name, number, feedback)


@pytest.mark.parametrize(
    ("file", "others"),
    [
        (f"{MOODLE}/b/x.ipynb", ["m.zip/", "m (1).zip/", ""]),
        (f"{MOODLE}01_mean.ipynb", ["m.zip/", "unpacked/"]),
        ("poeed_LATE_17_23_a.zip/b/x.ipynb", ["canvas.zip/", "unpacked/"]),
        ("ada/01_mean.ipynb", ["week_1/", "week_1/submitted/", ""]),
        ("ada/my_lessons/01_mean.ipynb", ["hub/", ""]),
        ("ada_01_mean.ipynb", ["week_1/", "elsewhere/"]),
    ],
)
def test_a_file_has_the_same_name_in_every_export_and_alone(file, others):
    for other in others:
        path = f"{other}{file}".split("/")
        assert whose(path, students_at([path])).file == file


@pytest.mark.parametrize(
    ("outer", "name"),
    [
        (f"x/{MOODLE}", "Ada Lovelace"),
        ("x/lovelaceada_17_23_x_99_assignsubmission_file_a.zip/", "lovelaceada"),
        ("x/lovelaceada_LATE_17_23_work.zip/", "lovelaceada"),
        *((f"x/{outer}/", "ada") for outer in ("submitted/ada/week1", "ada", "ada/a.zip")),
    ],
)
@pytest.mark.parametrize(
    "inner", ["Bo_2_assignsubmission_file_/", "bo_2_3_a.zip/", "submitted/bo/", ""]
)
def test_nobody_hands_in_under_the_name_of_another(outer, name, inner):
    path = f"{outer}{inner}bo_2_3_01_mean.ipynb".split("/")
    found = whose(path, students_at([path]))
    assert (found.student, found.id) == (name, "" if name == "ada" else "17")


@pytest.mark.parametrize(
    ("files", "students"),
    [
        (["ada_1_2_a.ipynb", "bo.ipynb", "cy.ipynb"], "1 bo cy"),
        (["ada_1_2_a.ipynb", "bo_3_4_x_9_assignsubmission_file_b.zip", "c.pdf"], "1 3 c.pdf"),
        (["w/ada/a.ipynb", "w/bo/week1/a.ipynb"], "ada bo"),
        (["ada/w/a.ipynb", "ada/bo/a.ipynb", "cy/bo/a.ipynb"], "ada cy"),
        (["ada/Bo_2_assignsubmission_file_/a.ipynb", "ada/w/a.ipynb"], "ada"),
        (["w/Bo_2_assignsubmission_file_/a.ipynb", "w/A_1_assignsubmission_file_/a.ipynb"], "1 2"),
        (
            ["gradebook.db", "release/a.ipynb", "submitted/ada/w/a.ipynb"],
            "ada gradebook.db release",
        ),
    ],
)
def test_the_outermost_names_tell_who_the_students_are(files, students):
    paths = [["x", *file.split("/")] for file in files]
    found = [whose(path, students_at(paths)) for path in paths]
    assert sorted({each.id or each.student for each in found}) == students.split()


def test_notebooks_are_graded_and_of_all_else_the_reason_is_told(collected, tmp_path):
    folder = tmp_path / "class"
    for name in ("ada/01_mean.ipynb", "bo/01_MEAN.IPYNB"):
        put(folder / name)
    for name in ("01_mean.py", "work.tar.gz", ".hidden.ipynb", ".venv/x.ipynb", "essay.pdf"):
        put(folder / "a" / name)
    put(folder / "a/__MACOSX/._01_mean.ipynb")
    with put(folder / "a/large.ipynb").open("wb") as file:
        file.truncate(20_000_001)
    found = collected()
    assert graded(found) == [
        "ada/01_mean.ipynb",
        "bo/01_MEAN.IPYNB",
    ]
    for name, word in {
        "01_mean.py": "neither a notebook nor a zip archive",
        "work.tar.gz": "neither a notebook nor a zip archive",
        "large.ipynb": "20 MB",
        "essay.pdf": "neither a notebook nor a zip archive",
    }.items():
        assert word in found.pop(f"a/{name}")
    assert len(found) == 2


@pytest.mark.skipif(os.name != "posix", reason="elsewhere not everybody may make these")
def test_no_link_is_followed_and_no_pipe_is_read(collected, tmp_path):
    outside, folder = put(tmp_path / "outside" / "01_mean.ipynb"), tmp_path / "class"
    own = put(folder / "ada" / "01_mean.ipynb")
    os.mkfifo(folder / "pipe.ipynb")
    for number, target in enumerate(("/dev/zero", outside, own, outside.parent, "nowhere", folder)):
        (folder / f"{number}.ipynb").symlink_to(target)
    (folder / "archive.zip").symlink_to(archive(tmp_path / "outside.zip", "01_mean.ipynb"))
    found = collected()
    assert graded(found) == ["ada/01_mean.ipynb"]
    assert len(found) == 9


def test_an_archive_is_read_as_a_folder_is_and_those_in_it_too(collected, tmp_path):
    inner = archive(tmp_path / "inner.zip", "my_lessons/01_mean.ipynb", "work.py")
    innermost = archive(tmp_path / "innermost.zip", ("inner.zip", inner.read_bytes()))
    archive(
        tmp_path / "week1.zip",
        "ada/01_mean.ipynb",
        "bo/essay.pdf",
        "__MACOSX/ada/._01_mean.ipynb",
        ("cy/work.zip", inner.read_bytes()),
        ("di/work.zip", innermost.read_bytes()),
        ("ed/work.zip", b"no archive"),
    )
    found = collected("week1.zip")
    assert graded(found) == [
        "ada/01_mean.ipynb",
        "cy/work.zip/my_lessons/01_mean.ipynb",
        "di/work.zip/inner.zip/my_lessons/01_mean.ipynb",
    ]
    assert len(found) == 7
    put(tmp_path / "broken.zip", b"no archive")
    assert list(collected("broken.zip")) == ["broken.zip"]


def test_nothing_in_an_archive_leads_out_of_it_or_fills_the_memory(collected, tmp_path):
    link = zipfile.ZipInfo("link.ipynb")
    link.external_attr = 0o120777 << 16
    outside = ("../up.ipynb", "/root.ipynb", "C:/c.ipynb", "..\\up.ipynb", "x/../../y.ipynb")
    path = archive(
        tmp_path / "class" / "a.zip",
        *(*outside, "EMPTY", (link, str(tmp_path / "class" / "a.ipynb")), "notes.txt"),
        ("large.ipynb", b"0" * (LARGEST + 1)),
    )
    put(tmp_path / "class" / "a.ipynb")
    path.write_bytes(path.read_bytes().replace(b"EMPTY", b"\0MPTY"))  # read as no name at all
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as file:
        file.writestr("odd.ipynb", WORK)
    found = collected()
    inside = ["C:/c.ipynb", "root.ipynb", "up.ipynb", "up.ipynb (2)", "x/y.ipynb"]
    assert sorted(graded(found)) == ["a.ipynb", *(f"a.zip/{name}" for name in inside)]
    assert len(found) == 11


def test_what_one_student_packs_leaves_time_for_the_others(collected, tmp_path, monkeypatch):
    large = [(f"{n}.ipynb", WORK + b" " * 9_000_000) for n in range(4)]
    for name in ("ada/1.zip", "ada/2.zip", "ada/3.zip"):
        archive(tmp_path / "class" / name, *large)
    archive(tmp_path / "class" / "bo.zip", large[0])
    put(tmp_path / "class/cy/more.ipynb", WORK + b" " * (LARGEST - len(WORK)))
    found = collected()
    assert len(graded(found)) == 11 + 1 + 1
    assert [reason for reason in found.values() if reason] == [
        "of a student, at most 100 MB are graded."
    ]
    monkeypatch.setattr(handed_in, "MOST_OF_ONE", 10_000_000)
    read = []
    unpacked = handed_in._unpacked
    monkeypatch.setattr(
        handed_in, "_unpacked", lambda *given: read.append(given[2]) or unpacked(*given)
    )
    assert len(graded(collected())) == 1 + 1
    assert len(read) == 1 + 2  # of bo, and of ada until it's too much


def test_names_that_look_alike_in_a_table_are_names_of_several_files(collected, tmp_path):
    files = [(f"01_mean{chr(n)}.ipynb", WORK) for n in range(1, 6)]
    archive(tmp_path / "class/ada.zip", *files)
    found = list(collect([tmp_path / "class"]))
    names = {each.whole.file for each in found}
    assert all(map(str.isprintable, names))
    assert len(names) == len(found) == 5


def test_a_name_without_end_is_shortened_and_files_stay_apart(collected, tmp_path):
    names = [f"{'a/' * 9_000}{'b' * 9_000}{number}.ipynb" for number in range(3)]
    archive(
        tmp_path / "class" / "ada.zip", *names, f"{'a/' * 9_000}{'c' * 9_000}{'b' * 500}1.ipynb"
    )
    found = collected()
    assert len(graded(found)) == 4
    assert {len(name) for name in found} <= {400, 404}  # with a number behind it
    assert all(name.startswith("ada.zip/a/a/") for name in found)


@pytest.mark.parametrize("told", [50, 50_000])
def test_a_damaged_or_lying_archive_gives_no_notebook_and_takes_no_memory(
    collected, tmp_path, told
):
    size = LARGEST if told == 50 else 50_000
    path = archive(tmp_path / "class" / "a.zip", ("a.ipynb", b"0" * size), ("b.ipynb", b"1" * size))
    # Where the sizes that the archive tells are too small, unpacking stops there.
    whole = path.read_bytes().replace(size.to_bytes(4, "little"), told.to_bytes(4, "little"))
    path.write_bytes(whole if told == 50 else whole.replace(b"PK\3\4", b"PK\3\5"))
    tracemalloc.start()
    assert {*collected().values()} == {"it can't be unpacked."}
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("cells", "topics"),
    [
        ([MEAN], ["mean"]),
        ([MEAN, "# from lnorm_course.exercises.variance import first"], ["mean"]),
        ([MEAN, "x = 1  # lnorm_course.exercises.variance"], ["mean"]),
        ([MEAN, "%timeit 1\nimport lnorm_course.exercises.variance as v"], ["mean", "variance"]),
        (["if True:\n    import torch, lnorm_course.exercises.mean"], ["mean"]),
        (["from lnorm_course.exercises import mean  # and not variance"], ["mean"]),
        *((([f"{MEAN}\nx = [{filler}]"], ["mean"])) for filler in ("1," * 400_000, "\n" * 900_000)),
    ],
)
def test_a_lesson_is_known_by_its_imports(tmp_path, cells, topics):
    put(tmp_path / "02_variance_of_ada.ipynb", notebook(*cells))
    started = time.monotonic()
    (found,) = collect([tmp_path / "02_variance_of_ada.ipynb"])
    assert list(dict.fromkeys(exercise.topic for exercise in found.exercises)) == topics
    assert time.monotonic() - started < 10  # also if a cell is made to keep the grader busy


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "text",
    [
        *("{\n", "", "null", "[" * 100_000, '{"nbformat": 3}'),
        '{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": 1}]}',
        '{"nbformat": 3, "metadata": {}, "worksheets": [{"cells": 5}]}',
        '{"nbformat": 4, "metadata": null, "cells": []}',
    ],
)
def test_a_file_that_is_no_notebook_says_so_and_shows_nothing_of_itself(tmp_path, text):
    (found,) = collect([put(tmp_path / "01_mean.ipynb", text.encode())])
    assert (found.whole.state, found.whole.message) == (
        NOT_GRADED,
        "it can't be read as a notebook.",
    )


@pytest.mark.parametrize("sources", [["1"] * 200_000, ["a ." * 6_000_000]])
def test_more_than_anybody_writes_is_read_in_no_time(tmp_path, sources):
    cells = [{"cell_type": "code", "source": source} for source in (MEAN, *sources)]
    text = json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})
    started = time.monotonic()
    (found,) = collect([put(tmp_path / "a.ipynb", text.encode())])
    assert found.cells == [MEAN, *sources]
    assert not any(map(CHECK.findall, found.cells))
    assert time.monotonic() - started < 10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_notebooks_without_ids_and_with_a_mark_of_their_encoding_are_read(tmp_path, encoding):
    cells = [new_markdown_cell("words"), new_code_cell(MEAN)]
    for cell in cells:
        del cell["id"]
    text = json.dumps({**new_notebook(cells=cells, nbformat_minor=4), "nbformat_minor": 0})
    (found,) = collect([put(tmp_path / "old.ipynb", text.encode(encoding))])
    assert (found.whole.state, found.cells) == ("", [MEAN])


def test_of_what_a_student_packs_around_the_notebooks_a_part_is_listed(collected, tmp_path):
    many = [f"env/{number}.{kind}" for number in range(300) for kind in ("py", "txt")]
    for number in range(3):
        archive(tmp_path / f"class/ada/{number}.zip", *many, "work.ipynb")
    archive(tmp_path / "class/bo/a.zip", *many, "work.ipynb")
    archive(tmp_path / "class/cy.zip", *(f"{number}.ipynb" for number in range(300)))
    found = collected()
    ada, bo, cy = ([name for name in found if name.startswith(who)] for who in ("ada", "bo", "cy"))
    assert (len(ada), len(bo), len(cy)) == (21 + 3, 21 + 1, 100)
    assert len(graded(found)) == 3 + 1 + 99
    assert sum("such files are listed" in reason for reason in found.values()) == 3


def test_a_lesson_as_it_is_handed_out_is_untouched_until_a_cell_of_code_changes(tmp_path):
    student_zip(COURSE, tmp_path / "copy.zip", ["03_standardize"])
    with zipfile.ZipFile(tmp_path / "copy.zip") as packed:
        packed.extractall(tmp_path)
    (path,) = (tmp_path / "copy").rglob("03_*.ipynb")
    (file,) = collect([path])
    assert (file.cells, file.whole.state) == ((), UNTOUCHED)
    changed = read(path)
    [cell for cell in changed["cells"] if cell["cell_type"] == "code"][-1]["source"] = ["1 + 1"]
    write(changed, path)
    (file,) = collect([path])
    assert file.cells[-1] == "1 + 1"


def test_what_is_on_another_lesson_or_of_another_course_is_told_apart(tmp_path):
    put(tmp_path / "a.ipynb")
    put(tmp_path / "b.ipynb", notebook("1"))
    put(tmp_path / "77_c.ipynb", notebook("import lnorm_course.exercises.nothing"))
    states = {file.whole.file: file.whole.state for file in collect([tmp_path], {"02_variance"})}
    assert states == {"a.ipynb": ON_ANOTHER, "b.ipynb": STRAY, "77_c.ipynb": STRAY}
    assert [file.whole.state for file in collect([tmp_path / "a.ipynb"], {"01_mean"})] == [""]
    twice = [file.whole.file for file in collect([tmp_path / "a.ipynb", tmp_path / "a.ipynb"])]
    assert twice == ["a.ipynb", "a.ipynb (2)"]
