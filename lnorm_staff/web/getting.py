"""Tell readers where to get the course: its repository, or an archive published with the pages."""

import re
import subprocess
from pathlib import Path

__all__ = ["ARCHIVE", "addressed", "getting_page", "how_to_get", "write_archive"]

ARCHIVE = "layer-norm-course.zip"
# In the source of a page, this placeholder stands for the address of the repository.
ADDRESS = "ADDRESS-OF-THE-COURSE"
HERE = re.compile(r"<!--here-->.*?<!--/here-->", re.DOTALL)
# The README's sections that are useful on a page; the others list the lessons, as the sidebar does.
SECTIONS = ("Start", "Without Python, and for a class", "What is tested")


def write_archive(project: Path, out: Path) -> int:
    """Pack the last commit into a zip archive; return its size in bytes, or 0 if git fails."""
    pack = ["git", "-C", str(project), "archive", f"--prefix={out.stem}/", "-o", str(out), "HEAD"]
    try:
        subprocess.run(pack, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return out.stat().st_size


def how_to_get(repository: str, size: int) -> str:
    """Return Markdown that says how to get the course, for a page at the top level of the site.

    Args:
        repository: the address of the repository, or "" if there's none.
        size: the size in bytes of the archive published with the pages, or 0 if there's none.
    """
    if repository:
        download = f"[Download the course]({repository}/archive/HEAD.zip)"
        return f"{download} and unpack it, or clone [its repository]({repository})."
    if size:
        link = f'<a href="{ARCHIVE}" download>Download the course</a>'
        return f"{link} ({size / 1e6:.0f} MB) and unpack it."
    return "Get the course's folder from whoever published these pages."


def getting_page(readme: str, how: str) -> str:
    """Turn the README into a page about getting the course.

    Args:
        readme: the README's text, in which `<!--here-->` and `<!--/here-->` enclose what applies
            only in a repository.
        how: the text that replaces the enclosed text.
    """
    _, *sections = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    kept = [s for s in sections if s.split("\n", 1)[0].removeprefix("## ") in SECTIONS]
    return HERE.sub(lambda _: how, "# Get the course\n\n" + "".join(kept))


def addressed(page: str, repository: str) -> str:
    """Insert the repository's address into a page, if the repository has one."""
    return page.replace(ADDRESS, repository or ADDRESS)
