"""`deploy/collect` reads each student's folder with that student's rights, as root may try it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from project import PROJECT
from submissions import notebook, put

from lnorm_staff.grading.collect.handed_in import collect

pwd = pytest.importorskip("pwd")
pytestmark = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or not shutil.which("runuser"),
    reason="only root can be another user without a password",
)
IMPORT = "from lnorm_course.exercises.mean import how_many"
SUDO = b'#!/bin/sh\nshift; user=$1; shift; exec runuser -u "$user" -- "$@"\n'


@pytest.fixture
def folder():
    """A folder that others may enter, as pytest's own aren't."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_student_s_notebooks_are_copied_and_nothing_that_is_another_s(folder):
    ada, bo = [each.pw_name for each in pwd.getpwall() if 0 < each.pw_uid < 1000][:2]
    homes, secret = folder / "homes", folder / "secret.ipynb"
    secret.write_text("secret")
    for name in (ada, bo, "nobody of this name", "root"):
        work = homes / name / "my_lessons"
        put(work / "01_mean.ipynb", notebook(f"{IMPORT}  # {name}"))
        (work / ".progress").mkdir()
    work = homes / bo / "my_lessons"
    (work / "02_link.ipynb").symlink_to(secret)
    os.link(secret, work / "03_hard.ipynb")
    secret.chmod(0o600)
    os.mkfifo(work / "04_pipe.ipynb")
    (work / "05_folder").symlink_to(homes / ada)
    for name in (ada, bo):
        for path in (homes / name, *(homes / name).rglob("*")):
            if path.name != "03_hard.ipynb":
                shutil.chown(path, name) if not path.is_symlink() else None
        (homes / name).chmod(0o700)
    put(folder / "bin" / "sudo", SUDO).chmod(0o755)
    out = folder / "out"
    how = {"cwd": PROJECT, "env": {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}}
    subprocess.run(["deploy/collect", homes, out], capture_output=True, check=True, **how)
    assert {path.lstat().st_mode & 0o077 for path in out.rglob("*") if not path.is_symlink()} == {0}
    found = [(file.whole.student, *file.cells) for file in collect([out]) if file.cells]
    assert sorted(found) == sorted([(ada, f"{IMPORT}  # {ada}"), (bo, f"{IMPORT}  # {bo}")])
