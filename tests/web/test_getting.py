"""Where readers get the course."""

import subprocess
import zipfile

from project import PROJECT

from lnorm_staff.web.getting import addressed, write_archive


def test_a_first_cell_elsewhere_installs_from_the_address_of_the_repository():
    page = (PROJECT / "docs/troubleshooting.md").read_text("utf-8")
    assert addressed(page, "") == page
    address = "https://github.com/you/layer-norm"
    assert f'repository = "{address}"\n%pip install' in addressed(page, address)


def test_the_archive_has_what_git_tracks_and_nothing_else(tmp_path):
    course, packed = tmp_path / "course", tmp_path / "layer-norm.zip"
    (course / "docs").mkdir(parents=True)
    for name in ("README.md", "docs/map.md", "private.csv"):
        (course / name).write_text(name, "utf-8")
    assert write_archive(course, packed) == 0
    who = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    for command in (["init", "-q"], ["add", "README.md", "docs"], [*who, "commit", "-qm", "All"]):
        subprocess.run(["git", "-C", course, *command], check=True)
    assert write_archive(course, packed) == packed.stat().st_size > 0
    with zipfile.ZipFile(packed) as archive:
        found = {
            name: archive.read(name).decode() for name in archive.namelist() if name[-1] != "/"
        }
    assert found == {"layer-norm/README.md": "README.md", "layer-norm/docs/map.md": "docs/map.md"}
