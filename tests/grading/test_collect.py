"""What is found in a folder or an archive: whose it is, and why a file isn't graded."""

import errno
import io
import os
import shutil
import zipfile
from types import SimpleNamespace

import pytest

from lnorm_staff.grading.collect import handed_in
from lnorm_staff.grading.collect.handed_in import collect
from lnorm_staff.grading.collect.whose import Export

MOODLE = "Ada Lovelace_17_assignsubmission_file_"


@pytest.fixture
def collected(tmp_path):
    """Collect what is in a folder: {file: reason}, with an empty reason for what is graded."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "class").mkdir()

    def reasons(given="class"):
        found = list(collect(tmp_path / given, tmp_path / "scratch"))
        assert all(bool(file.path) != bool(file.reason) for file in found)
        read = [file.path.resolve() for file in found if file.path]
        assert all(path.is_file() and path.is_relative_to(tmp_path.resolve()) for path in read)
        return {file.file: file.reason for file in found}

    return reasons


def put(path, data=b"{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def archive(path, *files):
    """Write an archive of names, or of pairs of a name or a ZipInfo and what is in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for each in files:
            file.writestr(*(each if isinstance(each, tuple) else (each, "{}")))
    return path


@pytest.mark.parametrize(
    ("file", "name", "number", "late", "feedback"),
    [
        (f"x.zip/{MOODLE}/01_mean.ipynb", "Ada Lovelace", "17", False, f"{MOODLE}/feedback.html"),
        (f"x/{MOODLE}01_mean.ipynb", "Ada Lovelace", "17", False, f"{MOODLE}/feedback.html"),
        ("x/poeed_17_23_01_mean.ipynb", "poeed", "17", False, "poeed_17_23_feedback.html"),
        ("x/poeed_LATE_1_2_work.zip/a.ipynb", "poeed", "1", True, "poeed_LATE_1_2_feedback.html"),
        ("x/submitted/ada/week_1/01_mean.ipynb", "ada", "", False, "ada/feedback.html"),
        ("week_1_2_a/ada/01_mean.ipynb", "ada", "", False, "ada/feedback.html"),
        ("x/ada/work.zip/my_lessons/01_mean.ipynb", "ada", "", False, "ada/feedback.html"),
        ("x/Ελένη Παππά_01_mean.ipynb", "Ελένη Παππά", "", False, "Ελένη Παππά/feedback.html"),
        ("x/01_mean ada (1).ipynb", "ada", "", False, "ada/feedback.html"),
        ("x/..:/01_mean.ipynb", "..:", "", False, "_/feedback.html"),
        (f"x/{'均' * 80}/a.ipynb", "均" * 80, "", False, f"{'均' * 50}/feedback.html"),
    ],
)  # fmt: skip
def test_the_names_tell_whose_a_file_is_and_where_feedback_goes(file, name, number, late, feedback):
    path = file.split("/")
    found = Export([path]).student_of(path)
    assert (found.name, found.id, found.late, found.feedback) == (name, number, late, feedback)


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
    found = Export([path]).student_of(path)
    assert (found.name, found.late) == (name, "LATE" in outer)
    assert found.id == ("" if name == "ada" else "17")


