"""Of home folders that students control, only their own notebooks are collected."""

import os

import pytest

from lnorm_staff.grading.__main__ import main
from lnorm_staff.grading.collect import homes as module
from lnorm_staff.grading.collect.handed_in import collect
from lnorm_staff.grading.collect.homes import collect_homes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no hub runs here")
as_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files to others"
)
ADA, BO = 61001, 61002


@pytest.fixture
def homes(tmp_path):
    """Two home folders with a lesson each, and a file outside that nobody should get."""
    for name, uid in (("ada", ADA), ("bo", BO)):
        work = tmp_path / "homes" / name / "my_lessons"
        work.mkdir(parents=True)
        (work / "01_mean.ipynb").write_text(name)
        if os.geteuid() == 0:
            for path in (work.parent, work, work / "01_mean.ipynb"):
                os.chown(path, uid, uid)
    (tmp_path / "secret.ipynb").write_text("secret")
    return tmp_path / "homes"


@pytest.fixture
def collected(homes, tmp_path):
    """Collect, and return {file: reason}, and what is in the files that were copied."""

    def of_all():
        out = tmp_path / "out"
        found = dict(collect_homes(homes, out))
        copied = {p.relative_to(out / "submitted").as_posix(): p.read_text() for p in files(out)}
        assert [*copied] == [name for name, reason in found.items() if not reason]
        return found, copied

    return of_all


def files(folder):
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    return sorted(path for path in folder.rglob("*") if path.is_file())


OWN = {"ada/01_mean.ipynb": "ada", "bo/01_mean.ipynb": "bo"}


def test_each_student_s_notebooks_are_copied_and_graded_under_that_name(homes, collected, tmp_path):
    (homes / "bo" / "my_lessons" / "Ada_17_assignsubmission_file_.ipynb").write_text("bo")
    (homes / "bo" / "my_lessons" / "notes.txt").write_text("bo")
    (homes / "nothing").mkdir()
    (homes / "lost+found").write_text("no home")
    if os.geteuid() == 0:
        os.chown(homes / "bo" / "my_lessons" / "Ada_17_assignsubmission_file_.ipynb", BO, BO)
    _, copied = collected()
    assert copied == {**OWN, "bo/Ada_17_assignsubmission_file_.ipynb": "bo"}
    (tmp_path / "scratch").mkdir()
    found = collect(tmp_path / "out", tmp_path / "scratch")
    assert [file.student.name for file in found] == ["ada", "bo", "bo"]


def test_no_link_is_followed_no_pipe_is_read_and_nothing_large_is_copied(homes, collected):
    work = homes / "bo" / "my_lessons"
    (work / "02_link.ipynb").symlink_to(homes.parent / "secret.ipynb")
    os.mkfifo(work / "03_pipe.ipynb")
    with (work / "04_large.ipynb").open("wb") as file:
        file.truncate(20_000_001)
    if os.geteuid() == 0:
        os.chown(work / "04_large.ipynb", BO, BO)
    (work / "week1").mkdir()
    (homes / "cy").mkdir()
    (homes / "cy" / "my_lessons").symlink_to(homes / "ada" / "my_lessons")
    (homes / "di").symlink_to(homes / "ada")
    found, copied = collected()
    assert copied == OWN
    assert {
        f"bo/{name}" for name in ("02_link.ipynb", "03_pipe.ipynb", "04_large.ipynb", "week1")
    } < {*found}


@as_root
def test_a_file_of_somebody_else_is_not_copied_also_through_a_hard_link(homes, collected):
    os.link(homes / "ada" / "my_lessons" / "01_mean.ipynb", homes / "bo" / "my_lessons" / "x.ipynb")
    found, copied = collected()
    assert (copied, "somebody else" in found["bo/x.ipynb"]) == (OWN, True)


def test_a_folder_that_becomes_a_link_after_it_was_opened_leads_nowhere(
    homes, collected, monkeypatch
):
    work, real = homes / "bo" / "my_lessons", os.listdir

    def swapped(folder):
        names = real(folder)
        if isinstance(folder, int) and os.fstat(folder).st_ino == inode:
            work.rename(homes / "bo" / "old")
            work.symlink_to(homes.parent)
            return ["secret.ipynb", *names]
        return names

    inode = work.stat().st_ino
    monkeypatch.setattr(module.os, "listdir", swapped)
    assert collected()[1] == OWN


@as_root
def test_what_is_collected_belongs_to_who_grades_and_to_nobody_else(homes, tmp_path):
    import pwd  # not on Windows

    out = tmp_path / "out"
    assert main(["homes", str(homes), "--out", str(out), "--owner", "nobody"]) == 0
    found = [path.stat() for path in (out, *out.rglob("*"))]
    assert {(status.st_uid, status.st_mode & 0o077) for status in found} == {
        (pwd.getpwnam("nobody").pw_uid, 0)
    }


@pytest.mark.parametrize("owner", [[], ["--owner", "root"]])
@as_root
def test_root_is_asked_who_will_grade(homes, tmp_path, monkeypatch, owner):
    monkeypatch.delenv("SUDO_USER", raising=False)
    with pytest.raises(SystemExit, match=r"^[A-Z][^\n]*$"):
        main(["homes", str(homes), "--out", str(tmp_path / "out"), *owner])
    assert not (tmp_path / "out").exists()
