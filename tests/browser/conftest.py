"""A browser, JupyterLab on a copy of the lessons, and the web edition, once for all tests."""

import os
import shutil
import subprocess
import sys

import pytest
from filelock import FileLock
from jupyterlab_page import browser, jupyterlab
from project import NOTEBOOKS, PROJECT
from site_page import WIDE, Visit


@pytest.fixture(scope="session")
def chromium():
    with browser() as chromium:
        yield chromium


@pytest.fixture(scope="session")
def lessons(tmp_path_factory):
    copy = tmp_path_factory.mktemp("course") / "notebooks"
    return shutil.copytree(NOTEBOOKS, copy, ignore=shutil.ignore_patterns(".*"))


@pytest.fixture(scope="session")
def address(lessons):
    with jupyterlab(lessons) as address:
        yield address


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Write the web edition once for all workers, or take it from the folder $LNORM_SITE."""
    if "LNORM_SITE" in os.environ:
        return PROJECT / os.environ["LNORM_SITE"]
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    out = folder / "site"
    with FileLock(folder / "site.lock"):
        if not out.exists():
            command = [sys.executable, "-m", "lnorm_staff.web", "site", "--out"]
            subprocess.run([*command, folder / "unfinished"], cwd=PROJECT, check=True)
            (folder / "unfinished").rename(out)
    return out


@pytest.fixture
def visit(chromium, site):
    """Return a function that opens a window; nothing may have gone wrong in it at the end."""
    visits = []

    def visit(name, size=WIDE, **options):
        visits.append(Visit(chromium, site, size, **options))
        return visits[-1].open(name)

    yield visit
    for each in visits:
        each.close()