@pytest.mark.parametrize(
    ("files", "students"),
    [
        (["ada_1_2_a.ipynb", "bo.ipynb", "cy.ipynb"], "1 bo cy"),
        (["ada_1_2_a.ipynb", "bo_3_4_x_9_assignsubmission_file_b.zip", "c.pdf"], "1 3 c.pdf"),
        (["w/ada/a.ipynb", "w/bo/week1/a.ipynb", ".DS_Store"], "ada bo"),
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
    found = map(Export(paths).student_of, paths)
    assert sorted({each.id or each.name for each in found} - {"DS_Store"}) == students.split()


def test_two_ways_to_write_one_accent_are_one_name():
    one, other = ["x", "Rene\u0301", "a.ipynb"], ["x", "Ren\u00e9", "a.ipynb"]
    assert Export([one]).student_of(one) == Export([other]).student_of(other)


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
    assert [name for name, reason in found.items() if not reason] == [
        "class/ada/01_mean.ipynb",
        "class/bo/01_MEAN.IPYNB",
    ]
    for name, word in {
        "01_mean.py": "Python file",
        "work.tar.gz": "archive",
        ".hidden.ipynb": "hidden",
        ".venv": "program",
        "__MACOSX": "program",
        "large.ipynb": "20 MB",
        "essay.pdf": "notebook",
    }.items():
        assert word in found.pop(f"class/a/{name}")
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
    assert [name for name, reason in found.items() if not reason] == ["class/ada/01_mean.ipynb"]
    assert len(found) == 9


def test_an_archive_is_read_as_a_folder_is_and_one_in_it_too(collected, tmp_path):
    inner = archive(tmp_path / "inner.zip", "my_lessons/01_mean.ipynb", "../up.ipynb")
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
    assert [name for name, reason in found.items() if not reason] == [
        "week1.zip/ada/01_mean.ipynb",
        "week1.zip/cy/work.zip/my_lessons/01_mean.ipynb",
    ]
    assert len(found) == 7
    put(tmp_path / "broken.zip", b"no archive")
    assert list(collected("broken.zip")) == ["broken.zip"]


def test_what_an_archive_does_to_escape_or_to_fill_the_disk_is_refused(
    collected, tmp_path, monkeypatch
):
    monkeypatch.setattr(handed_in, "LARGEST", 100)
    link = zipfile.ZipInfo("link.ipynb")
    link.external_attr = 0o120777 << 16
    path = archive(
        tmp_path / "class" / "a.zip",
        *("../up.ipynb", "/root.ipynb", "C:/c.ipynb", "..\\up.ipynb", "x/../../y.ipynb", "EMPTY"),
        *((link, "/etc/passwd"), ("large.ipynb", b"0" * 101), "notes.txt"),
        *((f"{n}.ipynb", b"0" * 90) for n in range(2)),
    )
    path.write_bytes(path.read_bytes().replace(b"EMPTY", b"\0MPTY"))  # read as no name at all
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as file:
        file.writestr("odd.ipynb", "{}")
    found = collected()
    assert [name for name, reason in found.items() if not reason] == [
        "class/a.zip/0.ipynb",
        "class/a.zip/1.ipynb",
    ]
    assert len(found) == 11  # two have one name
    on_disk = [each for each in tmp_path.rglob("*") if each.is_file() and each != path]
    assert [each.parent for each in on_disk] == [tmp_path / "scratch"] * 2
    monkeypatch.setattr(handed_in, "MOST_FILES_OF_ONE", 11)
    assert collected() == {"class/a.zip": "it has 12 files, and at most 11 are read."}


@pytest.mark.parametrize("free", [10**12, 90 * 10**6])
def test_what_one_student_packs_leaves_room_for_the_others(collected, tmp_path, monkeypatch, free):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free - size()))

    def size():
        return sum(p.stat().st_size for p in (tmp_path / "scratch").rglob("*") if p.is_file())

    large = [(f"{n}.ipynb", b"0" * 9_000_000) for n in range(4)]
    for name in ("ada/1.zip", "ada/2.zip", "ada/3.zip"):
        archive(tmp_path / "class" / name, *large)
    archive(tmp_path / "class" / "bo.zip", large[0])
    found = collected()
    graded = [file for file, reason in found.items() if not reason]
    assert "class/bo.zip/0.ipynb" in graded
    assert len(graded) == (11 if free == 10**12 else 2) + 1
    assert all(
        reason.endswith(" MB of this student's would be unpacked.")
        for reason in found.values()
        if reason
    )


def test_a_damaged_or_lying_archive_gives_no_notebook(collected, tmp_path):
    files = [("a.ipynb", b"0" * 50_000), ("b.ipynb", b"1" * 50_000)]
    path = archive(tmp_path / "class" / "a.zip", *files)
    whole = path.read_bytes()
    # The sizes that the archive tells are too small: unpacking stops there.
    path.write_bytes(whole.replace((50_000).to_bytes(4, "little"), (50).to_bytes(4, "little")))
    assert all(collected().values())
    assert sum(each.stat().st_size for each in (tmp_path / "scratch").iterdir()) <= 2_000


def test_a_full_disk_costs_the_file_that_fills_it_only(collected, tmp_path, monkeypatch):
    archive(tmp_path / "class" / "ada.zip", ("full.ipynb", b"1" * 1000), "last.ipynb")
    copy = shutil.copyfileobj

    def copied(packed, unpacked):
        if len(data := packed.read()) == 1000:
            raise OSError(errno.ENOSPC, "No space left on device")
        copy(io.BytesIO(data), unpacked)

    monkeypatch.setattr(shutil, "copyfileobj", copied)
    found = collected()
    assert found.pop("class/ada.zip/full.ipynb").endswith("No space left on device.")
    assert found == {"class/ada.zip/last.ipynb": ""}
