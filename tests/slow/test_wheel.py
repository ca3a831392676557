"""The wheel alone, with PyTorch and NumPy, does what the page on `diagnose` shows."""

import subprocess
import sys
import zipfile

import bare_environment
import pytest
from project import PROJECT

PACKAGES = ("lnorm_utils", "lnorm_diagnose", "lnorm_course")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, PROJECT]
    subprocess.run(pip, check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    return bare_environment.main(wheel, str(tmp_path_factory.mktemp("bare")))


def test_it_has_all_of_its_packages_and_no_other(wheel):
    git = ["git", "ls-files", *PACKAGES]
    said = subprocess.run(git, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    names = zipfile.ZipFile(wheel).namelist()
    inside = {name for name in names if not name.split("/")[0].startswith("lnorm_utils-")}
    assert inside == set(said.splitlines())


def test_the_examples_on_diagnose_run_without_the_course(python, tmp_path):
    page, script = (PROJECT / each for each in ("docs/diagnose.md", "tests/tools/page_examples.py"))
    run = [python, "-I", script, page]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    course = [python, "-I", "-c", "import lnorm_course"]
    said = subprocess.run(course, cwd=tmp_path, capture_output=True, text=True).stderr
    for name in ("matplotlib", "ipywidgets", "anywidget"):
        assert f"{name} " in said
