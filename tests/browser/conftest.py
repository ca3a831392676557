"""A browser, and JupyterLab on a copy of the lessons, once for all tests."""

import os
import shutil

import pytest
from jupyterlab_page import NoBrowserError, browser, find_browser, jupyterlab
from project import NOTEBOOKS


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
