"""Where readers get the course, and what the README's first line leads to."""

import subprocess
import zipfile

from project import PROJECT

from lnorm_staff.web.getting import addressed, configured, linked, write_archive

README = (PROJECT / "README.md").read_text("utf-8")


def test_the_readme_leads_to_the_site_of_the_configuration():
    assert linked(README, configured(PROJECT)["html_baseurl"]) == README
    assert "(https://you.example/)" in linked(README, "https://you.example/")


def test_a_first_cell_elsewhere_installs_from_the_address_of_the_repository():
    page = (PROJECT / "docs/troubleshooting.md").read_text("utf-8")
    assert addressed(page, "") == page
    address = "https://github.com/you/layer-norm"
    assert f'repository = "{address}"\n%pip install' in addressed(page, address)


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
