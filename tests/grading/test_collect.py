"""What is found in a folder or an archive: whose it is, and why a file isn't graded."""

import os
import time
import tracemalloc
import zipfile

import pytest
from submissions import WORK, notebook, put, zipped

from lnorm_course.lab.lesson_files import read, write
from lnorm_staff.grading.collect import handed_in
from lnorm_staff.grading.collect.handed_in import LARGEST, collect
from lnorm_staff.grading.collect.whose import students_at, whose
from lnorm_staff.grading.grade import NOT_GRADED, ON_ANOTHER, STRAY, UNTOUCHED
from lnorm_staff.grading.hand_out import COURSE, student_zip
from lnorm_staff.grading.run.grade_many import CHECK

MEAN = "from lnorm_course.exercises.mean import how_many"
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
        (["w/ada/a.ipynb", "w/bo/week1/a.ipynb", "w/list.csv"], "ada bo list.csv"),
        (["w/ada_01_mean.ipynb", "w/bo 01_mean.ipynb"], "ada bo"),
        (["w/ada.ipynb", "w/bo.zip"], "ada bo"),
        (["ada/week1/01_mean.ipynb", "ada/week2/02_variance.ipynb"], "ada"),
        (["ada/my 01_mean.ipynb", "ada/02_variance new.ipynb"], "ada"),
        (["ada/01_mean.ipynb", "ada/01_mean new.ipynb"], "ada"),
        (["ada/w/a.ipynb", "ada/bo/a.ipynb", "cy/bo/a.ipynb"], "ada cy"),
        (["ada/Bo_2_assignsubmission_file_/a.ipynb", "ada/w/a.ipynb"], "ada"),
        (["w/Bo_2_assignsubmission_file_/a.ipynb", "w/A_1_assignsubmission_file_/a.ipynb"], "1 2"),
        (["g.db", "release/a.ipynb", "submitted/ada/w/a.ipynb"], "ada g.db release"),
    ],
)
def test_the_outermost_names_tell_who_the_students_are(files, students):
    paths = [["x", *file.split("/")] for file in files]
    found = [whose(path, students_at(paths)) for path in paths]
    assert sorted({each.id or each.student for each in found}) == students.split()


NO_NOTEBOOK = "it is neither a notebook nor a zip archive"
NO_ARCHIVE = "it can't be read as a zip archive"
HANDED_IN = {
    **dict.fromkeys(("ada/01_mean.ipynb", "bo/01_MEAN.IPYNB", "bo/01_mean.py"), WORK),
    **dict.fromkeys(("bo/.hid.ipynb", "bo/__a/x.ipynb.txt", "cy/.x/a.ipynb", "cy/.x/a.txt"), WORK),
    **dict.fromkeys(("bo/.venv/x.ipynb", "bo/__MACOSX/x.ipynb", "bo/._01_mean.ipynb"), WORK),
    "bo/empty.ipynb": b" ",
    "bo/large.ipynb": b" " * (LARGEST + 1),
    "cy/work.zip": zipped("my_lessons/01_mean.ipynb", "work.py", ("in.zip", zipped("a.ipynb"))),
    "di/work.zip": b"no archive",
}
REASONS = {
    **dict.fromkeys(("ada/01_mean.ipynb", "bo/01_MEAN.IPYNB"), ""),
    "bo/01_mean.py": NO_NOTEBOOK,
    **dict.fromkeys(("bo/.hid.ipynb", "bo/__a/x.ipynb.txt", "cy/.x/a.ipynb"), ""),
    "bo/empty.ipynb": "it is empty.",
    "bo/large.ipynb": "its size is 20 MB",
    **dict.fromkeys(("cy/work.zip/in.zip/a.ipynb", "cy/work.zip/my_lessons/01_mean.ipynb"), ""),
    "cy/work.zip/work.py": NO_NOTEBOOK,
    "di/work.zip": NO_ARCHIVE,
}


@pytest.mark.parametrize("given", ["class", "class.zip"])
def test_in_a_folder_or_an_archive_notebooks_are_graded_and_of_the_rest_the_reason_is_told(
    collected, tmp_path, given
):
    for name, data in HANDED_IN.items():
        put(tmp_path / "class" / name, data)
    put(tmp_path / "class.zip", zipped(*HANDED_IN.items()))
    found = collected(given)
    assert {*found} == {*REASONS}
    for name, reason in REASONS.items():
        assert found[name].startswith(reason) if reason else not found[name]


