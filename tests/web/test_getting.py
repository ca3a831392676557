"""Where readers get the course, and what the README's first line leads to."""

import subprocess
import zipfile

import pytest
from project import PROJECT

from lnorm_utils.web.getting import configured, getting_page, how_to_get, linked, write_archive

README = (PROJECT / "README.md").read_text("utf-8")
SITE, REPOSITORY = "https://you.example/layer-norm/", "https://github.com/you/layer-norm"


def test_the_first_line_of_the_readme_leads_to_the_site_that_has_an_address():
    title, rest = linked(README, "").split("\n\n", 1)
    with_site = linked(README, SITE)
    _, first, after = with_site.split("\n\n", 2)
    assert (SITE in first, after) == (True, rest)
    assert linked(with_site, SITE) == with_site
    moved = linked(with_site, f"{SITE}2/")
    assert moved == with_site.replace(SITE, f"{SITE}2/")
    assert linked(moved, "") == f"{title}\n\n{rest}"


def test_the_readme_is_as_the_configuration_says():
    assert linked(README, configured(PROJECT)["html_baseurl"]) == README


@pytest.mark.parametrize(
    ("repository", "size", "said"),
    [(REPOSITORY, 8_000_000, REPOSITORY), ("", 8_160_000, "(8 MB)"), ("", 0, "whoever made")],
)
def test_a_page_says_where_the_course_comes_from(repository, size, said):
    page = getting_page(README, how_to_get(repository, size))
    assert page.startswith("# Get the course\n\n## Start\n")
    assert said in page
    assert "this repository" not in page
    assert "<img" not in page


def test_the_archive_has_what_git_tracks_and_nothing_else(tmp_path):
    course = tmp_path / "course"
    (course / "docs").mkdir(parents=True)
    for name in ("README.md", "docs/map.md", "private.csv"):
        (course / name).write_text(name, "utf-8")
    assert write_archive(course, tmp_path / "nothing.zip") == 0
    for command in (["init", "-q"], ["add", "README.md", "docs"]):
        subprocess.run(["git", "-C", course, *command], check=True)
    (course / "README.md").write_text("changed", "utf-8")
    packed = tmp_path / "layer-norm.zip"
    assert write_archive(course, packed) == packed.stat().st_size > 0
    with zipfile.ZipFile(packed) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert found == {"layer-norm/README.md": "changed", "layer-norm/docs/map.md": "docs/map.md"}
