"""Nothing that people rely on disappears without a line in the changelog."""

import re
import tomllib

import yaml
from project import PROJECT
from released_names import RELEASED, names_of_today

import lnorm_utils

CHANGELOG = (PROJECT / "CHANGELOG.md").read_text("utf-8")


def test_a_name_that_is_gone_since_the_last_release_stands_under_removed_in_the_changelog():
    newest = CHANGELOG.split("\n## ")[1]
    removed = newest.partition("\n### Removed\n")[2].partition("\n### ")[0]
    gone = {*RELEASED.read_text("utf-8").splitlines()} - names_of_today()
    assert sorted(gone - {*re.findall(r"`(.+?)`", removed)}) == []


def test_a_released_version_has_its_own_section_in_the_changelog():
    version = lnorm_utils.__version__
    released = re.findall(r"^## \[(\d.*?)\]", CHANGELOG, re.MULTILINE)
    assert version in released or version.endswith(".dev0")


def test_the_citation_has_the_version_of_the_package():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["hatch"]["version"]["path"] == "lnorm_utils/version.py"
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == lnorm_utils.__version__