def test_what_a_lecturer_names_may_be_no_archive(collected, tmp_path):
    put(tmp_path / "broken.zip", b"no archive")
    assert collected("broken.zip") == {"broken.zip": f"{NO_ARCHIVE}."}


@pytest.mark.skipif(os.name != "posix", reason="elsewhere not everybody may make these")
def test_no_link_is_followed_and_no_pipe_is_read(collected, tmp_path):
    outside, folder = put(tmp_path / "outside" / "01_mean.ipynb"), tmp_path / "class"
    own = put(folder / "ada" / "01_mean.ipynb")
    os.mkfifo(folder / "pipe.ipynb")
    for number, target in enumerate(("/dev/zero", outside, own, outside.parent, "nowhere", folder)):
        (folder / f"{number}.ipynb").symlink_to(target)
    (folder / "archive.zip").symlink_to(put(tmp_path / "outside.zip", zipped("01_mean.ipynb")))
    found = collected()
    assert graded(found) == ["ada/01_mean.ipynb"]
    assert len(found) == 9


def test_nothing_in_an_archive_leads_out_of_it_or_fills_the_memory(collected, tmp_path):
    link, odd = zipfile.ZipInfo("link.ipynb"), zipfile.ZipInfo("odd.ipynb")
    link.external_attr, odd.compress_type = 0o120777 << 16, zipfile.ZIP_LZMA
    target = put(tmp_path / "class" / "a.ipynb")
    outside = ("../up.ipynb", "/root.ipynb", "C:/c.ipynb", "..\\up.ipynb", "x/../../y.ipynb")
    strange = ("EMPTY", "MUELLER.ipynb", "notes.txt", (link, str(target)), (odd, WORK))
    packed = zipped(*outside, *strange, ("large.ipynb", b"0" * (LARGEST + 1)))
    packed = packed.replace(b"EMPTY", b"\0MPTY")  # read as no name at all
    packed = packed.replace(b"MUELLER", "MüLLER".encode())  # as macOS writes it
    put(tmp_path / "class" / "a.zip", packed)
    found = collected()
    inside = ["C:/c.ipynb", "MüLLER.ipynb", "root.ipynb", "up.ipynb", "up.ipynb (2)", "x/y.ipynb"]
    assert sorted(graded(found)) == ["a.ipynb", *(f"a.zip/{name}" for name in inside)]
    assert len(found) == 12


def test_what_one_student_packs_leaves_time_for_the_others(collected, tmp_path, monkeypatch):
    large = [(f"{n}.ipynb", WORK + b" " * 9_000_000) for n in range(4)]
    packed = zipped(*large)
    for name in ("ada/1.zip", "ada/2.zip", "ada/3.zip"):
        put(tmp_path / "class" / name, packed)
    put(tmp_path / "class" / "bo.zip", zipped(large[0]))
    put(tmp_path / "class/cy/more.ipynb", WORK + b" " * (LARGEST - len(WORK)))
    found = collected()
    assert len(graded(found)) == 11 + 1 + 1
    (why,) = filter(None, found.values())
    assert why == "the student's files total 108 MB; the limit is 100 MB."
    monkeypatch.setattr(handed_in, "MOST_OF_ONE", 10_000_000)
    read = []
    unpacked = handed_in._unpacked
    monkeypatch.setattr(
        handed_in, "_unpacked", lambda *given: read.append(given[2]) or unpacked(*given)
    )
    assert len(graded(collected())) == 1 + 1
    assert len(read) == 1 + 2  # of bo, and of ada until it's too much


def test_names_that_a_table_shows_alike_or_cuts_are_those_of_several_files(collected, tmp_path):
    alike = [f"01_mean{chr(n)}.ipynb" for n in range(1, 6)]
    long = [f"{'a/' * 9_000}{'b' * 9_000}{number}.ipynb" for number in range(3)]
    put(tmp_path / "class" / "ada.zip", zipped(*alike, *long))
    found = collected()
    assert len(graded(found)) == len(found) == 8
    assert all(map(str.isprintable, found))
    cut = [name for name in found if name.startswith("ada.zip/a/a/")]
    assert sorted(map(len, cut)) == [400, 404, 404]  # with a number behind it


