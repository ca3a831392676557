"""A browser, JupyterLab on a copy of the lessons, and the web edition, once for all tests."""

import os
import shutil

import pytest
from filelock import FileLock
from jupyterlab_page import NoBrowserError, browser, find_browser, jupyterlab
from project import NOTEBOOKS
from site_page import WIDE, Visit, served, written


@pytest.fixture(scope="session")
def chromium():
    try:
        find_browser()
    except NoBrowserError as reason:
        if "CI" in os.environ:
            raise
        pytest.skip(str(reason))
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
    """Write the web edition, once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    out = folder / "site"
    with FileLock(folder / "site.lock"):
        if not out.exists():
            written("site", "--out", folder / "unfinished")
            (folder / "unfinished").rename(out)
    return out


@pytest.fixture(scope="session")
def home(site):
    with served(site) as address:
        yield address


@pytest.fixture
def visit(chromium, home):
    """Return a function that opens a window; nothing may have gone wrong in it at the end."""
    visits = []

    def visit(name, size=WIDE, **options):
        visits.append(Visit(chromium, home, size, **options))
        return visits[-1].open(name)

    yield visit
    for each in visits:
        each.close()
