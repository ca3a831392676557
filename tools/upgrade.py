"""Update constraints.txt and the conda and Binder versions from the ranges in pyproject.toml.

uv resolves the ranges for every supported Python and system at once, and installs nothing. Packages
that only one system needs, such as CUDA's, are pinned with a marker.
"""

import re
import subprocess
import sys
import tempfile

from project import PROJECT

CONSTRAINTS = PROJECT / "constraints.txt"
ENVIRONMENTS = [PROJECT / "environment.yml", PROJECT / ".binder" / "environment.yml"]
ON_CONDA = {"torch": "pytorch-cpu"}
OPTIONS = ["--universal", "--python-version", "3.11", "--fork-strategy", "fewest"]
OPTIONS += ["--all-extras", "--upgrade", "--no-annotate", "--no-header"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", folder, "uv"]
        subprocess.run(pip, check=True)
        command = [f"{folder}/bin/uv", "pip", "compile", "-q", *OPTIONS, "pyproject.toml"]
        said = subprocess.run(command, cwd=PROJECT, check=True, stdout=-1, text=True).stdout
    title = CONSTRAINTS.read_text("utf-8").splitlines()[0]
    CONSTRAINTS.write_text(f"{title}\n{said}", encoding="utf-8")
    text = ENVIRONMENTS[0].read_text("utf-8")
    for name, version in re.findall(r"^([^=\s]+)==([^\s;]+)", said, re.MULTILINE):
        text = re.sub(rf"(- {ON_CONDA.get(name, name)}==?)\S+", rf"\g<1>{version}", text)
    for environment in ENVIRONMENTS:
        environment.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