def test_an_archive_of_too_many_files_is_refused_at_once_before_its_table_is_read(
    collected, tmp_path, monkeypatch
):
    many = put(tmp_path / "many.zip", zipped(*(f"ada/{n}.py" for n in range(20))))
    put(tmp_path / "class" / "ada.zip", zipped(("in.zip", many.read_bytes()), "01_mean.ipynb"))
    monkeypatch.setattr(handed_in._Packed, "most", 1000)
    why = "its list of files takes 0 MB; the limit is 0 MB."
    assert collected("many.zip") == {"many.zip": why}
    assert collected() == {"ada.zip/01_mean.ipynb": "", "ada.zip/in.zip": why}


@pytest.mark.parametrize("told", [50, 50_000])
def test_a_damaged_or_lying_archive_gives_no_notebook_and_takes_no_memory(
    collected, tmp_path, told
):
    size = LARGEST if told == 50 else 50_000
    whole = zipped(("a.ipynb", b"0" * size), ("b.ipynb", b"1" * size))
    # Where the sizes that the archive tells are too small, unpacking stops there.
    whole = whole.replace(size.to_bytes(4, "little"), told.to_bytes(4, "little"))
    whole = whole if told == 50 else whole.replace(b"PK\3\4", b"PK\3\5")
    put(tmp_path / "class" / "a.zip", whole)
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
        (["from lnorm_course.exercises import (mean,\n variance as v)"], ["mean", "variance"]),
        # Made to keep the grader busy.
        ([f"{MEAN}\nx = [{'1,' * 400_000}]"], ["mean"]),
        ([f"{MEAN}\nx = [{chr(10) * 900_000}]"], ["mean"]),
        ([MEAN, *["1"] * 200_000], ["mean"]),
        ([MEAN, "a ." * 6_000_000], ["mean"]),
    ],
    ids=lambda given: str(given)[:60],
)
def test_a_lesson_is_known_by_its_imports_in_no_time(tmp_path, cells, topics):
    path, started = put(tmp_path / "02_variance_of_ada.ipynb", notebook(*cells)), time.monotonic()
    (found,) = collect([path])
    assert list(dict.fromkeys(exercise.topic for exercise in found.exercises)) == topics
    assert found.cells == cells
    assert not any(map(CHECK.findall, found.cells))
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "text",
    [
        *("{\n", "null", "[" * 100_000, '{"nbformat": 3}'),
        '{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": 1}]}',
        '{"nbformat": 3, "metadata": {}, "worksheets": [{"cells": 5}]}',
        '{"nbformat": 4, "metadata": null, "cells": []}',
    ],
)
def test_a_file_that_is_no_notebook_says_so_and_shows_nothing_of_itself(tmp_path, text):
    (found,) = collect([put(tmp_path / "01_mean.ipynb", text.encode())])
    assert found.whole.state == NOT_GRADED
    assert found.whole.message == "it can't be read as a notebook."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_notebook_with_a_mark_of_its_encoding_is_read(tmp_path, encoding):
    (found,) = collect([put(tmp_path / "old.ipynb", WORK.decode().encode(encoding))])
    assert (found.whole.state, found.cells) == ("", [MEAN])


def test_of_what_a_student_packs_around_the_notebooks_a_part_is_listed(collected, tmp_path):
    many = [f"env/{number}.{kind}" for number in range(300) for kind in ("py", "txt")]
    for number in range(3):
        put(tmp_path / f"class/ada/{number}.zip", zipped(*many, "work.ipynb"))
    put(tmp_path / "class/bo/a.zip", zipped(*many, "work.ipynb"))
    put(tmp_path / "class/cy.zip", zipped(*(f"{number}.ipynb" for number in range(300))))
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
    put(tmp_path / "a.ipynb", notebook(MEAN, "import lnorm_course.exercises.variance"))
    (file,) = collect([tmp_path / "a.ipynb"], {"01_mean"})
    assert (file.whole.state, {each.topic for each in file.exercises}) == ("", {"mean"})
    twice = [file.whole.file for file in collect([tmp_path / "a.ipynb", tmp_path / "a.ipynb"])]
    assert twice == ["a.ipynb", "a.ipynb (2)"]
