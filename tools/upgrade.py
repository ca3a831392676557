"""Resolve the ranges of pyproject.toml afresh, for constraints.txt, conda, and Binder.

uv resolves for every supported Python and system at once, and installs nothing. What only one
system needs, such as CUDA, is pinned with a marker.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from project import PROJECT

CONSTRAINTS = PROJECT / "constraints.txt"
ENVIRONMENTS = [PROJECT / "environment.yml", PROJECT / ".binder" / "environment.yml"]
ON_CONDA = {"pytorch-cpu": "torch"}
OPTIONS = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
QUIET = ["--no-annotate", "--no-header"]


def resolved() -> list[str]:
    """Return a line for each package, with the newest version that fits."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        bin_folder = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([bin_folder / "python", "-m", "pip", "install", "-q", "uv"], check=True)
        command = [bin_folder / "uv", "pip", "compile", "-q", *OPTIONS, *QUIET, "--all-extras"]
        done = subprocess.run(
            [*command, "--upgrade", PROJECT / "pyproject.toml"],
            check=True,
            capture_output=True,
            text=True,
        )
    return done.stdout.splitlines()


def with_versions(environment: str, versions: dict[str, str]) -> str:
    """Put these versions into the text of an environment of conda, in place of its own.

    >>> with_versions("  - pytorch-cpu=2.1", {"torch": "2.2"})
    '  - pytorch-cpu=2.2'
    """

    def pinned(match: re.Match[str]) -> str:
        before, name, equals, version = match.groups()
        return f"{before}{name}{equals}{versions.get(ON_CONDA.get(name, name), version)}"

    return re.sub(r"^( *- )([\w-]+)(==?)(\S+)$", pinned, environment, flags=re.MULTILINE)


def main() -> None:
    """Write the three files."""
    lines = resolved()
    versions = dict(line.split(" ;")[0].split("==") for line in lines)
    title = CONSTRAINTS.read_text("utf-8").splitlines()[0]
    CONSTRAINTS.write_text("\n".join([title, *lines, ""]), encoding="utf-8")
    text = with_versions(ENVIRONMENTS[0].read_text("utf-8"), versions)
    for environment in ENVIRONMENTS:
        environment.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
